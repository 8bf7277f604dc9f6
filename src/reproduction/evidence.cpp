#include "src/reproduction/evidence.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <numeric>

#include "datasets/dataset.hpp"
#include "src/findings/responses.hpp"
#include "src/findings/score_findings.hpp"
#include "src/findings/speed_findings.hpp"
#include "src/reproduction/joint_quantity.hpp"
#include "src/reproduction/pairing.hpp"
#include "src/scoring/judging.hpp"
#include "src/scoring/stored_answers.hpp"
#include "src/scoring/task_metrics.hpp"
#include "src/store/sqlite.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

/// A job with data about its examples.
struct JobView {
  const JobRow* job;
  std::string category;
  std::vector<std::string> clusters;  ///< of its examples
  /// for a conversation, number of its turns; for fields asked separately, number of fields
  std::int64_t answers = 0;
  std::vector<ResponseCounts> responses;
  bool together = false;  ///< whether one of `responses` has the sums of several
};

double real(std::int64_t count) { return static_cast<double>(count); }
double seconds_of(std::int64_t ns) { return static_cast<double>(ns) * 1e-9; }

/// The number of tokens before each token of a text, summed, if it were one sequence after its
/// prompt.
double flat_attended(const ResponseCounts& r) {
  return real(r.text) * real(r.prompt) + real(r.text) * (real(r.text) - 1) / 2;
}
double flat_cached(const ResponseCounts& r) { return real(r.prompt + r.text); }

template <class Of>
double sum(const JobView& view, Of of) {
  double all = 0;
  for (const ResponseCounts& response : view.responses) all += of(response);
  return all;
}

/// Mean over the responses for which `of` has a value.
template <class Of>
std::optional<std::pair<double, double>> mean(const JobView& view, Of of) {
  double all = 0, known = 0;
  for (const ResponseCounts& response : view.responses)
    if (const std::optional<double> one = of(response)) all += *one, ++known;
  return known > 0 ? std::optional(std::pair{all, known}) : std::nullopt;
}

/// Mean of one of ASPD's metrics; it is 0 for responses without a parallel stage.
std::optional<std::pair<double, double>> mean_of_stages(const JobView& view,
                                                        double ParallelMetrics::*of) {
  return mean(view, [&](const ResponseCounts& r) -> std::optional<double> {
    const double value = r.parallel() ? parallel_metrics({{r.stages()}}).*of : 0;
    return value > 0 ? std::optional(value) : std::nullopt;
  });
}

/// Numerator and denominator for a job; none: the job does not have this quantity.
using OfJob = std::function<std::optional<std::pair<double, double>>(const JobView&)>;

