#include "src/reproduction/claims.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <memory>
#include <set>

#include "src/support/number_text.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

using Kind = ClaimTest::Kind;

bool decides(ClaimVerdict verdict) {
  return verdict != ClaimVerdict::open && verdict != ClaimVerdict::not_testable;
}

/// Wilson's interval of a share near 1 (1927), with one unit per answer.
Interval share_interval(const IdentityCount& count) {
  const auto n = static_cast<double>(count.compared);
  const double share = static_cast<double>(count.same + count.ties) / n, z = 1.959964;
  const double middle = (share + z * z / (2 * n)) / (1 + z * z / n);
  const double half =
      z / (1 + z * z / n) * std::sqrt(share * (1 - share) / n + z * z / (4 * n * n));
  return {share, middle - half, std::min(1.0, middle + half)};
}

std::string shown(const Interval& value) {
  return str(fixed(value.estimate, 2),
             std::isfinite(value.low)
                 ? str(" [", fixed(value.low, 2), ", ", fixed(value.high, 2), "]")
                 : "");
}

/// The views of the same measurements, made on demand.
class Views {
 public:
  explicit Views(const Evidence& evidence) : evidence_(evidence) {}

  /// Null: the view does not exist.
  const Evidence* of(MeasuredView view) {
    if (view == MeasuredView::all) return &evidence_;
    const auto [at, isnew] = made_.try_emplace(view);
    if (isnew) at->second = evidence_.in_view(view);
    return at->second.get();
  }

 private:
  const Evidence& evidence_;
  std::map<MeasuredView, std::unique_ptr<Evidence>> made_;
};

/// The view that shows whether a warning affects the decision; none: there is none.
std::optional<MeasuredView> view_of(Effect effect) {
  if (effect == Effect::undisturbed) return MeasuredView::undisturbed;
  if (effect == Effect::by_token) return MeasuredView::by_token;
  return std::nullopt;
}

std::string shown(const Caveat& caveat) {
  return str(caveat.code, ", ", caveat.arm, " on ", caveat.dataset, ": ", caveat.found);
}

/// Collects the parts of one test of a claim, and what is missing.
class Tested {
 public:
  Tested(const Claim& claim, const ClaimTest& test, const Evidence& evidence, Views& views,
         const VerdictRules& rules)
      : claim_(claim), test_(test), evidence_(evidence), views_(views), rules_(rules) {}

  ClaimFinding run() {
    std::vector<std::string> places =
        test_.in.empty() ? evidence_.places() : std::vector<std::string>{};
    for (const std::string& dataset : test_.in) {
      std::vector<std::string> found = evidence_.places_of(dataset);
      if (found.empty()) found.push_back(dataset);  // leads to a message that it is missing
      places.insert(places.end(), found.begin(), found.end());
    }
    // An order of datasets is one test over all of them.
    const bool over_datasets = !test_.points.front().dataset.empty();
    if (over_datasets) places = {""};
    for (const std::string& place : places) {
      if (!test_.each_category) {
        of_place({place});
        continue;
      }
      const auto categories = evidence_.categories(place);
      if (categories.empty()) lacks(str("categories of ", place));
      for (const std::string& category : categories) of_place({place, {category}});
    }
    decide_parts();
    const auto& parts = finding_.parts;
    if (std::none_of(parts.begin(), parts.end(),
                     [](const auto& part) { return part.measured.standing != Standing::itself; }))
      finding_.qualifiers.bound = false;
    return std::move(finding_);
  }

 private:
  using Part = ClaimFinding::Part;
  using Take = std::function<Found(const Evidence&)>;

  /// Further data of a part.
  struct Beside {
    std::vector<Caveat> caveats;
    std::map<MeasuredView, Found> taken;  ///< measurements in other views, if a caveat needs them
  };

  static Scope at(const Scope& place, const Point& point) {
    return {point.dataset.empty() ? place.dataset : point.dataset,
            point.categories.empty() ? place.categories : point.categories};
  }

