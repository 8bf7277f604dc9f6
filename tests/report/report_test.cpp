#include "src/report/report.hpp"

#include "src/report/html.hpp"
#include "tests/support/catch.hpp"

using namespace pardec;

namespace {

Report example() {
  Report report;
  report.title = "ar, <hpd> on oa-mine";
  report.subtitle = "a network";
  report.marks = {"Untrained network: noise & more"};
  report.highlights = {{"2.46×", "[2.40, 2.49]", "oa-mine: hpd against ar", {"97.1 % identical"}}};
  Table table;
  table.title = "Speed </script>";
  table.columns = {{"arm"}, {"products/s", Align::right, "examples_per_second"}, {"interval"}};
  table.rows = {{"ar", number_cell(1.0 / 3, 2), "-"},
                {"hpd", number_cell(std::int64_t{7}), Cell("[1, 2]", Json{1.25, 2.5})}};
  table.notes = {"a note"};
  report.tables = {{"comparison", "Comparison", table}};
  report.without_figures = "gnuplot was missing";
  ReportField same{
      "Brand", {"Nike"}, true, {{"Nike", Correctness::right}, {"Nike", Correctness::right}}};
  ReportField other{"Color",
                    {"red", "crimson"},
                    true,
                    {{"red", Correctness::right}, {"<blue>", Correctness::wrong, true}}};
  ReportField none{"Size", {}, true, {{""}, {""}}};
  report.examples = {
      {"oa-mine: hpd beside ar",
       "Drawn with seed 1.",
       {"ar", "hpd"},
       {{ExampleKind::differing, "test-1", "Shoes", "Nike & Co", "a gap", {same, other, none}},
        {ExampleKind::failed, "test-2", "Shoes", "", "Failed: why", {}}}}};
  report.facts = {{"Run", {{"seed", "1"}}}};
  return report;
}

}  // namespace

TEST_CASE("a cell carries its value in full precision, and a column its key") {
  const std::string page = render_report(example());
  CHECK_THAT(page, Catch::Contains("<td class=\"number\" data-value=\"0.3333333333333333\">0.33"));
  CHECK_THAT(page, Catch::Contains("<td class=\"number\" data-value=\"7\">7</td>"));
  CHECK_THAT(page, Catch::Contains("<td data-value=\"[1.25,2.5]\">[1, 2]</td>"));
  CHECK_THAT(page, Catch::Contains("<td>ar</td>"));
  CHECK_THAT(page, Catch::Contains("<th scope=\"col\" aria-sort=\"none\" "
                                   "data-key=\"examples_per_second\" class=\"number\"><button "
                                   "type=\"button\">products/s</button></th>"));
}

TEST_CASE("the table's JSON stands in the page as compare prints it") {
  const Report report = example();
  const std::string page = render_report(report);
  const std::string open = "<script type=\"application/json\" id=\"comparison-json\">";
  const auto begin = page.find(open) + open.size(), end = page.find("</script>", begin);
  CHECK(Json::parse(page.substr(begin, end - begin)) ==
        Json::parse(render(report.tables[0].table, TableFormat::json)));
}

TEST_CASE("texts are escaped wherever they stand, marks come before numbers") {
  const std::string page = render_report(example());
  CHECK_THAT(page, Catch::Contains("<h1>ar, &lt;hpd&gt; on oa-mine</h1>"));
  CHECK_THAT(page, Catch::Contains("<title>ar, &lt;hpd&gt; on oa-mine</title>"));
  CHECK_THAT(page, Catch::Contains("<mark>&lt;blue&gt;</mark>"));
  CHECK_THAT(page, Catch::Contains("red | crimson"));
  CHECK_THAT(page, Catch::Contains("Nike &amp; Co"));
  CHECK_THAT(page, Catch::Contains("1 more field is absent in all columns"));
  CHECK_THAT(page, Catch::Contains("Failed: why"));
  CHECK_THAT(page, Catch::Contains("gnuplot was missing"));
  CHECK(page.find("noise &amp; more") < page.find("2.46×"));
}

TEST_CASE("a page names no address on the network and may load nothing") {
  const std::string page = render_report(example());
  CHECK(page.find("http:") == std::string::npos);
  CHECK(page.find("https:") == std::string::npos);
  CHECK_THAT(page, Catch::Contains("default-src 'none'"));
}
