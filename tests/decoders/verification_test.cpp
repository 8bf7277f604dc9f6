// The target network's verdict on candidates: worked examples as literals, and the distribution of
// the accepted tokens by enumerating every outcome.
#include "decoders/speculation/verification.hpp"

#include <algorithm>
#include <stdexcept>

#include "src/support/counters.hpp"
#include "src/support/rng.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/outcomes.hpp"

using namespace pardec;
using namespace pardec::test;

namespace {

using Law = std::vector<double>;

RowLogits greedy_row(Token best) {
  RowLogits row;
  row.best = best;
  row.best_logit = static_cast<float>(best) + 1;
  return row;
}

RowLogits sampled_row(const Law& p) {
  RowLogits row;
  row.probabilities = p;
  row.best = static_cast<Token>(std::max_element(p.begin(), p.end()) - p.begin());
  return row;
}

std::vector<RowLogits> greedy_rows(const Tokens& bests) {
  std::vector<RowLogits> rows;
  for (const Token best : bests) rows.push_back(greedy_row(best));
  return rows;
}

Tokens tokens_of(const Verdict& verdict) {
  Tokens tokens;
  for (const Choice& choice : verdict.choices) tokens.push_back(choice.token);
  return tokens;
}

/// The distribution of the first token after the context when one candidate drawn from q is checked
/// against p.
std::map<Token, double> first_token_law(const Law& p, const Law& q, Extra extra) {
  return law_of<Token>([&](Chance& chance) {
    Candidates candidates{{chance.draw(q)}, {q}};
    const std::vector<RowLogits> rows{sampled_row(p), sampled_row(p)};
    return accept_sampled(rows, candidates, chance, extra).choices.front().token;
  });
}

Law random_law(int vocab, Rng& rng) {
  Law p;
  double sum = 0;
  for (int i = 0; i < vocab; ++i) {
    p.push_back(rng.below(4) == 0 ? 0 : rng.uniform());
    sum += p.back();
  }
  if (sum == 0) p[0] = sum = 1;
  for (double& weight : p) weight /= sum;
  return p;
}

}  // namespace

TEST_CASE("greedy: a worked example, accept, reject, reject all") {
  const Candidates candidates{{20, 21}, {}};
  const Verdict all = accept_greedy(greedy_rows({20, 21, 30}), candidates);
  CHECK(all.accepted == 2);
  CHECK(tokens_of(all) == Tokens{20, 21, 30});
  CHECK(all.choices[2].gap == 31.0f);
  CHECK(all.choices[1].unforced == 21);

  const Verdict one = accept_greedy(greedy_rows({20, 25, 30}), candidates);
  CHECK(one.accepted == 1);
  CHECK(tokens_of(one) == Tokens{20, 25});

  const Verdict none = accept_greedy(greedy_rows({27, 21, 30}), candidates);
  CHECK(none.accepted == 0);
  CHECK(tokens_of(none) == Tokens{27});

  const Verdict plain = accept_greedy(greedy_rows({9}), {});  // no candidates: a plain step
  CHECK(plain.accepted == 0);
  CHECK(tokens_of(plain) == Tokens{9});
  CHECK_THROWS_AS(accept_greedy(greedy_rows({9}), candidates), std::logic_error);
}

