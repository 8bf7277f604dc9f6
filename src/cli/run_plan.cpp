#include "src/cli/run_plan.hpp"

#include <algorithm>
#include <functional>
#include <iostream>

#include "src/cli/comparison.hpp"
#include "src/cli/project_files.hpp"
#include "src/cli/record.hpp"
#include "src/prompt/chat_template.hpp"
#include "src/report/table.hpp"
#include "src/support/error.hpp"
#include "src/support/progress.hpp"
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

/// Positions of the network that an arm's jobs need on one dataset.
struct PromptSizes {
  std::optional<std::int64_t> least;  ///< none: no job can be asked
  std::int64_t most = 0;
  std::int64_t too_long = 0;  ///< jobs that need more than the network has
  std::int64_t refused = 0;   ///< jobs that cannot be asked at all, the first one why
  std::string why;
};

PromptSizes prompt_sizes(const RunFlags& flags, const Workload& work, size_t arm,
                         const Decoder& decoder, const CheckpointFace& face,
                         const ChatTemplate& chat, const std::function<void()>& one_more) {
  PromptSizes sizes;
  for (const BlockPlan& block : work.blocks)
    for (const JobPlan& job : block.jobs[arm]) {
      one_more();
      try {
        const Request request = make_request(job_name(job.key), work.examples_of(job),
                                             form_on(work.dataset.shape, decoder), work.protocol,
                                             flags.decode, chat, *face.tokenizer);
        const std::int64_t needed = decoder.positions_needed(request);
        sizes.least = std::min(sizes.least.value_or(needed), needed);
        sizes.most = std::max(sizes.most, needed);
        sizes.too_long += needed > face.config.positions();
      } catch (const Error& error) {
        if (sizes.refused++ == 0) sizes.why = error.what();
      }
    }
  return sizes;
}

/// Adds which jobs will fail for their prompts alone.
void add_size_notes(Table& table, const std::string& who, const PromptSizes& sizes,
                    std::int64_t jobs, const ModelConfig& config) {
  if (sizes.too_long)
    table.notes.push_back(str(who, ": ", sizes.too_long, " of ", jobs,
                              " jobs overflow the context and will fail: they need up to ",
                              sizes.most, " positions, ", config.positions_key(), " is ",
                              config.positions()));
  if (sizes.refused)
    table.notes.push_back(str(who, ": ", sizes.refused, " of ", jobs,
                              " jobs cannot be asked and will fail, the first one since ",
                              sizes.why));
}