  std::string label(const Scope& place, const std::string& of) const {
    std::vector<std::string> words;
    for (const std::string& word : {place.dataset, join(place.categories, "+"), of})
      if (!word.empty()) words.push_back(word);
    return join(words, ", ");
  }

  std::string label(const Point& point) const {
    const std::string where = label({point.dataset, point.categories}, "");
    return where.empty() ? point.arm : where;
  }

  std::string rule() const {
    const Limit& limit = test_.limit;
    if (test_.kind != Kind::identity) return limit.text();
    return limit.value == 1 ? "the baseline's answers throughout, except for equal logits"
                            : str("a share of ", limit.text(), " of the baseline's answers");
  }

  Found value(const Evidence& evidence, const Scope& place, const Point& point) const {
    const Scope there = at(place, point);
    return point.over.empty() ? evidence.level(there, point.arm, test_.metric)
                              : evidence.ratio(there, point.arm, point.over, test_.metric);
  }

  /// How many times the second quantity the first one is.
  Found compare(const Evidence& evidence, const Scope& place, const Point& a,
                const Point& b) const {
    const Scope one = at(place, a), other = at(place, b);
    const bool here = one.dataset == other.dataset && one.categories == other.categories;
    if (here && a.over.empty() && b.over.empty())
      return evidence.ratio(one, a.arm, b.arm, test_.metric);
    if (here && !a.over.empty() && !b.over.empty())
      return evidence.ratio_of_ratios(one, {a.arm, a.over}, {b.arm, b.over}, test_.metric);
    const Found left = value(evidence, place, a), right = value(evidence, place, b);
    if (!left.measured || !right.measured) return left.measured ? right : left;
    return {quotient(*left.measured, *right.measured), ""};
  }

  void lacks(const std::string& what) {
    if (std::find(finding_.lacks.begin(), finding_.lacks.end(), what) == finding_.lacks.end())
      finding_.lacks.push_back(what);
  }

  /// The warnings about all arms that a number is computed from.
  std::vector<Caveat> caveats(const Scope& place, const std::vector<Point>& points) {
    std::map<std::string, std::vector<std::string>> arms;  // by dataset
    for (const Point& point : points)
      for (const std::string& arm : {point.arm, point.over})
        if (!arm.empty()) arms[at(place, point).dataset].push_back(arm);
    std::vector<Caveat> all;
    for (const auto& [dataset, labels] : arms)
      for (Caveat& caveat : evidence_.caveats(dataset, labels, test_.metric))
        all.push_back(std::move(caveat));
    for (const Caveat& caveat : all)
      if (std::find(finding_.caveats.begin(), finding_.caveats.end(), caveat) ==
          finding_.caveats.end())
        finding_.caveats.push_back(caveat);
    return all;
  }

  Part part(const Scope& place, const std::string& name, const Measured& measured) const {
    Part part{name, rule(), measured};
    part.dataset = evidence_.dataset_of(place.dataset);
    part.network = evidence_.network_of(place.dataset);
    return part;
  }

  Found add(const Scope& place, const std::vector<Point>& points, const std::string& name,
            const Take& take) {
    Found found = take(evidence_);
    if (!found.measured) {
      lacks(found.lacks);
      return found;
    }
    finding_.parts.push_back(part(place, name, *found.measured));
    Beside beside{caveats(place, points), {}};
    for (const Caveat& caveat : beside.caveats)
      if (const auto view = view_of(caveat.effect); view && !beside.taken.contains(*view)) {
        const Evidence* other = views_.of(*view);
        beside.taken[*view] = other ? take(*other) : Found{std::nullopt, "another measurement"};
      }
    beside_.push_back(std::move(beside));
    return found;
  }

