#pragma once
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "src/store/store.hpp"
#include "src/support/text.hpp"

namespace pardec::test {

/// A run with a value in most columns.
inline RunRow example_run(const std::string& label = "hpd") {
  RunRow run;
  run.uuid = make_uuid();
  run.invocation = "invocation-1";
  run.label = label;
  run.decoder = label;
  run.options = {{"k_max", 30}, {"isolated", false}};
  run.form = "json";
  if (label != "ar") run.baseline = "ar";
  run.experiment = ExperimentRow{"table-1", {{"name", "table-1"}}};
  run.dataset = {"oa-mine", "test", "d1", true};
  run.model = {"/models/a", "m1", "7:1", {{"layers", 2}}};
  run.draft = ModelRow{"/models/b", "m2", "9:1", {{"layers", 1}}};
  run.config = {{"limit", 12}, {"hpd", {{"stack", 6}}}};
  run.seed = 0xFFFFFFFFFFFFFFF0u;
  run.device = "cpu";
  run.dtype = "bf16";
  run.threads = 2;
  run.batch_size = 4;
  run.repeats = 2;
  run.commit = "abc";
  run.build_type = "Release";
  run.prompt_hash = "p1";
  run.argv = {"pardec", "run", "--limit", "12"};
  run.environment = {{"cpu", "one"}};
  return run;
}

/// The keys "test-FIRST", ... of `count` samples.
inline std::vector<std::string> keys(int first, int count) {
  std::vector<std::string> out;
  for (int i = first; i < first + count; ++i) out.push_back(str("test-", i));
  return out;
}

/// Stores the beginning of a run, and `samples` samples of its dataset. Returns the run's id.
inline RowId begin(Store& store, const RunRow& run, int samples = 24) {
  const RowId id = store.begin_run(run);
  std::vector<SampleRow> rows;
  for (const std::string& key : keys(0, samples)) rows.push_back({key, "cluster-" + key, "Coffee"});
  store.put_samples(store.dataset_of(id), rows);
  return id;
}

/// A job with a stack of samples. Each sample has one generation with one field and one score. The
/// job has 10 chosen tokens in 4 forward passes.
struct Stack {
  JobRow job;
  std::vector<GenerationRow> generations;
};

inline Stack stack(RowId run, const std::vector<std::string>& samples, RowId block = 0,
                   std::string process = "p-1") {
  Stack out;
  out.job.run = run;
  out.job.block = block;
  out.job.key = samples;
  out.job.process = std::move(process);
  out.job.text = "whole";
  out.job.tokens = {1, 2, 3};
  out.job.stop = "eos";
  Counters& c = out.job.counters;
  c.prompt = 100;
  c.chosen = 10;
  c.forced = 5;
  c.fed = 14;
  c.text = 8;
  c.forwards = 4;
  c.prefill_ns = 1000;
  c.decode_ns = 2000;
  c.total_ns = 3000;
  c.cached_peak = 114;
  for (const std::int64_t length : {2, 2, 1, 2, 2, 1}) c.count_branch(length);
  c.emitted = {{1, 1}, {3, 3}};
  c.drafted = {4, 4};
  c.accepted = {3, 1};
  c.draft_forwards = 4;
  c.text_attended = 77;
  c.first_token_ns = 123;
  c.generated = 21;
  c.branch_tokens = 12;
  out.job.unforced = Json::array({7, 8});
  for (const std::string& sample : samples) {
    GenerationRow generation;
    generation.sample = sample;
    generation.text = "text of " + sample;
    generation.tokens = {4, 5};
    generation.fields = {{"Brand", "Lavazza", {4}, "terminator"}};
    generation.stop = "terminator";
    generation.scores = {{"exact_match", 1.0}};
    out.generations.push_back(generation);
  }
  return out;
}

inline Committed commit(Store& store, const Stack& stack) {
  return store.commit_job(stack.job, stack.generations);
}

/// The job without scores and with this error.
inline Stack failed(Stack stack, const std::string& error) {
  stack.job.error = error;
  for (GenerationRow& generation : stack.generations) generation.scores.clear();
  return stack;
}

/// Stores one block of a run with one job, and its time. Returns the result of Store::finish_block.
inline bool measure(Store& store, RowId run, int position, const std::vector<std::string>& samples,
                    std::int64_t wall_ns, const std::string& process = "p-1") {
  BlockRow block;
  block.run = run;
  block.position = position;
  block.samples = samples;
  block.arm_order = {"ar", "hpd"};
  const RowId id = store.begin_block(block);
  commit(store, stack(run, samples, id, process));
  return store.finish_block(id, process, wall_ns);
}

/// A BlockPairRow, and the key of its block as text.
struct KeyedPair : BlockPairRow {
  std::string key_text;
};
/// The pairs of blocks of two runs; see block_pairs of the store.
inline std::vector<KeyedPair> block_pairs(Store& store, RowId baseline, RowId method) {
  const Figures figures = store.figures(store.find_runs({}));
  const auto measured = [&](RowId id) -> const MeasuredBlocks& {
    return std::find_if(figures.runs.begin(), figures.runs.end(),
                        [&](const RunFigures& run) { return run.summary.run.id == id; })
        ->measured;
  };
  std::vector<KeyedPair> pairs;
  for (const BlockPairRow& pair : pardec::block_pairs(measured(baseline), measured(method)))
    pairs.push_back({pair, figures.names->block_keys[static_cast<std::size_t>(pair.key)]});
  return pairs;
}

}  // namespace pardec::test