/// Says where an arm's batch is not full for most of a block.
void add_fill_note(Table& table, const std::string& who, double full, std::int64_t jobs,
                   std::int64_t blocks, int batch_size) {
  if (jobs == 0 || full >= 0.5) return;
  table.notes.push_back(str(who, ": its batch of ", batch_size, " is full for ", percent(full, 0),
                            " of ", jobs, " jobs in ", blocks, blocks == 1 ? " block" : " blocks",
                            "; a smaller batch_size, more examples or a longer --block fill it"));
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

std::vector<const Example*> Workload::examples_of(const JobPlan& job) const {
  std::vector<const Example*> of_job;
  for (const int index : job.examples) of_job.push_back(&examples[static_cast<size_t>(index)]);
  return of_job;
}

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
    std::vector<Stacking> stackings;
    std::vector<int> batches;
    for (size_t a = 0; a < arms.size(); ++a) {
      work.not_applicable.push_back(not_applicable(work.dataset.shape, *decoders[a]));
      any = any || work.runs(a);
      stackings.push_back(work.runs(a)
                              ? stacking_on(work.dataset.shape, *decoders[a], work.protocol.prompt)
                              : Stacking{});
      batches.push_back(work.runs(a) ? arms[a].batch_size : 1);
    }
    const auto examples = static_cast<int>(work.examples.size());
    const int block = flags.block > 0
                          ? flags.block
                          : std::min(default_block_examples(examples, stackings, batches),
                                     std::max(1, examples / parse_shard(flags.shard).count));
    work.blocks = plan_blocks(work.examples, stackings, block);
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
                   {"examples/block", Align::right, "examples_per_block"},
                   {"full", Align::right},
                   {"positions", Align::right},
                   {"too long", Align::right, "too_long"},
                   {"compared with"}};
  const auto face = read_face(flags.model.model);
  std::vector<Needs> needs;
  for (const auto& decoder : decoders)
    needs.push_back(needs_of(*decoder, face ? &*face : nullptr, flags.model.draft_model));
  const auto chat = face && face->tokenizer
                        ? std::optional(template_for(
                              flags.decode.chat_template, flags.model.model, flags.decode.chat_set))
                        : std::nullopt;
  const auto jobs_of = [](const Workload& work, size_t arm) {
    std::int64_t jobs = 0;
    for (const auto& block : work.blocks) jobs += std::ssize(block.jobs[arm]);
    return jobs;
  };
  std::int64_t all_jobs = 0, tokenized = 0;
  for (const auto& work : workloads)
    for (size_t a = 0; a < arms.size(); ++a) all_jobs += jobs_of(work, a);
  std::optional<Progress> progress;
  if (chat) progress.emplace(parse_progress_style(flags.progress), "prompts", all_jobs);
  for (const auto& work : workloads)
    for (size_t a = 0; a < arms.size(); ++a) {
      const Shape shape = work.dataset.shape;
      const std::int64_t jobs = jobs_of(work, a);
      const double full = full_share(work.blocks, a, arms[a].batch_size);
      const std::string who = str(work.dataset.name, ", ", arms[a].label);
      const auto sizes =
          chat && work.runs(a) && !needs[a].lacking
              ? std::optional(prompt_sizes(flags, work, a, *decoders[a], *face, *chat,
                                           [&] { progress->update(++tokenized, ""); }))
              : std::nullopt;
      const auto baseline = baseline_of(arms, a, flags.baseline);
      table.rows.push_back({shown_name(work.dataset), work.dataset.split,
                            number_cell(static_cast<std::int64_t>(work.examples.size())),
                            arms[a].label, arms[a].decoder, dump(decoders[a]->options()),
                            work.runs(a) ? std::string(name(form_on(shape, *decoders[a]))) : "n/a",
                            needs[a].lacking ? "lacking" : needs[a].text,
                            number_cell(static_cast<std::int64_t>(arms[a].batch_size)),
                            work.runs(a) ? number_cell(jobs * flags.runs) : Cell("n/a", Json()),
                            number_cell(std::ssize(work.blocks)),
                            number_cell(static_cast<double>(work.examples.size()) /
                                            static_cast<double>(work.blocks.size()),
                                        1),
                            work.runs(a) ? Cell(percent(full, 0), Json(full)) : no_cell(),
                            sizes && sizes->least ? Cell(str(*sizes->least, " to ", sizes->most),
                                                         Json{*sizes->least, sizes->most})
                                                  : no_cell(),
                            sizes ? number_cell(sizes->too_long) : no_cell(),
                            baseline ? arms[*baseline].label : "-"});
      if (!work.runs(a)) table.notes.push_back(str("n/a: ", who, ": it ", work.not_applicable[a]));
      add_fill_note(table, who, full, jobs, std::ssize(work.blocks), arms[a].batch_size);
      if (sizes) add_size_notes(table, who, *sizes, jobs, face->config);
    }
  progress.reset();
  table.notes.push_back(
      "full: share of the jobs during which the batch is full, since an arm ends a block with none "
      "in flight; positions: that jobs need, smallest to largest.");
  for (const auto& work : workloads)
    if (std::ssize(work.blocks) * flags.runs < kFewestBlocks &&
        std::any_of(arms.begin(), arms.end(), [&](const Arm& arm) {
          return baseline_of(arms, static_cast<size_t>(&arm - arms.data()), flags.baseline);
        }))
      table.notes.push_back(str(work.dataset.name, ": ", work.blocks.size(),
                                work.blocks.size() == 1 ? " block" : " blocks",
                                flags.runs > 1 ? str(" in ", flags.runs, " repeats") : "",
                                ", and a speedup's interval needs ", kFewestBlocks,
                                ": more examples, a smaller batch_size or --runs give more"));
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
