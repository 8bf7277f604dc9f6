#include "src/runs/prepare.hpp"

#include <algorithm>

#include "decoders/training_formats.hpp"
#include "src/model/device.hpp"
#include "src/model/ranks/ranks.hpp"
#include "src/prompt/prompt_choice.hpp"
#include "src/runs/baseline_arms.hpp"
#include "src/runs/record.hpp"
#include "src/scoring/dataset_rows.hpp"
#include "src/support/error.hpp"
#include "src/support/hashing.hpp"
#include "src/support/rng.hpp"
#include "src/support/text.hpp"
#include "src/support/version.hpp"
#include "src/tasks/checkpoint_fit.hpp"
#include "src/tasks/request.hpp"

namespace pardec {

namespace {

Json not_applicable_pairs(const RunSpec& spec, const std::vector<Workload>& workloads) {
  Json pairs = Json::array();
  for (const auto& work : workloads)
    for (size_t a = 0; a < spec.arms.size(); ++a)
      if (!work.runs(a))
        pairs.push_back({{"dataset", work.dataset.name},
                         {"arm", spec.arms[a].label},
                         {"reason", work.not_applicable[a]}});
  for (const auto& work : workloads)
    for (const RefusedArm& arm : spec.refused)
      pairs.push_back({{"dataset", work.dataset.name}, {"arm", arm.label}, {"reason", arm.reason}});
  return pairs;
}

/// The options in which a cell's jobs differ from the training formats of its network. For stacks,
/// the largest actual stack counts, not the requested one.
std::vector<std::string> untaught_in(const RunCell& cell, const Json& settings) {
  const DecoderEntry& entry = find_decoder(cell.arm->decoder);
  Json options = Json::parse(dump(cell.decoder().options()));
  const std::string stack(entry.stack_option);
  if (const Json taught = trained_options(entry, settings);
      taught.contains(stack) && options.contains(stack) && options[stack] != taught[stack]) {
    size_t most = 0;
    for (size_t block = 0; block < cell.work->blocks.size(); ++block)
      for (const JobPlan& job : cell.jobs(block)) most = std::max(most, job.examples.size());
    options[stack] = most;
  }
  if (cell.form() == Form::free) options.erase("ask");  // there is only one way to ask open prompts
  return options_beyond_training(entry, options, settings);
}

/// Whether a decoder needs a network trained on its format, and neither a training record nor
/// control tokens of the network show that this one was.
bool maybe_untaught(const RunCell& cell, const Checkpoint& checkpoint) {
  if (!find_decoder(cell.arm->decoder).trained || checkpoint.formats || checkpoint.untrained)
    return false;
  for (const auto& [option, value] : cell.arm->options.items())
    // another id is used as a control token
    if (option.find("token") != std::string::npos) return true;
  return cell.decoder()
      .needs(checkpoint.tokenizer ? &*checkpoint.tokenizer : nullptr, checkpoint.model.config())
      .empty();
}

/// Describes prompts that differ from those that the network was trained with; otherwise empty.
std::string taught_otherwise(const RunCell& cell, const Session& session) {
  // Training covers attributes only, so no wording of other tasks was trained.
  return taught_otherwise(
      session.checkpoint.folder, session.chat,
      cell.work->dataset.shape == Shape::attributes ? &cell.protocol().prompt : nullptr);
}

/// Everything that determines the answers and their measurement. On resume, `differences` compares
/// it key by key.
Json config_of(const RunSpec& spec, const RunCell& cell, const Session& session,
               const ServiceArm* service) {
  std::vector<std::string> labels;  // included since blocks end where jobs of all arms end
  for (const Arm& arm : spec.arms) labels.push_back(arm.label);
  const Workload& work = *cell.work;
  const Limits limits = limits_on(cell.protocol(), cell.form(), spec.decode);
  const ShownExamples shots = shown_in(cell.protocol(), cell.form());
  Json config = {{"dataset", work.dataset.name},
                 {"split", work.dataset.split},
                 {"limit", spec.limit},
                 {"offset", spec.offset},
                 {"unseen", spec.unseen},
                 {"block", spec.block},
                 {"arms", labels},
                 {"temperature", spec.decode.temperature},
                 {"top_k", spec.decode.top_k},
                 {"top_p", spec.decode.top_p},
                 {"max_new_tokens", limits.max_new_tokens},
                 {"per_field", limits.per_field},
                 {"shots", shots.count},
                 {"shots_hash", shots.hash},
                 {"ignore_eos", spec.decode.ignore_eos},
                 {"cascade", cell.arm->cascade},
                 {"cache_blocks", cache_of(spec, *cell.arm).blocks},
                 {"cache_watermark", spec.cache.watermark},
                 {"chat_template", session.chat.name()},
                 {"chat_template_hash", sha256(session.chat.text())},
                 {"chat_set", spec.decode.chat_set}};
  if (!session.note.empty())
    config["generation_config"] = {
        {"settings", session.checkpoint.model.config().generation.applied},
        {"applied", !spec.decode.no_generation_config},
        {"note", session.note}};
  if (const auto& law = cell.arm->oracle.acceptance; law && law->length > 0)
    config["accept_length"] = law->length;
  if (!session.context.more_eos.empty()) config["eos"] = session.context.more_eos;
  if (const auto notes = session.end_notes(); !notes.empty() && !spec.decode.ignore_eos)
    config["unused_ends"] = notes;
  if (spec.decode.thinking != DecodeOptions().thinking) config["thinking"] = spec.decode.thinking;
  if (const std::string note = taught_otherwise(cell, session); !note.empty())
    config["taught_otherwise"] = note;
  auto untaught = untaught_in(cell, read_training_record(session.checkpoint.folder).settings);
  if (cell.arm->oracle.text.empty() && maybe_untaught(cell, session.checkpoint))
    untaught.push_back(str("nothing says that it was trained for what ", cell.arm->decoder,
                           " needs (no training.json)"));
  if (!untaught.empty()) config["options_beyond_training"] = untaught;
  if (!cell.arm->trained_options.empty()) config["trained_options"] = cell.arm->trained_options;
  if (service) config[kService] = service->description();
  if (spec.model.ranks) config["tensor_processes"] = spec.model.ranks->size();
  if (spec.target_ci > 0) {
    config["target_ci"] = spec.target_ci;
    config["planned_blocks"] = work.blocks.size();
  }
  return config;
}

RunRow run_row(const RunSpec& spec, const RunCell& cell, ArmSessions& sessions, Store& store,
               const Json& not_applicable) {
  const Session& session = sessions.of(*cell.arm);
  const ServiceArm* const service = sessions.service(*cell.arm);
  const Workload& work = *cell.work;
  const Arm& arm = *cell.arm;
  RunRow row;
  row.uuid = make_uuid();
  row.label = arm.label;
  row.decoder = arm.decoder;
  row.options = Json::parse(dump(cell.decoder().options()));
  row.form = name(cell.form());
  if (const auto baseline = baseline_on(spec, work, cell.index))
    row.baseline = spec.arms[*baseline].label;
  row.dataset = dataset_row(work.dataset);
  row.model = service ? service->model_row() : model_row(&store, session.checkpoint);
  if (session.draft) row.draft = model_row(&store, *session.draft);
  row.config = config_of(spec, cell, session, service);
  if (!arm.oracle.text.empty()) row.oracle = arm.oracle.text;
  row.untrained = !service && untrained_for(session.checkpoint, row.decoder);
  row.seed = arm.seed.value_or(spec.decode.seed);
  row.device = service ? kService : spec.model.device;
  row.dtype = service ? "-" : name(chosen_dtype(networks_of(spec, arm)));
  row.threads = threads();
  row.batch_size = arm.batch_size;
  row.repeats = spec.runs;
  row.order = spec.order;
  row.shard = spec.shard.text;
  row.commit = version().commit;
  row.build_type = version().build_type;
  row.prompt_hash =
      sha256(cell.protocol().prompt.content + (cell.wording ? cell.wording->content : ""));
  row.argv = spec.argv;
  row.environment = service ? environment_json(std::nullopt, Dtype::fp32)
                            : environment_json(spec.model.device, parse_dtype(row.dtype));
  Json given = spec.given;
  given["datasets"] = spec.datasets;
  given[kNotApplicable] = not_applicable;
  for (const AddedBaseline& one : added_baselines(spec.arms))
    given[kAddedBaselines].push_back({{"arm", one.label}, {"for", one.serves}});
  row.experiment = ExperimentRow{spec.name, std::move(given)};
  return row;
}

/// Continues the newest invocation of these arms under its own ids, or refuses to, with the
/// differences. Returns its id.
std::string find_resumable(const RunSpec& spec, std::vector<RunCell>& cells, Store& store,
                           const Notes& notes) {
  std::string chosen;
  for (RunCell& cell : cells) {
    RunRow& now = cell.row;
    RunFilter filter;
    filter.label = now.label;
    filter.dataset = now.dataset.name;
    filter.split = now.dataset.split;
    filter.standin = now.dataset.standin;
    filter.invocation = chosen;
    const auto found = store.find_runs(filter);
    if (found.empty()) {
      if (chosen.empty())
        throw ConfigError(str("`resume`: ", spec.db, " has no run of arm '", now.label, "' on ",
                              now.dataset.name, " ", now.dataset.split_text(),
                              "; leave `resume` out to begin one"));
      continue;  // killed before this arm began
    }
    // Each of several shards continues its own run.
    const auto own = std::find_if(found.begin(), found.end(),
                                  [&](const RunRow& run) { return run.shard == now.shard; });
    const RunRow& old = own == found.end() ? found.front() : *own;
    if (const auto different = differences(old, now); !different.empty())
      throw ConfigError(str("`resume`: arm ", old.label, " on ", old.dataset.name, " of run ",
                            old.invocation.substr(0, 8),
                            " was made with other settings: ", join(different, "; "),
                            ". Give the same ones, or leave `resume` out to begin a new run"));
    if (chosen.empty())
      for (const RunRow& other : found)
        if (other.invocation != old.invocation && other.status != RunStatus::done &&
            differences(other, now).empty())
          tell(notes, str("`resume`: continues run ", old.invocation.substr(0, 8), ", the newest; ",
                          other.invocation.substr(0, 8),
                          " has the same settings and is not finished either; it stays unchanged"));
    chosen = old.invocation;
    now.uuid = old.uuid;
  }
  return chosen;
}

/// Finds the newest invocation of these arms with these settings; empty: there is none. An
/// invocation that was killed at its start may not have all arms.
std::string find_same(std::vector<RunCell>& cells, Store& store) {
  const auto runs_like = [&](const RunRow& now, const std::string& invocation) {
    RunFilter filter;
    filter.label = now.label;
    filter.dataset = now.dataset.name;
    filter.split = now.dataset.split;
    filter.standin = now.dataset.standin;
    filter.invocation = invocation;
    return store.find_runs(filter);
  };
  for (const RunRow& one : runs_like(cells.front().row, "")) {
    if (!differences(one, cells.front().row).empty()) continue;
    std::vector<std::string> uuids;
    const bool same = std::all_of(cells.begin(), cells.end(), [&](const RunCell& cell) {
      const auto found = runs_like(cell.row, one.invocation);
      uuids.push_back(found.empty() ? cell.row.uuid : found.front().uuid);
      return found.empty() || differences(found.front(), cell.row).empty();
    });
    if (!same) continue;
    for (size_t c = 0; c < cells.size(); ++c) cells[c].row.uuid = uuids[c];
    return one.invocation;
  }
  return "";
}

/// ConfigError: the recording does not include a job of this cell.
Recording recording_for(const RunCell& cell, Store& store) {
  Recording recording = read_recording(store, cell.arm->oracle.run, cell.row);
  for (size_t block = 0; block < cell.work->blocks.size(); ++block)
    for (const JobPlan& job : cell.jobs(block))
      if (!recording.contains(job.key))
        throw ConfigError(str("`oracle` ", cell.arm->oracle.text, ": the recording of arm '",
                              cell.arm->label, "' on ", cell.work->dataset.name, " has no job ",
                              job_name(job.key),
                              " without error; expected the examples that it was made of"));
  return recording;
}

}  // namespace

std::vector<RunCell> make_cells(const RunSpec& spec, const std::vector<Workload>& workloads,
                                ArmSessions& sessions) {
  for (const Arm& arm : spec.arms) {
    arm.algorithm->check(sessions.of(arm).context);
    sessions.service(arm);  // asked how it takes prompts
  }
  std::vector<RunCell> cells;
  for (const Workload& work : workloads)
    for (size_t a = 0; a < spec.arms.size(); ++a) {
      if (!work.runs(a)) continue;
      RunCell cell{.work = &work, .index = a, .arm = &spec.arms[a]};
      if (const auto wording = cell.decoder().wording(); !wording.empty())
        cell.wording = choose_prompt("", wording, texts_folder(networks_of(spec, *cell.arm)));
      cells.push_back(std::move(cell));
    }
  return cells;
}

void make_rows(const RunSpec& spec, const std::vector<Workload>& workloads, ArmSessions& sessions,
               Store& store, std::vector<RunCell>& cells) {
  const Json not_applicable = not_applicable_pairs(spec, workloads);
  for (const Arm& arm : spec.arms)  // arm by arm, since only one arm's networks may be in memory
    for (RunCell& cell : cells)
      if (cell.arm == &arm) {
        const Session& session = sessions.of(arm);
        cell.row = run_row(spec, cell, sessions, store, not_applicable);
        if (arm.algorithm->elsewhere()) continue;  // its network is another one
        cell.notes = session.file_notes();
        for (const std::string& note : {session.note, session.checkpoint.note})
          if (!note.empty()) cell.notes.insert(cell.notes.begin(), note);
      }
  for (RunCell& cell : cells)
    if (cell.arm->oracle.kind == "recorded") cell.recording = recording_for(cell, store);
}

bool prepare(const RunSpec& spec, const std::vector<Workload>& workloads, ArmSessions& sessions,
             Store& store, std::vector<RunCell>& cells, const Notes& notes) {
  make_rows(spec, workloads, sessions, store, cells);
  const std::string found = spec.resume  ? find_resumable(spec, cells, store, notes)
                            : spec.go_on ? find_same(cells, store)
                                         : "";
  const std::string invocation = found.empty() ? make_uuid() : found;
  for (RunCell& cell : cells) cell.row.invocation = invocation;
  return !found.empty();
}

Request make_request(const RunSpec& spec, const RunCell& cell, const JobPlan& plan, int repeat,
                     ArmSessions& sessions) {
  const Session& session = sessions.of(*cell.arm);
  const ServiceArm* const service = sessions.service(*cell.arm);
  const auto examples = cell.work->examples_of(plan);
  Request request =
      make_request(job_name(plan.key), examples, cell.form(), cell.protocol(), spec.decode,
                   session.chat, *session.tokenizer(), service && service->needs_words());
  request.job.seed = job_seed(cell.arm->seed.value_or(spec.decode.seed), plan.key);
  if (repeat > 0) request.job.seed = derive_seed(request.job.seed, str("repeat ", repeat));
  if (cell.wording) request.wording = &*cell.wording;
  request.acceptance = cell.arm->oracle.acceptance;
  request.thinking = session.thinking;
  // forced text is never a thought
  if (!cell.arm->oracle.text.empty()) request.thinking.keep = true;
  if (cell.arm->oracle.kind == "recorded")
    request.oracle = cell.recording.at(plan.key);
  else if (cell.arm->oracle.kind == "references")
    request.oracle =
        cell.decoder().reference_oracle(request, references_of(examples), session.context);
  return request;
}

}  // namespace pardec
