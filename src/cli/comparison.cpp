#include "src/cli/comparison.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "datasets/dataset.hpp"
#include "metrics/decoding_metrics.hpp"
#include "metrics/statistics.hpp"
#include "src/cli/scoring.hpp"
#include "src/support/error.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

/// Answers of one run by (sample, repeat), each with its place in its job.
struct Answered {
  StoredGeneration generation;
  const JobRow* job;
  size_t context;  ///< index of the example in the job
};
using AnsweredBySample = std::map<std::pair<std::string, int>, Answered>;

struct RunAnswers {
  std::vector<JobRow> jobs;
  AnsweredBySample by_sample;
};

RunAnswers read_answers(Store& store, RowId run) {
  RunAnswers answers;
  answers.jobs = store.jobs(run);
  std::map<std::pair<std::string, int>, const JobRow*> jobs;
  for (const auto& job : answers.jobs) jobs[{job.key, job.repeat}] = &job;
  for (auto& generation : store.generations(run)) {
    const JobRow* job = jobs.at({generation.job, generation.repeat});
    const auto keys = split(job->key, '+');
    const auto place = static_cast<size_t>(
        std::find(keys.begin(), keys.end(), generation.row.sample) - keys.begin());
    const std::pair key{generation.row.sample, generation.repeat};
    answers.by_sample.emplace(key, Answered{std::move(generation), job, place});
  }
  return answers;
}

/// What a job holds for one field of one example, e.g. gaps; null where it holds nothing.
Json at_field(const Json& held, size_t context, size_t field) {
  const Json nested = held.is_object() ? held.value("fields", Json()) : Json();
  if (!nested.is_array() || context >= nested.size() || field >= nested[context].size()) return {};
  return nested[context][field];
}

Identity compare_fields(const Answered& baseline, const Answered& method) {
  Identity identity;
  identity.identical = true;
  std::int64_t before = 0;  // tokens of the fields that came first
  const auto& ours = method.generation.row.fields;
  const auto& theirs = baseline.generation.row.fields;
  for (size_t f = 0; f < ours.size(); ++f) {
    if (f >= theirs.size() || ours[f].text != theirs[f].text) {
      identity.identical = false;
      const Tokens other = f < theirs.size() ? theirs[f].tokens : Tokens{};
      const auto mismatch =
          std::mismatch(ours[f].tokens.begin(), ours[f].tokens.end(), other.begin(), other.end());
      const auto index = mismatch.first - ours[f].tokens.begin();
      identity.first_difference = before + index;
      const Json gaps = at_field(method.job->top2, method.context, f);
      if (gaps.is_array() && static_cast<size_t>(index) < gaps.size() &&
          gaps[static_cast<size_t>(index)].is_number())
        identity.gap = gaps[static_cast<size_t>(index)].get<double>();
      return identity;
    }
    before += static_cast<std::int64_t>(ours[f].tokens.size());
  }
  // Open answers have no fields of their own text.
  if (ours.empty()) identity.identical = method.generation.row.text == baseline.generation.row.text;
  return identity;
}

/// Share of the network's own choices that agree, over choices made after the same forced ids of
/// the same value.
double unforced_agreement(const RunAnswers& baseline, const RunAnswers& method) {
  std::int64_t compared = 0, same = 0;
  for (const auto& [key, ours] : method.by_sample) {
    const auto theirs = baseline.by_sample.find(key);
    if (theirs == baseline.by_sample.end()) continue;
    const auto& our_fields = ours.generation.row.fields;
    const auto& their_fields = theirs->second.generation.row.fields;
    for (size_t f = 0; f < std::min(our_fields.size(), their_fields.size()); ++f) {
      const Json our_choices = at_field(ours.job->unforced, ours.context, f);
      const Json their_choices = at_field(theirs->second.job->unforced, theirs->second.context, f);
      if (!our_choices.is_array() || !their_choices.is_array()) continue;
      for (size_t k = 0; k < std::min(our_choices.size(), their_choices.size()); ++k) {
        ++compared;
        same += our_choices[k] == their_choices[k];
        if (our_fields[f].tokens[k] != their_fields[f].tokens[k])
          break;  // from here on they follow different ids
      }
    }
  }
  return compared ? static_cast<double>(same) / static_cast<double>(compared)
                  : std::numeric_limits<double>::quiet_NaN();
}

