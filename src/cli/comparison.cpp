#include "src/cli/comparison.hpp"
#include "src/cli/record.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <map>

#include "datasets/dataset.hpp"
#include "decoders/decoder.hpp"
#include "metrics/decoding_metrics.hpp"
#include "metrics/statistics.hpp"
#include "src/cli/scoring.hpp"
#include "src/cli/stored_answers.hpp"
#include "src/support/error.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

/// What a run's stored answers come to.
struct RunScores {
  std::map<std::string_view, double> totals;  ///< of their scores
  std::int64_t answered = 0;                  ///< answers that are not empty
};

RunScores run_scores(Store& store, const RunSummary& run) {
  RunScores scores;
  const auto generations = store.generations(run.run.id);
  for (const TaskMetric& metric : task_metrics())
    for (const MetricTotal& total : metric.total(generations))
      scores.totals[total.name] = total.value;
  for (const auto& generation : generations)
    scores.answered += !generation.row.error && !strip(generation.row.text).empty();
  return scores;
}

/// A column of scores: its total, its header and its key.
struct ScoreColumn {
  std::string_view total;
  std::string header, key;
};

/// The scores that the datasets of these runs are judged by.
std::vector<ScoreColumn> score_columns(const std::vector<RunSummary>& runs) {
  std::vector<ScoreColumn> columns;
  const auto add = [&](std::string_view total, const std::string& header, const std::string& key) {
    if (std::none_of(columns.begin(), columns.end(),
                     [&](const ScoreColumn& known) { return known.total == total; }))
      columns.push_back({total, header, key});
  };
  for (const auto& run : runs) {
    const DatasetEntry& dataset = find_dataset(run.run.dataset.name);
    for (const TaskMetric* metric : metrics_of(dataset)) {
      if (metric->name == "value_f1") {
        add("extractgpt_f1_micro", "F1 micro", "f1_micro");
        add("extractgpt_f1_macro", "F1 macro", "f1_macro");
        add("strict_f1_micro", "F1 strict", "f1_strict");
        continue;
      }
      for (const auto total : metric->totals)
        if (std::find(dataset.metrics.begin(), dataset.metrics.end(), total) !=
            dataset.metrics.end())
          add(total, replace_all(std::string(total), "_", " "), str("score_", total));
    }
  }
  return columns;
}

bool any_of_decoder(const std::vector<RunSummary>& runs, std::string_view decoder) {
  return std::any_of(runs.begin(), runs.end(),
                     [&](const RunSummary& run) { return run.run.decoder == decoder; });
}

// ASPD's own metrics (section 4.1), beside it AR's tokens per second, which it is compared with.

std::vector<Column> branch_columns() {
  return {{"DP", Align::right, "dp"},
          {"ABN", Align::right, "abn"},
          {"PPD", Align::right, "ppd"},
          {"TPS", Align::right, "tps"},
          {"P-TPS", Align::right, "p_tps"}};
}

std::vector<Cell> branch_cells(const RunRow& run, const RunAnswers& answers) {
  std::vector<ParallelCounts> counts;
  for (const JobRow& job : answers.jobs) {
    const Json& p = job.counters.parallel;
    if (job.error) continue;
    if (p.is_object())
      counts.push_back(
          {p.at("generated").get<std::int64_t>(), p.at("branch_tokens").get<std::int64_t>(),
           p.at("groups").get<std::int64_t>(), p.at("group_branches").get<std::int64_t>(),
           job.counters.decode_ns, p.at("parallel_ns").get<std::int64_t>()});
    else if (run.decoder == "ar")
      counts.push_back({.generated = job.counters.chosen, .decode_ns = job.counters.decode_ns});
  }
  if (counts.empty()) return {no_cell(), no_cell(), no_cell(), no_cell(), no_cell()};
  const ParallelMetrics of = parallel_metrics(counts);
  const auto share = [](double value) { return Cell(percent(value), Json(value)); };
  const bool any = of.ppd > 0;
  return {any ? share(of.dp) : no_cell(), any ? number_cell(of.abn, 2) : no_cell(),
          run.decoder == "ar" ? no_cell() : share(of.ppd), number_cell(of.tps, 1),
          any ? number_cell(of.p_tps, 1) : no_cell()};
}