  /// Excuses the newest part if the arm's passes have more rows than the machine can compute at no
  /// extra cost.
  void note_balance(const Scope& place, const std::string& arm) {
    if (!test_.below_balance || std::isnan(evidence_.balance())) return;
    const Found rows = evidence_.level(place, arm, "rows_per_pass");
    if (!rows.measured || rows.measured->value.estimate <= evidence_.balance()) return;
    excused_.insert(finding_.parts.size() - 1);
    finding_.note = str(arm, " has ", fixed(rows.measured->value.estimate, 0),
                        " rows a pass, but in the time in which this machine reads the weights, it "
                        "computes only ",
                        fixed(evidence_.balance(), 0), " rows");
  }

  void of_place(const Scope& place) {
    const auto& points = test_.points;
    const size_t before = finding_.parts.size();
    const auto of_arm = [&](const Point& point) {
      return label(at(place, point), points.size() > 1 ? point.arm : "");
    };
    switch (test_.kind) {
      case Kind::ratio:
      case Kind::bound:
        for (const Point& point : points) {
          const Found found = add(place, {point}, of_arm(point), [&](const Evidence& evidence) {
            return value(evidence, place, point);
          });
          if (found.measured) note_balance(at(place, point), point.arm);
        }
        break;
      case Kind::difference:
        for (const Point& point : points)
          add(place, {point}, of_arm(point), [&](const Evidence& evidence) {
            return evidence.difference(at(place, point), point.arm, point.over, test_.metric);
          });
        break;
      case Kind::identity:
        for (const Point& point : points) add_identity(at(place, point), point, of_arm(point));
        break;
      case Kind::order:
      case Kind::trend:
        add_chain(place);
        break;
      case Kind::optimum:
        add_optimum(place);
        break;
    }
    if (finding_.parts.size() > before) {
      Qualifiers own = evidence_.qualifiers(points.front().dataset.empty() ? place.dataset : "");
      own.other_data = std::any_of(points.begin(), points.end(), [&](const Point& point) {
        return !is_of_claim(at(place, point).dataset);
      });
      finding_.qualifiers = finding_.qualifiers.with(own);
    }
  }

  /// Whether the paper's numbers are of this place's dataset.
  bool is_of_claim(const std::string& place) const {
    return std::any_of(claim_.datasets.begin(), claim_.datasets.end(),
                       [&](const std::string& dataset) {
                         const auto places = evidence_.places_of(dataset);
                         return std::find(places.begin(), places.end(), place) != places.end();
                       });
  }

  /// Adds each link of an order or trend. If a point cannot be compared, the one after it is used.
  void add_chain(const Scope& place) {
    const auto& points = test_.points;
    for (size_t i = 0, next = 0; i + 1 < points.size(); i = next) {
      for (next = i + 1; next < points.size(); ++next) {
        const bool rises = test_.kind == Kind::trend && test_.rises;
        const Point &more = points[rises ? next : i], &less = points[rises ? i : next];
        const Found found =
            add(place, {more, less}, label(place, str(label(more), " > ", label(less))),
                [&](const Evidence& evidence) { return compare(evidence, place, more, less); });
        if (found.measured) {
          note_balance(at(place, more), more.arm);
          break;
        }
      }
      if (next == points.size()) next = i + 1;  // no later point can be compared with this one
    }
  }

  void add_identity(const Scope& place, const Point& point, const std::string& name) {
    const auto count = evidence_.identity(place, point.arm, point.over, test_.metric);
    if (!count || count->compared == 0) {
      const Found level = evidence_.level(place, point.arm, test_.metric);
      lacks(level.lacks.empty() ? str("answers of ", point.over, " to compare with") : level.lacks);
      return;
    }
    finding_.parts.push_back(part(place, name, {share_interval(*count), count->compared}));
    finding_.parts.back().identity = count;
    beside_.push_back({caveats(place, {point}), {}});
  }

  /// For each point that may be the best: how many times better it is than each other point.
  struct Better {
    std::vector<std::vector<Measured>> of;
    std::string lacks;
  };
  Better better(const Evidence& evidence, const Scope& place, const std::vector<Point>& own,
                const std::vector<Point>& others) const {
    Better all;
    for (const Point& mine : own) {
      auto& row = all.of.emplace_back();
      for (const Point& other : others) {
        const Found found = compare(evidence, place, mine, other);
        if (!found.measured) return {{}, found.lacks};
        row.push_back(*found.measured);
      }
    }
    return all;
  }

