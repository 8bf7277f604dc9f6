#include "src/report/report.hpp"

#include "src/report/html.hpp"
#include "tests/support/catch.hpp"

using namespace pardec;

namespace {

Report example_report() {
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
  const auto right = Correctness::right, wrong = Correctness::wrong;
  ReportExample example;
  example.dataset = "oa-mine";
  example.key = "test-1";
  example.category = "Shoes";
  example.text = "Nike & Co";
  example.fields = {{"Brand", "", {}, {"Nike"}},
                    {"Color", "Which <one>?", {"red", "blue"}, {"red", "crimson"}},
                    {"Size", "", {}, {}}};
  ReportAnswer ar{"ar", /*is_baseline=*/true, "{\"Brand\": <1>}", "eos", ""};
  ar.values = {{"Nike", right}, {"red", right}, {""}};
  ar.lines = {{"", {"<a", "b"}, {1, 2}}};
  ReportAnswer hpd{"hpd", false, "", "limit", ""};
  hpd.values = {{"Nike", right}, {"<blue>", wrong, true}, {""}};
  hpd.differs = hpd.limit = true;
  hpd.lines = {{"Brand", {"Nike"}, {}}};
  ReportAnswer broken{"broken", false, "", "error", "why <not>"};
  example.answers = {ar, hpd, broken};
  report.examples = {{"one of <many>"}, {example}};
  report.warnings = {{"cut", {"oa-mine hpd: cut <off>"}, "so <what>"},
                     {"many", {"one", "two", "three", "four"}}};
  report.tables.front().warnings = {{}, {{0, "cut <off>; so <what>"}}};
  report.advice = {{"take <hpd>", {"Not decided: b"}}};
  report.facts = {{"Run", {{"seed", "1"}}}};
  return report;
}

}  // namespace

TEST_CASE("a cell carries its value in full precision, and a column its key") {
  const std::string page = render_report(example_report());
  CHECK_THAT(page, Catch::Contains("<td class=\"number\" data-value=\"0.3333333333333333\">0.33"));
  CHECK_THAT(page, Catch::Contains("<td class=\"number\" data-value=\"7\">7</td>"));
  CHECK_THAT(page, Catch::Contains("<td data-value=\"[1.25,2.5]\">[1, 2]</td>"));
  CHECK_THAT(page, Catch::Contains("<td class=\"arm\">ar</td>"));
  CHECK_THAT(page, Catch::Contains("<th scope=\"col\" aria-sort=\"none\" "
                                   "data-key=\"examples_per_second\" class=\"number\"><button "
                                   "type=\"button\">products/s</button></th>"));
}

TEST_CASE("the page has the table's JSON as compare prints it") {
  const Report report = example_report();
  const std::string page = render_report(report);
  const std::string open = "<script type=\"application/json\" id=\"comparison-json\">";
  const auto begin = page.find(open) + open.size(), end = page.find("</script>", begin);
  CHECK(Json::parse(page.substr(begin, end - begin)) ==
        Json::parse(render(report.tables[0].table, TableFormat::json)));
}

TEST_CASE("texts are escaped everywhere, and marks come before numbers") {
  const std::string page = render_report(example_report());
  CHECK_THAT(page, Catch::Contains("<h1>ar, &lt;hpd&gt; on oa-mine</h1>"));
  CHECK_THAT(page, Catch::Contains("<title>ar, &lt;hpd&gt; on oa-mine</title>"));
  CHECK_THAT(page, Catch::Contains("<mark>&lt;blue&gt;</mark>"));
  CHECK_THAT(page, Catch::Contains("red | crimson"));
  CHECK_THAT(page, Catch::Contains("Nike &amp; Co"));
  CHECK_THAT(page, Catch::Contains("Absent in all columns: 1 more field."));
  CHECK_THAT(page, Catch::Contains("Failed: why &lt;not&gt;"));
  CHECK_THAT(page, Catch::Contains("Which &lt;one&gt;?"));
  CHECK_THAT(page, Catch::Contains("one of &lt;many&gt;"));
  CHECK_THAT(page, Catch::Contains("take &lt;hpd&gt;"));
  CHECK_THAT(page, Catch::Contains("gnuplot was missing"));
  CHECK(page.find("noise &amp; more") < page.find("2.46×"));
}

