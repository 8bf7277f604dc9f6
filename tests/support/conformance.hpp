#pragma once
#include <string>
#include <vector>

#include "tests/support/decoding.hpp"

namespace pardec::test {

/// Ids below `vocab` that repeat, so that n-grams are found.
Tokens repeating_prompt(int length, int vocab, Rng& rng);

/// All counts of a generation except times, by name.
OrderedJson counts(const Counters& counters);

/// The first of the rules for the counts of any answer of any decoder that does not hold; empty:
/// all hold.
std::string wrong_counts(const Answers& answers);

/// The same for an answer of one stream whose decoder guesses ahead: each pass gives its accepted
/// guesses and one token of its own. `bare`: only the newest token and one row of guesses is
/// computed.
std::string wrong_stream_counts(const Answers& answers, bool bare = true);

/// Best logit minus second best of all choices of an answer, ascending.
std::vector<double> sorted_gaps(const Answers& answers);
/// The same in replay. `traces`: those of one answer.
std::vector<double> sorted_gaps(const std::vector<Replay>& traces);

/// Replays all traces of a run: the network's own by `slow`, those of a draft network by `draft`,
/// which may be null if there are none.
struct ReplayedRun {
  int choices = 0;
  std::vector<std::string> wrong;
  double worst_gap = 0;  ///< largest distance between a gap and the replayed one
};
ReplayedRun replay(const Ran& ran, const std::vector<Request>& requests,
                   const SlowTransformer& slow, const SlowTransformer* draft, double tolerance);

/// Where two runs of the same requests differ in answers, or with `counted` in counts; empty:
/// nowhere. Greedy answers with a choice closer to the second best than `tie` are skipped.
std::vector<std::string> differences(const Ran& a, const Ran& b, float tie, bool counted);

}  // namespace pardec::test
