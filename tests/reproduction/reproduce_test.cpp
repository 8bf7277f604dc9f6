// Papers' items are reproduced by a program that has no command line.
#include "src/reproduction/reproduce.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <stop_token>
#include <string>
#include <vector>

#include "src/reproduction/item_choice.hpp"
#include "src/reproduction/time_shares.hpp"
#include "src/support/error.hpp"
#include "src/support/project_files.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/data.hpp"

using namespace pardec;

namespace {

/// HPD's Table 3, one product at a time, on the quickstart network.
struct Reproducing {
  test::TemporaryFolder folder;
  PaperCatalogue papers = read_papers();
  const PaperItem& item = find_item(papers, "hpd", "table3");
  std::vector<std::string> notes;
  ReproduceOptions options;

  Reproducing() {
    options.db = (folder.path() / "r.sqlite").string();
    options.limit = 4;
    options.threads = 1;
    options.notes = [this](const std::string& line) { notes.push_back(line); };
  }

  std::map<std::string, ClaimVerdict> verdicts(const Reproduction& result) const {
    std::map<std::string, ClaimVerdict> all;
    for (const ClaimFinding& finding : result.findings) all[finding.claim->id] = finding.verdict;
    return all;
  }
};

const std::map<std::string, ClaimVerdict> kOpen{{"H5a", ClaimVerdict::open},
                                                {"H5b", ClaimVerdict::open}};
const std::map<std::string, ClaimVerdict> kNotTestable{{"H5a", ClaimVerdict::not_testable},
                                                       {"H5b", ClaimVerdict::not_testable}};

}  // namespace

TEST_CASE("an item is measured, its claims are tested, and stored results are not run again") {
  Reproducing of;
  const Reproduction made = reproduce(of.item, of.options);
  REQUIRE(made.run);
  CHECK(of.verdicts(made) == kOpen);  // two blocks decide nothing
  CHECK_FALSE(of.notes.empty());      // the data are the project's own sample
  const Found speed = made.evidence->ratio({"oa-mine"}, "hpd", "ar", "tokens_per_forward");
  CAPTURE(speed.lacks);
  REQUIRE(speed.measured);
  CHECK(speed.measured->value.estimate > 1);
  CHECK(std::any_of(made.differs.begin(), made.differs.end(),
                    [](const Difference& one) { return one.of == Difference::Of::network; }));

  of.options.effort.runs = false;
  const Reproduction found = reproduce(of.item, of.options);
  REQUIRE(found.run);
  CHECK(found.run->comparison().invocation == made.run->comparison().invocation);
  CHECK(found.findings.front().parts.front().measured.value.estimate ==
        made.findings.front().parts.front().measured.value.estimate);

  Store store(of.options.db, {.read_only = true});
  const auto results = reproduced(of.papers, store, made.run->comparison().invocation);
  REQUIRE_FALSE(results.empty());
  const StoredVerdicts stored = stored_verdicts(of.papers, of.options.db);
  CHECK(stored.at(of.item.name).at("H5a").verdict == ClaimVerdict::open);
}

TEST_CASE("an item without time, or stopped before it begins, says so in its verdicts") {
  Reproducing of;
  of.options.effort = {.runs = false};
  CHECK(of.verdicts(reproduce(of.item, of.options)) == kNotTestable);
  of.options.effort = {};
  std::stop_source stop;
  stop.request_stop();
  of.options.stop = stop.get_token();
  const Reproduction stopped = reproduce(of.item, of.options);
  CHECK(of.verdicts(stopped) == kNotTestable);
  CHECK(stopped.findings.front().lacks == std::vector<std::string>{"time"});
  CHECK_FALSE(std::filesystem::exists(of.options.db));
}

