// conclusions_simulation TRIALS
// How often intervals and verdicts are wrong, in percent, if the truth is known: the tables of
// results/statistics.md, in Markdown. The numbers are the same on every machine, except for
// rounding.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <string>
#include <vector>

#include "metrics/score_intervals.hpp"
#include "metrics/statistics.hpp"
#include "src/support/number_text.hpp"
#include "src/support/rng.hpp"
#include "src/support/text.hpp"

namespace {

using namespace pardec;

constexpr int kSizes[] = {6, 12, 24, 60, 300};
constexpr double kMargin = 0.05;

/// Scores of two arms on the same clusters.
struct Pair {
  std::vector<ScorePart> baseline, method;
  std::int32_t clusters = 0;

  /// A cluster of `size` answers: sums of both arms' scores.
  void add(double before, double after, double size) {
    baseline.push_back({clusters, 0, before, size});
    method.push_back({clusters, 0, after, size});
    ++clusters;
  }
};

using Draw = std::function<Pair(Rng&, int)>;

/// Each answer is lost with one probability, gained with another, and otherwise equal.
Draw right_or_wrong(double lost, double gained) {
  return [=](Rng& rng, int n) {
    Pair pair;
    for (int i = 0; i < n; ++i) {
      const double luck = rng.uniform();
      const double same = rng.uniform() < 0.7 ? 1 : 0;
      if (luck < lost)
        pair.add(1, 0, 1);
      else if (luck < lost + gained)
        pair.add(0, 1, 1);
      else
        pair.add(same, same, 1);
    }
    return pair;
  };
}

/// Most answers gain a little, a few lose everything: .05 are lost on average.
Draw skewed(double gain) {
  return [=](Rng& rng, int n) {
    Pair pair;
    for (int i = 0; i < n; ++i)
      rng.uniform() < (gain + kMargin) / (gain + 1) ? pair.add(1, 0, 1)
                                                    : pair.add(0.5, 0.5 + gain, 1);
    return pair;
  };
}

/// Clusters of unequal sizes, lost or gained as a whole.
Draw whole_clusters(const std::function<double(Rng&)>& size) {
  return [=](Rng& rng, int n) {
    Pair pair;
    for (int i = 0; i < n; ++i) {
      const double answers = size(rng), luck = rng.uniform();
      pair.add(luck < 0.06   ? answers
               : luck < 0.07 ? 0
                             : answers / 2,
               luck < 0.06   ? 0
               : luck < 0.07 ? answers
                             : answers / 2,
               answers);
    }
    return pair;
  };
}

/// Five questions on each text; a text is hard for the method, or it is not.
Pair five_questions(Rng& rng, int n, double hard_loss, double easy_loss, double gained) {
  Pair pair;
  for (int i = 0; i < n; ++i) {
    const double lost = rng.uniform() < 0.2 ? hard_loss : easy_loss;
    double before = 0, after = 0;
    for (int q = 0; q < 5; ++q) {
      const double luck = rng.uniform();
      before += luck >= lost + gained ? 0.5 : luck < lost ? 1 : 0;
      after += luck >= lost + gained ? 0.5 : luck < lost ? 0 : 1;
    }
    pair.add(before, after, 5);
  }
  return pair;
}

struct Named {
  std::string name;
  Draw draw;
};

/// In all of them except the first, the method truly scores .05 less.
std::vector<Named> losses() {
  return {
      {"right or wrong, .10 lost, 0 gained (true loss .10)", right_or_wrong(0.10, 0)},
      {"right or wrong, .05 lost, 0 gained", right_or_wrong(0.05, 0)},
      {"right or wrong, .06 lost, .01 gained", right_or_wrong(0.06, 0.01)},
      {"right or wrong, .10 lost, .05 gained", right_or_wrong(0.10, 0.05)},
      {"right or wrong, .225 lost, .175 gained", right_or_wrong(0.225, 0.175)},
      {"graded: most gain .02, .07 lose all", skewed(0.02)},
      {"graded: most gain .10, .14 lose all", skewed(0.10)},
      {"clusters of 1 to 9, each lost or gained whole",
       whole_clusters([](Rng& rng) { return 1 + static_cast<double>(rng.below(9)); })},
      {"clusters of Pareto(1.5) sizes, each lost or gained whole",
       whole_clusters([](Rng& rng) { return std::floor(std::pow(1 - rng.uniform(), -1 / 1.5)); })},
      {"clusters of 5, one in five is hard",
       [](Rng& rng, int n) { return five_questions(rng, n, 0.3, 0.0125, 0.02); }},
  };
}

/// A share of trials in which something holds, in %.
double share(int trials, const std::string& name, const std::function<bool(Rng&)>& holds) {
  int count = 0;
  for (int trial = 0; trial < trials; ++trial) {
    Rng rng(derive_seed(23, str(name, "/", trial)));
    count += holds(rng);
  }
  return 100.0 * count / trials;
}

void header(const std::string& title, const std::string& first) {
  std::cout << "\n### " << title << "\n\n| " << first << " |";
  for (const int n : kSizes) std::cout << " n = " << n << " |";
  std::cout << "\n|---|";
  for (size_t i = 0; i < std::size(kSizes); ++i) std::cout << "---:|";
  std::cout << "\n";
}

/// One row: before and now.
void row(const std::string& name, const std::function<std::string(int)>& cell) {
  std::cout << "| " << name << " |";
  for (const int n : kSizes) std::cout << " " << cell(n) << " |";
  std::cout << std::endl;
}

std::string both(double before, double now) { return str(fixed(before, 1), " / ", fixed(now, 1)); }

void not_worse(int trials) {
  header(
      "\"Not worse\" (margin .05) of a method that loses .05, jackknife alone / now; nominal 2.5 %",
      "scores");
  for (const Named& one : losses())
    row(one.name, [&](int n) {
      const auto rate = [&](std::optional<ScoreRange> range) {
        return share(trials, one.name, [&](Rng& rng) {
          const Pair pair = one.draw(rng, n);
          return score_intervals(pair.baseline, pair.method, pair.clusters, range).difference.low >
                 -kMargin;
        });
      };
      return both(rate(std::nullopt), rate(ScoreRange{}));
    });
}

/// The method equals the baseline on the easy texts, and has no answer to the hardest fifth.
void missing(int trials) {
  header(
      "\"Better\" (interval above 0) of a method with the baseline's answers that lacks the "
      "hardest fifth, unpaired / paired; nominal 2.5 %",
      "hardest fifth of the examples");
  row("not run", [&](int n) {
    const auto rate = [&](bool paired) {
      return share(trials, "missing", [&](Rng& rng) {
        std::vector<ScorePart> before, after;
        for (int i = 0; i < n; ++i) {
          const bool hard = i % 5 == 4;
          const double right = rng.uniform() < (hard ? 0.1 : 0.8) ? 1 : 0;
          if (!paired || !hard) before.push_back({i, 0, right, 1});
          if (!hard) after.push_back({i, 0, right, 1});
        }
        return score_intervals(before, after, n).difference.low > 0;
      });
    };
    return both(rate(false), rate(true));
  });
}

void mcnemar(int trials) {
  header(
      "p < .05 of two arms that are equally good on texts with five questions that go together, "
      "McNemar by question / by text; nominal at most 5 %",
      "questions");
  for (const auto& [name, together] :
       {std::pair("go together half of the time", 0.5), std::pair("go together always", 1.0)})
    row(name, [&, together = together](int n) {
      const auto rate = [&](bool by_text) {
        return share(trials, name, [&](Rng& rng) {
          std::vector<std::int64_t> texts;
          std::int64_t only_baseline = 0, only_method = 0;
          for (int i = 0; i < n; ++i) {
            const int whole = rng.uniform() < 0.4 ? (rng.uniform() < 0.5 ? 1 : -1) : 0;
            std::int64_t difference = 0;
            for (int q = 0; q < 5; ++q) {
              const int own = rng.uniform() < 0.4 ? (rng.uniform() < 0.5 ? 1 : -1) : 0;
              const int one = rng.uniform() < together ? whole : own;
              difference += one;
              only_method += one > 0;
              only_baseline += one < 0;
            }
            texts.push_back(difference);
          }
          return (by_text ? clustered_mcnemar(texts) : mcnemar_exact(only_baseline, only_method)) <
                 0.05;
        });
      };
      return both(rate(false), rate(true));
    });
}

struct Speed {
  std::string name;
  std::function<double(Rng&)> size;
  double content;    ///< spread of the blocks' own ratios (standard deviation of logarithms)
  double disturbed;  ///< share of the method's blocks that take 1.5 times as long
  bool both_arms = false;
};

void speedups(int trials) {
  const auto even = [](Rng&) { return 1.0; };
  const auto lognormal = [](Rng& rng) { return std::exp(rng.normal()); };
  const auto pareto = [](Rng& rng) { return std::pow(1 - rng.uniform(), -1 / 1.5); };
  const std::vector<Speed> speeds = {
      {"equal blocks", even, 0, 0},
      {"lognormal(1) sizes", lognormal, 0, 0},
      {"lognormal(1) sizes, ratios of their own", lognormal, 0.1, 0},
      {"Pareto(1.5) sizes, ratios of their own", pareto, 0.1, 0},
      {"one block in ten disturbed, both arms", even, 0, 0.1, true},
      {"one block in ten disturbed, the method alone", even, 0, 0.1},
      {"the same, lognormal(1) sizes", lognormal, 0, 0.1},
      {"the same, ratios of their own", even, 0.1, 0.1},
  };
  header(
      "95 % intervals of a speedup that hold the undisturbed ratio, jackknife with n - 1 degrees "
      "/ now; nominal 95 %",
      "blocks (3 % noise)");
  for (const Speed& one : speeds)
    row(one.name, [&](int n) {
      const auto rate = [&](bool now) {
        return share(trials, one.name, [&](Rng& rng) {
          std::vector<BlockPair> blocks;
          for (int i = 0; i < n; ++i) {
            const double size = one.size(rng);
            double before = 2 * size * std::exp(0.03 * rng.normal());
            double after = size * std::exp(one.content * rng.normal() -
                                           one.content * one.content / 2 + 0.03 * rng.normal());
            if (rng.uniform() < one.disturbed) {
              after *= 1.5;
              if (one.both_arms) before *= 1.5;
            }
            blocks.push_back({before, after});
          }
          Interval found = robust_ratio_of_totals(blocks).ratio;
          if (!now) {
            BlockPair all{0, 0};
            for (const BlockPair& block : blocks)
              all = {all.baseline + block.baseline, all.method + block.method};
            std::vector<double> without;
            for (const BlockPair& block : blocks)
              without.push_back(
                  std::log((all.baseline - block.baseline) / (all.method - block.method)));
            found = jackknife_interval(std::log(all.baseline / all.method), without);
            found = {std::exp(found.estimate), std::exp(found.low), std::exp(found.high)};
          }
          return found.low <= 2 && 2 <= found.high;
        });
      };
      return both(rate(false), rate(true));
    });
}

}  // namespace

int main(int count, char** arguments) {
  const int trials = count > 1 ? std::atoi(arguments[1]) : 2000;
  if (trials < 1) {
    std::cerr << "usage: conclusions_simulation TRIALS\n";
    return 2;
  }
  not_worse(trials);
  missing(trials);
  mcnemar(trials);
  speedups(trials);
}
