#pragma once
#include <cstdint>
#include <map>
#include <vector>

#include "src/support/json.hpp"

namespace pardec {

/// What a generation costs, counted in one place for all decoders, so that their tables compare.
/// Sums of several sequences add up.
struct Counters {
  std::int64_t prompt = 0;  ///< tokens of the prompt that were fed
  std::int64_t chosen =
      0;  ///< ids the model chose: end of sequence, terminators and control tokens included
  std::int64_t forced =
      0;                  ///< fed after the prompt without being chosen: skeleton, prefixes, masks
  std::int64_t fed = 0;   ///< all rows fed, prompt included
  std::int64_t text = 0;  ///< chosen ids that carry answer text
  std::int64_t text_attended = 0;  ///< tokens before each of these on its path, summed; 0 where the
                                   ///< decoder does not count it (all but ar and apar)
  std::int64_t forwards = 0;       ///< forward passes that held a row of this generation
  std::int64_t prefill_ns = 0;     ///< from the start to the end of the first forward pass
  std::int64_t decode_ns = 0;      ///< from there to the end
  std::int64_t total_ns = 0;
  std::int64_t first_token_ns = 0;  ///< from the start to the first token that went into the answer
  std::int64_t cached_peak = 0;     ///< rows alive after a step, at most
  std::int64_t cached_sum = 0;      ///< rows alive after a step, summed over steps
  std::int64_t attended = 0;        ///< keys seen, summed over all rows fed
  std::int64_t scratch = 0;         ///< rows fed and dropped again
  std::vector<std::int64_t>
      branch_lengths;  ///< chosen ids of each stream decoded in parallel (HPD: K_r)
  std::map<int, std::int64_t> emitted;  ///< how many forwards gave how many answer tokens
  /// Tokens guessed ahead of the network and checked by it, by their place among the guesses of one
  /// forward (the first is 0), and how many of them entered the answer. Empty where nothing drafts.
  std::vector<std::int64_t> drafted, accepted;
  /// The passes in which the guesses were made, apart from `forwards`, `fed` and all counts of
  /// rows: by a draft network, or by this one with sublayers skipped.
  std::int64_t draft_forwards = 0, draft_fed = 0;
  std::int64_t draft_ns = 0;  ///< time of these passes, each whole, whoever shared it

  /// Notes that one forward checked `candidates` guesses in a row, and that the first `kept` of
  /// them entered the answer.
  void count_draft(int candidates, int kept);

  // Of decoders that fork an answer into branches and go on behind them (ASPD); 0 elsewhere.
  std::int64_t generated = 0;       ///< A: tokens of the answer, control tokens and forced ones too
  std::int64_t branch_tokens = 0;   ///< B: those of them in branches
  std::int64_t groups = 0;          ///< stages decoded in parallel
  std::int64_t group_branches = 0;  ///< branches of them all
  std::int64_t parallel_ns = 0;     ///< time spent in them

  /// Adds another sequence of the same generation: counts and peaks add up, of times that ran side
  /// by side the longer holds, and the earlier first token. Forward passes add up too: where
  /// sequences share them, the decoder counts them anew.
  Counters& operator+=(const Counters& other);

  /// Chosen ids per forward pass (HPD: sum K_r / F). 0 without forwards.
  double parallel_ratio() const {
    return forwards ? static_cast<double>(chosen) / static_cast<double>(forwards) : 0.0;
  }
};

OrderedJson to_json(const Counters& counters);

}  // namespace pardec