bool asked_one_by_one(const RunSummary& run) { return run.run.form == "value"; }

/// EM of the IPPD paper: share of fields whose answer is the baseline's, where both were asked one
/// by one. Id by id, the end of sequence apart: a little stricter than its decoded strings.
double exact_match(const RunAnswers& baseline, const RunAnswers& method) {
  const auto answer_ids = [](const FieldAnswer& field) {
    Tokens ids = field.tokens;
    if (field.stop == "eos" && !ids.empty()) ids.pop_back();
    return ids;
  };
  std::int64_t compared = 0, same = 0;
  for (const auto& [key, ours] : method.by_sample) {
    const auto theirs = baseline.by_sample.find(key);
    if (theirs == baseline.by_sample.end() || ours.generation.row.error ||
        theirs->second.generation.row.error)
      continue;
    const auto& our_fields = ours.generation.row.fields;
    const auto& their_fields = theirs->second.generation.row.fields;
    for (size_t f = 0; f < std::min(our_fields.size(), their_fields.size()); ++f) {
      ++compared;
      same += answer_ids(our_fields[f]) == answer_ids(their_fields[f]);
    }
  }
  return compared ? static_cast<double>(same) / static_cast<double>(compared)
                  : std::numeric_limits<double>::quiet_NaN();
}