const std::map<std::string, OfJob>& job_metrics() {
  using Two = std::optional<std::pair<double, double>>;
  static const std::map<std::string, OfJob> kMetrics = {
      {"tokens_per_forward",
       [](const JobView& v) -> Two {
         const Counters& c = v.job->counters;
         return std::pair{real(c.chosen), real(c.forwards)};
       }},
      {"forwards_per_job",
       [](const JobView& v) -> Two {
         return std::pair{real(v.job->counters.forwards), 1.0};
       }},
      {"rows_per_pass",
       [](const JobView& v) -> Two {
         const Counters& c = v.job->counters;
         return std::pair{real(c.fed - c.prompt), real(std::max<std::int64_t>(1, c.forwards - 1))};
       }},
      {"seconds_per_job",
       [](const JobView& v) -> Two {
         return std::pair{seconds_of(v.job->counters.total_ns), 1.0};
       }},
      {"decode_speed",  // the first token comes from the prompt's pass
       [](const JobView& v) -> Two {
         return std::pair{sum(v,
                              [](const ResponseCounts& r) {
                                return real(std::max<std::int64_t>(0, r.text - 1));
                              }),
                          sum(v, [](const ResponseCounts& r) { return seconds_of(r.decode_ns); })};
       }},
      {"tokens_per_example",
       [](const JobView& v) -> Two {
         return std::pair{real(v.job->counters.chosen), real(std::ssize(v.clusters))};
       }},
      {"length",
       [](const JobView& v) -> Two {
         return std::pair{real(v.job->counters.text), real(v.answers)};
       }},
      {"threads",
       [](const JobView& v) -> Two {
         const double all = sum(v, [](const ResponseCounts& r) { return real(r.branches); });
         return std::pair{std::max(real(v.answers), all), real(v.answers)};
       }},
      {"parallel_share",
       [](const JobView& v) -> Two {
         if (v.together) return std::nullopt;
         return mean(v, [](const ResponseCounts& r) { return r.branches >= 2 ? 1.0 : 0.0; });
       }},
      {"max_cached",
       [](const JobView& v) -> Two {
         return mean(v, [](const ResponseCounts& r) { return real(r.cached_peak); });
       }},
      {"max_cached_flat",
       [](const JobView& v) -> Two {
         if (v.together) return std::nullopt;
         return mean(v, flat_cached);
       }},
      {"max_cached_saved",
       [](const JobView& v) -> Two {
         if (v.together) return std::nullopt;
         const double flat = sum(v, flat_cached);
         return std::pair{
             flat - sum(v, [](const ResponseCounts& r) { return real(r.cached_peak); }), flat};
       }},
      {"attended",
       [](const JobView& v) -> Two {
         const Counters& c = v.job->counters;
         if (c.text_attended == 0) return std::nullopt;
         return std::pair{real(c.text_attended), real(c.text)};
       }},
      {"attended_flat",
       [](const JobView& v) -> Two {
         if (v.together) return std::nullopt;
         return std::pair{sum(v, flat_attended), real(v.job->counters.text)};
       }},
      {"attended_saved",
       [](const JobView& v) -> Two {
         const Counters& c = v.job->counters;
         if (c.text_attended == 0 || v.together) return std::nullopt;
         const double flat = sum(v, flat_attended);
         return std::pair{flat - real(c.text_attended), flat};
       }},
      {"ppd",
       [](const JobView& v) -> Two {
         return mean(v, [](const ResponseCounts& r) -> std::optional<double> {
           if (!r.parallel()) return std::nullopt;
           return parallel_metrics({{r.stages()}}).ppd;
         });
       }},
      {"dp", [](const JobView& v) { return mean_of_stages(v, &ParallelMetrics::dp); }},
      {"abn", [](const JobView& v) { return mean_of_stages(v, &ParallelMetrics::abn); }},
      {"p_tps", [](const JobView& v) { return mean_of_stages(v, &ParallelMetrics::p_tps); }},
      {"tps",
       [](const JobView& v) -> Two {
         return mean(v, [](const ResponseCounts& r) -> std::optional<double> {
           if (r.decode_ns == 0) return std::nullopt;
           return parallel_metrics({{r.stages()}}).tps;
         });
       }},
      {"acceptance",
       [](const JobView& v) -> Two {
         const Counters& c = v.job->counters;
         if (c.drafted.empty()) return std::nullopt;
         const auto sum = [](const std::vector<std::int64_t>& by_place) {
           return real(std::accumulate(by_place.begin(), by_place.end(), std::int64_t{0}));
         };
         return std::pair{sum(c.accepted), sum(c.drafted)};
       }},
  };
  return kMetrics;
}

/// Whether the first token at which a field differs was a tie.
bool ties_at(const Answered& ours, size_t field, const Tokens& ids, const Tokens& theirs) {
  const auto differ = std::mismatch(ids.begin(), ids.end(), theirs.begin(), theirs.end()).first;
  const auto at =
      Json::json_pointer(str("/fields/", ours.context, "/", field, "/", differ - ids.begin()));
  const Json& gaps = ours.job->top2;
  return gaps.is_object() && gaps.contains(at) && gaps.at(at).is_number() &&
         gaps.at(at).get<double>() <= kTieGap;
}

/// What is missing if an arm's results say nothing about its decoder: its network does not know the
/// decoder's format and is not forced, or most answers are broken. Empty: nothing.
std::string undecided_of(const ArmFinding& arm) {
  const RunRow& run = arm.run.run;
  if (run.oracle) return "";
  if (run.untrained) return str("a network that was trained for ", run.decoder);
  return arm.broken()
             ? str("usable answers of ", run.label, " on ", run.dataset.name, " (most are broken)")
             : "";
}

/// Which pairs a metric of outcomes counts, by their score for the arm; none: it is another metric.
std::optional<double> outcome_of(const std::string& metric) {
  static const std::map<std::string, double> kOutcomes{
      {"judge_wins", 1}, {"judge_ties", 0.5}, {"judge_losses", 0}};
  const auto found = kOutcomes.find(metric);
  return found == kOutcomes.end() ? std::nullopt : std::optional(found->second);
}

bool is_score(const std::string& metric) {
  return metric == "headline" || computes(score_of(metric));
}

