#include "tests/support/space_reference.hpp"

#include <limits>

namespace pardec::test {

std::vector<SpaceItem> space_input(int l, int k, int candidates) {
  std::vector<SpaceItem> I(static_cast<size_t>(l));
  for (int group = 0; group <= candidates; ++group) {
    if (group > 0) I.push_back({});
    for (int j = 0; j < k; ++j) I.push_back({true, group});
  }
  return I;
}

bool attends(const std::vector<SpaceItem>& I, int i, int j) {
  if (j > i) return false;
  const SpaceItem &query = I[static_cast<size_t>(i)], &key = I[static_cast<size_t>(j)];
  if (!key.mask) return true;
  return query.mask && query.group == key.group;
}

bool attends_by_equation_5(const std::vector<SpaceItem>& I, int k, int i, int j) {
  if (i < j) return false;
  if (!I[static_cast<size_t>(j)].mask) return true;
  return i - j < k && I[static_cast<size_t>(i)].mask;
}

std::vector<int> space_positions(const std::vector<SpaceItem>& I) {
  std::vector<int> positions;
  for (int i = 0; i < static_cast<int>(I.size()); ++i) {
    int sum = 0;
    for (int j = 0; j < static_cast<int>(I.size()); ++j) sum += attends(I, i, j);
    positions.push_back(sum - 1);
  }
  return positions;
}

namespace {

Token best_but(const std::vector<double>& logits, Token banned) {
  Token best = -1;
  double most = -std::numeric_limits<double>::infinity();
  for (size_t id = 0; id < logits.size(); ++id)
    if (static_cast<Token>(id) != banned && logits[id] > most) {
      most = logits[id];
      best = static_cast<Token>(id);
    }
  return best;
}

}  // namespace

std::vector<SpaceStep> slow_space(const SlowTransformer& slow, const Tokens& prompt, int k,
                                  Token mask, int tokens) {
  std::vector<SpaceStep> steps;
  Tokens O = prompt, L_c;
  while (static_cast<int>(O.size() - prompt.size()) < tokens) {
    const int l = static_cast<int>(O.size());
    const std::vector<SpaceItem> I = space_input(l, k, static_cast<int>(L_c.size()));
    Tokens ids = O;
    size_t next = 0;
    std::vector<std::vector<int>> visible(I.size());
    for (size_t i = static_cast<size_t>(l); i < I.size(); ++i)
      ids.push_back(I[i].mask ? mask : L_c[next++]);
    for (int i = 0; i < static_cast<int>(I.size()); ++i)
      for (int j = 0; j < static_cast<int>(I.size()); ++j)
        if (attends(I, i, j)) visible[static_cast<size_t>(i)].push_back(j);
    const auto P = slow.logits(ids, space_positions(I), visible);

    SpaceStep step{L_c, {}};
    int row = l - 1;  // Q = P[l], counted from 1 in the paper
    for (size_t i = 0; i < L_c.size() && best_but(P[static_cast<size_t>(row)], mask) == L_c[i];
         ++i) {
      step.emitted.push_back(L_c[i]);
      row = l - 1 + static_cast<int>(i + 1) * (k + 1);  // P[l + i (k + 1)]
    }
    step.emitted.push_back(best_but(P[static_cast<size_t>(row)], mask));
    O.insert(O.end(), step.emitted.begin(), step.emitted.end());
    L_c.clear();
    for (int j = 1; j <= k; ++j) L_c.push_back(best_but(P[static_cast<size_t>(row + j)], mask));
    steps.push_back(std::move(step));
  }
  return steps;
}

}  // namespace pardec::test