// APAR's own metrics (section 4), beside it AR's.

std::vector<Column> thread_columns() {
  return {{"threads", Align::right, "threads_per_answer"},
          {"parallel", Align::right, "parallel_share"},
          {"max cached", Align::right, "max_cached"},
          {"attended", Align::right, "attended_per_token"}};
}

std::vector<Cell> thread_cells(const RunRow& run, const RunAnswers& answers) {
  if (run.decoder != "apar" && run.decoder != "ar")
    return {no_cell(), no_cell(), no_cell(), no_cell()};
  // A job is one answer, or one answer a field; threads are then known of all of them together.
  std::map<std::pair<JobKey, int>, std::int64_t> fields;  // of a job
  for (const auto& [key, answered] : answers.by_sample)
    fields[{answered.job->key, answered.job->repeat}] += std::ssize(answered.generation.row.fields);
  std::int64_t responses = 0, threads = 0, alone = 0, parallel = 0, cached = 0, attended = 0,
               text = 0;
  for (const JobRow& job : answers.jobs) {
    if (job.error) continue;
    const std::int64_t own = run.form == "json" ? 1 : fields[{job.key, job.repeat}];
    responses += own;
    alone += own == 1;
    parallel += own == 1 && job.counters.branches > 1;
    threads += job.counters.branches;
    cached += job.counters.cached_peak;
    attended += job.counters.text_attended;
    text += job.counters.text_tokens;
  }
  const auto mean = [](std::int64_t sum, std::int64_t count, int decimals) {
    return count > 0 ? number_cell(static_cast<double>(sum) / static_cast<double>(count), decimals)
                     : no_cell();
  };
  const double share = static_cast<double>(parallel) / static_cast<double>(alone ? alone : 1);
  return {mean(threads, responses, 2),
          alone > 0 && alone == responses ? Cell(percent(share), Json(share)) : no_cell(),
          mean(cached, responses, 1), mean(attended, attended > 0 ? text : 0, 1)};
}

/// How close the choices were at which an arm's answers first depart from the baseline's.
std::string departure_note(Store& store, const RunSummary& run) {
  std::vector<double> gaps;
  std::int64_t without = 0;
  for (const auto& generation : store.generations(run.run.id)) {
    const auto& identity = generation.row.identity;
    if (!identity || identity->identical) continue;
    if (identity->gap)
      gaps.push_back(*identity->gap);
    else
      ++without;
  }
  std::string note =
      str(run.run.dataset.name, " ", run.run.label, ": ", run.compared - run.identical, " of ",
          run.compared, " answers depart from the baseline's");
  if (!gaps.empty())
    note += str("; logit gap at the first differing token: median ", fixed(quantile(gaps, 0.5), 3),
                ", least ", fixed(*std::min_element(gaps.begin(), gaps.end()), 4));
  if (without) note += str("; ", without, " have no such token");
  const bool greedy = run.run.config.value("temperature", 0.0) == 0;
  if (greedy && run.run.dtype != "fp32" && find_decoder(run.run.decoder).exact)
    note += "; exact in fp32 alone: here attention is summed in another order";
  return note + ".";
}

// The table of an invocation, and its parts ------------------------------------------------------

/// Total seconds of the baseline over the method's, on the blocks that both were measured on.
struct Speedup {
  Interval ratio;
  std::int64_t blocks;
};

std::optional<Speedup> speedup_over(Store& store, const RunSummary& baseline,
                                    const RunSummary& method, double confidence) {
  std::vector<BlockPair> pairs;
  for (const auto& pair : store.block_pairs(baseline.run.id, method.run.id))
    pairs.push_back({static_cast<double>(pair.baseline_ns), static_cast<double>(pair.method_ns)});
  if (pairs.empty()) return std::nullopt;
  return Speedup{interval_over(pairs, confidence), std::ssize(pairs)};
}