/// Whether it is a quantity of whole blocks rather than of single jobs.
bool of_blocks(const std::string& metric) {
  constexpr std::array<std::string_view, 6> kMetrics{"speed",
                                                     "examples_per_second",
                                                     "fields_per_second",
                                                     "tokens_per_second",
                                                     "tokens_per_second_a_request",
                                                     "latency"};
  return std::find(kMetrics.begin(), kMetrics.end(), metric) != kMetrics.end();
}

/// The speed that a speedup over the arm's baseline is of; empty: the metric is no such speedup.
std::string speed_of(const std::string& speedup) {
  static const std::map<std::string, std::string> kSpeeds{{"speedup", "speed"},
                                                          {"field_speedup", "fields_per_second"},
                                                          {"token_speedup", "tokens_per_second"},
                                                          {"decode_speedup", "decode_speed"},
                                                          {"tps_speedup", "tps"}};
  const auto found = kSpeeds.find(speedup);
  return found == kSpeeds.end() ? "" : found->second;
}

/// What is missing for a metric that is not measured here; empty: nothing.
std::string lacking_metric(const std::string& metric) {
  if (metric == "usd_per_thousand") return "the price of an hour of this machine";
  return is_score(metric) || job_metrics().contains(metric) ? "" : str("a measurement of ", metric);
}

/// The quantity, unless the arms share no answers.
Found compared(Measured measured, const std::string& arm, const std::string& other) {
  if (measured.units == 0)
    return {std::nullopt, str("an example that ", arm, " and ", other, " both answered")};
  return {measured, ""};
}

Interval times(const Interval& interval, double factor) {
  return {interval.estimate * factor, interval.low * factor, interval.high * factor};
}

}  // namespace

std::string score_of(const std::string& metric) {
  return outcome_of(metric) ? "judge_win_rate" : metric;
}

std::vector<LoadWindow> load_windows(const std::vector<Json>& blocks) {
  constexpr double kSeconds = 3;
  std::vector<LoadWindow> windows;
  for (const Json& block : blocks) {
    std::size_t end = block.size();
    while (end > 0 && block[end - 1].at(3).get<double>() == 0) --end;
    double seconds = 0, row_seconds = 0, tokens = 0;
    for (std::size_t i = (block.size() + 2) / 3; i < end; ++i) {
      const double length = block[i].at(0).get<double>() * 1e-9;
      seconds += length;
      row_seconds += block[i].at(1).get<double>() * length;
      tokens += block[i].at(2).get<double>();
      if (seconds < kSeconds) continue;
      windows.push_back({row_seconds / seconds, tokens / seconds});
      seconds = row_seconds = tokens = 0;
    }
  }
  return windows;
}

std::string Qualifiers::text() const {
  std::vector<std::string> said;
  if (bound) said.emplace_back("bound");
  if (counted) said.emplace_back("counted");
  if (forced) said.emplace_back("forced");
  if (standin) said.emplace_back("stand-in");
  if (other_data) said.emplace_back("other data");
  if (scaled) said.emplace_back("scaled");
  return said.empty() ? "measured" : join(said, ", ");
}

Qualifiers Qualifiers::with(const Qualifiers& other) const {
  return {forced || other.forced, standin || other.standin,       scaled || other.scaled,
          bound || other.bound,   other_data || other.other_data, counted || other.counted};
}

Found Evidence::ratio_of_ratios(const Scope& place, const ArmPair& a, const ArmPair& b,
                                const std::string& metric) const {
  const Found left = ratio(place, a.arm, a.over, metric),
              right = ratio(place, b.arm, b.over, metric);
  if (!left.measured || !right.measured) return left.measured ? right : left;
  return {quotient(*left.measured, *right.measured), ""};
}

std::vector<std::string> Evidence::places_of(const std::string& dataset) const {
  const std::vector<std::string> all = places();
  if (std::find(all.begin(), all.end(), dataset) == all.end()) return {};
  return {dataset};
}

std::vector<std::string> NoEvidence::places() const {
  std::vector<std::string> names;
  for (const auto& [name, why] : lacking_.datasets) names.push_back(name);
  return names.empty() ? std::vector<std::string>{""} : names;
}

Found NoEvidence::level(const Scope& place, const std::string& arm, const std::string&) const {
  if (const auto found = lacking_.arms.find(arm); found != lacking_.arms.end())
    return {std::nullopt, found->second};
  if (const auto found = lacking_.datasets.find(place.dataset); found != lacking_.datasets.end())
    return {std::nullopt, found->second};
  if (const auto found = lacking_.datasets.find(""); found != lacking_.datasets.end())
    return {std::nullopt, found->second};
  if (!lacking_.arms.empty()) return {std::nullopt, lacking_.arms.begin()->second};
  return {std::nullopt, place.dataset.empty() ? "a measurement" : str("dataset ", place.dataset)};
}