  void add_optimum(const Scope& place) {
    std::vector<Point> own, others;
    for (const Point& point : test_.points)
      (std::find(test_.among.begin(), test_.among.end(), point.arm) != test_.among.end() ? own
                                                                                         : others)
          .push_back(point);
    const Better all = better(evidence_, place, own, others);
    if (!all.lacks.empty()) return lacks(all.lacks);
    const Decision decision = decide_optimum(all.of, rules_);
    std::string unfit;
    for (const Caveat& caveat : caveats(place, test_.points)) {
      if (caveat.effect == Effect::unfit) unfit = shown(caveat);
      if (const auto view = view_of(caveat.effect)) {
        const Evidence* other = views_.of(*view);
        const Better again = other ? better(*other, place, own, others) : Better{};
        if (decide_optimum(again.of, rules_).verdict != decision.verdict) unfit = shown(caveat);
      }
    }
    const bool stands = unfit.empty() || !decides(decision.verdict);
    optima_.push_back(stands ? decision.verdict : ClaimVerdict::open);
    // For display: the best of these points, compared with each other point.
    size_t best = 0;
    for (size_t i = 1; i < all.of.size(); ++i)
      if (!all.of[i].empty() &&
          all.of[i].front().value.estimate > all.of[best].front().value.estimate)
        best = i;
    for (size_t o = 0; o < others.size(); ++o) {
      finding_.parts.push_back(
          part(place, label(place, str(own[best].arm, " > ", others[o].arm)), all.of[best][o]));
      finding_.parts.back().verdict = stands ? decision.parts[o] : ClaimVerdict::open;
      if (!stands) finding_.parts.back().unfit = unfit;
      note_balance(at(place, own[best]), own[best].arm);
    }
  }

  Decision decide(const std::vector<Measured>& measured) const {
    return pardec::decide(measured, test_.limit, rules_);
  }

  /// Marks parts as open if their numbers are unfit to decide them, with the reason.
  void leave_unfit_open(const std::vector<Measured>& measured) {
    const auto leave_open = [](Part& part, const std::string& why) {
      part.verdict = ClaimVerdict::open;
      part.unfit = why;
    };
    for (size_t i = 0; i < finding_.parts.size(); ++i) {
      Part& part = finding_.parts[i];
      for (const Caveat& caveat : beside_[i].caveats)
        if (caveat.effect == Effect::unfit && decides(part.verdict))
          leave_open(part, shown(caveat));
    }
    for (const auto& [effect, words] :
         {std::pair{Effect::undisturbed, "the undisturbed measurements alone"},
          std::pair{Effect::by_token, "per token, the ratio"}}) {
      const MeasuredView view = *view_of(effect);
      std::vector<Measured> again = measured;
      bool taken = false;
      for (size_t i = 0; i < again.size(); ++i)
        if (const auto found = beside_[i].taken.find(view); found != beside_[i].taken.end()) {
          taken = true;
          // Without this measurement, the part is undecided.
          again[i] = found->second.measured.value_or(Measured{{NAN, NAN, NAN}});
        }
      if (!taken) continue;
      const Decision decision = decide(again);
      for (size_t i = 0; i < again.size(); ++i) {
        Part& part = finding_.parts[i];
        if (!beside_[i].taken.contains(view) || !decides(part.verdict) ||
            part.verdict == decision.parts[i])
          continue;
        const auto caveat =
            std::find_if(beside_[i].caveats.begin(), beside_[i].caveats.end(),
                         [effect = effect](const Caveat& one) { return one.effect == effect; });
        leave_open(part,
                   str(shown(*caveat), "; ",
                       std::isnan(again[i].value.estimate)
                           ? str("nothing else is measured for ", part.label)
                           : str(words, effect == Effect::undisturbed ? " give " : " is ",
                                 shown(again[i].value), ", over ", enough(again[i]) ? "" : "only ",
                                 again[i].units, " blocks or examples")));
      }
    }
  }