TEST_CASE("sampled: a worked example, by every outcome") {
  const Law q{.5, .3, .2}, p{.2, .5, .3};
  const Law rest = residual(p, q);
  CHECK(rest[0] == 0);
  CHECK(rest[1] == Approx(2.0 / 3).epsilon(1e-12));
  CHECK(rest[2] == Approx(1.0 / 3).epsilon(1e-12));
  const auto lossless = first_token_law(p, q, Extra::residual);
  const auto biased = first_token_law(p, q, Extra::target);
  const Law expected_biased{.26, .45, .29};
  for (Token x = 0; x < 3; ++x) {
    CHECK(lossless.at(x) == Approx(p[static_cast<size_t>(x)]).epsilon(1e-12));
    CHECK(biased.at(x) == Approx(expected_biased[static_cast<size_t>(x)]).epsilon(1e-12));
  }
  CHECK(total_variation(lossless, biased) == Approx(0.06).epsilon(1e-12));

  // Accepted per drafted token (.4, 1, 1), .7 overall.
  const auto accepted = law_of<std::pair<Token, int>>([&](Chance& chance) {
    const Token x = chance.draw(q);
    const std::vector<RowLogits> rows{sampled_row(p), sampled_row(p)};
    return std::pair(x, accept_sampled(rows, {{x}, {q}}, chance).accepted);
  });
  CHECK(accepted.at({0, 1}) == Approx(.5 * .4).epsilon(1e-12));
  CHECK(!accepted.contains({1, 0}));
  CHECK(!accepted.contains({2, 0}));
  CHECK(accepted.at({0, 1}) + accepted.at({1, 1}) + accepted.at({2, 1}) ==
        Approx(.7).epsilon(1e-12));
}

TEST_CASE("sampled: a certain candidate (n-gram) is accepted with its probability") {
  const Law p{.2, .5, .3};
  const Law rest = residual(p, Token{1});
  CHECK(rest[0] == Approx(.4).epsilon(1e-12));
  CHECK(rest[1] == 0);
  CHECK(rest[2] == Approx(.6).epsilon(1e-12));
  const auto law = law_of<Tokens>([&](Chance& chance) {
    const std::vector<RowLogits> rows{sampled_row(p), sampled_row({0, 0, 1})};
    return tokens_of(accept_sampled(rows, {{1}, {}}, chance));
  });
  CHECK(law.size() == 3);
  CHECK(law.at({1, 2}) == Approx(.5).epsilon(1e-12));
  CHECK(law.at({0}) == Approx(.2).epsilon(1e-12));
  CHECK(law.at({2}) == Approx(.3).epsilon(1e-12));
}

TEST_CASE(
    "sampled: any draft keeps the target's distribution, also with impossible tokens and a short "
    "q") {
  Rng rng(8);
  for (int round = 0; round < 300; ++round) {
    const int vocab = 2 + static_cast<int>(rng.below(5));
    const Law p = random_law(vocab, rng);
    // A draft network's vocabulary may end earlier than the target's.
    const Law q = round % 3 ? random_law(vocab, rng) : random_law(std::max(1, vocab - 1), rng);
    std::map<Token, double> wanted;
    for (Token x = 0; x < vocab; ++x)
      if (p[static_cast<size_t>(x)] > 0) wanted[x] = p[static_cast<size_t>(x)];
    CHECK(total_variation(first_token_law(p, q, Extra::residual), wanted) < 1e-12);
  }
}

TEST_CASE("sampled: the bonus token after accepted candidates comes from the last row itself") {
  const Law p{0, 1, 0};
  const auto law = law_of<Tokens>([&](Chance& chance) {
    const std::vector<RowLogits> rows{sampled_row(p), sampled_row(p), sampled_row({.25, .5, .25})};
    const Verdict verdict = accept_sampled(rows, {{1, 1}, {p, p}}, chance);
    CHECK(verdict.accepted == 2);
    return tokens_of(verdict);
  });
  CHECK(law == std::map<Tokens, double>{{{1, 1, 0}, .25}, {{1, 1, 1}, .5}, {{1, 1, 2}, .25}});
}