Found NoEvidence::ratio(const Scope& place, const std::string& arm, const std::string& other,
                        const std::string& metric) const {
  return level(place, lacking_.arms.contains(arm) ? arm : other, metric);
}

double NoEvidence::balance() const { return std::nan(""); }

std::vector<std::string> CountedEvidence::places() const {
  std::vector<std::string> names;
  for (const auto& [name, values] : counts_) names.push_back(name);
  return names.empty() ? NoEvidence::places() : names;
}

Found CountedEvidence::level(const Scope& place, const std::string& arm,
                             const std::string& metric) const {
  const auto of_place = counts_.find(place.dataset);
  if (of_place == counts_.end()) return NoEvidence::level(place, arm, metric);
  const auto found = of_place->second.find(metric);
  if (found == of_place->second.end() || std::isnan(found->second))
    return {std::nullopt, str(metric, " of ", place.dataset)};
  const double value = found->second;
  return {Measured{{value, value, value}, 0, false, true}, ""};
}

/// An arm on a dataset, with its answers.
struct StoredRun::Cell {
  const ArmFinding* arm;
  MeasuredBlocks measured;
  ScoreTable scores;
  RunAnswers answers;
  std::vector<JobView> jobs;
  std::set<RowId> disturbed_blocks;
  std::vector<Json> loads = {};  ///< of blocks

  bool has(const Scope& place, const std::string& category) const {
    return place.categories.empty() || std::find(place.categories.begin(), place.categories.end(),
                                                 category) != place.categories.end();
  }

  /// The range of a score; none for other quantities.
  std::optional<ScoreRange> range(const std::string& metric) const {
    if (job_metrics().contains(metric)) return std::nullopt;
    return range_of(total_of(metric));
  }
  std::string total_of(const std::string& metric) const {
    return metric == "headline" ? std::string(headline_score(*arm)) : score_of(metric);
  }

  std::vector<QuantityPart> parts(const Scope& place, const std::string& metric,
                                  bool undisturbed = false) const {
    std::vector<QuantityPart> all;
    if (const auto of_job = job_metrics().find(metric); of_job != job_metrics().end()) {
      for (const JobView& view : jobs) {
        if (!has(place, view.category)) continue;
        if (undisturbed && disturbed_blocks.contains(view.job->block)) continue;
        const auto two = of_job->second(view);
        if (two && two->second > 0)
          all.push_back({view.job->key, view.clusters, "", two->first, two->second});
      }
      return all;
    }
    const std::string total = total_of(metric);
    for (const TaskMetric& one : task_metrics()) {
      if (std::find(one.totals.begin(), one.totals.end(), total) == one.totals.end()) continue;
      const ExampleNames& names = scores.names();
      for (const ScoredPart& part : one.parts(total, scores)) {
        const ScoredAnswer& answer = scores.answers()[static_cast<size_t>(part.answer)];
        const std::optional<double> outcome = outcome_of(metric);
        if (has(place, names.categories.name(answer.category)))
          all.push_back({{str(names.keys[static_cast<size_t>(answer.sample)], "\n",
                              names.fields.name(part.field))},
                         {names.clusters.name(answer.cluster)},
                         std::to_string(part.group),
                         outcome ? real(part.numerator == *outcome) : part.numerator,
                         part.denominator});
      }
    }
    return all;
  }
};

