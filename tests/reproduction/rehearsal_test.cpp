// Dry runs of the papers' items: each scale `paper` meets nothing new on the first day with a GPU.
#include "src/reproduction/rehearsal.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "src/support/error.hpp"
#include "src/support/text.hpp"
#include "tests/support/catch.hpp"

using namespace pardec;

namespace {

/// What a claim may lack in a dry run: a judge, and what random networks do not write.
bool of_dry_runs(const std::string& lacks) {
  return lacks.find("judge") != std::string::npos || lacks.find("broken") != std::string::npos ||
         lacks.find("block") != std::string::npos || lacks.find("forced") != std::string::npos ||
         lacks.find("parallel stage") != std::string::npos ||
         lacks.starts_with("decode_speed of aspd on ");
}

/// Items that have no network of the paper's, or nothing to measure.
const std::set<std::string> kNoNetwork{
    "apar-table5", "apar-table6", "aspd-figure1", "aspd-figure9", "hpd-figure11",
    "hpd-table2",  "ippd-table1", "ippd-table3",  "space-table4", "space-table5"};

}  // namespace

TEST_CASE("each item with a network of the paper's has a scale of the paper's, which can be run") {
  const PaperCatalogue papers = read_papers();
  Rehearsals rehearsals;
  ReproduceOptions options;
  options.threads = 1;
  options.progress = ProgressStyle::none;
  for (const PaperItem& item : papers.items) {
    INFO(item.name);
    CHECK(item.scales.contains("paper") != kNoNetwork.contains(item.name));
    for (const auto& [scale, ignored] : item.scales.items()) {
      if (!scale.starts_with("paper")) continue;
      INFO(scale);
      options.scale = scale;
      const Rehearsal made = rehearsals.of(item, options);
      CHECK_FALSE(made.arms.empty());
      const auto served = [](const RehearsedArm& arm) { return arm.decoder == "service"; };
      const bool all_served = std::all_of(made.arms.begin(), made.arms.end(), served);
      for (const RehearsedArm& arm : made.arms) {
        INFO(arm.dataset << " " << arm.label);
        if (served(arm)) {  // nobody is asked
          CHECK(arm.lacks ==
                str("a service that answers arm ", arm.label, " (`service` ", arm.label, "=FILE)"));
          continue;
        }
        CHECK(arm.lacks == "");
        CHECK(arm.answers > 0);
        CHECK(arm.failed == 0);
      }
      for (const RehearsedNetwork& network : made.networks) {
        INFO(network.label);
        const bool adapter = network.shape.empty() || all_served;  // only a tokenizer
        CHECK((adapter || network.parameters > 1'000'000'000));
      }
      for (const ClaimFinding& finding : made.result.findings)
        for (const std::string& lacks : finding.lacks) {
          INFO(finding.claim->id);
          CAPTURE(lacks);
          CHECK(of_dry_runs(lacks));
        }
    }
  }
}

TEST_CASE("what a scale cannot do is said by its dry run") {
  const PaperCatalogue papers = read_papers();
  Rehearsals rehearsals;
  ReproduceOptions options;
  options.scale = "paper";
  options.threads = 1;
  PaperItem item = find_item(papers, "hpd", "table3");
  item.scales["paper"]["shapes"].erase("1.7b");  // a draft of unknown shape
  const Rehearsal made = rehearsals.of(item, options);
  for (const RehearsedArm& arm : made.arms) {
    INFO(arm.label);
    CHECK(arm.lacks.empty() == (arm.label != "spec"));
  }
  item.scales["paper"]["shapes"]["1.7b"] = "qwen3-9b";
  CHECK_THROWS_WITH(rehearsals.of(item, options), Catch::Contains("qwen3-9b"));
}
