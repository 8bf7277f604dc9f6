#include "src/cli/dry_run.hpp"

#include <algorithm>
#include <iostream>
#include <set>

#include "src/checkpoint/checkpoint_notes.hpp"
#include "src/cli/data_flags.hpp"
#include "src/cli/machine_notes.hpp"
#include "src/cli/table_output.hpp"
#include "src/findings/comparison.hpp"
#include "src/model/device.hpp"
#include "src/report/comparison_notes.hpp"
#include "src/report/dataset_name.hpp"
#include "src/runs/arms.hpp"
#include "src/runs/baseline_arms.hpp"
#include "src/runs/prompt_sizes.hpp"
#include "src/support/error.hpp"
#include "src/support/number_text.hpp"
#include "src/support/text.hpp"
#include "src/tasks/checkpoint_fit.hpp"
#include "src/tasks/ends.hpp"
#include "src/tasks/request.hpp"

namespace pardec {

namespace {

/// Adds which jobs will fail for their prompts alone.
void add_size_notes(Table& table, const std::string& who, const PromptSizes& sizes,
                    std::int64_t jobs, const ModelConfig& config) {
  if (sizes.too_long)
    table.notes.push_back(str(who, ": ", sizes.too_long, " of ", counted(jobs, "job"),
                              " will overflow the context and fail: up to ", sizes.most,
                              " positions are needed, ", config.positions_key(), " is ",
                              config.positions()));
  if (sizes.refused)
    table.notes.push_back(str(who, ": ", sizes.refused, " of ", counted(jobs, "job"),
                              " cannot be asked and will fail, the first one since ", sizes.why));
}

/// Says where an arm's batch is not full for most of a block.
void add_fill_note(Table& table, const std::string& who, double full, std::int64_t jobs,
                   std::int64_t blocks, int batch_size) {
  if (jobs == 0 || full >= 0.5) return;
  table.notes.push_back(str(who, ": its batch of ", batch_size, " is full for ", percent(full, 0),
                            " of ", counted(jobs, "job"), " in ", counted(blocks, "block"),
                            "; a smaller batch_size, more examples or a longer --block fill it"));
}

static_assert(kLeastBlocks == kFewestBlocks);  // blocks by default, and what findings need

/// How long blocks are, and why.
std::string block_note(const RunSpec& spec, const Workload& work) {
  const std::string blocks = str(work.dataset.name, ": ", counted(std::ssize(work.blocks), "block"),
                                 " of about ", counted(work.block, "example"));
  if (spec.block > 0) return blocks + ", as --block says";
  if (std::ssize(work.blocks) == 1)
    return blocks + ", all that there are, since six cannot be made of them";
  if (work.block >= work.filling_block)
    return blocks + ", so that each arm's batch is full during three quarters of its jobs";
  return str(blocks, ", so that there are the ", kFewestBlocks, " that an interval needs",
             spec.shard.count > 1 ? " and one for each shard" : "",
             "; longer ones would fill the batches better: more examples (--limit) or a smaller "
             "batch_size do both");
}

/// What the dataset's protocol says of fields that are asked one by one.
std::string protocol_note(const RunSpec& spec, const Workload& work) {
  const Protocol& protocol = work.protocols.front();  // they differ in their wording alone
  const Limits limits = limits_on(protocol, Form::value, spec.decode);
  const bool own = !spec.decode.per_field && protocol.answer_ids > 0 && protocol.most_ids == 0;
  return str(work.dataset.name, ", asked field by field: answers of at most ",
             counted(limits.per_field, "id"),
             own ? " (the dataset's limit; --per-field gives another), " : ", ",
             counted(std::ssize(protocol.shots), "worked example"), " in the prompt");
}

/// What is to be seen of an arm's network without its weights.
struct ArmFace {
  std::optional<CheckpointFace> face;
  std::optional<ChatTemplate> chat;  ///< where there is a tokenizer
  Needs needs;
};

ArmFace look_at(const RunSpec& spec, const Arm& arm) {
  const ModelOptions networks = networks_of(spec, arm);
  ArmFace seen{read_face(networks), std::nullopt, {}};
  seen.needs = needs_of(*arm.algorithm, seen.face ? &*seen.face : nullptr, networks.draft_model);
  if (seen.face && seen.face->tokenizer)
    seen.chat = template_for(spec.decode.chat_template, tokenizer_folder(networks),
                             spec.decode.chat_set, parse_thinking(spec.decode.thinking));
  return seen;
}

/// Which arms run on which networks.
std::string networks_note(const RunSpec& spec) {
  const auto described = [&](const Arm& arm) {
    const ModelOptions networks = networks_of(spec, arm);
    return str(networks.model.empty() ? "(none given)" : networks.model,
               networks.adapter.empty() ? "" : " with adapter " + networks.adapter,
               networks.draft_model.empty() ? "" : " with draft " + networks.draft_model);
  };
  if (!several_networks(spec)) return "model: " + described(spec.arms.front());
  std::vector<std::string> parts;
  for (const Arm& arm : spec.arms) parts.push_back(str(arm.label, ": ", described(arm)));
  return "models: " + join(parts, ", ");
}

/// The ends that an arm's checkpoint names and answers do not have.
std::vector<std::string> end_notes(const RunSpec& spec, const ModelOptions& network,
                                   const ArmFace& seen) {
  const ModelConfig& config = seen.face->config;
  const Tokenizer* const tokenizer = seen.face->tokenizer ? &*seen.face->tokenizer : nullptr;
  std::vector<std::string> notes;
  for (const UnusedEnd& end :
       unused_ends(network, config, tokenizer, seen.chat ? &*seen.chat : nullptr,
                   given_ends(spec.decode.eos, config, tokenizer)))
    notes.push_back(describe(end, config));
  return notes;
}

/// What the networks' files say otherwise than they are computed.
void add_file_notes(Table& table, const RunSpec& spec, const std::vector<ArmFace>& seen) {
  std::set<std::string> said;
  const auto say = [&](const ModelOptions& network, const std::vector<std::string>& notes) {
    for (const std::string& note : notes)
      if (const std::string line = str(network.model, ": ", note); said.insert(line).second)
        table.notes.push_back(line);
  };
  for (size_t a = 0; a < seen.size(); ++a) {
    const ModelOptions network = networks_of(spec, spec.arms[a]);
    say(network, checkpoint_notes(network));
    if (!network.draft_model.empty()) {
      const ModelOptions draft = draft_options(network);
      say(draft, checkpoint_notes(draft));
    }
    if (seen[a].face && seen[a].face->tokenizer)
      if (std::string note = foreign_ids(*seen[a].face->tokenizer, seen[a].face->config);
          !note.empty())
        say(network, {std::move(note)});
    if (seen[a].face && !spec.decode.ignore_eos) say(network, end_notes(spec, network, seen[a]));
  }
}

}  // namespace

void print_plan(const RunSpec& spec, const std::vector<Workload>& workloads,
                const std::optional<MemoryPlan>& memory, TableFormat format) {
  const std::vector<Arm>& arms = spec.arms;
  Table table;
  table.title = "Plan (nothing is run)";
  table.columns = with_dataset({{"split"},
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
                                {"compared with"}});
  std::vector<ArmFace> seen;
  for (const Arm& arm : arms) seen.push_back(look_at(spec, arm));
  const auto jobs_of = [](const Workload& work, size_t arm) {
    std::int64_t jobs = 0;
    for (const auto& block : work.blocks) jobs += std::ssize(block.jobs[arm]);
    return jobs;
  };
  std::int64_t all_jobs = 0, tokenized = 0;
  for (const auto& work : workloads)
    for (size_t a = 0; a < arms.size(); ++a) all_jobs += jobs_of(work, a);
  std::optional<Progress> progress;
  if (std::any_of(seen.begin(), seen.end(), [](const ArmFace& arm) { return arm.chat; }))
    progress.emplace(spec.progress, "prompts", all_jobs);
  for (const auto& work : workloads)
    for (size_t a = 0; a < arms.size(); ++a) {
      const Shape shape = work.dataset.shape;
      const std::int64_t jobs = jobs_of(work, a);
      const double full = full_share(work.blocks, a, arms[a].batch_size);
      const std::string who = str(work.dataset.name, ", ", arms[a].label);
      const auto sizes =
          seen[a].chat && work.runs(a) && !seen[a].needs.lacking
              ? std::optional(prompt_sizes(spec, work, a, *seen[a].face, *seen[a].chat,
                                           [&] { progress->update(++tokenized, ""); }))
              : std::nullopt;
      const auto baseline = baseline_on(spec, work, a);
      table.rows.push_back(with_dataset(
          dataset_cells(work.dataset),
          {work.dataset.split, number_cell(static_cast<std::int64_t>(work.examples.size())),
           arms[a].label, arms[a].decoder, dump(arms[a].algorithm->options()),
           work.runs(a) ? std::string(name(form_on(shape, *arms[a].algorithm))) : "n/a",
           seen[a].needs.lacking ? "lacking" : seen[a].needs.text,
           number_cell(static_cast<std::int64_t>(arms[a].batch_size)),
           work.runs(a) ? number_cell(jobs * spec.runs) : Cell("n/a", Json()),
           number_cell(std::ssize(work.blocks)),
           number_cell(
               static_cast<double>(work.examples.size()) / static_cast<double>(work.blocks.size()),
               1),
           work.runs(a) ? Cell(percent(full, 0), Json(full)) : no_cell(),
           sizes && sizes->least
               ? Cell(str(*sizes->least, " to ", sizes->most), Json{*sizes->least, sizes->most})
               : no_cell(),
           sizes ? number_cell(sizes->too_long) : no_cell(),
           baseline ? arms[*baseline].label : "-"}));
      if (!work.runs(a)) table.notes.push_back(str("n/a: ", who, ": it ", work.not_applicable[a]));
      add_fill_note(table, who, full, jobs, std::ssize(work.blocks), arms[a].batch_size);
      if (sizes) add_size_notes(table, who, *sizes, jobs, seen[a].face->config);
    }
  progress.reset();
  table.notes.push_back(
      "full: share of the jobs during which the batch is full, since an arm ends a block with none "
      "in flight; positions: that jobs need, smallest to largest.");
  for (const auto& work : workloads) table.notes.push_back(block_note(spec, work));
  for (const AddedBaseline& one : added_baselines(arms))
    table.notes.push_back(added_baseline_note(one.label, one.serves));
  for (const auto& work : workloads)
    if (std::ssize(work.blocks) < kFewestBlocks &&
        std::any_of(arms.begin(), arms.end(), [&](const Arm& arm) {
          return baseline_on(spec, work, static_cast<size_t>(&arm - arms.data()));
        }))
      table.notes.push_back(str(work.dataset.name, ": ", counted(std::ssize(work.blocks), "block"),
                                spec.runs > 1 ? ", whatever the repeats" : "",
                                ", and a speedup's interval needs ", kFewestBlocks,
                                ": more examples, a smaller batch_size or --block give more"));
  for (const auto& work : workloads)
    if (asks_alone(work.dataset.shape, arms))
      table.notes.push_back(protocol_note(spec, work));
    else if (const auto shots = std::ssize(work.protocols.front().shots); shots > 0)
      table.notes.push_back(
          str(work.dataset.name, ": ", counted(shots, "worked example"), " before each prompt"));
  for (std::string& note : unread_notes(workloads)) table.notes.push_back(std::move(note));
  for (const auto& work : workloads)
    if (spec.unseen)
      table.notes.push_back(str(work.dataset.name, ": ", counted(work.seen, "example"), " of ",
                                work.dataset.split, " left out, whose text is also in train"));
  table.notes.push_back(str("database: ", spec.db, "; ", networks_note(spec)));
  std::set<std::string> generation;
  for (const ArmFace& arm : seen)
    if (arm.face)
      generation.insert(
          generation_note(arm.face->config.generation, spec.decode.no_generation_config));
  generation.erase("");
  table.notes.insert(table.notes.end(), generation.begin(), generation.end());
  add_file_notes(table, spec, seen);
  if (memory) table.notes.push_back(str("memory: ", describe(*memory, spec.cache)));
  if (spec.model.device == "cpu")
    if (const LeftByOthers left =
            left_by_others(spec.model.threads > 0 ? spec.model.threads : threads());
        !left.fits)
      table.notes.push_back(str("threads: ", left.text));
  if (std::any_of(seen.begin(), seen.end(), [](const ArmFace& arm) { return !arm.face; }))
    table.notes.push_back(
        "no network was looked at for what decoders need; --model DIR names one that is there");
  print_table(table, format);
  for (size_t a = 0; a < arms.size(); ++a)
    if (seen[a].needs.lacking)
      throw ConfigError(str("arm '", arms[a].label, "' cannot run: ", seen[a].needs.text));
}

}  // namespace pardec