StoredRun::StoredRun(Store& store, const std::string& invocation, const std::string& baseline) {
  const Snapshot snapshot(store.database());
  Measurements measured = measurements_of(store, invocation);
  comparison_ = compare(store, invocation, {.baseline = baseline}, measured);
  for (size_t a = 0; a < comparison_.arms.size(); ++a) {
    const ArmFinding& arm = comparison_.arms[a];
    auto cell = std::make_unique<Cell>(Cell{&arm,
                                            std::move(measured.figures.runs[a].measured),
                                            std::move(measured.scores[a]),
                                            read_answers(store, arm.run.run.id),
                                            {}});
    std::map<std::pair<JobKey, int>, JobView> views;
    for (const auto& [key, answered] : cell->answers.by_sample) {
      if (answered.job->error) continue;
      JobView& view = views[{answered.job->key, answered.job->repeat}];
      view.job = answered.job;
      view.category = answered.generation.category;
      view.clusters.push_back(answered.generation.cluster);
      const auto asked =
          cell->arm->run.run.form == "json"
              ? std::int64_t{1}
              : std::max<std::int64_t>(1, std::ssize(answered.generation.row.fields));
      view.answers += asked;
      if (view.responses.empty())
        view.responses = responses_of(answered.job->counters, answered.job->turns, asked);
      view.together = view.together || (asked > 1 && view.responses.size() == 1);
    }
    for (auto& [key, view] : views) cell->jobs.push_back(std::move(view));
    for (const BlockFigures& block : cell->measured.blocks)
      if (is_disturbed(block.time, arm.run.run.threads)) cell->disturbed_blocks.insert(block.id);
    cell->loads = store.loads_of(arm.run.run.id);
    cells_.push_back(std::move(cell));
  }
}

StoredRun::~StoredRun() = default;

StoredEvidence::StoredEvidence(std::shared_ptr<const StoredRun> run, Lacking lacking, bool smaller,
                               double balance, std::vector<Warning> warnings,
                               std::set<std::string> meant)
    : run_(std::move(run)),
      comparison_(run_->comparison()),
      lacking_(std::move(lacking)),
      smaller_(smaller),
      balance_(balance),
      warnings_(std::move(warnings)),
      meant_(std::move(meant)) {}

const StoredEvidence::Cell* StoredEvidence::cell(const std::string& dataset,
                                                 const std::string& arm) const {
  for (const auto& one : run_->cells_)
    if (one->arm->run.run.dataset.name == dataset && one->arm->run.run.label == arm)
      return one.get();
  return nullptr;
}

std::string StoredEvidence::lack_of(const std::string& dataset, const std::string& arm) const {
  if (const auto found = lacking_.datasets.find(dataset); found != lacking_.datasets.end())
    return found->second;
  if (const auto found = lacking_.arms.find(arm); found != lacking_.arms.end())
    return found->second;
  if (const auto found = comparison_.not_applicable.find({dataset, arm});
      found != comparison_.not_applicable.end())
    return str("arm ", arm, " on ", dataset, ", which it cannot run: it ", found->second);
  return str("arm ", arm, " on ", dataset);
}

std::vector<std::string> StoredEvidence::places() const {
  std::vector<std::string> names;
  const auto add = [&](const std::string& name) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  };
  for (const auto& one : run_->cells_) add(one->arm->run.run.dataset.name);
  for (const auto& [name, why] : lacking_.datasets) add(name);
  return names;
}

std::vector<std::string> StoredEvidence::categories(const std::string& dataset) const {
  std::set<std::string> names;
  for (const auto& one : run_->cells_)
    if (one->arm->run.run.dataset.name == dataset)
      for (const StoredGeneration& generation : one->answers.generations)
        names.insert(generation.category);
  return {names.begin(), names.end()};
}

std::vector<Caveat> StoredEvidence::caveats(const std::string& place,
                                            const std::vector<std::string>& arms,
                                            const std::string& metric) const {
  std::vector<Caveat> all = caveats_of(comparison_, place, arms, metric, warnings_);
  for (Caveat& caveat : all)
    if (meant_.contains(caveat.code)) caveat.effect = Effect::beside;
  return all;
}

std::unique_ptr<Evidence> StoredEvidence::in_view(MeasuredView view) const {
  auto other =
      std::make_unique<StoredEvidence>(run_, lacking_, smaller_, balance_, warnings_, meant_);
  other->view_ = view;
  return other;
}

bool StoredEvidence::undisturbed_only(const std::string& metric) const {
  const Quantity quantity = quantity_of(metric);
  return view_ == MeasuredView::undisturbed &&
         (quantity == Quantity::answer_speed || quantity == Quantity::token_speed);
}

