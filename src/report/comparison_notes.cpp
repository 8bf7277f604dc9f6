#include "src/report/comparison_notes.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "src/report/comparison_table.hpp"
#include "src/report/dataset_name.hpp"
#include "src/report/metric_title.hpp"
#include "src/report/roofline_table.hpp"
#include "src/support/hub_cache.hpp"
#include "src/support/number_text.hpp"
#include "src/support/text.hpp"

namespace pardec {

std::vector<RunSummary> runs_of(const Comparison& comparison) {
  std::vector<RunSummary> runs;
  for (const ArmFinding& arm : comparison.arms) runs.push_back(arm.run);
  return runs;
}

bool several_networks(const std::vector<RunSummary>& runs) {
  return std::any_of(runs.begin(), runs.end(), [&](const RunSummary& run) {
    return run.run.model.hash != runs.front().run.model.hash;
  });
}

bool several_baselines(const Comparison& comparison) {
  std::set<std::string> datasets;
  return std::any_of(comparison.arms.begin(), comparison.arms.end(), [&](const ArmFinding& arm) {
    return arm.is_baseline && !datasets.insert(arm.run.run.dataset.name).second;
  });
}

std::string network_name(const ModelRow& model) { return checkpoint_name(model.path); }

std::string networks_text(const RunRow& run) {
  return str(network_name(run.model), run.draft ? " + draft " + network_name(*run.draft) : "");
}

std::string title_of(const Comparison& comparison) {
  const RunRow& first = comparison.arms.front().run.run;
  const bool untrained = std::all_of(comparison.arms.begin(), comparison.arms.end(),
                                     [](const ArmFinding& arm) { return arm.run.run.untrained; });
  const bool several = several_networks(runs_of(comparison));
  const int processes = first.config.value("tensor_processes", 1);
  const std::string computed =
      first.device == kService ? "by a service" : str(first.dtype, ", ", first.device);
  return str(several ? "several networks" : network_name(first.model), ", ", computed, ", ",
             counted(first.threads, "thread"),
             processes > 1 ? str(" in each of ", processes, " processes") : "",
             untrained ? ", untrained" : "",
             comparison.forced() ? ", oracle " + join(comparison.oracles(), ", ") : "");
}

std::string size_of(const std::vector<RunSummary>& runs) {
  // "7", or "7 to 9" if they differ.
  const auto span = [&](const auto& number) {
    std::int64_t least = number(runs.front()), most = least;
    for (const RunSummary& run : runs) {
      least = std::min<std::int64_t>(least, number(run));
      most = std::max<std::int64_t>(most, number(run));
    }
    return std::pair(least == most ? std::to_string(most) : str(least, " to ", most), most);
  };
  const auto [examples, most_examples] = span([](const RunSummary& one) { return one.examples; });
  const auto [threads, most_threads] = span([](const RunSummary& one) { return one.run.threads; });
  const auto [repeats, most_repeats] = span([](const RunSummary& one) { return one.run.repeats; });
  return str("n ", examples, ", ", threads, plural(most_threads, " thread"), ", ", repeats,
             plural(most_repeats, " repeat"));
}

std::vector<std::string> oracle_notes(const Comparison& comparison) {
  const std::vector<std::string> oracles = comparison.oracles();
  std::vector<std::string> notes;
  for (const std::string& oracle : oracles) {
    std::vector<std::string> labels;
    for (const ArmFinding& arm : comparison.arms)
      if (arm.run.run.oracle == oracle &&
          std::find(labels.begin(), labels.end(), arm.run.run.label) == labels.end())
        labels.push_back(arm.run.run.label);
    const std::string whose = oracles.size() > 1 ? str(" of ", join(labels, ", ")) : "";
    if (oracle.starts_with("accept"))
      notes.push_back(str("oracle", whose, ", ", oracle, ": guesses were accepted ",
                          oracle.starts_with("accept-length")
                              ? "so that a pass with guesses gives this many tokens on average"
                              : "at this rate",
                          ", whatever the network chose. The speed is that of such guesses, and no "
                          "score is given."));
    else
      notes.push_back(str(
          "oracle", whose, ", ", oracle, ": ",
          oracle == "references" ? "the reference answers were forced, so the speed is that of "
                                   "right answers and no score is given"
                                 : "the tokens of a stored run were forced, so the speed is that "
                                   "of its answers and no score is given",
          ". same choices: share of the network's own choices that equal the baseline's after the "
          "same forced tokens."));
  }
  return notes;
}

std::string shard_note(const std::string& shards) {
  const auto slash = shards.rfind('/');
  const auto there = static_cast<int>(split(shards, ',').size());
  if (there == std::stoi(shards.substr(slash + 1))) return str("shards: ", shards, ".");
  return str("shards: ", shards, there == 1 ? " alone" : " alone of them",
             "; the examples of the other shards are left out. compare joins all shards with the "
             "same settings that the database has.");
}

std::string untrained_note(const std::vector<RunSummary>& runs) {
  std::vector<std::string> arms;
  for (const auto& run : runs)
    if (run.run.untrained && std::find(arms.begin(), arms.end(), run.run.label) == arms.end())
      arms.push_back(run.run.label);
  if (arms.empty()) return "";
  return str("untrained (", join(arms, ", "),
             "): the network's weights are random, or it was never trained for this decoder; its "
             "answers are noise.");
}

void add_not_applicable_notes(Table& table, const Comparison& comparison) {
  for (const auto& [pair, reason] : comparison.not_applicable)
    table.notes.push_back(str("n/a: ", pair.first, ", ", pair.second, ": ", reason, "."));
}

namespace {

/// Explains the largest possible speedups.
void add_allowed_note(Table& table, const Comparison& comparison) {
  if (comparison.allowing.empty()) return;
  std::set<std::string> traced;  // dataset and number of examples
  for (const ArmFinding& arm : comparison.arms)
    if (const auto& allowed = comparison.details_of(arm).allowed)
      traced.insert(
          str(arm.run.run.dataset.name, " ", allowed->examples, " of ", arm.run.examples));
  std::vector<std::string> others;
  for (const Hardware& machine : comparison.other_hardware)
    others.push_back(str(" ", machine.name, ": ", machine_text(machine), "."));
  table.notes.push_back(
      str("speedup at most: least time of the baseline's traced passes divided by that of the "
          "arm's, pass by pass (see 'roofline'), with as many jobs at a time as in the run; over ",
          join({traced.begin(), traced.end()}, ", "),
          " examples. There is none for arms without a trace of the baseline's examples, or "
          "without their draft passes; extra heads are not counted.",
          join(others, "")));
}

}  // namespace

std::string added_baseline_note(const std::string& label, const std::vector<std::string>& serves) {
  return str(label, ": added automatically, since ", join(serves, ", "),
             serves.size() == 1 ? " is" : " are",
             " compared with an AR that asks in the same way, and none was given; `baseline=LABEL` "
             "names another one");
}

void add_added_baseline_notes(Table& table, const Comparison& comparison) {
  std::set<std::string> said;
  for (const ArmFinding& arm : comparison.arms)
    if (arm.run.run.experiment)
      for (const Json& one : arm.run.run.experiment->json.value(kAddedBaselines, Json::array()))
        if (const auto label = one.at("arm").get<std::string>(); said.insert(label).second)
          table.notes.push_back(
              added_baseline_note(label, one.at("for").get<std::vector<std::string>>()) + ".");
}

void add_roofline_notes(Table& table, const Comparison& comparison) {
  if (comparison.hardware.empty()) return;
  std::vector<std::string> machines;
  for (const Hardware& machine : comparison.hardware)
    machines.push_back(str(machine.name, ", ", machine_text(machine)));
  table.notes.push_back(
      str("of roofline: the least time in which the machine (", join(machines, "; "),
          ") reads all weights once for each pass, and the cached keys and values, or computes, "
          "divided by wall time. The true share may be higher, since single passes are not looked "
          "at ('roofline' does so, with a trace). Above 100 %: the network fits into the "
          "processor's caches. There is none for arms with a draft network, failed jobs or blocks "
          "without a time."));
  add_allowed_note(table, comparison);
}

std::vector<std::string> judged_notes(const std::vector<JudgedShare>& judged) {
  std::map<std::string, std::vector<std::string>> arms;  // description -> numbers of verdicts
  std::map<std::string, std::set<std::string>> others;
  for (const JudgedShare& share : judged) {
    const std::string what = str(metric_title(share.total), " of ", share.dataset, ", by ",
                                 share.judge, " (", share.protocol, ")");
    arms[what].push_back(str(share.arm, " ", share.scored, " of ", share.of));
    others[what].insert(share.others.begin(), share.others.end());
  }
  std::vector<std::string> notes;
  for (const auto& [what, counts] : arms) {
    notes.push_back(str(what, ": ", join(counts, ", "), " have a verdict."));
    if (const auto& more = others.at(what); !more.empty())
      notes.back() +=
          str(" Of the judges that are networks it was asked last; verdicts of ",
              join({more.begin(), more.end()}, ", "), " are shown only by pardec judge.");
  }
  return notes;
}

void add_uncomputed_notes(Table& table, const Comparison& comparison) {
  for (std::string& note : judged_notes(comparison.judged)) table.notes.push_back(std::move(note));
  for (const Uncomputed& one : comparison.uncomputed) {
    std::vector<std::string> totals;
    for (const std::string_view total : one.totals) totals.push_back(metric_title(total));
    table.notes.push_back(one.metric.empty()
                              ? str("no ", join(totals, ", "), " of ", one.dataset,
                                    ": a judge gives it (pardec judge).")
                              : str("no ", join(totals, ", "), " of ", one.dataset,
                                    " yet; this computes it: pardec score `db` ",
                                    shell_word(comparison.db), " `run` ",
                                    comparison.invocation.substr(0, 8), " `metric` ", one.metric));
  }
}

/// One argument, quoted for a shell if necessary.
std::string shell_word(const std::string& argument) {
  const bool plain =
      !argument.empty() && argument.find_first_not_of(
                               "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                               "_-./=,:+@%") == std::string::npos;
  return plain ? argument : "'" + replace_all(argument, "'", "'\\''") + "'";
}

void add_warnings(Table& table, const Comparison& comparison) {
  for (const ArmFinding& arm : comparison.arms)
    table.arms.emplace_back(arm.run.run.dataset.name, arm.run.run.label);
  for (const Warning& warning : comparison.warnings)
    table.warnings.push_back(
        {warning.code, warning.dataset, warning.arm, warning.found, warning.advice});
}

void add_origin_notes(Table& table, const Comparison& comparison) {
  const std::vector<RunSummary> runs = runs_of(comparison);
  if (const std::string note = untrained_note(runs); !note.empty()) table.notes.push_back(note);
  std::vector<std::string> taught;
  for (const RunSummary& run : runs) {
    const Json options = run.run.config.value("trained_options", Json::object());
    std::vector<std::string> values;
    for (const auto& [name, value] : options.items())
      values.push_back(str(name, " ", value.is_string() ? value.get<std::string>() : dump(value)));
    if (const std::string said = str(run.run.label, ": ", join(values, ", "));
        !values.empty() && std::find(taught.begin(), taught.end(), said) == taught.end())
      taught.push_back(said);
  }
  if (!taught.empty())
    table.notes.push_back(str(join(taught, "; "),
                              ", as the network was trained (training.json); `set` gives others."));
  std::vector<std::string> generation;
  for (const RunSummary& run : runs) {
    const Json rules = run.run.config.value("generation_config", Json::object());
    if (rules.empty()) continue;
    const std::string note = str(several_networks(runs) ? network_name(run.run.model) + ", " : "",
                                 rules.value("note", ""), ".");
    if (std::find(generation.begin(), generation.end(), note) == generation.end())
      generation.push_back(note);
  }
  table.notes.insert(table.notes.end(), generation.begin(), generation.end());
  std::set<std::string> services;
  for (const RunSummary& run : runs) {
    const Json service = run.run.config.value(kService, Json::object());
    if (service.empty()) continue;
    services.insert(
        str(run.run.label, ": ", service.value("model", ""), " at ", service.value("url", ""),
            ", prompts as ", service.value("prompts", ""),
            service.value("ids", false) ? "" : ", ids of its answers by the run's tokenizer"));
  }
  if (!services.empty())
    table.notes.push_back(str(
        "answered by a service: ", join({services.begin(), services.end()}, "; "),
        ". Its times were measured at this client, and include network, queues and retries. The "
        "service has its own machine and program, so its times cannot be compared with those of "
        "decoders that run here, and its use of cores and its passes are not known. Compare them "
        "with the times of services that were measured in the same way."));
  std::vector<std::string> elsewhere;
  for (const ArmFinding& arm : comparison.arms)
    if (const ArmFinding* baseline = comparison.baseline_of(arm);
        baseline && arm.run.run.device != kService &&
        baseline->run.run.model.hash != arm.run.run.model.hash) {
      const std::string both = str(arm.run.run.label, " (", baseline->run.run.label, ")");
      if (std::find(elsewhere.begin(), elsewhere.end(), both) == elsewhere.end())
        elsewhere.push_back(both);
    }
  if (!elsewhere.empty())
    table.notes.push_back(str("on another network than the baseline: ", join(elsewhere, ", "),
                              "; their speedups, scores and answers depend on decoder and "
                              "network."));
  const auto any = [&](auto&& is) {
    return std::any_of(runs.begin(), runs.end(),
                       [&](const RunSummary& run) { return is(run.run.dataset); });
  };
  if (any([](const DatasetRow& dataset) { return dataset.sample; }))
    table.notes.push_back(kSampleNote);
  if (any([](const DatasetRow& dataset) { return dataset.standin; }))
    table.notes.push_back(kStandinMark);
  const RunRow& first = runs.front().run;
  if (!first.shard.empty()) table.notes.push_back(shard_note(first.shard));
  table.notes.push_back(str("commit ", first.commit, ", ", first.build_type, " build, run ",
                            first.invocation.substr(0, 8), "."));
}

}  // namespace pardec