  void decide_parts() {
    if (test_.kind == Kind::optimum) {
      finding_.verdict = together(optima_);
    } else {
      std::vector<Measured> measured;
      std::vector<IdentityCount> counts;
      for (const Part& part : finding_.parts) {
        measured.push_back(part.measured);
        if (part.identity) counts.push_back(*part.identity);
      }
      const bool all_same = test_.kind == Kind::identity && test_.limit.value == 1;
      const Decision decision = all_same ? decide_identity(counts, rules_) : decide(measured);
      for (size_t i = 0; i < finding_.parts.size(); ++i)
        finding_.parts[i].verdict = decision.parts[i];
      leave_unfit_open(measured);
      std::vector<ClaimVerdict> verdicts;
      for (const Part& part : finding_.parts) verdicts.push_back(part.verdict);
      finding_.verdict = together(verdicts);
    }
    bool excused = finding_.verdict == ClaimVerdict::refuted && !excused_.empty();
    for (size_t i = 0; i < finding_.parts.size(); ++i)
      if (finding_.parts[i].verdict == ClaimVerdict::refuted) excused &= excused_.contains(i);
    if (!excused) return finding_.note.clear();
    finding_.verdict = ClaimVerdict::open;
  }

  const Claim& claim_;
  const ClaimTest& test_;
  const Evidence& evidence_;
  Views& views_;
  const VerdictRules rules_;
  ClaimFinding finding_{};
  std::vector<Beside> beside_;  // by part, except for an optimum
  std::vector<ClaimVerdict> optima_;
  std::set<size_t> excused_;  // indices of parts
};

/// The widest range of two; either may be null.
Json range_of_both(const Json& a, const Json& b) {
  if (!a.is_object() || !b.is_object()) return a.is_object() ? a : b;
  return {{"least", std::min(a["least"].get<double>(), b["least"].get<double>())},
          {"most", std::max(a["most"].get<double>(), b["most"].get<double>())}};
}

/// "2.18 to 33.01", or one number.
std::string range_text(double low, double high) {
  return fixed(low, 2) == fixed(high, 2) ? fixed(low, 2)
                                         : str(fixed(low, 2), " to ", fixed(high, 2));
}

/// What a bound says of the paper's numbers: "at most 3.00, published 2.35", and whether it leaves
/// room for them. Both are empty without a bound or without such numbers.
struct BoundRemark {
  std::string numbers, room;
};
BoundRemark remark_on(const std::vector<const ClaimFinding::Part*>& parts, const Json& published) {
  if (!published.is_object() || !published.contains("most")) return {};
  const auto theirs_most = published["most"].get<double>();
  const double theirs_least = published.value("least", theirs_most);
  for (const auto& [what, standing] : {std::pair{"at most ", Standing::at_most},
                                       std::pair{"the ratio of bounds is ", Standing::nothing}}) {
    double least = NAN, most = NAN;
    for (const ClaimFinding::Part* part : parts)
      if (part->measured.standing == standing) {
        least = std::fmin(least, part->measured.value.estimate);
        most = std::fmax(most, part->measured.value.estimate);
      }
    if (std::isnan(most)) continue;
    const std::string numbers =
        str(what, range_text(least, most), ", published ", range_text(theirs_least, theirs_most));
    if (standing == Standing::nothing) return {numbers, ""};
    return {numbers, theirs_most <= least ? "the bound leaves room"
                     : theirs_least <= most
                         ? "the bound leaves room for only a part of that; other answers, or a "
                           "baseline far from its roofline, give more"
                         : "more than the bound leaves room for; other answers, or a baseline far "
                           "from its roofline, give more"};
  }
  return {};
}

