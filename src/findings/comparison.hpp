#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "decoders/decoder.hpp"
#include "metrics/statistics.hpp"
#include "src/findings/answer_state.hpp"
#include "src/findings/judged_shares.hpp"
#include "src/findings/roofline.hpp"
#include "src/scoring/score_table.hpp"
#include "src/store/store.hpp"

namespace pardec {

/// An interval over fewer blocks (or clusters of examples) says nothing: of two equal arms half
/// would seem to differ with two.
inline constexpr std::int64_t kFewestBlocks = 6;

/// An interval over so many blocks or clusters: without ends (NaN) below kFewestBlocks.
Interval with_ends_of(Interval interval, std::int64_t units);

/// ratio_of_totals over blocks; without ends (NaN) where there are fewer than kFewestBlocks.
Interval interval_over(const std::vector<BlockPair>& blocks, double confidence);

/// How arms are compared.
struct CompareOptions {
  std::string baseline;  ///< label; empty: each run's own
  double confidence = 0.95;
  double margin = 0.05;  ///< a score this much lower is still as good
  /// Of read_hardware. The first is the one whose shares are told; what all allow, of `traced`.
  std::vector<std::string> hardware;
  std::vector<TraceWork> traced;  ///< of the same arms, if not of the same run
};
/// ConfigError for a --confidence-level or --margin that is none.
void check_compare_options(const CompareOptions& options);

/// A reason not to trust a number as it stands.
struct Warning {
  std::string code;          ///< for programs, e.g. "hit_limit"; results/README.md lists them
  std::string dataset, arm;  ///< empty: of all
  std::string found;
  std::string advice;  ///< what it means and what to do, the same for every arm; may be empty
};

/// What went on side by side, of what was asked for.
struct Reached {
  double reached;  ///< mean; NaN: not known
  int asked;
  bool short_of_it() const { return reached < 0.8 * asked; }
};

/// Total seconds of the baseline over the method's, on the blocks that both were measured on.
/// Repeats of a block are no new blocks.
struct Speedup {
  Interval ratio;                  ///< as it was measured; see RobustRatio
  std::int64_t slow_baseline = 0;  ///< blocks in which the baseline alone took too long,
  std::int64_t slow_method = 0;    ///< and the method (outliers, see RobustRatio)
  Interval without_outliers{};
  std::int64_t blocks;             ///< of different examples
  std::int64_t measurements = 0;   ///< of these blocks, repeats included
  std::int64_t told = 0;           ///< measurements that say who had the machine
  std::int64_t disturbed = 0;      ///< measurements of which others had a share of the machine
  std::int64_t repaired = 0;       ///< of them: measured once more
  std::int64_t in_vain = 0;        ///< of these: disturbed that time, too
  std::optional<Interval> quiet;   ///< where some were disturbed: by their second times where those
                                   ///< were undisturbed, without them elsewhere
  std::int64_t quiet_blocks = 0;   ///< of different examples, that `quiet` is over
  std::vector<double> of_repeats;  ///< the ratio of each repeat, where there are several
  bool traced = false;
};

/// The largest speedup over the baseline that machines allow (roofline), from the traces of both.
struct Allowed {
  std::vector<double> speedup;  ///< on each of CompareOptions::hardware
  std::int64_t examples;        ///< that were traced
};

/// Percentiles over answers, in seconds: linear interpolation, as numpy's.
struct Percentiles {
  double p50, p95, p99;
};

/// Speeds as they are known elsewhere. NaN: not known, or not comparable (see `speeds_of`).
struct Speeds {
  double tokens_per_second;    ///< chosen ids a second of wall time, all jobs in flight together
  double forwards_per_second;  ///< passes of the network that the blocks took
  double roofline_share;       ///< of this speed in what the machine allows (RooflineBound)
  double prompt_tokens_per_second;         ///< of single jobs, until the first pass ends
  std::optional<Percentiles> latency;      ///< from a job's start until its answers are there
  std::optional<Percentiles> first_token;  ///< until the first chosen token
};

/// One score of an arm. Ends are NaN over fewer than kFewestBlocks clusters of examples.
struct ScoreFinding {
  Interval value;
  std::int64_t count;  ///< answers that it is of
  /// From the baseline's, over the answers that both arms have a score of (repeats of an answer
  /// count by their mean). A failed answer counts as wrong.
  std::optional<Interval> difference;
  std::int64_t pairs = 0;     ///< how many these answers are
  std::int64_t left_out = 0;  ///< answers that one of the two alone has a score of
  /// How many independent examples would show the score not worse by more than the margin, if they
  /// were like these. None: the difference is below the margin, or it takes more than a million.
  std::optional<std::int64_t> would_do;
  /// Exact test of right and wrong answers by cluster (clustered_mcnemar), after Holm.
  std::optional<double> p;
  bool lower_is_better = false;