bool is_baseline(const std::vector<RunSummary>& runs, const RunSummary& run,
                 const std::string& label) {
  return std::any_of(runs.begin(), runs.end(), [&](const RunSummary& other) {
    return find_baseline(runs, other, label) == &run;
  });
}

double tokens_per_forward(const RunSummary& run) {
  return run.totals.forwards
             ? static_cast<double>(run.totals.chosen) / static_cast<double>(run.totals.forwards)
             : std::nan("");
}

Cell share_cell(double share) {
  return Cell(percent(share), std::isfinite(share) ? Json(share) : Json());
}

/// Speedup, its interval, and over how many blocks.
std::vector<Cell> speed_cells(Store& store, const std::vector<RunSummary>& runs,
                              const RunSummary& run, const std::string& baseline_label,
                              double confidence) {
  const RunSummary* baseline = find_baseline(runs, run, baseline_label);
  const auto speedup =
      baseline ? speedup_over(store, *baseline, run, confidence) : std::optional<Speedup>();
  if (!speedup)
    return {!baseline && is_baseline(runs, run, baseline_label) ? Cell(kBaselineSpeedup, Json(1.0))
                                                                : no_cell(),
            no_cell(), number_cell(run.measured_blocks)};
  const Interval& ratio = speedup->ratio;
  return {number_cell(ratio.estimate, 2),
          std::isfinite(ratio.low)
              ? Cell(str("[", fixed(ratio.low, 2), ", ", fixed(ratio.high, 2), "]",
                         ratio.low <= 1 && ratio.high >= 1 ? " holds 1" : ""),
                     Json{ratio.low, ratio.high})
              : no_cell(),
          number_cell(speedup->blocks)};
}

// What was asked to go on side by side, and what did.

constexpr double kReached = 0.8;  // of what was asked; below it a note says so

/// `text`, and as its value the two numbers.
Cell reached_cell(std::string text, double reached, int asked) {
  return {std::move(text),
          Json::array({std::isfinite(reached) ? Json(reached) : Json(), Json(asked)})};
}

Cell in_flight_cell(const RunSummary& run) {
  return reached_cell(shown_in_flight(run), in_flight(run).jobs, run.run.batch_size);
}

/// Examples that a job of the arm was to have, by its option `contexts` or `stack`.
int stack_asked(const RunRow& run) {
  for (const char* option : {"contexts", "stack"})
    if (run.options.contains(option)) return run.options[option].get<int>();
  return 1;
}

/// Examples that its jobs had, on average.
double stack_reached(const RunSummary& run) {
  return run.jobs ? static_cast<double>(run.generations) / static_cast<double>(run.jobs)
                  : std::nan("");
}

Cell stack_cell(const RunSummary& run) {
  const int asked = stack_asked(run.run);
  const double reached = stack_reached(run);
  return reached_cell(fixed(reached, 2) == fixed(asked, 2) ? std::to_string(asked)
                                                           : str(fixed(reached, 1), " of ", asked),
                      reached, asked);
}

/// Where much less went on side by side than was asked for.
void add_reached_notes(Table& table, const std::vector<RunSummary>& runs) {
  for (const RunSummary& run : runs) {
    const std::string who = str(run.run.dataset.name, " ", run.run.label);
    if (const double jobs = in_flight(run).jobs; jobs < kReached * run.run.batch_size)
      table.notes.push_back(str(who, ": ", shown_in_flight(run),
                                " jobs were in flight, so this is not the speed of batch ",
                                run.run.batch_size,
                                "; longer blocks (--block), more examples or a smaller batch_size "
                                "fill it."));
    if (const double stack = stack_reached(run); stack < kReached * stack_asked(run.run))
      table.notes.push_back(str(who, ": ", fixed(stack, 1), " of ", stack_asked(run.run),
                                " examples were in a job, since there were no more of one "
                                "category, or none that can share a job."));
  }
}

