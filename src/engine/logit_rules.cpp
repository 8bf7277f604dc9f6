#include "src/engine/logit_rules.hpp"

#include <algorithm>

namespace pardec {

namespace {

using Ids = std::span<const Token>;

bool ends_with(Ids text, Ids end) {
  return text.size() >= end.size() &&
         std::equal(end.begin(), end.end(), text.end() - std::ssize(end));
}

/// Whether choosing the last of `ids` would complete them at the end of the text.
bool completes(Ids before, const Tokens& ids) {
  return ends_with(before, Ids(ids).first(ids.size() - 1));
}

/// Ids that would complete an n-gram a second time.
Tokens repeated_ngrams(Ids before, size_t n) {
  Tokens banned;
  if (before.size() + 1 < n) return banned;
  const Ids begun = before.last(n - 1);
  for (size_t i = 0; i + n <= before.size(); ++i)
    if (std::equal(begun.begin(), begun.end(), before.begin() + static_cast<std::ptrdiff_t>(i)))
      banned.push_back(before[i + n - 1]);
  return banned;
}

void add(Tokens& to, Ids ids) { to.insert(to.end(), ids.begin(), ids.end()); }

/// Sorts, removes duplicates, and removes ids from `vocab` on.
void tidy(Tokens& ids, int vocab) {
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  std::erase_if(ids, [&](Token id) { return id >= vocab; });
}

}  // namespace

void apply(const GenerationRules& rules, const ChoicePlace& place, Ids eos, int vocab,
           OutputRequest& request) {
  const Ids before = place.before;
  for (const auto& [ids, bias] : rules.sequence_bias)
    if (completes(before, ids) && ids.back() < vocab) request.biased.emplace_back(ids.back(), bias);
  if (rules.repetition_penalty != 1) {
    request.repetition_penalty = rules.repetition_penalty;
    request.repeated.assign(before.begin(), before.end());
    tidy(request.repeated, vocab);
  }
  Tokens& banned = request.banned;
  if (rules.no_repeat_ngram_size > 0)
    add(banned, repeated_ngrams(before, static_cast<size_t>(rules.no_repeat_ngram_size)));
  for (const Tokens& word : rules.bad_words)
    if (completes(before, word) && !(word.size() == 1 && std::ranges::count(eos, word[0]) > 0))
      banned.push_back(word.back());
  if (std::ssize(before) < rules.min_length || place.generated < rules.min_new_tokens)
    add(banned, eos);
  if (place.generated < place.least) add(banned, place.banned_early);
  add(banned, rules.suppress);
  if (place.generated == 0 && (before.size() > 1 || !rules.forced_bos))
    add(banned, rules.begin_suppress);
  tidy(banned, vocab);
  if (!request.allowed.empty()) return;  // the decoder's own grammar takes precedence
  if (rules.forced_bos && before.size() == 1) request.allowed = {*rules.forced_bos};
  if (!rules.forced_eos.empty() && place.limit > 0 && place.generated == place.limit - 1)
    request.allowed = {*std::min_element(rules.forced_eos.begin(), rules.forced_eos.end())};
  tidy(request.allowed, vocab);
  for (const Token forced : request.allowed)
    if (!contains(rules.suppress, forced)) std::erase(banned, forced);
}

}  // namespace pardec
