#include "src/cli/run_plan.hpp"
#include "src/cli/record.hpp"

#include <algorithm>
#include <functional>
#include <iostream>

#include "src/cli/project_files.hpp"
#include "src/report/table.hpp"
#include "src/support/error.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

/// Whether one of the decoders asks field by field on data of this shape.
bool asks_alone(Shape shape, const std::vector<std::unique_ptr<Decoder>>& decoders) {
  return std::any_of(decoders.begin(), decoders.end(), [&](const auto& decoder) {
    return not_applicable(shape, *decoder).empty() && form_on(shape, *decoder) == Form::value;
  });
}

/// Shows examples of split train in the prompt; they are not evaluated.
void add_shots(Workload& work, int count, const std::function<Dataset()>& train) {
  if (work.protocol.prompt.shot.empty())
    throw ConfigError(str("prompt ", work.protocol.prompt.name, " has no [shot] section for the ",
                          count, " worked examples of dataset ", work.entry->name,
                          "; expected one, or --shots 0"));
  try {
    const std::vector<Example> shown = examples_shown(train(), count);
    work.protocol.shots = make_shots(shown);
    leave_out_seen(work.dataset.examples, shown);
  } catch (const ConfigError& error) {
    throw ConfigError(str("dataset ", work.entry->name, ": its prompt shows ", count,
                          " worked examples: ", error.what(), "; --shots gives another number"));
  }
}

/// What the dataset's protocol says of fields that are asked one by one.
std::string protocol_note(const RunFlags& flags, const Workload& work) {
  const Limits limits = limits_on(work.protocol, Form::value, flags.decode);
  const bool own = !flags.decode.per_field && work.protocol.answer_ids > 0;
  return str(work.dataset.name, ", asked field by field: answers of at most ", limits.per_field,
             limits.per_field == 1 ? " id" : " ids",
             own ? " (the dataset's limit; --per-field gives another), " : ", ",
             work.protocol.shots.size(), " worked examples in the prompt");
}

}  // namespace

std::vector<Workload> load_workloads(const RunFlags& flags, const std::vector<Arm>& arms,
                                     const std::vector<std::unique_ptr<Decoder>>& decoders) {
  std::vector<Workload> workloads;
  bool any = false;
  for (const auto& name : flags.datasets) {
    const DatasetEntry& entry = find_dataset(name);
    Workload work;
    work.entry = &entry;
    const auto load = [&](const std::string& split) {
      return load_dataset(entry,
                          flags.data_root.empty()
                              ? std::nullopt
                              : std::optional<std::filesystem::path>(flags.data_root),
                          split, project_file("datasets/samples"));
    };
    work.dataset = load(flags.split);
    if (work.dataset.shape == Shape::open && parse_oracle(flags.oracle).kind == "references")
      throw ConfigError(str("--oracle references forces a short answer to each field, and ", name,
                            " has open prompts; leave it out, or force what a run chose with ",
                            "--oracle recorded:RUN"));
    if (flags.unseen) work.seen = leave_out_seen(work.dataset.examples, load("train").examples);
    work.protocol.answer_ids = entry.answer_ids;
    work.protocol.prompt = choose_prompt(flags.decode.prompt_file, prompt_name(entry, work.dataset),
                                         flags.model.model);
    if (const int shots = flags.shots.value_or(entry.shots);
        shots > 0 && asks_alone(work.dataset.shape, decoders))
      add_shots(work, shots, [&] { return load("train"); });
    work.examples = select(work.dataset.examples, flags.limit, flags.offset, flags.decode.seed);
    if (work.examples.empty())
      throw ConfigError(str("dataset ", name, ": --offset ", flags.offset, " leaves none of its ",
                            work.dataset.examples.size(), " examples"));
    std::vector<int> stacks, batches;
    for (size_t a = 0; a < arms.size(); ++a) {
      work.not_applicable.push_back(not_applicable(work.dataset.shape, *decoders[a]));
      any = any || work.runs(a);
      stacks.push_back(work.runs(a) ? stack_on(work.dataset.shape, *decoders[a]) : 1);
      batches.push_back(arms[a].batch_size);
    }
    const int block =
        flags.block > 0
            ? flags.block
            : default_block_examples(static_cast<int>(work.examples.size()), stacks, batches);
    work.blocks = plan_blocks(work.examples, stacks, block);
    for (BlockPlan& plan : work.blocks)
      for (size_t a = 0; a < arms.size(); ++a)
        if (!work.runs(a)) plan.jobs[a].clear();
    workloads.push_back(std::move(work));
  }
  if (!any && !flags.dry_run)
    throw ConfigError(str("nothing can be run: ", arms[0].label, " on ", flags.datasets[0], ": it ",
                          workloads[0].not_applicable[0], "; --dry-run shows all"));
  return workloads;
}

