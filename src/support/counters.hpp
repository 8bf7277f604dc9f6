#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <string_view>
#include <variant>
#include <vector>

#include "src/support/json.hpp"

/// The counters of a generation, which are the same for all decoders. The table kCounters defines
/// for each counter what it counts, how its values are combined, and where it is stored. Sums,
/// JSON, the columns of table `job` (results/schema.sql), merge and export follow from this table.
namespace pardec {

/// The counters that are single numbers. kCounters has their meanings.
struct Counts {
  std::int64_t prompt = 0, chosen = 0, forced = 0, fed = 0;
  std::int64_t text = 0, text_attended = 0;
  std::int64_t forwards = 0;
  std::int64_t prefill_ns = 0, decode_ns = 0, total_ns = 0, first_token_ns = 0;
  std::int64_t cached_peak = 0, cached_sum = 0, attended = 0, scratch = 0;
  std::int64_t branches = 0;
  std::int64_t draft_forwards = 0, draft_fed = 0, draft_ns = 0;
  std::int64_t generated = 0, branch_tokens = 0, groups = 0, group_branches = 0, parallel_ns = 0;

  /// Adds the counts of a later part: a later turn of the conversation, or another job of the run.
  void add_after(const Counts& later);
};

/// All counters of a generation. kCounters has their meanings.
struct Counters : Counts {
  std::vector<std::int64_t> branch_lengths;  ///< one entry for each stream
  /// emitted[n]: number of passes that added n tokens to the answer
  std::map<std::int64_t, std::int64_t> emitted;
  /// drafted[i]: number of passes that verified a guess at place i (from 0) of their guesses;
  /// accepted[i]: number of passes that accepted the guess at place i
  std::vector<std::int64_t> drafted, accepted;

  /// Counts one stream of the answer, with `chosen_ids` generated tokens.
  void count_branch(std::int64_t chosen_ids);
  /// Counts one forward pass that verified `candidates` consecutive guesses and accepted the first
  /// `kept` of them. REQUIRES: kept <= candidates.
  void count_draft(int candidates, int kept);

  /// Adds the counters of another sequence of the same generation that ran at the same time.
  /// Forward passes are added up. If the sequences share passes, the decoder must set the number of
  /// passes itself.
  void add_beside(const Counters& other);
  /// Adds the counters of a later part: a later turn of the conversation, or another job of the
  /// run.
  void add_after(const Counters& later);