Found StoredEvidence::level(const Scope& place, const std::string& arm,
                            const std::string& metric) const {
  const Cell* one = cell(place.dataset, arm);
  if (!one) return {std::nullopt, lack_of(place.dataset, arm)};
  const ArmFinding& found = *one->arm;
  if (const std::string lacks = undecided_of(found); !lacks.empty()) return {std::nullopt, lacks};
  const std::string ratio_of_speed = speed_of(metric);
  const bool over_baseline = !ratio_of_speed.empty() || metric == "em" || metric == "identical";
  if (over_baseline && !lacking_.baseline.empty()) return {std::nullopt, lacking_.baseline};
  if (!ratio_of_speed.empty()) {
    const ArmFinding* baseline = comparison_.baseline_of(found);
    if (!baseline) return {Measured{{1, 1, 1}, 0, true, true}, ""};
    return ratio(place, arm, baseline->run.run.label, ratio_of_speed);
  }
  const auto measured = view_ == MeasuredView::undisturbed
                            ? undisturbed_speed(found, one->measured, comparison_.confidence)
                            : UndisturbedSpeed{found.examples_per_second, found.blocks};
  if (place.categories.empty() && measured.blocks > 0) {
    const auto speed = [&](double factor) {
      return Found{
          Measured{times(measured.examples_per_second, factor), measured.blocks, true, false}, ""};
    };
    const RunSummary& run = found.run;
    if (metric == "speed" || metric == "examples_per_second") return speed(1);
    if (metric == "fields_per_second")
      return speed(real(run.measured_fields) / real(run.measured_examples));
    if (metric == "tokens_per_second")
      return speed(real(run.measured_chosen) / real(run.measured_examples));
    if (metric == "tokens_per_second_a_request")
      return speed(real(run.measured_chosen) / real(run.measured_examples) /
                   std::max(1.0, found.jobs.reached));
  }
  if (metric == "latency")
    if (const auto& latency = comparison_.details_of(found).speeds.latency)
      return {Measured{{latency->p50, std::nan(""), std::nan("")}, std::ssize(one->jobs)}, ""};
  if (metric == "em" && found.run.run.oracle) return {std::nullopt, "answers that are not forced"};
  if (metric == "em" || metric == "identical") {
    const ArmFinding* baseline = comparison_.baseline_of(found);
    const auto count =
        baseline ? identity(place, arm, baseline->run.run.label, metric) : std::nullopt;
    if (!count || count->compared == 0) return {std::nullopt, str("a baseline of ", arm)};
    return {Measured{{share_of(count->same, count->compared), std::nan(""), std::nan("")},
                     count->compared},
            ""};
  }
  if (of_blocks(metric))
    return {std::nullopt, str("a block of ", arm, " on ", place.dataset, " measured whole")};
  if (const std::string unknown = lacking_metric(metric); !unknown.empty())
    return {std::nullopt, unknown};
  if (is_score(metric) && found.run.run.oracle)
    return {std::nullopt, "answers that are not forced"};
  const std::vector<QuantityPart> parts = one->parts(place, metric, undisturbed_only(metric));
  if (parts.empty() && needs_judge(score_of(metric)))
    return {std::nullopt, str("a judge, for ", metric, " of ", arm, " on ", place.dataset,
                              " (`judge=FILE`, or pardec judge `db` ", comparison_.db, " `run` ",
                              comparison_.invocation, " `protocol` ",
                              protocol_for(score_of(metric)), " `service=FILE`)")};
  if (parts.empty())
    return {std::nullopt,
            str(metric, " of ", arm, " on ", place.dataset,
                place.categories.empty() ? "" : ", " + join(place.categories, " and "),
                std::any_of(one->jobs.begin(), one->jobs.end(),
                            [](const JobView& job) { return job.together; })
                    ? ", whose turns or fields are counted together"
                    : "")};
  return {level_of(parts, one->range(metric)), ""};
}

Found StoredEvidence::speed_ratio(const Scope& place, const Cell& arm, const Cell& other) const {
  if (place.categories.empty()) {
    const auto speedup =
        speedup_of({other.arm->run.run, other.measured}, {arm.arm->run.run, arm.measured}, 0.95);
    if (!speedup)
      return {std::nullopt, str("a block that ", arm.arm->run.run.label, " and ",
                                other.arm->run.run.label, " were both measured on")};
    if (view_ == MeasuredView::undisturbed && speedup->disturbed > 0)
      return {Measured{*speedup->quiet, speedup->quiet_blocks, true, false}, ""};
    return {Measured{speedup->ratio, speedup->blocks, true, false}, ""};
  }
  // Blocks mix categories, so times come from jobs. Only jobs that run alone have their own times.
  for (const Cell* one : {&arm, &other})
    if (one->arm->run.run.batch_size != 1)
      return {std::nullopt,
              str("arm ", one->arm->run.run.label, " with batch_size 1, for times by category")};
  const bool quiet = undisturbed_only("seconds_per_job");
  const PairedParts shared = paired(arm.parts(place, "seconds_per_job", quiet),
                                    other.parts(place, "seconds_per_job", quiet));
  std::vector<BlockPair> both(static_cast<size_t>(shared.units), BlockPair{0, 0});
  for (const ScorePart& part : shared.other)
    both[static_cast<size_t>(part.cluster)].baseline += part.numerator;
  for (const ScorePart& part : shared.arm)
    both[static_cast<size_t>(part.cluster)].method += part.numerator;
  if (both.empty()) return {std::nullopt, str(join(place.categories, ", "), " of ", place.dataset)};
  return {Measured{ratio_of_totals(both), std::ssize(both), true, false}, ""};
}