TEST_CASE("a table of sentences names its cells, for screens that show rows as lines") {
  const std::string says(60, 's'), why(50, 'w');
  Table table;
  table.title = "Claims";
  table.columns = {{"claim"}, {"says"}, {"published"}, {"why"}};
  table.rows = {{"A", says, "1 <2>", why}, {"B", "so", "-", "-"}};
  Report report;
  report.claims = {{"verdicts", "Verdicts", table}};
  const std::string page = render_report(report);
  CHECK_THAT(page, Catch::Contains("<table class=\"sortable prose\""));
  CHECK_THAT(page, Catch::Contains("<td>A</td><td class=\"wrapped\" data-name=\"says\">" + says +
                                   "</td><td data-name=\"published\">1 &lt;2&gt;</td>"));
  CHECK_THAT(page, Catch::Contains("<td class=\"none\" data-name=\"why\">-</td>"));
  table.columns.pop_back();
  report.claims.front().table = table;
  CHECK_THAT(render_report(report), !Catch::Contains("sortable prose"));
}

TEST_CASE("warnings are at the top, and in the row of their arm without text") {
  const std::string page = render_report(example_report());
  CHECK_THAT(page, Catch::Contains("<h2>2 warnings</h2>"));
  CHECK_THAT(page, Catch::Contains("<li id=\"warning-1\"><strong>cut</strong>: so &lt;what&gt;\n"
                                   "<ul>\n<li>oa-mine hpd: cut &lt;off&gt;</li>\n</ul></li>"));
  CHECK_THAT(page, Catch::Contains("<summary>4 findings</summary>\n<ul>\n<li>one</li>"));
  CHECK_THAT(page,
             Catch::Contains("<td class=\"arm\">hpd<a class=\"warn\" href=\"#warning-1\" "
                             "title=\"cut &lt;off&gt;; so &lt;what&gt;\" "
                             "aria-label=\"Warning: cut &lt;off&gt;; so &lt;what&gt;\"></a></td>"));
  CHECK(page.find("id=\"warning-2\"") < page.find("2.46×"));

  // Several warnings are one sign with their number.
  Report several = example_report();
  for (auto& row : several.tables.front().warnings)
    if (!row.empty()) row.push_back({1, "it is \"short\""});
  CHECK_THAT(
      render_report(several),
      Catch::Contains("<td class=\"arm\">hpd<a class=\"warn\" data-count=\"2\" href=\"#warning-1\" "
                      "title=\"cut &lt;off&gt;; so &lt;what&gt;&#10;it is &quot;short&quot;\" "
                      "aria-label=\"2 warnings: cut &lt;off&gt;; so &lt;what&gt;; it is "
                      "&quot;short&quot;\"></a></td>"));
}

TEST_CASE("an example has for each arm what the filters need") {
  const std::string page = render_report(example_report());
  CHECK_THAT(page, Catch::Contains("data-arm=\"ar\" data-kinds=\"\""));
  CHECK_THAT(page, Catch::Contains("data-arm=\"hpd\" data-kinds=\"differs limit wrong\""));
  CHECK_THAT(page, Catch::Contains("data-arm=\"broken\" data-kinds=\"failed\""));
  CHECK_THAT(page, Catch::Contains("wrong (1)"));
  const std::string open = "id=\"tokens-1-json\">";
  const auto begin = page.find(open) + open.size(), end = page.find("</script>", begin);
  CHECK(Json::parse(page.substr(begin, end - begin)) ==
        Json::parse(R"([[["", ["<a", "b"], [1, 2], []]], [["Brand", ["Nike"], [], []]], []])"));
}

TEST_CASE("a page names no address on the network and may load nothing") {
  const std::string page = render_report(example_report());
  CHECK(page.find("http:") == std::string::npos);
  CHECK(page.find("https:") == std::string::npos);
  CHECK_THAT(page, Catch::Contains("default-src 'none'"));
}
