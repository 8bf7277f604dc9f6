#include "tests/support/medusa_reference.hpp"

#include <algorithm>
#include <map>
#include <numeric>

namespace pardec::test {

namespace {

/// Ids from the best on; of two equal ones the lower one first.
Tokens ranking(const std::vector<double>& logits) {
  Tokens ids(logits.size());
  std::iota(ids.begin(), ids.end(), 0);
  std::stable_sort(ids.begin(), ids.end(), [&](Token a, Token b) {
    return logits[static_cast<size_t>(a)] > logits[static_cast<size_t>(b)];
  });
  return ids;
}

}  // namespace

std::vector<RankPath> dense_paths(const std::vector<int>& widths) {
  std::vector<RankPath> all, level{{}};
  for (const int width : widths) {
    std::vector<RankPath> next;
    for (const RankPath& path : level)
      for (int rank = 0; rank < width; ++rank) {
        next.push_back(path);
        next.back().push_back(rank);
      }
    level = next;
    all.insert(all.end(), level.begin(), level.end());
  }
  return all;
}

std::vector<RankPath> sparse_paths() {
  return {{0},       {1},       {2},       {3},       {4},       {5},          {6},
          {7},       {8},       {9},       {0, 0},    {0, 1},    {0, 2},       {0, 3},
          {0, 4},    {0, 5},    {0, 6},    {0, 7},    {0, 8},    {0, 9},       {1, 0},
          {1, 1},    {1, 2},    {1, 3},    {1, 4},    {1, 5},    {1, 6},       {2, 0},
          {2, 1},    {2, 2},    {3, 0},    {3, 1},    {4, 0},    {5, 0},       {6, 0},
          {7, 0},    {8, 0},    {9, 0},    {0, 0, 0}, {0, 0, 1}, {0, 0, 2},    {0, 0, 3},
          {0, 0, 4}, {0, 0, 5}, {0, 0, 6}, {0, 0, 7}, {0, 0, 8}, {0, 0, 9},    {0, 1, 0},
          {0, 1, 1}, {0, 1, 2}, {0, 2, 0}, {0, 2, 1}, {0, 3, 0}, {0, 4, 0},    {0, 5, 0},
          {0, 6, 0}, {0, 7, 0}, {1, 0, 0}, {1, 0, 1}, {2, 0, 0}, {0, 0, 0, 0}, {0, 0, 0, 1}};
}

SlowMedusa slow_medusa(const SlowTransformer& theta, const Tokens& prompt,
                       const std::vector<RankPath>& paths, int limit) {
  SlowMedusa out;
  Tokens text = prompt;  // of which the row of the last accepted token is the last
  const auto emit = [&](Token token) {
    text.push_back(token);
    out.tokens.push_back(token);
  };
  std::map<Tokens, Token> known;
  const auto next = [&](const Tokens& behind) {
    const auto found = known.find(behind);
    return found != known.end() ? found->second : known[behind] = theta.next(behind);
  };
  Token root = next(text);
  size_t heads = 0;
  for (const RankPath& path : paths) heads = std::max(heads, path.size());
  while (true) {
    // The heads at the row that chose the root; head h guesses the token h places after the root.
    std::vector<Tokens> guesses;
    for (size_t h = 1; h <= heads; ++h)
      guesses.push_back(ranking(theta.head_logits(text, static_cast<int>(h))));
    emit(root);
    if (std::ssize(out.tokens) >= limit) return out;
    const size_t room = static_cast<size_t>(limit) - out.tokens.size() - 1;
    Tokens best;
    size_t deepest = 0;
    for (const RankPath& path : paths) {
      if (path.size() > room) continue;
      deepest = std::max(deepest, path.size());
      Tokens agreeing, longer = text;
      for (size_t d = 0; d < path.size(); ++d) {
        const Token guess = guesses[d][static_cast<size_t>(path[d])];
        if (next(longer) != guess) break;
        agreeing.push_back(guess);
        longer.push_back(guess);
      }
      if (agreeing.size() > best.size()) best = agreeing;
    }
    for (const Token token : best) emit(token);
    out.accepted.push_back(static_cast<int>(best.size()));
    out.deepest.push_back(static_cast<int>(deepest));
    root = next(text);
  }
}

}  // namespace pardec::test
