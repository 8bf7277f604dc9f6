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

/// The guesses of one or more answers, as vLLM counts them.
struct GuessCounts {
  std::int64_t steps = 0;     ///< passes that verified guesses
  std::int64_t drafted = 0;   ///< guesses
  std::int64_t accepted = 0;  ///< guesses that became part of the answer
  /// number of steps by the number of accepted guesses, from 0 to the most guesses of a step
  std::vector<std::int64_t> histogram;
};
GuessCounts guess_counts(const Counters& counters);

/// The member `metrics` of a reply: {"speculative_decoding": {...}} in vLLM's shape, which AIPerf
/// reads; null if nothing was guessed.
OrderedJson reply_metrics(const Counters& counters);

/// The numbers that the server reports at /metrics. All times are in seconds.
class Metrics {
 public:
  /// A choice has ended.
  struct Ended {
    std::string_view finish;  ///< finish_reason
    std::int64_t prompt_tokens = 0;
    const Counters& counters;
    double queued = 0, first_token = 0, whole = 0;  ///< since the request came
  };
  void add(const Ended& ended);
  /// A choice was cancelled by its client or ended with an error ("abort", "error").
  void add_failed(std::string_view finish) { ++finished_[std::string(finish)]; }

  /// The engine's current load, and its passes so far.
  struct Engine {
    std::size_t running = 0, waiting = 0;
    std::int64_t passes = 0, job_passes = 0;
    std::int64_t held_rows = 0;  ///< of the cache
    double held_share = 0;       ///< of the cache budget, from 0 to 1; 0: there is none
  };
  /// In Prometheus' text format (version 0.0.4). `model`: the label of all numbers.
  std::string text(const std::string& model, const Engine& engine) const;

 private:
  struct Histogram {
    static constexpr std::array kBounds{.001, .005, .01, .025, .05, .1,  .25, .5,
                                        1.,   2.5,  5.,  10.,  25., 60., 120.};
    std::array<std::int64_t, kBounds.size()> below{};  // cumulative
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
