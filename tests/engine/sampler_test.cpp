#include "src/engine/sampler.hpp"

#include <stdexcept>

#include "tests/support/catch.hpp"

using namespace pardec;

namespace {

RowLogits row(Token best, float best_logit, Token second, float second_logit) {
  RowLogits logits;
  logits.best = best, logits.second = second, logits.best_logit = best_logit,
  logits.second_logit = second_logit;
  return logits;
}

}  // namespace

TEST_CASE(
    "greedy takes the best id, an oracle the given one, and both keep the network's choice and "
    "gap") {
  SeededChance chance(1);
  Chooser greedy(chance);
  const Choice choice = greedy.choose(row(7, 2.5f, 3, 1.0f));
  CHECK(choice.token == 7);
  CHECK(choice.unforced == 7);
  CHECK(choice.gap == 1.5f);
  CHECK(!greedy.forced());
  CHECK(!greedy.used_up());

  Chooser forced(chance, Tokens{4, 7});
  CHECK(forced.forced());
  const Choice first = forced.choose(row(7, 2.5f, 3, 1.0f));
  CHECK(first.token == 4);
  CHECK(first.unforced == 7);
  CHECK(!forced.used_up());
  CHECK(forced.choose(row(7, 2.5f, 3, 1.0f)).token == 7);
  CHECK(forced.used_up());
  CHECK_THROWS_AS(forced.choose(row(7, 2.5f, 3, 1.0f)), std::logic_error);
  CHECK(forced.made().size() == 2);
}

TEST_CASE("draws follow the probabilities, and never choose an id of probability 0") {
  Rng rng(3);
  const std::vector<double> p{0.0, 0.5, 0.0, 0.25, 0.25, 0.0};
  std::vector<int> counts(p.size());
  constexpr int kDraws = 40000;
  for (int i = 0; i < kDraws; ++i) ++counts[static_cast<size_t>(draw(p, rng))];
  for (size_t i = 0; i < p.size(); ++i) {
    if (p[i] == 0) CHECK(counts[i] == 0);
    // Five standard deviations of a binomial, at most 5 * sqrt(40000 / 4).
    CHECK(std::abs(counts[i] - p[i] * kDraws) <= 500);
  }
  // Rounding may leave the sum below 1: the last id with a share is taken.
  for (int i = 0; i < 1000; ++i) CHECK(draw({0.0, 1e-12, 0.0}, rng) == 1);
}

TEST_CASE("a seeded chance draws and tosses only by its own generator") {
  SeededChance chance(5);
  Rng rng(5);
  const std::vector<double> p{0.25, 0.25, 0.5};
  for (int i = 0; i < 100; ++i) {
    CHECK(chance.draw(p) == draw(p, rng));
    CHECK(chance.happens(0.3) == (rng.uniform() < 0.3));
  }
  for (int i = 0; i < 100; ++i) {
    CHECK(!chance.happens(0));
    CHECK(chance.happens(1));
  }
}
