#include "src/runs/workload.hpp"

#include <algorithm>
#include <functional>

#include "src/prompt/prompt_choice.hpp"
#include "src/runs/arms.hpp"
#include "src/runs/baseline_arms.hpp"
#include "src/support/error.hpp"
#include "src/support/number_text.hpp"
#include "src/support/project_files.hpp"
#include "src/support/text.hpp"
#include "src/tasks/request.hpp"

namespace pardec {

namespace {

/// Adds worked examples from split train to the prompts; from the evaluated split if the dataset
/// has no other, where they are excluded from evaluation. `alone`: an arm asks field by field;
/// `together`: an arm asks for all fields at once.
void add_shots(Workload& work, int count, const std::function<Dataset()>& train, bool alone,
               bool together) {
  for (const Protocol& protocol : work.protocols)
    if (alone && protocol.prompt.shot.empty())
      throw ConfigError(str("prompt ", protocol.prompt.name, " has no [shot] section for the ",
                            count, " worked examples of dataset ", work.dataset.name,
                            "; expected one, or `shots=0`"));
  const auto& splits = work.entry->splits;
  const bool own = work.entry->name == "jsonl";
  const bool has_train = std::find(splits.begin(), splits.end(), "train") != splits.end();
  const auto source = [&] {
    if (has_train) return train();
    try {
      if (own && work.dataset.name == work.entry->name) return train();
    } catch (const ConfigError&) {  // there is no file train.jsonl
    }
    return work.dataset;
  };
  try {
    const Dataset from = source();
    std::vector<Example> shown = examples_shown(from, count);
    for (Protocol& protocol : work.protocols) protocol.shots = make_shots(shown, protocol.prompt);
    if (together) {
      const auto worked = examples_worked(from, work.dataset.examples, count);
      for (Protocol& protocol : work.protocols) protocol.worked = worked;
      for (const auto& [category, examples] : worked)
        shown.insert(shown.end(), examples.begin(), examples.end());
    }
    leave_out_seen(work.dataset.examples, shown);
  } catch (const ConfigError& error) {
    throw ConfigError(str("dataset ", work.dataset.name, ": its prompt shows ", count,
                          " worked examples: ", error.what(), "; `shots` gives another number"));
  }
}

bool asks_in(Form form, Shape shape, const std::vector<Arm>& arms) {
  return std::any_of(arms.begin(), arms.end(), [&](const Arm& arm) {
    return not_applicable(shape, *arm.algorithm).empty() && form_on(shape, *arm.algorithm) == form;
  });
}

/// Leaves out an added baseline if none of the arms that it was added for runs on the dataset, or
/// if there all arms ask in the same way.
void leave_out_unneeded(Workload& work, const std::vector<Arm>& arms) {
  for (const AddedBaseline& added : added_baselines(arms)) {
    if (!work.runs(added.arm)) continue;
    const bool needed =
        std::any_of(added.serves.begin(), added.serves.end(), [&](const std::string& label) {
          const auto arm = std::find_if(arms.begin(), arms.end(),
                                        [&](const Arm& one) { return one.label == label; });
          return work.runs(static_cast<size_t>(arm - arms.begin()));
        });
    if (work.dataset.shape == Shape::open)
      work.not_applicable[added.arm] = "asks an open prompt as the other arms do";
    else if (!needed)
      work.not_applicable[added.arm] =
          str("is only a baseline of ", join(added.serves, ", "), ", which does not run here");
  }
}

}  // namespace

bool asks_alone(Shape shape, const std::vector<Arm>& arms) {
  return asks_in(Form::value, shape, arms);
}

std::vector<const Example*> Workload::examples_of(const JobPlan& job) const {
  std::vector<const Example*> of_job;
  for (const int index : job.examples) of_job.push_back(&examples[static_cast<size_t>(index)]);
  return of_job;
}

std::vector<Workload> load_workloads(const RunSpec& spec) {
  const std::vector<Arm>& arms = spec.arms;
  std::vector<Workload> workloads;
  for (const auto& name : spec.datasets) {
    const auto own = parse_own_file(name);
    const DatasetEntry& entry = find_dataset(own ? "jsonl" : name);
    Workload work;
    work.entry = &entry;
    const auto load = [&](const std::string& split) {
      if (own) return load_own_file(*own);
      return load_dataset(entry,
                          spec.data_root.empty()
                              ? std::nullopt
                              : std::optional<std::filesystem::path>(spec.data_root),
                          split, project_file("datasets/samples"));
    };
    work.dataset = load(spec.split);
    if (spec.strict_columns && !work.dataset.unread.empty())
      throw ConfigError(work.dataset.unread.front().first);
    if (work.dataset.shape == Shape::open && forced_arm(arms, "references"))
      throw ConfigError(str("`oracle=references` forces a short answer to each field, and ", name,
                            " has open prompts; leave it out, or force what a run chose with ",
                            "`oracle=recorded:RUN`"));
    if (spec.unseen) work.seen = leave_out_seen(work.dataset.examples, load("train").examples);
    const auto own_limit = spec.answer_limits.find(work.dataset.name);
    for (const ModelOptions& networks : networks_of(spec))
      work.protocols.push_back(
          {choose_prompt(spec.decode.prompt_file, prompt_name(entry, work.dataset),
                         texts_folder(networks)),
           {},
           entry.answer_ids,
           own_limit == spec.answer_limits.end() ? 0 : own_limit->second});
    const bool alone = asks_alone(work.dataset.shape, arms),
               whole = work.dataset.shape == Shape::attributes &&
                       asks_in(Form::json, work.dataset.shape, arms);
    if (const int shots = spec.shots.value_or(entry.shots);
        shots > 0 && (alone || whole || asks_in(Form::free, work.dataset.shape, arms)))
      add_shots(
          work, shots, [&] { return load("train"); }, alone, whole);
    for (const Arm& arm : arms)
      work.not_applicable.push_back(not_applicable(work.dataset.shape, *arm.algorithm));
    leave_out_unneeded(work, arms);
    std::vector<Stacking> stackings;
    std::vector<int> batches;
    int together = 1;  // maximum number of examples of one category in a job
    for (size_t a = 0; a < arms.size(); ++a) {
      stackings.push_back(work.runs(a) ? stacking_on(work.dataset.shape, *arms[a].algorithm,
                                                     work.protocols[a].prompt)
                                       : Stacking{});
      batches.push_back(work.runs(a) ? arms[a].batch_size : 1);
      if (!stackings.back().across_categories)
        together = std::max(together, stackings.back().examples);
    }
    work.examples =
        select(work.dataset.examples, spec.limit, spec.offset, spec.decode.seed, together);
    if (work.examples.empty())
      throw ConfigError(str("dataset ", name, ": `offset` ", spec.offset, " leaves none of its ",
                            counted(std::ssize(work.dataset.examples), "example")));
    const auto examples = static_cast<int>(work.examples.size());
    work.filling_block = filling_block_examples(examples, stackings, batches);
    work.block = spec.block > 0
                     ? spec.block
                     : std::min(default_block_examples(work.examples, stackings, batches),
                                std::max(1, examples / spec.shard.count));
    work.blocks = plan_blocks(work.examples, stackings, work.block);
    for (BlockPlan& plan : work.blocks)
      for (size_t a = 0; a < arms.size(); ++a)
        if (!work.runs(a)) plan.jobs[a].clear();
    workloads.push_back(std::move(work));
  }
  return workloads;
}

std::optional<size_t> baseline_on(const RunSpec& spec, const Workload& work, size_t arm) {
  return baseline_of(spec.arms, arm, spec.baseline, work.dataset.shape == Shape::open);
}

void check_any_runs(const RunSpec& spec, const std::vector<Workload>& workloads) {
  for (const Workload& work : workloads)
    for (size_t a = 0; a < spec.arms.size(); ++a)
      if (work.runs(a)) return;
  throw ConfigError(str("nothing can be run: ", spec.arms[0].label, " on ", spec.datasets[0],
                        ": it ", workloads[0].not_applicable[0], "; `dry_run` shows all"));
}

}  // namespace pardec
