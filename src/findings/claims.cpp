#include "src/findings/claims.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "src/support/number_text.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

using Kind = ClaimTest::Kind;

/// Collects the parts of one claim, and what lacks.
class Test {
 public:
  Test(const Claim& claim, const std::string& scale, const Evidence& evidence)
      : test_(claim.test), evidence_(evidence), finding_{&claim, scale, ClaimVerdict::open, {}, {},
                                                         {},     ""} {}

  ClaimFinding run() {
    std::vector<std::string> places =
        test_.in.empty() ? evidence_.places() : std::vector<std::string>{};
    for (const std::string& dataset : test_.in) {
      const size_t before = places.size();
      for (const std::string& place : evidence_.places())
        if (place == dataset || place.starts_with(dataset + ", ")) places.push_back(place);
      if (places.size() == before) places.push_back(dataset);  // says what lacks
    }
    // An order of datasets is one test over all of them.
    const bool over_datasets = !test_.points.front().dataset.empty();
    if (over_datasets) places = {""};
    for (const std::string& place : places) {
      if (!test_.each_category) {
        of_place({place});
        continue;
      }
      for (const std::string& category : evidence_.categories(place)) of_place({place, {category}});
    }
    decide_parts();
    return std::move(finding_);
  }

 private:
  Scope at(const Scope& place, const Point& point) const {
    return {point.dataset.empty() ? place.dataset : point.dataset,
            point.categories.empty() ? place.categories : point.categories};
  }

  std::string label(const Scope& place, const std::string& of) const {
    std::vector<std::string> words;
    if (!place.dataset.empty()) words.push_back(place.dataset);
    if (!place.categories.empty()) words.push_back(join(place.categories, "+"));
    if (!of.empty()) words.push_back(of);
    return join(words, ", ");
  }

  std::string label(const Point& point) const {
    const std::string where = label({point.dataset, point.categories}, "");
    return where.empty() ? point.arm : where;
  }

  Found value(const Scope& place, const Point& point) const {
    const Scope there = at(place, point);
    return point.over.empty() ? evidence_.level(there, point.arm, test_.metric)
                              : evidence_.ratio(there, point.arm, point.over, test_.metric);
  }

  /// How many times more the first is than the second.
  Found compare(const Scope& place, const Point& a, const Point& b) const {
    const Scope one = at(place, a), other = at(place, b);
    const bool here = one.dataset == other.dataset && one.categories == other.categories;
    if (here && a.over.empty() && b.over.empty())
      return evidence_.ratio(one, a.arm, b.arm, test_.metric);
    if (here && !a.over.empty() && !b.over.empty())
      return evidence_.ratio_of_ratios(one, {a.arm, a.over}, {b.arm, b.over}, test_.metric);
    const Found left = value(place, a), right = value(place, b);
    if (!left.measured || !right.measured) return left.measured ? right : left;
    return {quotient(*left.measured, *right.measured), ""};
  }

  void lacks(const std::string& what) {
    if (std::find(finding_.lacks.begin(), finding_.lacks.end(), what) == finding_.lacks.end())
      finding_.lacks.push_back(what);
  }

  void add(const std::string& label, const Found& found) {
    if (found.measured)
      finding_.parts.push_back({label, *found.measured, ClaimVerdict::open});
    else
      lacks(found.lacks);
  }

  /// Excuses the newest part where the arm's passes hold more rows than the machine takes for free.
  void note_balance(const Scope& place, const std::string& arm) {
    if (!test_.below_balance || std::isnan(evidence_.balance())) return;
    const Found rows = evidence_.level(place, arm, "rows_per_pass");
    if (!rows.measured || rows.measured->value.estimate <= evidence_.balance()) return;
    excused_.insert(finding_.parts.size() - 1);
    finding_.note = str(arm, " has ", fixed(rows.measured->value.estimate, 0),
                        " rows a pass, this machine takes ", fixed(evidence_.balance(), 0),
                        " in the time that it reads the weights in");
  }

