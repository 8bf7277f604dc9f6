#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "src/support/counters.hpp"
#include "src/support/json.hpp"

namespace pardec::serve {

/// Counts of the guesses in one or more answers, defined as in vLLM's metrics of speculative
/// decoding.
struct GuessCounts {
  std::int64_t steps = 0;     ///< number of passes that verified guesses
  std::int64_t drafted = 0;   ///< number of guesses
  std::int64_t accepted = 0;  ///< number of guesses that became part of the answer
  /// histogram[n]: number of passes that verified guesses and accepted exactly n of them; empty if
  /// there were no guesses
  std::vector<std::int64_t> histogram;
};
/// Computes these counts from Counters::drafted and Counters::accepted.
GuessCounts guess_counts(const Counters& counters);

/// The value of the member `metrics` of a reply: {"speculative_decoding": {...}}, in vLLM's form.
/// The benchmark client AIPerf reads this form. The value is null if nothing was guessed.
/// `counters`: the counters of the reply's choice.
OrderedJson reply_metrics(const Counters& counters);

/// Collects the metrics that the server shows at the path /metrics. All times are in seconds.
class Metrics {
 public:
  /// A choice (one answer of a request) that has ended without an error.
  struct Ended {
    std::string_view finish;         ///< the choice's finish_reason (replies.hpp)
    std::int64_t prompt_tokens = 0;  ///< number of tokens of the choice's prompt
    const Counters& counters;        ///< counters of the choice; must outlive this Ended
    double queued = 0;       ///< seconds from the request's arrival to the start of decoding
    double first_token = 0;  ///< seconds from the request's arrival to the first token
    double whole = 0;        ///< seconds from the request's arrival to the choice's end
  };
  /// Adds a choice to the metrics: its end, its tokens, its guesses and its times.
  void add(const Ended& ended);
  /// Counts a choice without a complete answer. `finish`: "abort" if its client cancelled the
  /// choice, "error" if the choice ended with an error.
  void add_failed(std::string_view finish) { ++finished_[std::string(finish)]; }

  /// The current load of the engine, and counts of its passes so far: the values of Worker::Load.
  struct Engine {
    std::size_t running = 0, waiting = 0;  ///< number of jobs in the engine, and in the queue
    std::int64_t passes = 0;
    std::int64_t job_passes = 0;  ///< sum over all passes of the number of jobs in the pass
    std::int64_t held_rows = 0;   ///< number of cache rows in use
    double held_share = 0;        ///< share of the cache budget in use, 0 to 1; 0 without a budget
  };
  /// All metrics in Prometheus' text format (version 0.0.4). `model`: the value of the label
  /// `model_name`.
  std::string text(const std::string& model, const Engine& engine) const;

 private:
  struct Histogram {
    static constexpr std::array kBounds{.001, .005, .01, .025, .05, .1,  .25, .5,
                                        1.,   2.5,  5.,  10.,  25., 60., 120.};
    std::array<std::int64_t, kBounds.size()> below{};  // number of values up to each bound
    std::int64_t count = 0;
    double sum = 0;
    void add(double value);
  };

  std::map<std::string, std::int64_t> finished_;  // by finish_reason
  std::int64_t prompt_tokens_ = 0, generated_ = 0;
  Counters guesses_;  // `drafted` and `accepted`
  Histogram queued_, first_token_, whole_;
};

}  // namespace pardec::serve