/// The remarks on all parts, by dataset and network if the paper's numbers are.
std::string bound_remark(const ClaimFinding& finding) {
  const Claim& claim = *finding.claim;
  const bool by_place = !claim.published_by.empty();
  std::map<std::pair<std::string, std::string>, std::vector<const ClaimFinding::Part*>> places;
  for (const ClaimFinding::Part& part : finding.parts)
    places[{by_place ? part.dataset : "", by_place ? part.network : ""}].push_back(&part);
  std::vector<std::string> rooms;
  std::map<std::string, std::vector<std::string>> numbers;  // by room
  for (const auto& [place, parts] : places) {
    const BoundRemark remark = remark_on(parts, claim.published_of(place.first, place.second));
    if (remark.numbers.empty()) continue;
    if (numbers[remark.room].empty()) rooms.push_back(remark.room);
    std::string where = place.first;
    if (!place.second.empty()) where += ", " + place.second;
    numbers[remark.room].push_back(where.empty() ? remark.numbers
                                                 : str(where, ": ", remark.numbers));
  }
  std::vector<std::string> remarks;
  for (const std::string& room : rooms)
    remarks.push_back(str(join(numbers[room], "; "), room.empty() ? "" : ": ", room));
  return join(remarks, ". ");
}

}  // namespace

bool ClaimFinding::unexpected() const {
  const auto expected = claim->expect.find(scale);
  return expected != claim->expect.end() && decides(verdict) && verdict != expected->second;
}

std::string ClaimFinding::by_construction() const {
  const auto found = claim->by_construction.find(scale);
  return found == claim->by_construction.end() ? "" : found->second;
}

std::vector<std::pair<std::string, Json>> ClaimFinding::published() const {
  if (claim->published_by.empty())
    return claim->published.is_null() ? std::vector<std::pair<std::string, Json>>{}
                                      : std::vector{std::pair{std::string(), claim->published}};
  const auto own = claim->networks.find(scale);
  const std::string network = own == claim->networks.end() ? "" : own->second;
  std::vector<std::pair<std::string, Json>> all;
  for (const auto& [dataset, numbers] : claim->published_by) {
    Json range;
    for (const Part& part : parts)
      if (part.dataset == dataset)
        range = range_of_both(
            range, claim->published_of(dataset, part.network.empty() ? network : part.network));
    if (parts.empty()) range = claim->published_of(dataset, network);
    if (!range.is_null()) all.emplace_back(dataset, range);
  }
  return all;
}

std::string ClaimFinding::why() const {
  std::vector<std::string> reasons;
  const auto add = [&](const std::string& reason, const auto& is) {
    constexpr size_t kMost = 6;
    std::vector<std::string> labels;
    size_t count = 0;
    for (const Part& part : parts)
      if (is(part) && ++count <= kMost) labels.push_back(part.label);
    if (count > kMost) labels.push_back(str("and ", count - kMost, " more"));
    if (count) reasons.push_back(str(reason, ": ", join(labels, "; ")));
  };
  std::vector<std::string> rules;
  for (const Part& part : parts)
    if (std::find(rules.begin(), rules.end(), part.rule) == rules.end()) rules.push_back(part.rule);
  const auto bounds = [](const Part& part) { return part.measured.standing != Standing::itself; };
  for (const std::string& rule : rules) {
    const auto is = [&](ClaimVerdict wanted, auto other) {
      return [&rule, wanted, other](const Part& part) {
        return part.rule == rule && part.verdict == wanted && other(part);
      };
    };
    const auto measured = [&](const Part& part) { return !bounds(part); };
    add(rule, is(ClaimVerdict::confirmed, measured));
    add("not " + rule, is(ClaimVerdict::refuted, measured));
    add("even the bound is not " + rule, is(ClaimVerdict::refuted, bounds));
    add("the bound allows a value " + rule, is(ClaimVerdict::not_contradicted, bounds));
    add("may or may not be " + rule, is(ClaimVerdict::open, [](const Part& part) {
          return part.unfit.empty() && enough(part.measured) &&
                 part.measured.standing != Standing::nothing;
        }));
  }
  const auto open = [](const Part& part) {
    return part.verdict == ClaimVerdict::open && part.unfit.empty();
  };
  add("a ratio of two bounds is no bound",
      [&](const Part& part) { return open(part) && part.measured.standing == Standing::nothing; });
  add(str("fewer than ", VerdictRules{}.fewest_units, " blocks or examples"),
      [&](const Part& part) {
        return open(part) && !enough(part.measured) && part.measured.standing != Standing::nothing;
      });
  std::vector<std::string> unfit;
  for (const Part& part : parts)
    if (!part.unfit.empty() && std::find(unfit.begin(), unfit.end(), part.unfit) == unfit.end())
      unfit.push_back(part.unfit);
  constexpr size_t kMostUnfit = 3;
  const size_t more = unfit.size() > kMostUnfit ? unfit.size() - kMostUnfit : 0;
  unfit.resize(unfit.size() - more);
  if (!unfit.empty())
    reasons.push_back(
        str("unfit to decide it: ", join(unfit, "; "), more ? str("; and ", more, " more") : ""));
  if (!note.empty()) reasons.push_back(note);
  if (const std::string remark = bound_remark(*this); !remark.empty()) reasons.push_back(remark);
  if (!lacks.empty()) reasons.push_back(str("lacks ", join(lacks, "; ")));
  if (const std::string cannot = by_construction(); !cannot.empty())
    reasons.push_back(str(verdict == ClaimVerdict::open
                              ? "it is not decided yet, but it cannot fail: "
                              : "it cannot fail: ",
                          cannot));
  return join(reasons, ". ");
}