  void of_place(const Scope& place) {
    const auto& points = test_.points;
    const size_t before = finding_.parts.size();
    switch (test_.kind) {
      case Kind::ratio:
      case Kind::bound:
        for (const Point& point : points) {
          const Found found = value(place, point);
          add(label(at(place, point), points.size() > 1 ? point.arm : ""), found);
          if (found.measured) note_balance(at(place, point), point.arm);
        }
        break;
      case Kind::difference:
        for (const Point& point : points)
          add(label(at(place, point), points.size() > 1 ? point.arm : ""),
              evidence_.difference(at(place, point), point.arm, point.over, test_.metric));
        break;
      case Kind::identity:
        for (const Point& point : points) add_identity(at(place, point), point);
        break;
      case Kind::order:
      case Kind::trend:
        add_chain(place);
        break;
      case Kind::optimum:
        add_optimum(place);
        break;
    }
    if (finding_.parts.size() > before)
      merge(evidence_.qualifiers(points.front().dataset.empty() ? place.dataset : ""));
  }

  /// Each link of an order or trend. Across a point that lacks the next one is compared.
  void add_chain(const Scope& place) {
    const auto& points = test_.points;
    for (size_t i = 0, next = 0; i + 1 < points.size(); i = next) {
      for (next = i + 1; next < points.size(); ++next) {
        const bool rises = test_.kind == Kind::trend && test_.rises;
        const Point &more = points[rises ? next : i], &less = points[rises ? i : next];
        const Found found = compare(place, more, less);
        add(label(place, str(label(more), " > ", label(less))), found);
        if (found.measured) {
          note_balance(at(place, more), more.arm);
          break;
        }
        broken_chain_ = true;
      }
      if (next == points.size()) next = i + 1;  // nothing goes with this one
    }
  }

  void add_identity(const Scope& place, const Point& point) {
    const auto count = evidence_.identity(place, point.arm, point.over, test_.metric);
    if (!count || count->compared == 0) {
      const Found level = evidence_.level(place, point.arm, test_.metric);
      lacks(level.lacks.empty() ? str("answers of ", point.over, " to compare with") : level.lacks);
      return;
    }
    counts_.push_back(*count);
    // Wilson's interval: of a share near 1, with as many units as answers.
    const auto n = static_cast<double>(count->compared);
    const double share = static_cast<double>(count->same + count->ties) / n, z = 1.959964;
    const double middle = (share + z * z / (2 * n)) / (1 + z * z / n);
    const double half =
        z / (1 + z * z / n) * std::sqrt(share * (1 - share) / n + z * z / (4 * n * n));
    finding_.parts.push_back(
        {label(place, ""),
         {{share, middle - half, std::min(1.0, middle + half)}, count->compared},
         ClaimVerdict::open});
  }

  void add_optimum(const Scope& place) {
    std::vector<Point> own, others;
    for (const Point& point : test_.points)
      (std::find(test_.among.begin(), test_.among.end(), point.arm) != test_.among.end() ? own
                                                                                         : others)
          .push_back(point);
    std::vector<std::vector<Measured>> better;
    for (const Point& mine : own) {
      auto& row = better.emplace_back();
      for (const Point& other : others) {
        const Found found = compare(place, mine, other);
        if (!found.measured) return lacks(found.lacks);
        row.push_back(*found.measured);
      }
    }
    const Decision decision = decide_optimum(better);
    optima_.push_back(decision.verdict);
    // What is shown: the best of these against each other.
    size_t best = 0;
    for (size_t i = 1; i < better.size(); ++i)
      if (!better[i].empty() &&
          better[i].front().value.estimate > better[best].front().value.estimate)
        best = i;
    for (size_t o = 0; o < others.size(); ++o) {
      finding_.parts.push_back({label(place, str(own[best].arm, " > ", others[o].arm)),
                                better[best][o], decision.parts[o]});
      note_balance(at(place, own[best]), own[best].arm);
    }
  }