TEST_CASE("a scale may be about a network that was not trained for its decoder") {
  Reproducing of;
  const auto plain = of.folder.path() / "plain";
  std::filesystem::copy(project_file("experiments/quickstart/model"), plain);
  std::filesystem::remove(plain / "training.json");
  of.options.models = {{"main", plain.string()}};
  of.options.limit = 1;
  PaperItem item = of.item;
  const auto effect = [&] {
    const Reproduction made = reproduce(item, of.options);
    for (const Caveat& caveat : made.evidence->caveats("oa-mine", {"hpd"}, "f1_micro"))
      if (caveat.code == "untaught") return caveat.effect;
    return Effect::none;
  };
  CHECK(effect() == Effect::unfit);
  item.scales["small"]["meant"] = {"untaught"};
  CHECK(effect() == Effect::beside);
}

TEST_CASE("a bound has the weights of each network in their own type") {
  Reproducing of;
  of.options.scale = "bound";
  of.options.limit = 2;
  PaperItem item = of.item;
  const auto speed = [&](const char* type) {
    item.scales["bound"]["bound"]["dtype"] = {{"qwen3-32b", type}};
    const Reproduction made = reproduce(item, of.options);
    CHECK(std::any_of(made.differs.begin(), made.differs.end(), [&](const Difference& one) {
      return one.text.find(std::string("bf16, qwen3-32b: ") + type) != std::string::npos;
    }));
    return made.evidence->level({made.evidence->places().front()}, "ar", "speed")
        .measured->value.estimate;
  };
  // One row a pass: the time is that of reading the weights, of 4.5 bits and 16.
  const double ratio = speed("nf4") / speed("bf16");
  CHECK(ratio > 3);
  CHECK(ratio < 16 / 4.5);
}

TEST_CASE("what is counted in the data is said to be counted") {
  Reproducing of;
  const Reproduction made = reproduce(find_item(of.papers, "ippd", "table1"), of.options);
  CHECK(made.evidence->qualifiers("squad").text() == "counted, stand-in");
}

TEST_CASE("passes of a bound are made once, without a record of how they were computed") {
  Reproducing of;
  of.options.scale = "bound";
  of.options.limit = 2;
  MadeBounds bounds;
  const Reproduction made = reproduce(of.item, of.options, bounds);
  CHECK(bounds.size() == 1);
  CHECK_FALSE(made.run);
  for (const Difference& one : made.differs) {
    INFO(one.text);
    CHECK(one.of != Difference::Of::type);
    CHECK(one.of != Difference::Of::machine);
    CHECK(one.of != Difference::Of::jobs);
  }
  of.options.effort.runs = false;
  const Reproduction again = reproduce(of.item, of.options, bounds);
  CHECK(of.verdicts(again) == of.verdicts(made));
  CHECK(of.verdicts(reproduce(of.item, of.options)) ==
        std::map<std::string, ClaimVerdict>{{"H5b", ClaimVerdict::not_testable}});
}

TEST_CASE("faults of an item's networks are thrown, or are reported as missing") {
  Reproducing of;
  of.options.models = {{"main", (of.folder.path() / "nowhere").string()}};
  CHECK_THROWS_AS(reproduce(of.item, of.options), ConfigError);
  of.options.errors_lack = true;
  const Reproduction result = reproduce(of.item, of.options);
  CHECK(of.verdicts(result) == kNotTestable);
  CHECK_THAT(result.findings.front().lacks.front(), Catch::Contains("nowhere"));
  CHECK_FALSE(runs_here(of.item, of.options));
}

TEST_CASE("time is shared among the runs that remain") {
  Reproducing of;
  const PaperItem& other = find_item(of.papers, "hpd", "table2");
  std::vector<const PaperItem*> items{&of.item, &other};
  CHECK_FALSE(TimeShares(std::nullopt, items, of.options).effort_of(of.item).seconds);
  TimeShares time(1000, items, of.options);
  const Effort first = time.effort_of(of.item);
  CHECK(first.runs);
  REQUIRE(first.seconds);
  CHECK(*first.seconds <= 1000);
  MadeBounds bounds;
  Reproduction made{.item = &of.item, .scale = of.options.scale};
  bounds[work_of(of.item, of.options.scale)];  // as if it had been made
  time.take(made, bounds);
  CHECK_FALSE(time.effort_of(of.item).runs);
  const Effort none = TimeShares(0, items, of.options).effort_of(of.item);
  CHECK_FALSE(none.runs);
}