  /// Whether the score is not worse than the baseline's by more than `margin`, as far as its
  /// difference's interval says.
  enum class Verdict { not_worse, worse, open };
  Verdict verdict(double margin) const;
};

/// How an arm's answers depart from the baseline's.
struct Departure {
  std::int64_t departed, compared;
  std::optional<double> median_gap, least_gap;  ///< logits, where the first token differs
  std::int64_t without_gap;
};

/// Value F1 of one attribute, over all categories.
struct AttributeFinding {
  std::string attribute;
  long values;  ///< in the references
  double f1;    ///< micro, as ExtractGPT counts it
};

/// One arm on one dataset, as far as headlines and warnings tell of it.
struct ArmFinding {
  RunSummary run;
  std::optional<size_t> baseline;  ///< index in Comparison::arms
  bool is_baseline = false;        ///< of another arm
  Reached jobs{}, stack{};         ///< in flight; examples in a job
  double streams = 0;              ///< answers that choose in a pass; NaN: not known
  Interval examples_per_second{};  ///< over the blocks that were measured whole
  std::int64_t blocks = 0;         ///< of different examples, measured whole
  std::int64_t measurements = 0;   ///< of its blocks, repeats included
  std::int64_t disturbed = 0;      ///< of them: others had a share of the machine
  double taken = 0;                ///< of its threads' time, by others, over all of them
  AnswerState state;
  std::optional<Speedup> speedup;
  double likeness = 0;     ///< share of identical answers, under an oracle of the network's
                           ///< own choices; NaN: not compared
  double exact_match = 0;  ///< IPPD's EM; NaN: the two do not both ask one by one
  std::map<std::string_view, ScoreFinding> scores;  ///< by total
  std::optional<Departure> departure;

  bool broken() const { return state.mostly_broken(); }
};

/// The rest of what tables and figures show of an arm.
struct ArmDetails {
  Speeds speeds{};
  std::optional<Allowed> allowed;
  Interval tokens_per_forward{};                 ///< chosen ids a pass, over jobs
  std::vector<AttributeFinding> attributes;      ///< by name; none where values have no scores
  std::map<std::int64_t, std::int64_t> emitted;  ///< tokens emitted by a forward -> forwards
  /// Of each decoder of Comparison::own, one value a column.
  std::vector<std::vector<double>> own;
};

/// A metric of a dataset that none of its answers has a score of.
struct Uncomputed {
  std::string dataset;
  std::string_view metric;  ///< for `score --metric`; empty: a judge has to give it
  std::vector<std::string_view> totals;
};

/// The arms of one invocation side by side, as far as headlines and warnings tell of them.
struct Overview {
  std::string db, invocation;
  double confidence, margin;
  std::string unit;  ///< of examples, e.g. products
  std::vector<ArmFinding> arms;
  /// Totals whose intervals and differences from the baseline are known.
  std::vector<std::string_view> scores;
  bool exact_matches = false, stacks = false;
  std::vector<Warning> warnings;
  /// Dataset and arm that could not be run, with the reason.
  std::map<std::pair<std::string, std::string>, std::string> not_applicable;

  /// Of the arms, each once: ar stays free next to arms whose guesses are forced.
  std::vector<std::string> oracles() const;
  bool forced() const { return !oracles().empty(); }
  const ArmFinding* baseline_of(const ArmFinding& arm) const {
    return arm.baseline ? &arms[*arm.baseline] : nullptr;
  }
  /// Most answers of the arm, or of its baseline, are none: neither speed nor scores say anything.
  bool is_broken(const ArmFinding& arm) const {
    const ArmFinding* baseline = baseline_of(arm);
    return arm.broken() || (baseline && baseline->broken());
  }
};

/// Everything that the tables, figures and page of an invocation show, from one reading of the
/// store. Its `scores` are the totals that the datasets are judged by, and those that somebody had
/// computed beside them.
struct Comparison : Overview {
  std::vector<ArmDetails> details;  ///< of each arm
  std::vector<Uncomputed> uncomputed;
  std::vector<JudgedShare> judged;
  /// Of the first of CompareOptions::hardware, and of the rest, for each type once.
  std::vector<Hardware> machines, other_machines;
  std::vector<std::string> allowing;  ///< CompareOptions::hardware, where some arm was traced
  /// Decoders among the arms with columns of their own.
  std::vector<const DecoderEntry*> own;

  /// REQUIRES: one of `arms`.
  const ArmDetails& details_of(const ArmFinding& arm) const {
    return details[static_cast<size_t>(&arm - arms.data())];
  }
};

/// What a comparison is made of, by arm.
struct Measurements {
  Figures figures;
  std::vector<ScoreTable> scores;
};
/// ConfigError when there is no such invocation.
Measurements measurements_of(Store& store, const std::string& invocation);

/// Its `scores` are those that the datasets are judged by first. ConfigError when there is no such
/// invocation or arm.
Overview overview(Store& store, const std::string& invocation, const CompareOptions& options = {});

/// ConfigError when there is no such invocation or arm.
Comparison compare(Store& store, const std::string& invocation, const CompareOptions& options = {});
/// `measured`: of the invocation.
Comparison compare(Store& store, const std::string& invocation, const CompareOptions& options,
                   const Measurements& measured);

/// Where an arm's answers to one example depart from the baseline's.
struct DifferingAnswer {
  DatasetRow dataset;
  std::string arm, sample, field, baseline, answer;
  std::optional<std::int64_t> token;  ///< of the first difference among the answer's value tokens
  double gap;                         ///< of its logits; infinite: not known
  int repeats = 1;                    ///< that depart; all else is of the one with the smallest gap
};
/// All are counted; of the examples with the smallest gap, the first, there is more.
struct DifferingAnswers {
  std::int64_t count = 0;     ///< of answers
  std::int64_t examples = 0;  ///< of an arm, that these answer
  bool repeated = false;      ///< examples were answered more than once
  std::vector<DifferingAnswer> first;
};
DifferingAnswers differing_answers(Store& store, const Measurements& measured, int most);

}  // namespace pardec