Found StoredEvidence::token_speed_ratio(const Scope& place, const Cell& arm,
                                        const Cell& other) const {
  Found speed = speed_ratio(place, arm, other);
  if (!speed.measured) return speed;
  const auto ours = arm.parts(place, "tokens_per_example"),
             theirs = other.parts(place, "tokens_per_example");
  const Found fewer = compared(ratio_of(theirs, ours, std::nullopt), arm.arm->run.run.label,
                               other.arm->run.run.label);
  if (!fewer.measured) return fewer;
  const double times_fewer = fewer.measured->value.estimate;
  // Arms that choose as many tokens have no interval of their number.
  if (times_fewer == 1 && !std::isfinite(fewer.measured->value.low)) return speed;
  return {quotient(*speed.measured, *fewer.measured), ""};
}

Found StoredEvidence::of_stages(const Scope& place, const Cell& arm, const Cell& other,
                                const std::string& metric) const {
  const auto level = [&](const Cell& cell, const char* name) {
    std::vector<UnitPart> all;
    // A stack is one unit; a single example belongs to the unit of its cluster.
    for (const QuantityPart& part : cell.parts(place, name, undisturbed_only(metric)))
      all.push_back({part.answers.size() == 1 ? part.clusters.front() : join(part.answers, "\n"),
                     part.numerator, part.denominator});
    return all;
  };
  // In the order of StageLevel.
  const std::vector<std::vector<UnitPart>> levels{level(arm, "tps"),   level(other, "tps"),
                                                  level(arm, "p_tps"), level(arm, "dp"),
                                                  level(arm, "ppd"),   level(arm, "abn")};
  const std::string &label = arm.arm->run.run.label, &theirs = other.arm->run.run.label;
  if (levels[kTps].empty() || levels[kSequentialTps].empty())
    return {std::nullopt, str("the time that ", levels[kTps].empty() ? label : theirs,
                              " takes to write an answer")};
  if (levels[kParallelTps].empty())
    return {std::nullopt, str("an answer of ", label, " with a parallel stage")};
  const bool law = metric == "serial_parallel_law";
  return {joint_quantity(levels, !law, law ? law_of_stages : stage_speedup_per_branch), ""};
}

Found StoredEvidence::ratio(const Scope& place, const std::string& arm, const std::string& other,
                            const std::string& metric) const {
  Found found = ratio_of_view(place, arm, other, metric);
  if (!found.measured || view_ != MeasuredView::by_token ||
      quantity_of(metric) != Quantity::answer_speed)
    return found;
  const Found ours = level(place, arm, "length"), theirs = level(place, other, "length");
  for (const Found* length : {&ours, &theirs})
    if (!length->measured) return *length;
  const double longer = ours.measured->value.estimate / theirs.measured->value.estimate;
  const bool time = metric == "seconds_per_job" || metric == "latency";
  found.measured->value = times(found.measured->value, time ? 1 / longer : longer);
  return found;
}

Found StoredEvidence::ratio_of_view(const Scope& place, const std::string& arm,
                                    const std::string& other, const std::string& metric) const {
  const Cell *one = cell(place.dataset, arm), *two = cell(place.dataset, other);
  if (!one || !two) return {std::nullopt, lack_of(place.dataset, one ? other : arm)};
  for (const Cell* side : {one, two})
    if (const std::string lacks = undecided_of(*side->arm); !lacks.empty())
      return {std::nullopt, lacks};
  // Both arms answer the same fields of an example.
  if (metric == "speed" || metric == "fields_per_second") return speed_ratio(place, *one, *two);
  if (metric == "tokens_per_second") return token_speed_ratio(place, *one, *two);
  if (metric == "parallel_stage_speedup") {
    const bool quiet = undisturbed_only(metric);
    const auto stages = one->parts(place, "p_tps", quiet), serial = two->parts(place, "tps", quiet);
    if (stages.empty()) return {std::nullopt, str("an answer of ", arm, " with a parallel stage")};
    return compared(ratio_of(stages, serial, std::nullopt), arm, other);
  }
  if (metric == "serial_parallel_law" || metric == "stage_speedup_per_branch")
    return of_stages(place, *one, *two, metric);
  for (const std::string& label : {arm, other})
    if (Found level = this->level(place, label, metric); !level.measured) return level;
  const bool quiet = undisturbed_only(metric);
  const auto ours = one->parts(place, metric, quiet), theirs = two->parts(place, metric, quiet);
  if (!ours.empty() && !theirs.empty())
    return compared(ratio_of(ours, theirs, one->range(metric)), arm, other);
  return {quotient(*level(place, arm, metric).measured, *level(place, other, metric).measured), ""};
}