/// Share of answers equal to the baseline's; under an oracle, of the network's own choices.
Cell likeness_cell(Store& store, const RunSummary* baseline, const RunSummary& run) {
  if (!baseline) return no_cell();
  if (run.run.oracle)
    return share_cell(
        unforced_agreement(read_answers(store, baseline->run.id), read_answers(store, run.run.id)));
  return share_cell(run.compared
                        ? static_cast<double>(run.identical) / static_cast<double>(run.compared)
                        : std::nan(""));
}

/// IPPD's EM has a sense where both arms ask one by one.
bool asked_one_by_one(const RunSummary* baseline, const RunSummary& run) {
  return baseline && !run.run.oracle && run.run.form == "value" && baseline->run.form == "value";
}

/// What stands under every table of scores and speeds.
void add_origin_notes(Table& table, const std::vector<RunSummary>& runs) {
  if (const std::string note = untrained_note(runs); !note.empty()) table.notes.push_back(note);
  const auto any = [&](auto&& is) {
    return std::any_of(runs.begin(), runs.end(),
                       [&](const RunSummary& run) { return is(run.run.dataset); });
  };
  if (any([](const DatasetRow& dataset) { return dataset.sample; }))
    table.notes.push_back(kSampleNote);
  if (any(is_standin)) table.notes.push_back(kStandinMark);
  const RunRow& first = runs.front().run;
  if (!first.shard.empty()) table.notes.push_back(shard_note(first.shard));
  table.notes.push_back(str("commit ", first.commit, ", ", first.build_type, " build, invocation ",
                            first.invocation.substr(0, 8), "."));
}

std::string oracle_note(const std::string& oracle) {
  if (oracle.starts_with("accept:"))
    return str("oracle ", oracle,
               ": drafted tokens were accepted at this rate whatever the network said, so speed is "
               "that of such drafts and no score is given.");
  return "oracle: the reference answers were forced, so speed is that of right answers and no "
         "score "
         "is given; same choices: share of the network's own choices that agree after equal ids.";
}

constexpr const char* kBranchNote =
    "DP, ABN, PPD, TPS, P-TPS as ASPD counts them (section 4.1), over jobs: share of the answer in "
    "branches and branches a stage, where there are any; share of answers that have some; tokens/s "
    "of an answer, and of its branches in parallel stages, prefill apart.";
constexpr const char* kThreadNote =
    "threads, parallel, max cached, attended as APAR counts them (section 4): threads an answer "
    "and "
    "share of answers with several; rows in the cache at most, mean of answers; tokens before each "
    "token of the text on its path.";

/// Model, device and the like, which all arms of an invocation share.
std::string title_of(const std::vector<RunSummary>& runs) {
  const RunRow& first = runs.front().run;
  const bool untrained =
      std::all_of(runs.begin(), runs.end(), [](const auto& run) { return run.run.untrained; });
  return str(first.model.path.substr(first.model.path.find_last_of('/') + 1), ", ", first.dtype,
             ", ", first.device, ", ", first.threads, " threads", untrained ? ", untrained" : "",
             first.oracle ? ", oracle " + *first.oracle : "");
}

/// ConfigError where no arm has the label; empty: each run has its own.
void check_baseline(const std::vector<RunSummary>& runs, const std::string& label) {
  std::vector<std::string> labels;
  for (const auto& run : runs) labels.push_back(run.run.label);
  if (!label.empty() && std::find(labels.begin(), labels.end(), label) == labels.end())
    throw ConfigError(
        str("--baseline: no arm is labelled '", label, "'", known_names(label, labels)));
}

