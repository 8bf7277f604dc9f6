#include "tests/support/conformance.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "src/support/text.hpp"

namespace pardec::test {

Tokens repeating_prompt(int length, int vocab, Rng& rng) {
  Tokens prompt;
  while (std::ssize(prompt) < length) {
    if (prompt.size() > 4 && rng.below(2)) {
      const auto at = static_cast<std::ptrdiff_t>(rng.below(prompt.size() - 3));
      const Tokens again(prompt.begin() + at, prompt.begin() + at + 3);
      prompt.insert(prompt.end(), again.begin(), again.end());
    } else {
      prompt.push_back(static_cast<Token>(rng.below(static_cast<std::uint64_t>(vocab))));
    }
  }
  prompt.resize(static_cast<size_t>(length));
  return prompt;
}

OrderedJson counts(const Counters& counters) {
  const OrderedJson all = to_json(counters);
  OrderedJson out;
  for (const auto& [name, value] : all.items())
    if (!name.ends_with("_ns")) out[name] = value;
  return out;
}

std::string wrong_counts(const Answers& answers) {
  const Counters& c = answers.counters;
  std::int64_t emitted = 0, passes = 0, chosen = 0, streams = 0;
  for (const auto& [tokens, count] : c.emitted) emitted += tokens * count, passes += count;
  if (answers.tokens.empty())
    for (const auto& field : flat(answers)) chosen += std::ssize(field.tokens);
  else
    chosen = std::ssize(answers.tokens);
  for (const std::int64_t length : c.branch_lengths) streams += length;
  if (emitted != c.chosen) return str("the histogram has ", emitted, " ids, chosen ", c.chosen);
  if (passes != c.forwards) return str("the histogram has ", passes, " of ", c.forwards, " passes");
  if (chosen > c.chosen) return str("the answer has ", chosen, " ids, chosen ", c.chosen);
  if (c.text > c.chosen) return str("text ", c.text, " of chosen ", c.chosen);
  if (!c.branch_lengths.empty() && streams > c.chosen)
    return str("streams of ", streams, " ids, chosen ", c.chosen);
  if (c.fed < c.prompt + c.forced) return str("fed ", c.fed, ", prompt and forced more");
  if (c.drafted.size() != c.accepted.size()) return "drafted and accepted differ in places";
  for (size_t i = 0; i < c.drafted.size(); ++i)
    if (c.accepted[i] > c.drafted[i] ||
        (i > 0 && (c.drafted[i] > c.drafted[i - 1] || c.accepted[i] > c.accepted[i - 1])))
      return str("accepted ", c.accepted[i], " of drafted ", c.drafted[i], " at place ", i);
  return "";
}

std::string wrong_stream_counts(const Answers& answers, bool bare) {
  if (const std::string wrong = wrong_counts(answers); !wrong.empty()) return wrong;
  const Counters& c = answers.counters;
  const auto sum = [](const std::vector<std::int64_t>& places) {
    return std::accumulate(places.begin(), places.end(), std::int64_t{0});
  };
  const std::int64_t drafted = sum(c.drafted), accepted = sum(c.accepted);
  // The last pass may end with a guess; none is made for the place where an answer must end.
  const bool at_the_limit = answers.stop == Stop::limit || answers.stop == Stop::context;
  const std::int64_t own = c.chosen - accepted;
  if (own != c.forwards && (own != c.forwards - 1 || (at_the_limit && bare)))
    return str("chosen ", c.chosen, ", accepted ", accepted, " in ", c.forwards, " passes");
  if (!bare) return "";
  if (c.scratch != drafted - accepted)
    return str("scratch ", c.scratch, ", drafted ", drafted, ", accepted ", accepted);
  if (c.forced != 0) return str("forced ", c.forced);
  if (c.fed != c.prompt + c.forwards - 1 + drafted) return str("fed ", c.fed);
  return "";
}

std::vector<double> sorted_gaps(const Answers& answers) {
  std::vector<double> gaps(answers.gaps.begin(), answers.gaps.end());
  if (answers.tokens.empty())
    for (const auto& field : flat(answers))
      gaps.insert(gaps.end(), field.gaps.begin(), field.gaps.end());
  std::sort(gaps.begin(), gaps.end());
  return gaps;
}

std::vector<double> sorted_gaps(const std::vector<Replay>& traces) {
  std::vector<double> gaps;
  for (const Replay& trace : traces)
    for (const TopTwo& top : trace.top) gaps.push_back(top.gap());
  std::sort(gaps.begin(), gaps.end());
  return gaps;
}

ReplayedRun replay(const Ran& ran, const std::vector<Request>& requests,
                   const SlowTransformer& slow, const SlowTransformer* draft, double tolerance) {
  ReplayedRun out;
  for (size_t i = 0; i < requests.size(); ++i) {
    const std::string& id = requests[i].job.id;
    std::vector<Replay> own;
    for (const auto& [name, trace] : ran.traces) {
      if (trace.request != id && !trace.request.starts_with(id + "/")) continue;
      const bool drafted = !trace.model.empty();
      const Replay again = replay(drafted ? *draft : slow, trace, tolerance);
      out.wrong.insert(out.wrong.end(), again.wrong.begin(), again.wrong.end());
      out.choices += again.choices;
      if (again.choices < std::ssize(trace.emitted))
        out.wrong.push_back(str(name, ": emits what it did not choose"));
      // A skeleton is no part of the answer.
      if (!drafted && !trace.request.ends_with("/skeleton")) own.push_back(again);
    }
    const auto gaps = sorted_gaps(ran.of(i)), replayed = sorted_gaps(own);
    if (gaps.size() != replayed.size()) {
      out.wrong.push_back(str(id, ": ", gaps.size(), " choices, ", replayed.size(), " emitted"));
      continue;
    }
    for (size_t e = 0; e < gaps.size(); ++e)
      out.worst_gap = std::max(out.worst_gap, std::abs(gaps[e] - replayed[e]));
  }
  return out;
}

std::vector<std::string> differences(const Ran& a, const Ran& b, float tie, bool counted) {
  std::vector<std::string> out;
  for (size_t i = 0; i < a.answers.size(); ++i) {
    if (a.errors[i] != b.errors[i]) out.push_back(str(i, ": ", a.errors[i], " | ", b.errors[i]));
    if (!a.answers[i] || !b.answers[i] || smallest_gap(a.of(i)) < tie) continue;
    const Answers &x = a.of(i), &y = b.of(i);
    if (chosen_ids(x) != chosen_ids(y)) out.push_back(str(i, ": other ids"));
    if (x.text != y.text) out.push_back(str(i, ": other text"));
    if (x.stop != y.stop) out.push_back(str(i, ": ", name(x.stop), " | ", name(y.stop)));
    if (x.parsed != y.parsed) out.push_back(str(i, ": read otherwise"));
    const auto left = flat(x), right = flat(y);
    for (size_t f = 0; f < std::min(left.size(), right.size()); ++f)
      if (left[f].text != right[f].text || left[f].stop != right[f].stop)
        out.push_back(str(i, ": field ", f, " has another text or end"));
    const OrderedJson here = counts(x.counters), there = counts(y.counters);
    if (counted && here != there) out.push_back(str(i, ": ", here.dump(), " | ", there.dump()));
  }
  return out;
}

}  // namespace pardec::test
