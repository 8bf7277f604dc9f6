#pragma once
#include <string>
#include <vector>

#include "tests/support/decoding.hpp"

namespace pardec::test {

/// A random prompt of `length` ids below `vocab`, in which n-grams repeat.
Tokens repeating_prompt(int length, int vocab, Rng& rng);

/// All counters except times, by name.
OrderedJson counts(const Counters& counters);

/// Checks the rules that the counters of every answer must satisfy, with every decoder. Returns a
/// description of the first broken rule; empty: no rule is broken.
std::string wrong_counts(const Answers& answers);

/// Checks these rules, and those for an answer with one stream from a decoder with guesses: each
/// pass gives the accepted guesses and one further token. `bare`: whether a pass computes only the
/// newest token and one sequence of guesses. Returns: see wrong_counts.
std::string wrong_stream_counts(const Answers& answers, bool bare = true);

/// The gaps (largest logit minus second largest) of all choices of an answer, ascending.
std::vector<double> sorted_gaps(const Answers& answers);
/// The gaps of all choices of an answer, ascending, from the replayed traces of the answer.
std::vector<double> sorted_gaps(const std::vector<Replay>& traces);

/// The result of replaying all traces of a run.
struct ReplayedRun {
  int choices = 0;                 ///< number of choices that were replayed
  std::vector<std::string> wrong;  ///< what is wrong; empty: nothing
  double worst_gap = 0;            ///< largest difference between a gap and the replayed gap
};
/// Replays all traces of a run: those of the network with `slow`, and those of a draft network with
/// `draft`, which is null if there is no draft network. `tolerance`: see replay in decoding.hpp.
ReplayedRun replay(const Ran& ran, const std::vector<Request>& requests,
                   const SlowTransformer& slow, const SlowTransformer* draft, double tolerance);

/// The differences between two runs of the same requests: in errors, in answers, and, if `counted`,
/// in counters. Requests whose answer in `a` has a smallest_gap() below `tie` are skipped.
std::vector<std::string> differences(const Ran& a, const Ran& b, float tie, bool counted);

}  // namespace pardec::test