/// Pairs of dataset and arm that could not be run, with the reason.
std::map<std::pair<std::string, std::string>, std::string> not_applicable_in(
    const std::vector<RunSummary>& runs) {
  std::map<std::pair<std::string, std::string>, std::string> reasons;
  for (const auto& run : runs)
    if (run.run.experiment)
      for (const Json& one : run.run.experiment->json.value(kNotApplicable, Json::array()))
        reasons[{one.at("dataset").get<std::string>(), one.at("arm").get<std::string>()}] =
            one.at("reason").get<std::string>();
  return reasons;
}

void add_not_applicable_notes(Table& table, const std::vector<RunSummary>& runs) {
  for (const auto& [pair, reason] : not_applicable_in(runs))
    table.notes.push_back(str("n/a: ", pair.first, ", ", pair.second, ": it ", reason, "."));
}

/// Score, speedup and tokens per forward of one arm on one dataset.
Cell matrix_cell(Store& store, const std::vector<RunSummary>& runs, const RunSummary& run,
                 const RunScores& scores, std::string_view metric,
                 const std::string& baseline_label, double confidence) {
  const auto score = scores.totals.find(metric);
  const RunSummary* baseline = find_baseline(runs, run, baseline_label);
  const auto speedup =
      baseline ? speedup_over(store, *baseline, run, confidence) : std::optional<Speedup>();
  const auto number = [](bool known, double value) {
    return known && std::isfinite(value) ? Json(value) : Json();
  };
  const double tokens = tokens_per_forward(run);
  const bool scored = score != scores.totals.end();
  const double ratio = speedup ? speedup->ratio.estimate : std::nan("");
  return {str(scored ? fixed(score->second, 3) : "-", " · ",
              baseline                                 ? fixed(ratio, 2)
              : is_baseline(runs, run, baseline_label) ? "1"
                                                       : "-",
              " · ", fixed(tokens, 2),
              run.failed_generations ? str(" ", run.failed_generations, " failed") : ""),
          Json{{"metric", std::string(metric)},
               {"score", scored ? number(true, score->second) : Json()},
               {"speedup", number(speedup.has_value(), ratio)},
               {"tokens_per_forward", number(true, tokens)},
               {"n", run.generations},
               {"failed", run.failed_generations},
               {"answered", scores.answered},
               {"untrained", run.run.untrained}}};
}

}  // namespace

void ComparisonFlags::add_to(CLI::App& app) {
  app.add_option("--db", db, "database")->capture_default_str()->type_name("FILE");
  app.add_option("--run", run,
                 "first characters of an invocation's or run's id; without it the newest")
      ->type_name("ID");
  app.add_option("--baseline", baseline, "label of the arm that the others are compared with")
      ->type_name("LABEL");
  app.add_option("--confidence-level", confidence, "of the intervals")
      ->capture_default_str()
      ->type_name("X");
}

std::string shard_note(const std::string& shards) {
  const auto slash = shards.rfind('/');
  const auto there = static_cast<int>(split(shards, ',').size());
  if (there == std::stoi(shards.substr(slash + 1))) return str("shards: ", shards, ".");
  return str("shards: ", shards,
             there == 1 ? " alone" : " alone of them",
             "; the examples of the others are left out. compare takes those that the database "
             "holds under the same settings.");
}

std::unique_ptr<Store> open_to_compare(const std::string& db, std::string& run) {
  auto store = std::make_unique<Store>(db, OpenOptions{.read_only = true});
  // All is read from one moment, whatever a run stores meanwhile.
  store->database().execute("BEGIN");
  if (!run.empty()) run = find_invocation(*store, run);
  if (auto joined = store->join_shards(run)) store = std::move(joined);
  return store;
}

std::vector<RunSummary> runs_of(Store& store, const std::string& invocation) {
  RunFilter filter;
  filter.invocation = invocation;
  auto runs = store.summaries(filter);
  if (runs.empty())
    throw ConfigError(str(store.path().string(), ": has no invocation ", invocation));
  std::sort(runs.begin(), runs.end(),
            [](const auto& a, const auto& b) { return a.run.id < b.run.id; });
  return runs;
}

