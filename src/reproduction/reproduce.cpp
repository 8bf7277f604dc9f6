#include "src/reproduction/reproduce.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "src/group/group.hpp"
#include "src/model/device.hpp"
#include "src/model/machine.hpp"
#include "src/reproduction/paper_differences.hpp"
#include "src/reproduction/scale_inputs.hpp"
#include "src/runs/arm_sessions.hpp"
#include "src/runs/deadline.hpp"
#include "src/runs/execute.hpp"
#include "src/runs/shared_run.hpp"
#include "src/scoring/ask_judge.hpp"
#include "src/store/invocations.hpp"
#include "src/support/error.hpp"
#include "src/support/text.hpp"
#include "src/support/version.hpp"

namespace pardec {

namespace {

/// The newest run of an earlier invocation with the same scale. `to_continue`: only a run by this
/// program, since the times of different programs cannot be compared.
std::optional<RunRow> earlier(const RunSpec& spec, const OpenOptions& open, bool to_continue) {
  if (!Store::exists(spec.db, open)) return std::nullopt;
  Store store(spec.db, {.read_only = true});
  for (const RunRow& run : store.find_runs({}))
    if (run.experiment && run.experiment->name == spec.name &&
        (!to_continue || run.commit == version().commit) &&
        run.experiment->json.value("scale", Json()) == spec.given["scale"])
      return run;
  return std::nullopt;
}

bool whole(const RunSpec& spec, const std::string& invocation) {
  Store store(spec.db, {.read_only = true});
  const auto runs = store.find_runs({.invocation = invocation});
  return std::all_of(runs.begin(), runs.end(),
                     [](const RunRow& run) { return run.status == RunStatus::done; });
}

double balance_here(const PaperItem& item, const std::string& scale, const RunRow& run) {
  // What is measured here is this processor.
  if (run.device != "cpu") return std::nan("");
  if (std::none_of(item.claims.begin(), item.claims.end(), [&](const Claim& claim) {
        return claim.tested_at(scale) &&
               std::any_of(claim.tests.begin(), claim.tests.end(),
                           [](const ClaimTest& test) { return test.below_balance; });
      }))
    return std::nan("");
  const Dtype type = parse_dtype(run.dtype == "auto" ? "bf16" : run.dtype);
  const MachineSpeed speed = measure_machine(type);
  const double bytes = type == parse_dtype("fp32") ? 4 : 2;
  return speed.flop_per_second / speed.bytes_per_second * bytes / 2;
}

/// Sets the evidence and differences from an invocation.
void take_run(Reproduction& result, std::shared_ptr<const StoredRun> run, Lacking lacking) {
  result.run = std::move(run);
  const Comparison& comparison = result.run->comparison();
  result.evidence = std::make_unique<StoredEvidence>(
      result.run, std::move(lacking), is_smaller(*result.item, comparison),
      balance_here(*result.item, result.scale, comparison.arms.front().run.run),
      unlike_papers_training(*result.item, comparison),
      result.item->scale(result.scale).value("meant", std::set<std::string>()));
  result.differs = differences_from(*result.item, comparison, comparison.judged);
}

void test_claims(Reproduction& result) {
  for (const Claim& claim : result.item->claims)
    if (claim.tested_at(result.scale))
      result.findings.push_back(test_claim(claim, result.scale, *result.evidence));
}

/// Asks a judge for the verdicts that the scale's claims need and that are not stored.
void ask_for_claims(const Reproduction& result, const ReproduceOptions& options,
                    const std::string& invocation) {
  std::set<std::string> protocols;
  for (const Claim& claim : result.item->claims)
    if (claim.tested_at(result.scale))
      for (const ClaimTest& test : claim.tests)
        protocols.insert(protocol_for(score_of(test.metric)));
  protocols.erase("");
  if (protocols.empty()) {
    tell(options.notes, str(result.item->name,
                            ": `judge` is not asked, no claim of it at this scale needs a judge"));
    return;
  }
  Store store(options.db);
  for (const std::string& protocol : protocols)
    if (!options.stop.stop_requested())
      judge_by(store, invocation, protocol, {}, *options.judge,
               {.progress = options.progress, .stop = options.stop, .notes = options.notes});
}

void name_arms(Reproduction& result, const Json& scale) {
  for (const Json& arm : scale.value("decoders", Json::array()))
    result.arms.push_back(arm.value("label", arm.value("name", "")));
  result.baseline = scale.value("baseline", "");
}

/// The processes that can do this run together. Null: this process does it alone.
Group* group_for(const RunSpec& spec, const ReproduceOptions& options) {
  if (!options.group) return nullptr;
  try {
    check_shared(spec);
  } catch (const ConfigError& error) {
    tell(options.notes, str(spec.name, ": only one process does this run: ", error.what()));
    return nullptr;
  }
  return options.group;
}

/// Runs the scale's experiment, or finds its stored results.
void measure(Reproduction& result, const Json& scale, const ReproduceOptions& options) {
  Runnable runnable = runnable_of(scale, options);
  if (!runnable.any) {
    result.evidence = std::make_unique<NoEvidence>(runnable.lacking);
    return;
  }
  result.baseline = runnable.experiment.value("baseline", "");
  const PaperItem& item = *result.item;
  const std::string name = work_of(item, result.scale);
  const Deadline deadline(options.stop, options.effort.seconds);
  RunSpec spec = spec_of(runnable, name, item.file, options);
  ArmSessions sessions(spec);
  const OpenOptions open{.create_folders = options.create_folders};
  const auto before = earlier(spec, open, options.effort.runs);
  if (!before && !could_be_tested(item, result.scale, runnable.lacking)) {
    result.evidence = std::make_unique<NoEvidence>(runnable.lacking);
    return;
  }
  if (!options.effort.runs && !before) {
    result.evidence = std::make_unique<NoEvidence>(Lacking{{}, {{"", "time"}}});
    return;
  }
  std::string invocation = before ? before->invocation : "";
  if (options.effort.runs && (!before || !whole(spec, invocation))) {
    spec.go_on = true;
    const auto workloads = load_workloads(spec);
    check_any_runs(spec, workloads);
    Group* const group = group_for(spec, options);
    if (group) {
      result.shared = true;
      const auto& seconds = options.effort.seconds;
      group->broadcast(dump(Json{{"item", item.name},
                                 {"scale", result.scale},
                                 {"seconds", seconds ? Json(*seconds) : Json()}}));
      group->barrier();  // see follow_reproductions
    }
    invocation = execute(spec, workloads, sessions,
                         {.stop = options.stop,
                          .until = deadline.token(),
                          .create_folders = options.create_folders,
                          .notes = options.notes,
                          .group = group})
                     .invocation;
  }
  if (invocation.empty()) {
    result.evidence = std::make_unique<NoEvidence>(Lacking{{}, {{"", "time"}}});
    return;
  }
  if (options.judge) try {
      ask_for_claims(result, options, invocation);
    } catch (const Error& error) {  // show the measurements nevertheless
      result.judge_failed = true;
      tell(options.notes, str(item.name, ": ", visible_text(error.what())));
    }
  result.store = std::make_unique<Store>(options.db, OpenOptions{.read_only = true});
  take_run(result, std::make_shared<StoredRun>(*result.store, invocation, result.baseline),
           runnable.lacking);
  if (options.effort.seconds && !whole(spec, invocation))
    result.differs.push_back(
        {Difference::Of::budget,
         "budget: its time ended before the run did; the same command with more time goes on"});
}

}  // namespace

std::string work_of(const PaperItem& item, const std::string& scale) {
  if (!item.scales.contains(scale)) return "";
  const Json spec = item.scale(scale);
  if (!spec.contains("decoders")) return "";
  return spec.contains("bound") ? dump(spec) : spec.value("shared", str(item.name, "/", scale));
}

bool runs_here(const PaperItem& item, const ReproduceOptions& options) {
  try {
    const Runnable runnable = runnable_of(item.scale(options.scale), options);
    return runnable.any && could_be_tested(item, options.scale, runnable.lacking);
  } catch (const Error&) {  // it is reported when this item is reproduced
    return false;
  }
}

Reproduction reproduce(const PaperItem& item, const ReproduceOptions& options) {
  MadeBounds bounds;
  return reproduce(item, options, bounds);
}

Reproduction reproduce(const PaperItem& item, const ReproduceOptions& options, MadeBounds& bounds) {
  Reproduction result{.item = &item, .scale = options.scale};
  const Json spec = item.scale(options.scale);
  name_arms(result, spec);
  try {
    if (spec.contains("bound"))
      reproduce_bound(result, options, bounds);
    else if (spec.contains("stats") || spec.contains("attention") || spec.contains("training"))
      reproduce_counts(result, spec, options);
    else
      measure(result, spec, options);
  } catch (const Error& error) {
    if (!options.errors_lack || result.shared) throw;  // the other processes are in the run
    result.evidence = std::make_unique<NoEvidence>(Lacking{{}, {{"", error.what()}}});
  }
  test_claims(result);
  return result;
}

void follow_reproductions(const PaperCatalogue& papers, const ReproduceOptions& options) {
  Group& group = *options.group;
  for (std::string work = group.broadcast(""); !work.empty(); work = group.broadcast("")) {
    const Json run = Json::parse(work);
    const auto item = std::find_if(papers.items.begin(), papers.items.end(),
                                   [&](const auto& one) { return one.name == run["item"]; });
    if (item == papers.items.end())
      throw ConfigError(str("the process of rank ", group.rank(), " has no item ",
                            run["item"].get<std::string>(), "; all need the same files"));
    // Datasets are made once on each machine.
    if (!group.first_on_machine()) group.barrier();
    const auto scale = run["scale"].get<std::string>();
    const Runnable runnable = runnable_of(item->scale(scale), options);
    if (group.first_on_machine()) group.barrier();
    const Deadline deadline(options.stop, run["seconds"].is_null()
                                              ? std::nullopt
                                              : std::optional(run["seconds"].get<double>()));
    RunSpec spec = spec_of(runnable, work_of(*item, scale), item->file, options);
    ArmSessions sessions(spec);
    spec.go_on = true;
    execute(spec, load_workloads(spec), sessions,
            {.stop = options.stop,
             .until = deadline.token(),
             .create_folders = options.create_folders,
             .group = &group});
  }
}

void end_reproductions(Group& group) { group.broadcast(""); }

namespace {

/// Datasets and arms of a scale that a run does not have.
Lacking not_in(const Comparison& comparison, const Json& scale) {
  std::set<std::string> datasets, arms;
  for (const ArmFinding& arm : comparison.arms) {
    datasets.insert(arm.run.run.dataset.name);
    arms.insert(arm.run.run.label);
  }
  Lacking lacking;
  const std::string baseline = scale.value("baseline", "");
  for (const Json& one : scale.value("datasets", Json::array()))
    if (const auto name = one.get<std::string>(); !datasets.contains(name))
      lacking.datasets[name] = str("dataset ", name, ", which that run does not have");
  for (const Json& arm : scale.value("decoders", Json::array()))
    if (const auto label = arm.value("label", arm.value("name", ""));
        !arms.contains(label) &&
        std::none_of(comparison.not_applicable.begin(), comparison.not_applicable.end(),
                     [&](const auto& one) { return one.first.second == label; }))
      lacking.arms[label] = str("arm ", label, ", which that run does not have");
  if (const auto lacks = lacking.arms.find(baseline); lacks != lacking.arms.end())
    lacking.baseline = lacks->second;
  return lacking;
}

}  // namespace

std::vector<Reproduction> reproduced(const PaperCatalogue& papers, Store& store,
                                     const std::string& invocation) {
  std::vector<Reproduction> results;
  const auto runs = store.find_runs({.invocation = invocation});
  if (runs.empty() || !runs.front().experiment ||
      !runs.front().experiment->json.contains("scale"))  // it was made by `run -c`
    return results;
  std::shared_ptr<const StoredRun> run;
  for (const PaperItem& item : papers.items)
    for (const auto& [scale, ignored] : item.scales.items()) {
      if (work_of(item, scale) != runs.front().experiment->name) continue;
      Reproduction& result = results.emplace_back(Reproduction{.item = &item, .scale = scale});
      name_arms(result, item.scale(scale));
      result.baseline.clear();
      if (!run) run = std::make_shared<StoredRun>(store, invocation, result.baseline);
      take_run(result, run, not_in(run->comparison(), item.scale(scale)));
      test_claims(result);
    }
  return results;
}

}  // namespace pardec
