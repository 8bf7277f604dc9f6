// The page of all verdicts, and its export.
#include "src/report/results_page.hpp"

#include <filesystem>
#include <string>

#include "src/support/error.hpp"
#include "src/support/files.hpp"
#include "src/support/json.hpp"
#include "src/support/project_files.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/data.hpp"

using namespace pardec;

namespace {

ResultRow row(const std::string& claim, const std::string& verdict,
              const std::string& by_construction = "") {
  return {.item = "hpd-table3",
          .claim = claim,
          .says = "HPD is faster | than AR",
          .published = "5.18 to 8.56",
          .verdict = verdict,
          .measured = "oa-mine 4.10 [3.90, 4.31]",
          .how = "scaled",
          .why = "-",
          .by_construction = by_construction,
          .command = "pardec reproduce hpd table3",
          .commit = "0123456789abcdef",
          .measured_utc = "2026-01-31"};
}

ResultsPage page() {
  return {.command = "pardec reproduce all",
          .made_utc = "2026-02-01",
          .commit = "fedcba9876543210",
          .machine = "a processor",
          .rows = {row("A", "confirmed"), row("B", "not testable"), row("C", "refuted"),
                   row("D", "confirmed", "so it is"), row("E", "open")}};
}

}  // namespace

TEST_CASE("refuted claims come first, and those that cannot fail last and apart") {
  const std::string text = render_results(page());
  std::size_t last = 0;
  for (const char* heading : {"\n## Refuted\n", "\n## Confirmed\n", "\n## Open\n",
                              "\n## Not testable\n", "\n## By construction\n"}) {
    INFO(heading);
    const std::size_t at = text.find(heading);
    REQUIRE(at != std::string::npos);
    CHECK(at > last);
    last = at;
  }
  CHECK(text.find("\n## Not contradicted\n") == std::string::npos);
  CHECK_THAT(text, Catch::Contains("Claims: 1 refuted, 1 confirmed, 1 open, 1 not testable; apart "
                                   "from them 1 that cannot fail by construction."));
  CHECK_THAT(text, Catch::Contains("`pardec reproduce all` made this page on 2026-02-01 (UTC), by "
                                   "pardec at commit fedcba98, on a processor."));
  CHECK_THAT(text,
             Catch::Contains("| hpd-table3 C | HPD is faster \\| than AR | 5.18 to 8.56 | oa-mine "
                             "4.10 [3.90, 4.31] | scaled | - | `pardec reproduce hpd table3` | "
                             "2026-01-31, 01234567 |\n"));
  CHECK_THAT(text, Catch::Contains("| confirmed: so it is |"));
}

TEST_CASE("the export has all that the page shows") {
  const ResultsPage made = page();
  const Json exported = Json::parse(json_of(made).dump());
  CHECK(read_results(exported, "r.json") == made);
  CHECK(render_results(read_results(exported, "r.json")) == render_results(made));
  Json broken = exported;
  broken["rows"][1].erase("why");
  CHECK_THROWS_WITH(read_results(broken, "r.json"),
                    Catch::Contains("r.json: 'rows'[1]") && Catch::Contains("why"));
}

TEST_CASE("the project's page is the one that its export gives") {
  const auto page = project_file("experiments/papers/RESULTS.md");
  const auto from = project_file("experiments/papers/RESULTS.json");
  CHECK(read_file(page) == render_results(read_results(read_json(from), from.string())));
}

TEST_CASE("a small run of two items is told by the page as it was measured") {
  test::TemporaryFolder folder;
  const PaperCatalogue papers = read_papers();
  ReproduceOptions options;
  options.db = (folder.path() / "r.sqlite").string();
  options.limit = 4;
  options.threads = 1;
  options.progress = ProgressStyle::none;
  std::vector<ReproducedItem> items;
  for (const auto& [paper, item] : {std::pair("hpd", "table3"), std::pair("ippd", "table3")})
    items.push_back(reproduced_item(reproduce(find_item(papers, paper, item), options),
                                    /*measured_only=*/true, /*with_figures=*/false));
  const ResultsPage made = results_page(items, "pardec reproduce", {});
  REQUIRE(made.rows.size() == items[0].findings.size() + items[1].findings.size());
  CHECK(made.made_utc.size() == 10);
  for (const ResultRow& row : made.rows) {
    INFO(row.item << " " << row.claim);
    CHECK(row.command == (row.item == "hpd-table3" ? "pardec reproduce hpd table3"
                                                   : "pardec reproduce ippd table3"));
    if (row.item != "hpd-table3") {
      CHECK(row.measured_utc.empty());  // counted, not run
      continue;
    }
    CHECK(row.verdict == "open");
    CHECK(row.measured_utc.size() == 10);
    CHECK_FALSE(row.commit.empty());
    CHECK_THAT(row.measured, Catch::Contains("oa-mine"));
  }
  CHECK(read_results(Json::parse(json_of(made).dump()), "r.json") == made);
}