  /// Generated tokens per forward pass; 0 if there are no passes. In the paper of HPD: the sum of
  /// K_r (the tokens of stream r) over all streams, divided by F (the passes).
  double parallel_ratio() const {
    return forwards ? static_cast<double>(chosen) / static_cast<double>(forwards) : 0.0;
  }
};

/// A JSON object with all counters, in the order of kCounters. The keys are the counters' names.
OrderedJson to_json(const Counters& counters);

/// How the values of a counter for two parts are combined.
enum class Adding {
  sum,       ///< the sum; of lists element by element, of histograms (maps) key by key
  most,      ///< the larger value
  earliest,  ///< the smaller value; a value 0 means none (NULL in the database) and is ignored
  first,     ///< the value of the earlier part
  joined,    ///< the concatenation of the lists
  anew,      ///< computed again from the summed counters
};

/// A row of the table kCounters: one counter.
struct Counter {
  std::string_view name;  ///< name of the member in Counters, and in JSON
  std::string_view unit;
  Adding beside;  ///< combination of concurrent sequences
  Adding after;   ///< combination with a later part: turns, jobs of a run
  /// column of table `job`, or, if `json_column` is not empty, the key in that column; empty: the
  /// counter is stored in another table
  std::string_view column;
  std::string_view meaning;  ///< follows the unit: "tokens" + "of the prompt ..."
  std::variant<std::int64_t Counts::*, std::vector<std::int64_t> Counters::*,
               std::map<std::int64_t, std::int64_t> Counters::*, double (Counters::*)() const>
      value;
  /// whether the counter is also stored for each turn of a conversation (`job.turns`)
  bool of_turns = false;
  /// The JSON column of table `job` that contains the counter. Empty: the counter is not in a JSON
  /// column. A JSON column is NULL if the first of its counters is 0 or empty.
  std::string_view json_column = "";
};

/// All counters, in the order of the JSON.
inline constexpr std::array kCounters = [] {
  using enum Adding;
  using C = Counters;
  return std::to_array<Counter>({
      {"prompt", "tokens", sum, sum, "prompt_tokens", "of the prompt that were computed",
       &C::prompt, true},
      {"chosen", "tokens", sum, sum, "chosen", "generated, including control tokens", &C::chosen,
       true},
      {"forced", "tokens", sum, sum, "forced", "inserted by the decoder (skeletons), not generated",
       &C::forced},
      {"fed", "rows", sum, sum, "fed", "computed, including those of the prompt", &C::fed},
      {"text", "tokens", sum, sum, "text_tokens", "generated as text of the answer", &C::text,
       true},
      {"text_attended", "tokens", sum, sum, "text_attended",
       "before each text token on its path, summed", &C::text_attended, true},
      {"forwards", "passes", sum, sum, "forwards", "with a row of the job", &C::forwards},
      {"prefill_ns", "ns", most, sum, "prefill_ns", "from the start to the first pass's end",
       &C::prefill_ns},
      {"decode_ns", "ns", most, sum, "decode_ns", "from the first pass's end to the end",
       &C::decode_ns, true},
      {"total_ns", "ns", most, sum, "total_ns", "from the start to the end", &C::total_ns},
      {"first_token_ns", "ns", earliest, first, "first_token_ns",
       "from the start to the answer's first token", &C::first_token_ns},
      {"cached_peak", "rows", sum, most, "cached_peak", "cached after a step, maximum",
       &C::cached_peak, true},
      {"cached_sum", "rows", sum, sum, "cached_sum", "cached after a step, summed over steps",
       &C::cached_sum},
      {"attended", "keys", sum, sum, "attended", "attended to, summed over computed rows",
       &C::attended},
      {"scratch", "rows", sum, sum, "scratch", "computed and later dropped", &C::scratch},
      {"branches", "streams", sum, sum, "branches", "of generated tokens in the answer",
       &C::branches, true},
      {"branch_lengths", "tokens", joined, joined, "branch_lengths",
       "generated per stream (HPD: K_r)", &C::branch_lengths},
      {"parallel_ratio", "tokens", anew, anew, "parallel_ratio", "generated per pass, on average",
       &C::parallel_ratio},
      {"emitted", "passes", sum, sum, "", "by the number of tokens that they added to the answer",
       &C::emitted},
      {"drafted", "tokens", sum, sum, "drafted", "guessed, by place in a pass", &C::drafted, false,
       "acceptance"},
      {"accepted", "tokens", sum, sum, "accepted", "guessed and accepted, by place in a pass",
       &C::accepted, false, "acceptance"},
      {"draft_forwards", "passes", sum, sum, "draft_forwards",
       "that made guesses, not included in forwards", &C::draft_forwards, false, "acceptance"},
      {"draft_fed", "rows", sum, sum, "draft_fed", "computed in these passes, not included in fed",
       &C::draft_fed, false, "acceptance"},
      {"draft_ns", "ns", most, sum, "draft_ns",
       "of these passes; a pass that jobs share counts in full", &C::draft_ns, false, "acceptance"},
      {"generated", "tokens", sum, sum, "generated",
       "of the answer, including control and forced tokens (ASPD: A)", &C::generated, true,
       "parallel"},
      {"branch_tokens", "tokens", sum, sum, "branch_tokens",
       "of these that are in branches (ASPD: B)", &C::branch_tokens, true, "parallel"},
      {"groups", "stages", sum, sum, "groups", "decoded in parallel", &C::groups, true, "parallel"},
      {"group_branches", "branches", sum, sum, "group_branches", "in all these stages",
       &C::group_branches, true, "parallel"},
      {"parallel_ns", "ns", most, sum, "parallel_ns", "spent in these stages", &C::parallel_ns,
       true, "parallel"},
  });
}();

/// The member of Counts that has the value of `counter`. Null: the counter is not a single stored
/// number.
constexpr std::int64_t Counts::*const* number(const Counter& counter) {
  return std::get_if<std::int64_t Counts::*>(&counter.value);
}

}  // namespace pardec