ClaimFinding test_claim(const Claim& claim, const std::string& scale, const Evidence& evidence) {
  ClaimFinding all{&claim, scale, ClaimVerdict::not_testable, {}, {}, {}, {}, ""};
  Views views(evidence);
  // Several tests share the error probability, since each of them may refute the claim.
  VerdictRules rules;
  rules.confidence = 1 - (1 - rules.confidence) / static_cast<double>(claim.tests.size());
  std::vector<ClaimVerdict> verdicts;
  const auto add_new = [](auto& to, const auto& from) {
    for (const auto& one : from)
      if (std::find(to.begin(), to.end(), one) == to.end()) to.push_back(one);
  };
  for (const ClaimTest& test : claim.tests) {
    ClaimFinding one = Tested(claim, test, evidence, views, rules).run();
    if (one.verdict != ClaimVerdict::not_testable) verdicts.push_back(one.verdict);
    for (ClaimFinding::Part& part : one.parts) {
      if (!test.label.empty()) part.label += str(part.label.empty() ? "" : ", ", test.label);
      all.parts.push_back(std::move(part));
    }
    add_new(all.lacks, one.lacks);
    add_new(all.caveats, one.caveats);
    all.qualifiers = all.qualifiers.with(one.qualifiers);
    if (all.note.empty()) all.note = one.note;
  }
  all.verdict = together(verdicts);
  // A part without a measurement might be refuted.
  if (!all.lacks.empty() &&
      (all.verdict == ClaimVerdict::confirmed || all.verdict == ClaimVerdict::not_contradicted))
    all.verdict = ClaimVerdict::open;
  return all;
}

std::string counts_text(const std::vector<const ClaimFinding*>& findings) {
  const auto counted_verdicts = [&](bool certain) {
    std::vector<std::string> counts;
    for (const ClaimVerdict verdict : kClaimVerdicts)
      if (const auto count =
              std::count_if(findings.begin(), findings.end(), [&](const ClaimFinding* finding) {
                return finding->verdict == verdict && finding->by_construction().empty() != certain;
              }))
        counts.push_back(str(count, " ", name(verdict)));
    return join(counts, ", ");
  };
  const std::string may_fail = counted_verdicts(false), cannot = counted_verdicts(true);
  if (findings.empty()) return "nothing is claimed";
  return str("claims: ", may_fail.empty() ? "none that can fail" : may_fail,
             cannot.empty() ? "" : str("; apart from these, that cannot fail: ", cannot));
}

}  // namespace pardec