/// The totals of the run's stored scores.
std::map<std::string_view, double> score_totals(Store& store, const RunSummary& run) {
  std::map<std::string_view, double> totals;
  const auto generations = store.generations(run.run.id);
  for (const TaskMetric& metric : task_metrics())
    for (const MetricTotal& total : metric.total(generations)) totals[total.name] = total.value;
  return totals;
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

std::string percent(double share, int decimals = 1) {
  if (!std::isfinite(share)) return "-";
  char text[32];
  std::snprintf(text, sizeof text, "%.*f %%", decimals, 100 * share);
  return text;
}

std::string fixed(double value, int decimals) {
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", decimals, value);
  return text;
}

bool any_of_decoder(const std::vector<RunSummary>& runs, std::string_view decoder) {
  return std::any_of(runs.begin(), runs.end(),
                     [&](const RunSummary& run) { return run.run.decoder == decoder; });
}

/// Not applicable: null for a program that reads the table.
Cell no_cell() { return {"-", Json()}; }

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
  std::map<std::pair<std::string, int>, std::int64_t> fields;  // of a job
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

/// A long text by its beginning; the whole stands behind it in json and csv.
Cell shortened(const std::string& text) {
  constexpr size_t kShown = 40;
  if (text.size() <= kShown) return text;
  size_t end = kShown;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80)
    --end;  // not inside a character
  return {text.substr(0, end) + "...", Json(text)};
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
  return note + ".";
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

void check_confidence(double confidence) {
  if (!(confidence > 0 && confidence < 1))
    throw ConfigError(str("--confidence-level is ", confidence, ", expected between 0 and 1"));
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
  if (!baseline_label.empty() && std::none_of(runs.begin(), runs.end(), [&](const auto& run) {
        return run.run.label == baseline_label;
      })) {
    std::vector<std::string> labels;
    for (const auto& run : runs) labels.push_back(run.run.label);
    throw ConfigError(str("--baseline: no arm is labelled '", baseline_label, "'",
                          known_names(baseline_label, labels)));
  }
  const RunRow& first = runs.front().run;
  const bool oracle = first.oracle.has_value();
  std::string unit(find_dataset(first.dataset.name).unit);
  for (const auto& run : runs)
    if (find_dataset(run.run.dataset.name).unit != unit) unit = "examples";  // of several kinds

  Table table;
  table.title =
      str(first.model.path.substr(first.model.path.find_last_of('/') + 1), ", ", first.dtype, ", ",
          first.device, ", ", first.threads, " threads", first.untrained ? ", untrained" : "",
          oracle ? ", oracle " + *first.oracle : "");
  table.columns = {
      {"dataset"},
      {"arm"},
      {"in flight", Align::right, "in_flight"},
      {"n", Align::right},
      {"failed", Align::right},
      {unit + "/s", Align::right, "examples_per_second"},
      {"speedup", Align::right},
      {fixed(100 * confidence, 0) + " % interval", Align::left, "speedup_interval"},
      {"blocks", Align::right},
      {"tokens/forward", Align::right, "tokens_per_forward"},
      {oracle ? "same choices" : "identical", Align::right, oracle ? "same_choices" : "identical"}};
  const bool exact_matches =
      !oracle && std::any_of(runs.begin(), runs.end(), [&](const RunSummary& run) {
        const RunSummary* baseline = find_baseline(runs, run, baseline_label);
        return baseline && asked_one_by_one(run) && asked_one_by_one(*baseline);
      });
  const bool branches = any_of_decoder(runs, "aspd"), threads = any_of_decoder(runs, "apar");
  const auto add_columns = [&](const std::vector<Column>& columns) {
    table.columns.insert(table.columns.end(), columns.begin(), columns.end());
  };
  if (exact_matches) add_columns({{"EM", Align::right, "exact_match"}});
  const auto score_cells = score_columns(runs);
  for (const auto& column : score_cells) add_columns({{column.header, Align::right, column.key}});
  if (branches) add_columns(branch_columns());
  if (threads) add_columns(thread_columns());
  bool samples = false;
  std::vector<std::string> departures;
  for (const auto& run : runs) {
    const RunRow& row = run.run;
    samples = samples || row.dataset.sample;
    const RunSummary* baseline = find_baseline(runs, run, baseline_label);
    const double speed = run.measured_wall_ns > 0
                             ? static_cast<double>(run.measured_examples) /
                                   (static_cast<double>(run.measured_wall_ns) * 1e-9)
                             : std::nan("");
    const double per_forward = run.totals.forwards ? static_cast<double>(run.totals.chosen) /
                                                         static_cast<double>(run.totals.forwards)
                                                   : std::nan("");

    const Cell nothing = no_cell();
    Cell speedup = nothing, interval = nothing, blocks = number_cell(run.measured_blocks),
         same = nothing;
    if (baseline) {
      std::vector<BlockPair> pairs;
      for (const auto& pair : store.block_pairs(baseline->run.id, row.id))
        pairs.push_back(
            {static_cast<double>(pair.baseline_ns), static_cast<double>(pair.method_ns)});
      if (!pairs.empty()) {
        const Interval ratio = ratio_of_totals(pairs, confidence);
        speedup = number_cell(ratio.estimate, 2);
        interval = Cell(str("[", fixed(ratio.low, 2), ", ", fixed(ratio.high, 2), "]",
                            ratio.low <= 1 && ratio.high >= 1 ? " holds 1" : ""),
                        Json{ratio.low, ratio.high});
        blocks = number_cell(static_cast<std::int64_t>(pairs.size()));
      }
      const double share =
          oracle         ? unforced_agreement(read_answers(store, baseline->run.id),
                                              read_answers(store, row.id))
          : run.compared ? static_cast<double>(run.identical) / static_cast<double>(run.compared)
                         : std::nan("");
      same = Cell(percent(share), std::isfinite(share) ? Json(share) : Json());
    } else if (std::any_of(runs.begin(), runs.end(), [&](const auto& other) {
                 return find_baseline(runs, other, baseline_label) == &run;
               })) {
      speedup = Cell("1 (baseline)", Json(1.0));
    }
    Cell em = nothing;
    if (exact_matches && baseline && asked_one_by_one(run) && asked_one_by_one(*baseline)) {
      const double share =
          exact_match(read_answers(store, baseline->run.id), read_answers(store, row.id));
      em = Cell(percent(share), std::isfinite(share) ? Json(share) : Json());
    }
    if (baseline && !oracle && run.identical < run.compared)
      departures.push_back(departure_note(store, run));
    table.rows.push_back({row.dataset.name + (row.dataset.sample ? " (own sample)" : ""), row.label,
                          number_cell(static_cast<std::int64_t>(row.batch_size)),
                          number_cell(run.generations), number_cell(run.failed_generations),
                          number_cell(speed, 2), speedup, interval, blocks,
                          number_cell(per_forward, 2), same});
    const auto add_cells = [&](const std::vector<Cell>& cells) {
      table.rows.back().insert(table.rows.back().end(), cells.begin(), cells.end());
    };
    if (exact_matches) add_cells({em});
    const auto totals = score_totals(store, run);  // none under an oracle
    for (const auto& column : score_cells) {
      const auto found = totals.find(column.total);
      add_cells({found == totals.end()
                     ? nothing
                     : Cell(fixed(found->second, 3) + (row.untrained ? " (untrained)" : ""),
                            Json(found->second))});
    }
    const RunAnswers answers = branches || threads ? read_answers(store, row.id) : RunAnswers{};
    if (branches) add_cells(branch_cells(row, answers));
    if (threads) add_cells(thread_cells(row, answers));
  }
  table.notes.push_back(str(
      "speedup: ratio of total seconds on the same blocks, arms alternating; ",
      fixed(100 * confidence, 0), " % paired bootstrap over blocks. n: answers; in flight: jobs."));
  if (oracle && first.oracle->starts_with("accept:"))
    table.notes.push_back(
        str("oracle ", *first.oracle,
            ": drafted tokens were accepted at this rate whatever the network said, so speed is "
            "that of such drafts and no score is given."));
  else if (oracle)
    table.notes.push_back(
        "oracle: the reference answers were forced, so speed is that of right answers and no score "
        "is given; same choices: share of the network's own choices that agree after equal ids.");
  else
    table.notes.push_back(
        str("identical: answers equal to the baseline's in every field.",
            score_cells.empty() || score_cells.front().key != "f1_micro"
                ? ""
                : " F1 as ExtractGPT counts it; strict: unannotated fields count as absent."));
  if (exact_matches)
    table.notes.push_back(
        "EM: fields whose answer equals the baseline's id by id, where both ask one by one (IPPD, "
        "Table 2).");
  if (branches)
    table.notes.push_back(
        "DP, ABN, PPD, TPS, P-TPS as ASPD counts them (section 4.1), over jobs: share of the "
        "answer "
        "in branches and branches a stage, where there are any; share of answers that have some; "
        "tokens/s of an answer, and of its branches in parallel stages, prefill apart.");
  if (threads)
    table.notes.push_back(
        "threads, parallel, max cached, attended as APAR counts them (section 4): threads an "
        "answer "
        "and share of answers with several; rows in the cache at most, mean of answers; tokens "
        "before each token of the text on its path.");
  table.notes.insert(table.notes.end(), departures.begin(), departures.end());
  if (first.untrained)
    table.notes.push_back("untrained: the network's weights are random, its answers are noise.");
  if (samples)
    table.notes.push_back("own sample: the project's small sample, not the publisher's data.");
  table.notes.push_back(str("commit ", first.commit, ", ", first.build_type, " build, invocation ",
                            invocation.substr(0, 8), "."));
  return table;
}

Table accounting_table(Store& store, const std::string& invocation,
                       std::optional<double> usd_per_hour) {
  Table table;
  table.title = "What each arm fed, chose and cached";
  table.columns = {{"dataset"},
                   {"arm"},
                   {"jobs", Align::right},
                   {"prompt", Align::right},
                   {"forced", Align::right},
                   {"chosen", Align::right},
                   {"fed", Align::right},
                   {"text", Align::right},
                   {"forwards", Align::right},
                   {"parallelism", Align::right},
                   {"attended", Align::right},
                   {"q + K,V", Align::right, "attention_accesses"},
                   {"cached, peak", Align::right, "cached_peak"},
                   {"pads", Align::right},
                   {"prefill s", Align::right, "prefill_seconds"},
                   {"decode s", Align::right, "decode_seconds"}};
  if (usd_per_hour) table.columns.push_back({"USD/1k", Align::right, "usd_per_thousand"});
  for (const auto& run : runs_of(store, invocation)) {
    std::int64_t pads = 0;
    std::vector<BranchLengths> batch;
    const auto close_batch = [&] {
      pads += pad_columns(batch);
      batch.clear();
    };
    for (const auto& job : store.jobs(run.run.id)) {
      batch.push_back(job.counters.branch_lengths);
      if (static_cast<int>(batch.size()) == run.run.batch_size) close_batch();
    }
    close_batch();
    const JobCounters& c = run.totals;
    table.rows.push_back(
        {run.run.dataset.name, run.run.label, number_cell(run.jobs), number_cell(c.prompt_tokens),
         number_cell(c.forced), number_cell(c.chosen), number_cell(c.fed),
         number_cell(c.text_tokens), number_cell(c.forwards),
         number_cell(c.forwards ? static_cast<double>(c.chosen) / static_cast<double>(c.forwards)
                                : std::nan(""),
                     2),
         number_cell(c.attended), number_cell(c.fed + c.cached_sum), number_cell(c.cached_peak),
         number_cell(pads), number_cell(static_cast<double>(c.prefill_ns) * 1e-9, 2),
         number_cell(static_cast<double>(c.decode_ns) * 1e-9, 2)});
    if (usd_per_hour)
      table.rows.back().push_back(
          number_cell(usd_per_thousand(static_cast<double>(run.measured_examples) /
                                           (static_cast<double>(run.measured_wall_ns) * 1e-9),
                                       *usd_per_hour),
                      4));
  }
  table.notes.push_back(
      "prompt, forced (skeleton), chosen, fed, text: tokens summed over jobs; forwards: passes a "
      "job took part in; parallelism: chosen / forwards.");
  table.notes.push_back(
      "attended: keys seen, over all tokens fed; q + K,V: memory accesses of attention as the IPPD "
      "paper counts them (appendix A.2), queries and cached rows of every pass and sequence.");
  table.notes.push_back(
      "pads: dummy tokens that an implementation with padded batches would have fed in batches of "
      "this size; here batches are packed and none are.");
  table.notes.push_back(
      "prefill and decode: latencies summed over jobs; where several are in flight they overlap.");
  return table;
}

Table differences_table(Store& store, const std::string& invocation, int limit) {
  const auto runs = runs_of(store, invocation);
  Table table;
  table.title = "Where answers depart from the baseline's";
  table.columns = {{"dataset"},
                   {"arm"},
                   {"sample"},
                   {"field"},
                   {"baseline"},
                   {"answer"},
                   {"token", Align::right},
                   {"logit gap", Align::right, "logit_gap"}};
  struct Row {
    double gap;
    std::vector<Cell> cells;
  };
  std::vector<Row> found;
  for (const auto& method : runs) {
    const RunSummary* baseline = find_baseline(runs, method, "");
    if (!baseline || method.run.oracle) continue;
    const RunAnswers theirs = read_answers(store, baseline->run.id),
                     ours = read_answers(store, method.run.id);
    for (const auto& [key, answered] : ours.by_sample) {
      const auto other = theirs.by_sample.find(key);
      if (other == theirs.by_sample.end() || answered.generation.row.error ||
          other->second.generation.row.error)
        continue;
      const Identity identity = compare_fields(other->second, answered);
      if (identity.identical) continue;
      std::string field, before, after;
      const auto& fields = answered.generation.row.fields;
      for (size_t f = 0; f < fields.size() && field.empty(); ++f) {
        const auto& base = other->second.generation.row.fields;
        if (f < base.size() && base[f].text == fields[f].text) continue;
        field = fields[f].name;
        before = f < base.size() ? base[f].text : "";
        after = fields[f].text;
      }
      const double gap = identity.gap.value_or(std::numeric_limits<double>::infinity());
      found.push_back({gap,
                       {method.run.dataset.name, method.run.label, key.first, field,
                        shortened(before), shortened(after),
                        number_cell(identity.first_difference.value_or(-1)), number_cell(gap, 4)}});
    }
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const Row& a, const Row& b) { return a.gap < b.gap; });
  for (size_t i = 0; i < found.size() && (limit <= 0 || static_cast<int>(i) < limit); ++i)
    table.rows.push_back(std::move(found[i].cells));
  table.notes.push_back(str(found.size(),
                            " answers differ; token: index of the first that differs among the "
                            "answer's value tokens; logit gap: best minus second best there."));
  return table;
}

}  // namespace pardec