const RunSummary* find_baseline(const std::vector<RunSummary>& runs, const RunSummary& method,
                                const std::string& baseline) {
  const std::string label = baseline.empty() ? method.run.baseline.value_or("") : baseline;
  for (const auto& run : runs)
    if (run.run.label == label && run.run.dataset.name == method.run.dataset.name &&
        run.run.dataset.split == method.run.dataset.split && run.run.id != method.run.id)
      return &run;
  return nullptr;
}

std::string latest_invocation(Store& store) {
  const auto runs = store.find_runs({});
  if (runs.empty())
    throw ConfigError(
        str(store.path().string(), ": holds no run yet; 'pardec run --db FILE' makes one"));
  return runs.front().invocation;
}

std::string find_invocation(Store& store, const std::string& prefix) {
  if (prefix.empty()) return latest_invocation(store);
  for (const auto& run : store.find_runs({}))
    if (run.invocation.starts_with(prefix) || run.uuid.starts_with(prefix)) return run.invocation;
  throw ConfigError(str(store.path().string(), ": has no run whose id begins with '", prefix, "'"));
}

Interval interval_over(const std::vector<BlockPair>& blocks, double confidence) {
  Interval interval = ratio_of_totals(blocks, confidence);
  if (std::ssize(blocks) < kFewestBlocks) interval.low = interval.high = std::nan("");
  return interval;
}

InFlight in_flight(const RunSummary& run) {
  const auto passes = static_cast<double>(run.measured.passes);
  if (passes == 0) return {std::nan(""), std::nan("")};
  return {static_cast<double>(run.measured.job_passes) / passes,
          static_cast<double>(run.measured.stream_passes) / passes};
}

std::string shown_in_flight(const RunSummary& run) {
  const double jobs = in_flight(run).jobs;
  return std::isfinite(jobs) ? str(fixed(jobs, 1), " of ", run.run.batch_size)
                             : std::to_string(run.run.batch_size);
}

void check_confidence(double confidence) {
  if (!(confidence > 0 && confidence < 1))
    throw ConfigError(str("--confidence-level is ", confidence, ", expected between 0 and 1"));
}

std::string untrained_note(const std::vector<RunSummary>& runs) {
  std::vector<std::string> arms;
  for (const auto& run : runs)
    if (run.run.untrained && std::find(arms.begin(), arms.end(), run.run.label) == arms.end())
      arms.push_back(run.run.label);
  if (arms.empty()) return "";
  return str("untrained (", join(arms, ", "),
             "): the network's weights are random, or it was never taught what this decoder needs; "
             "what it writes so is noise.");
}

void mark_identities(Store& store, const std::string& invocation) {
  const auto runs = runs_of(store, invocation);
  for (const auto& method : runs) {
    const RunSummary* baseline = find_baseline(runs, method, "");
    if (!baseline || method.run.oracle) continue;  // under an oracle the answers are given
    const RunAnswers theirs = read_answers(store, baseline->run.id),
                     ours = read_answers(store, method.run.id);
    for (const auto& [key, answered] : ours.by_sample) {
      const auto found = theirs.by_sample.find(key);
      if (found == theirs.by_sample.end() || answered.generation.row.error ||
          found->second.generation.row.error)
        continue;
      store.mark_identity(answered.generation.row.id, compare_fields(found->second, answered));
    }
  }
}