Found StoredEvidence::difference(const Scope& place, const std::string& arm,
                                 const std::string& other, const std::string& metric) const {
  for (const std::string& label : {arm, other})
    if (Found level = this->level(place, label, metric); !level.measured) return level;
  const auto ours = cell(place.dataset, arm)->parts(place, metric),
             theirs = cell(place.dataset, other)->parts(place, metric);
  if (ours.empty() || theirs.empty()) return {std::nullopt, str(metric, " of single examples")};
  return compared(difference_of(ours, theirs, cell(place.dataset, arm)->range(metric)), arm, other);
}

std::optional<IdentityCount> StoredEvidence::identity(const Scope& place, const std::string& arm,
                                                      const std::string& other,
                                                      const std::string& metric) const {
  const Cell *one = cell(place.dataset, arm), *two = cell(place.dataset, other);
  if (!one || !two) return std::nullopt;
  const bool ids = same_ids(one->arm->run.run.model, two->arm->run.run.model);
  if (metric == "em" && !(ids && both_ask_one_by_one(two->arm->run.run, one->arm->run.run)))
    return std::nullopt;
  IdentityCount count{0, 0, 0};
  for (const auto& [key, ours] : one->answers.by_sample) {
    const auto theirs = two->answers.by_sample.find(key);
    if (theirs == two->answers.by_sample.end() || ours.generation.row.error ||
        theirs->second.generation.row.error || !one->has(place, ours.generation.category))
      continue;
    if (metric == "em") {
      const auto& our_fields = ours.generation.row.fields;
      const auto& their_fields = theirs->second.generation.row.fields;
      for (size_t f = 0; f < std::min(our_fields.size(), their_fields.size()); ++f) {
        const bool same = same_tokens(our_fields[f], their_fields[f]);
        ++count.compared;
        count.same += same;
        count.ties += !same && ties_at(ours, f, our_fields[f].tokens, their_fields[f].tokens);
      }
      continue;
    }
    const Identity identity = compare_fields(theirs->second, ours, ids);
    ++count.compared;
    count.same += identity.identical;
    count.ties += !identity.identical && identity.gap && *identity.gap <= kTieGap;
  }
  return count;
}

std::vector<double> StoredEvidence::values(const Scope& place, const std::string& arm,
                                           const std::string& metric) const {
  std::vector<double> all;
  const Cell* one = cell(place.dataset, arm);
  if (!one || !undecided_of(*one->arm).empty()) return all;
  if (metric != "length") {
    for (const QuantityPart& part : one->parts(place, metric))
      all.push_back(part.numerator / part.denominator);
    return all;
  }
  for (const JobView& view : one->jobs) {
    if (!one->has(place, view.category)) continue;
    if (view.together)
      all.push_back(real(view.job->counters.text) / real(view.answers));
    else
      for (const ResponseCounts& response : view.responses) all.push_back(real(response.text));
  }
  return all;
}

std::vector<LoadWindow> StoredEvidence::load(const std::string& place,
                                             const std::string& arm) const {
  const Cell* one = cell(place, arm);
  return one ? load_windows(one->loads) : std::vector<LoadWindow>{};
}

Qualifiers StoredEvidence::qualifiers(const std::string& place) const {
  Qualifiers qualifiers;
  qualifiers.scaled = smaller_;
  for (const auto& one : run_->cells_) {
    const RunRow& run = one->arm->run.run;
    if (!place.empty() && run.dataset.name != place) continue;
    qualifiers.forced = qualifiers.forced || run.oracle.has_value();
    qualifiers.standin = qualifiers.standin || run.dataset.standin || run.dataset.sample;
  }
  return qualifiers;
}

}  // namespace pardec