void print_plan(const RunFlags& flags, const std::vector<Arm>& arms,
                const std::vector<std::unique_ptr<Decoder>>& decoders,
                const std::vector<Workload>& workloads, const std::optional<MemoryPlan>& memory) {
  Table table;
  table.title = "Plan (nothing is run)";
  table.columns = {{"dataset"},
                   {"split"},
                   {"examples", Align::right},
                   {"arm"},
                   {"decoder"},
                   {"options"},
                   {"form"},
                   {"needs"},
                   {"in flight", Align::right},
                   {"jobs", Align::right},
                   {"blocks", Align::right},
                   {"compared with"}};
  const auto face = read_face(flags.model.model);
  std::vector<Needs> needs;
  for (const auto& decoder : decoders)
    needs.push_back(needs_of(*decoder, face ? &*face : nullptr, flags.model.draft_model));
  for (const auto& work : workloads)
    for (size_t a = 0; a < arms.size(); ++a) {
      const Shape shape = work.dataset.shape;
      std::int64_t jobs = 0;
      for (const auto& block : work.blocks) jobs += static_cast<std::int64_t>(block.jobs[a].size());
      const auto baseline = baseline_of(arms, a, flags.baseline);
      table.rows.push_back({shown_name(work.dataset), work.dataset.split,
                            number_cell(static_cast<std::int64_t>(work.examples.size())),
                            arms[a].label, arms[a].decoder, dump(decoders[a]->options()),
                            work.runs(a) ? std::string(name(form_on(shape, *decoders[a]))) : "n/a",
                            needs[a].lacking ? "lacking" : needs[a].text,
                            number_cell(static_cast<std::int64_t>(arms[a].batch_size)),
                            work.runs(a) ? number_cell(jobs * flags.runs) : Cell("n/a", Json()),
                            number_cell(static_cast<std::int64_t>(work.blocks.size())),
                            baseline ? arms[*baseline].label : "-"});
      if (!work.runs(a))
        table.notes.push_back(
            str("n/a: ", work.dataset.name, ", ", arms[a].label, ": it ", work.not_applicable[a]));
    }
  for (const auto& work : workloads)
    if (asks_alone(work.dataset.shape, decoders)) table.notes.push_back(protocol_note(flags, work));
  for (const auto& work : workloads)
    if (flags.unseen)
      table.notes.push_back(str(work.dataset.name, ": ", work.seen, " examples of ",
                                work.dataset.split, " left out, whose text is also in train"));
  table.notes.push_back(
      str("database: ", flags.db,
          "; model: ", flags.model.model.empty() ? "(none given)" : flags.model.model,
          flags.model.draft_model.empty() ? "" : "; draft model: " + flags.model.draft_model));
  if (memory) table.notes.push_back(str("memory: ", describe(*memory, flags.cache)));
  if (!face)
    table.notes.push_back(
        "no network was looked at for what decoders need; --model DIR names one that is there");
  std::cout << render(table, parse_table_format(flags.format));
  for (size_t a = 0; a < arms.size(); ++a)
    if (needs[a].lacking)
      throw ConfigError(str("arm '", arms[a].label, "' cannot run: ", needs[a].text));
}

}  // namespace pardec
