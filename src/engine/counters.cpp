#include "src/engine/counters.hpp"

#include <algorithm>

namespace pardec {

namespace {

void add_by_place(std::vector<std::int64_t>& to, const std::vector<std::int64_t>& more) {
  if (to.size() < more.size()) to.resize(more.size());
  for (size_t i = 0; i < more.size(); ++i) to[i] += more[i];
}

}  // namespace

void Counters::count_draft(int candidates, int kept) {
  add_by_place(drafted, std::vector<std::int64_t>(static_cast<size_t>(candidates), 1));
  accepted.resize(drafted.size());
  add_by_place(accepted, std::vector<std::int64_t>(static_cast<size_t>(kept), 1));
}

Counters& Counters::operator+=(const Counters& other) {
  prompt += other.prompt;
  chosen += other.chosen;
  forced += other.forced;
  fed += other.fed;
  text += other.text;
  text_attended += other.text_attended;
  forwards += other.forwards;
  prefill_ns = std::max(prefill_ns, other.prefill_ns);
  decode_ns = std::max(decode_ns, other.decode_ns);
  total_ns = std::max(total_ns, other.total_ns);
  if (first_token_ns == 0 || (other.first_token_ns > 0 && other.first_token_ns < first_token_ns))
    first_token_ns = other.first_token_ns;
  cached_peak += other.cached_peak;
  cached_sum += other.cached_sum;
  attended += other.attended;
  scratch += other.scratch;
  branch_lengths.insert(branch_lengths.end(), other.branch_lengths.begin(),
                        other.branch_lengths.end());
  for (const auto& [tokens, count] : other.emitted) emitted[tokens] += count;
  add_by_place(drafted, other.drafted);
  add_by_place(accepted, other.accepted);
  draft_forwards += other.draft_forwards;
  draft_fed += other.draft_fed;
  draft_ns = std::max(draft_ns, other.draft_ns);
  generated += other.generated;
  branch_tokens += other.branch_tokens;
  groups += other.groups;
  group_branches += other.group_branches;
  parallel_ns = std::max(parallel_ns, other.parallel_ns);
  return *this;
}

OrderedJson to_json(const Counters& c) {
  OrderedJson emitted = OrderedJson::object();
  for (const auto& [tokens, count] : c.emitted) emitted[std::to_string(tokens)] = count;
  return {{"prompt", c.prompt},
          {"chosen", c.chosen},
          {"forced", c.forced},
          {"fed", c.fed},
          {"text", c.text},
          {"text_attended", c.text_attended},
          {"forwards", c.forwards},
          {"prefill_ns", c.prefill_ns},
          {"decode_ns", c.decode_ns},
          {"total_ns", c.total_ns},
          {"first_token_ns", c.first_token_ns},
          {"cached_peak", c.cached_peak},
          {"cached_sum", c.cached_sum},
          {"attended", c.attended},
          {"scratch", c.scratch},
          {"branches", c.branch_lengths.size()},
          {"branch_lengths", c.branch_lengths},
          {"parallel_ratio", c.parallel_ratio()},
          {"emitted", emitted},
          {"drafted", c.drafted},
          {"accepted", c.accepted},
          {"draft_forwards", c.draft_forwards},
          {"draft_fed", c.draft_fed},
          {"draft_ns", c.draft_ns},
          {"generated", c.generated},
          {"branch_tokens", c.branch_tokens},
          {"groups", c.groups},
          {"group_branches", c.group_branches},
          {"parallel_ns", c.parallel_ns}};
}

}  // namespace pardec