Table compare_runs(Store& store, const std::string& invocation, const std::string& baseline_label,
                   double confidence) {
  const auto runs = runs_of(store, invocation);
  check_baseline(runs, baseline_label);
  const RunRow& first = runs.front().run;
  const bool oracle = first.oracle.has_value();
  std::string unit(find_dataset(first.dataset.name).unit);
  for (const auto& run : runs)
    if (find_dataset(run.run.dataset.name).unit != unit) unit = "examples";  // of several kinds

  Table table;
  table.title = title_of(runs);
  table.columns = {
      {"dataset"},
      {"arm"},
      {"in flight", Align::right, "in_flight"},
      {"streams", Align::right},
      {"n", Align::right},
      {"failed", Align::right},
      {unit + "/s", Align::right, "examples_per_second"},
      {"speedup", Align::right},
      {fixed(100 * confidence, 0) + " % interval", Align::left, "speedup_interval"},
      {"blocks", Align::right},
      {"tokens/forward", Align::right, "tokens_per_forward"},
      {oracle ? "same choices" : "identical", Align::right, oracle ? "same_choices" : "identical"}};
  const bool exact_matches = std::any_of(runs.begin(), runs.end(), [&](const RunSummary& run) {
    return asked_one_by_one(find_baseline(runs, run, baseline_label), run);
  });
  const bool branches = any_of_decoder(runs, "aspd"), threads = any_of_decoder(runs, "apar");
  const bool stacks = std::any_of(runs.begin(), runs.end(),
                                  [](const auto& run) { return stack_asked(run.run) > 1; });
  if (stacks) table.columns.insert(table.columns.begin() + 2, Column{"stack", Align::right});
  const auto add_columns = [&](const std::vector<Column>& columns) {
    table.columns.insert(table.columns.end(), columns.begin(), columns.end());
  };
  if (exact_matches) add_columns({{"EM", Align::right, "exact_match"}});
  const auto scores = score_columns(runs);
  for (const auto& column : scores) add_columns({{column.header, Align::right, column.key}});
  if (branches) add_columns(branch_columns());
  if (threads) add_columns(thread_columns());

  std::vector<std::string> departures;
  for (const auto& run : runs) {
    const RunRow& row = run.run;
    const RunSummary* baseline = find_baseline(runs, run, baseline_label);
    if (baseline && !oracle && run.identical < run.compared)
      departures.push_back(departure_note(store, run));
    const double speed = run.measured_wall_ns > 0
                             ? static_cast<double>(run.measured_examples) /
                                   (static_cast<double>(run.measured_wall_ns) * 1e-9)
                             : std::nan("");
    std::vector<Cell>& cells = table.rows.emplace_back();
    const auto add = [&](const std::vector<Cell>& more) {
      cells.insert(cells.end(), more.begin(), more.end());
    };
    const double streams = in_flight(run).streams;
    add({shown_name(row.dataset), row.label});
    if (stacks) add({stack_cell(run)});
    add({in_flight_cell(run), std::isfinite(streams) ? number_cell(streams, 1) : no_cell(),
         number_cell(run.generations), number_cell(run.failed_generations), number_cell(speed, 2)});
    add(speed_cells(store, runs, run, baseline_label, confidence));
    add({number_cell(tokens_per_forward(run), 2), likeness_cell(store, baseline, run)});
    if (exact_matches)
      add({asked_one_by_one(baseline, run)
               ? share_cell(exact_match(read_answers(store, baseline->run.id),
                                        read_answers(store, row.id)))
               : no_cell()});
    const auto totals = run_scores(store, run).totals;  // none under an oracle
    for (const auto& column : scores) {
      const auto found = totals.find(column.total);
      add({found == totals.end()
               ? no_cell()
               : Cell(fixed(found->second, 3) + (row.untrained ? " (untrained)" : ""),
                      Json(found->second))});
    }
    const RunAnswers answers = branches || threads ? read_answers(store, row.id) : RunAnswers{};
    if (branches) add(branch_cells(row, answers));
    if (threads) add(thread_cells(row, answers));
  }

  table.notes.push_back(
      str("speedup: ratio of total seconds on the same blocks, arms alternating; ",
          fixed(100 * confidence, 0), " % paired bootstrap over blocks, none of fewer than ",
          kFewestBlocks, ". n: answers."));
  table.notes.push_back(str(
      "in flight: jobs in a forward pass, mean, of those asked for; streams: answers that choose "
      "in it, mean (values or questions where they are decoded apart).",
      stacks ? " stack: examples in a job." : ""));
  add_reached_notes(table, runs);
  table.notes.push_back(
      oracle ? oracle_note(*first.oracle)
             : str("identical: answers equal to the baseline's in every field.",
                   scores.empty() || scores.front().key != "f1_micro"
                       ? ""
                       : " F1 as ExtractGPT counts it; strict: unannotated fields count as "
                         "absent."));
  if (exact_matches)
    table.notes.push_back(
        "EM: fields whose answer equals the baseline's id by id, where both ask one by one (IPPD, "
        "Table 2).");
  if (branches) table.notes.push_back(kBranchNote);
  if (threads) table.notes.push_back(kThreadNote);
  table.notes.insert(table.notes.end(), departures.begin(), departures.end());
  add_not_applicable_notes(table, runs);
  add_origin_notes(table, runs);
  return table;
}