TEST_CASE("forced: coins decide, and the network's own choices are recorded with them") {
  const Candidates candidates{{5, 6, 7}, {}};
  const std::vector<RowLogits> rows = greedy_rows({1, 6, 3, 4});
  SeededChance unused(1);
  for (const auto& [rate, accepted, tokens] :
       std::vector<std::tuple<double, int, Tokens>>{{1.0, 3, {5, 6, 7, 4}}, {0.0, 0, {1}}}) {
    SeededChance coins(2);
    const Verdict verdict = verify(rows, candidates, unused, {AcceptanceLaw{{rate}}, coins});
    CHECK(verdict.accepted == accepted);
    CHECK(tokens_of(verdict) == tokens);
    for (size_t i = 0; i < verdict.choices.size(); ++i)
      CHECK(verdict.choices[i].unforced == rows[i].best);
  }
  // Each with probability A, one after another.
  const double a = .3;
  const auto law = law_of<int>([&](Chance& coins) {
    return verify(rows, candidates, unused, {AcceptanceLaw{{a}}, coins}).accepted;
  });
  CHECK(law.at(0) == Approx(1 - a).epsilon(1e-12));
  CHECK(law.at(1) == Approx(a * (1 - a)).epsilon(1e-12));
  CHECK(law.at(2) == Approx(a * a * (1 - a)).epsilon(1e-12));
  CHECK(law.at(3) == Approx(a * a * a).epsilon(1e-12));
}

TEST_CASE("forced by place: each guess at its own rate, later ones at the last rate") {
  const Candidates candidates{{5, 6, 7}, {}};
  const std::vector<RowLogits> rows = greedy_rows({1, 6, 3, 4});
  SeededChance unused(1);
  const auto law = law_of<int>([&](Chance& coins) {
    return verify(rows, candidates, unused, {AcceptanceLaw{{.9, .2}}, coins}).accepted;
  });
  CHECK(law.at(0) == Approx(.1).epsilon(1e-12));
  CHECK(law.at(1) == Approx(.9 * .8).epsilon(1e-12));
  CHECK(law.at(2) == Approx(.9 * .2 * .8).epsilon(1e-12));
  CHECK(law.at(3) == Approx(.9 * .2 * .2).epsilon(1e-12));
}

TEST_CASE("forced by length: a pass gives that many tokens on average, rounded up or down") {
  const Candidates candidates{{5, 6, 7}, {}};
  const std::vector<RowLogits> rows = greedy_rows({1, 6, 3, 4});
  SeededChance unused(1);
  const auto law = [&](double length) {
    return law_of<int>([&](Chance& coins) {
      return verify(rows, candidates, unused, {AcceptanceLaw{{}, length}, coins}).accepted;
    });
  };
  CHECK(law(1) == std::map<int, double>{{0, 1}});
  CHECK(law(3) == std::map<int, double>{{2, 1}});
  CHECK(law(4) == std::map<int, double>{{3, 1}});
  const auto between = law(2.3);
  CHECK(between.size() == 2);
  CHECK(between.at(1) == Approx(.7).epsilon(1e-12));
  CHECK(between.at(2) == Approx(.3).epsilon(1e-12));
  CHECK(law(9).at(3) == 1);  // no more than exist
}

TEST_CASE("verify applies the rule for which the rows were made") {
  SeededChance chance(3);
  CHECK(tokens_of(verify(greedy_rows({4, 5}), {{4}, {}}, chance)) == Tokens{4, 5});
  const std::vector<RowLogits> rows{sampled_row({0, 1}), sampled_row({1, 0})};
  CHECK(tokens_of(verify(rows, {{1}, {{.5, .5}}}, chance)) == Tokens{1, 0});
  CHECK(tokens_of(verify(rows, {{0}, {{.5, .5}}}, chance)) == Tokens{1});
}

TEST_CASE("drafts are counted by their place in a forward") {
  Counters a, b;
  a.count_draft(3, 2);
  a.count_draft(1, 0);
  b.count_draft(4, 4);
  CHECK(a.drafted == std::vector<std::int64_t>{2, 1, 1});
  CHECK(a.accepted == std::vector<std::int64_t>{1, 1, 0});
  a.add_beside(b);
  CHECK(a.drafted == std::vector<std::int64_t>{3, 2, 2, 1});
  CHECK(a.accepted == std::vector<std::int64_t>{2, 2, 1, 1});
  CHECK(to_json(a)["drafted"].dump() == "[3,2,2,1]");
}