  void merge(const Qualifiers& more) {
    Qualifiers& all = finding_.qualifiers;
    all = {all.forced || more.forced, all.standin || more.standin, all.scaled || more.scaled,
           all.bound || more.bound};
  }

  void decide_parts() {
    const auto any = [](const std::vector<ClaimVerdict>& verdicts, ClaimVerdict verdict) {
      return std::find(verdicts.begin(), verdicts.end(), verdict) != verdicts.end();
    };
    if (test_.kind == Kind::optimum) {
      finding_.verdict = optima_.empty()                       ? ClaimVerdict::not_testable
                         : any(optima_, ClaimVerdict::refuted) ? ClaimVerdict::refuted
                         : any(optima_, ClaimVerdict::open)    ? ClaimVerdict::open
                                                               : ClaimVerdict::confirmed;
    } else {
      std::vector<Measured> measured;
      for (const auto& part : finding_.parts) measured.push_back(part.measured);
      const bool all_same = test_.kind == Kind::identity && test_.limit.value == 1;
      const Decision decision = all_same ? decide_identity(counts_) : decide(measured, test_.limit);
      for (size_t i = 0; i < finding_.parts.size(); ++i)
        finding_.parts[i].verdict = decision.parts[i];
      finding_.verdict = decision.verdict;
    }
    if (finding_.verdict == ClaimVerdict::confirmed && broken_chain_)
      finding_.verdict = ClaimVerdict::open;
    bool excused = finding_.verdict == ClaimVerdict::refuted && !excused_.empty();
    for (size_t i = 0; i < finding_.parts.size(); ++i)
      if (finding_.parts[i].verdict == ClaimVerdict::refuted) excused &= excused_.contains(i);
    if (!excused) return finding_.note.clear();
    finding_.verdict = ClaimVerdict::open;
  }

  const ClaimTest& test_;
  const Evidence& evidence_;
  ClaimFinding finding_;
  std::vector<IdentityCount> counts_;
  std::vector<ClaimVerdict> optima_;
  std::set<size_t> excused_;  // parts
  bool broken_chain_ = false;
};

}  // namespace

bool ClaimFinding::unexpected() const {
  const auto expected = claim->expect.find(scale);
  return expected != claim->expect.end() &&
         (verdict == ClaimVerdict::confirmed || verdict == ClaimVerdict::refuted) &&
         verdict != expected->second;
}

std::string ClaimFinding::why() const {
  const Limit& limit = claim->test.limit;
  std::vector<std::string> reasons;
  const auto add = [&](const std::string& reason, const auto& is) {
    constexpr size_t kMost = 6;
    std::vector<std::string> labels;
    size_t count = 0;
    for (const Part& part : parts)
      if (is(part) && ++count <= kMost && !part.label.empty()) labels.push_back(part.label);
    if (count > kMost) labels.push_back(str("and ", count - kMost, " more"));
    if (count) reasons.push_back(labels.empty() ? reason : str(reason, ": ", join(labels, "; ")));
  };
  const auto open = [](const Part& part) { return part.verdict == ClaimVerdict::open; };
  add(limit.text(), [](const Part& part) { return part.verdict == ClaimVerdict::confirmed; });
  add("not " + limit.text(),
      [](const Part& part) { return part.verdict == ClaimVerdict::refuted; });
  add(str("may or may not be ", limit.text()),
      [&](const Part& part) { return open(part) && enough(part.measured); });
  add(str("fewer than ", VerdictRules{}.fewest_units, " blocks or examples"),
      [&](const Part& part) { return open(part) && !enough(part.measured); });
  if (!note.empty()) reasons.push_back(note);
  if (!lacks.empty()) reasons.push_back(str("lacks ", join(lacks, "; ")));
  return join(reasons, ". ");
}

ClaimFinding test_claim(const Claim& claim, const std::string& scale, const Evidence& evidence) {
  return Test(claim, scale, evidence).run();
}

}  // namespace pardec