Table matrix_of_runs(Store& store, const std::string& invocation, const std::string& baseline_label,
                     double confidence) {
  const auto runs = runs_of(store, invocation);
  check_baseline(runs, baseline_label);
  const auto not_applicable = not_applicable_in(runs);
  // By first mention; what runs nowhere stands at the end.
  std::vector<std::string> arms, names;
  const auto mention = [](std::vector<std::string>& all, const std::string& name) {
    if (std::find(all.begin(), all.end(), name) == all.end()) all.push_back(name);
  };
  for (const auto& run : runs) mention(arms, run.run.label), mention(names, run.run.dataset.name);
  for (const auto& [pair, reason] : not_applicable)
    mention(names, pair.first), mention(arms, pair.second);

  Table table;
  table.title = title_of(runs);
  table.columns = {{"arm"}};
  std::vector<RunScores> scores;  // [run]
  for (const auto& run : runs) scores.push_back(run_scores(store, run));
  std::map<std::string, std::string_view> headline;  // metric of each dataset
  for (const std::string& name : names) {
    std::string shown = name;
    for (size_t r = 0; r < runs.size(); ++r) {
      if (runs[r].run.dataset.name != name) continue;
      shown = shown_name(runs[r].run.dataset);
      for (const std::string_view metric : find_dataset(name).metrics)
        if (!headline.contains(name) && scores[r].totals.contains(metric)) headline[name] = metric;
    }
    table.columns.push_back(
        {str(shown, headline.contains(name)
                        ? ": " + replace_all(std::string(headline[name]), "_", " ")
                        : ""),
         Align::right, name});
  }
  for (const std::string& arm : arms) {
    std::vector<Cell>& cells = table.rows.emplace_back();
    const bool untrained = std::any_of(runs.begin(), runs.end(), [&](const RunSummary& one) {
      return one.run.label == arm && one.run.untrained;
    });
    cells.push_back({arm + (untrained ? " (untrained)" : ""), Json(arm)});
    for (const std::string& name : names) {
      const auto run = std::find_if(runs.begin(), runs.end(), [&](const RunSummary& one) {
        return one.run.label == arm && one.run.dataset.name == name;
      });
      if (run == runs.end()) {
        const auto reason = not_applicable.find({name, arm});
        cells.push_back(reason == not_applicable.end()
                            ? no_cell()
                            : Cell("n/a", Json{{kNotApplicable, reason->second}}));
        continue;
      }
      cells.push_back(matrix_cell(store, runs, *run,
                                  scores[static_cast<size_t>(run - runs.begin())], headline[name],
                                  baseline_label, confidence));
    }
  }
  table.notes.push_back(
      str("score · speedup over the baseline · ids chosen in a forward pass; ",
          fixed(100 * confidence, 0),
          " % intervals and all other numbers: pardec compare without --matrix."));
  if (runs.front().run.oracle) table.notes.push_back(oracle_note(*runs.front().run.oracle));
  add_not_applicable_notes(table, runs);
  add_origin_notes(table, runs);
  return table;
}

}  // namespace pardec
