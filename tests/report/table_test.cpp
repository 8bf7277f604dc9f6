#include "src/report/table.hpp"

#include <cmath>

#include "src/support/error.hpp"
#include "src/support/text.hpp"
#include "tests/support/catch.hpp"

using namespace pardec;

namespace {

Table example_table() {
  Table table;
  table.title = "Speed on oa-mine";
  table.columns = {{"arm"}, {"products/s", Align::right, "products_per_s"}, {"note"}};
  table.rows = {{"ar", number_cell(1.23456, 2), "a|b"},
                {"hpd k_max=30", number_cell(std::int64_t{12}), "said \"é\", 100%"},
                {"日本", number_cell(std::nan(""), 2)}};
  table.notes = {"oracle: references"};
  return table;
}

}  // namespace

TEST_CASE("md is aligned by the width on a terminal") {
  CHECK(render(example_table(), TableFormat::md) ==
        "### Speed on oa-mine\n"
        "\n"
        "| arm          | products/s | note           |\n"
        "| ------------ | ----------:| -------------- |\n"
        "| ar           |       1.23 | a\\|b           |\n"
        "| hpd k_max=30 |         12 | said \"é\", 100% |\n"
        "| 日本         |        n/a |                |\n"
        "\n"
        "- oracle: references\n");
}

TEST_CASE("csv is quoted where it must be, and numbers are whole") {
  CHECK(render(example_table(), TableFormat::csv) ==
        "arm,products_per_s,note\n"
        "ar,1.23456,a|b\n"
        "hpd k_max=30,12,\"said \"\"é\"\", 100%\"\n"
        "日本,,\n");
  Table lines;
  lines.columns = {{"a,b"}};
  lines.rows = {{"one\ntwo"}, {""}};
  CHECK(render(lines, TableFormat::csv) == "\"a,b\"\n\"one\ntwo\"\n\"\"\n");
}

TEST_CASE("csv has an interval in two columns, named by its key, and a difference in three") {
  Table table;
  table.columns = {{"arm"},
                   {"95 % interval", Align::left, "speedup_interval"},
                   {"F1 - baseline's", Align::left, "f1_difference"}};
  table.rows = {{"ar", no_cell(), no_cell()},
                {"hpd",
                 {"[1.5, 2]", Json{1.5, 2}},
                 {"+0.5", Json{{"estimate", 0.5}, {"interval", {0.25, nullptr}}}}}};
  CHECK(render(table, TableFormat::csv) ==
        "arm,speedup_low,speedup_high,f1_difference,f1_difference_low,f1_difference_high\n"
        "ar,,,,,\n"
        "hpd,1.5,2,0.5,0.25,\n");
  table.rows[1][2] = {
      "+0.5", Json{{"estimate", 0.5}, {"interval", {0.25, 0.75}}, {"p_mcnemar_holm", 0.125}}};
  CHECK(render(table, TableFormat::csv) ==
        "arm,speedup_low,speedup_high,f1_difference,f1_difference_low,f1_difference_high,"
        "f1_difference_p_mcnemar_holm\n"
        "ar,,,,,,\n"
        "hpd,1.5,2,0.5,0.25,0.75,0.125\n");
}

TEST_CASE("csv names columns by their keys, and a list of numbers is as many columns") {
  Table table;
  table.columns = {{"in flight", Align::right, "in_flight", false, {"", "asked"}},
                   {"ratios", Align::left, "ratio_of_repeats"},
                   {"tokens/s", Align::right, "tokens_per_second"}};
  table.rows = {{Cell("1.5 of 2", Json{1.5, 2}), Cell("2", Json{3.5, 4.0}), Cell("7", Json(7))},
                {no_cell(), Cell("1", Json{3.5}), no_cell()}};
  CHECK(render(table, TableFormat::csv) ==
        "in_flight,in_flight_asked,ratio_of_repeats_1,ratio_of_repeats_2,tokens_per_second\n"
        "1.5,2,3.5,4.0,7\n"
        ",,3.5,,\n");
}

TEST_CASE("warnings of many arms name no more arms than needed") {
  Table table;
  for (const char* dataset : {"a", "b", "c"})
    for (const char* arm : {"ar", "hpd", "ippd"}) table.arms.emplace_back(dataset, arm);
  const auto text = [&](std::vector<std::pair<std::string, std::string>> of) {
    table.warnings.clear();
    for (const auto& [dataset, arm] : of) table.warnings.push_back({"code", dataset, arm, "found"});
    return merge_warnings(table).front().text();
  };
  CHECK(text(table.arms) == "all arms: found.");
  CHECK(text({{"a", "ar"}, {"a", "hpd"}, {"b", "hpd"}, {"c", "ar"}, {"c", "hpd"}}) ==
        "a + c ar, hpd; b hpd: found.");
  CHECK(text({{"a", "ar"}, {"b", "ar"}, {"b", "hpd"}, {"b", "ippd"}}) ==
        "a ar; b (all arms): found.");
  for (const char* arm : {"space", "apar"}) table.arms.emplace_back("a", arm);
  CHECK(text({{"a", "hpd"}, {"a", "ippd"}, {"a", "space"}, {"a", "apar"}}) ==
        "a (all arms but ar): found.");
  table.arms = {{"a", "ar"}};
  CHECK(text(table.arms) == "a ar: found.");
  table.warnings.clear();
  for (int i = 0; i < 9; ++i) table.warnings.push_back({"code", "a", "ar", std::to_string(i)});
  CHECK(merge_warnings(table).front().text() ==
        "a ar: 0; a ar: 1; a ar: 2; a ar: 3; a ar: 4; a ar: 5; and 3 more findings, which "
        "`format=json` has.");
}

TEST_CASE("warnings of one code are one line for people, and one for each arm for programs") {
  Table table;
  table.columns = {{"arm"}};
  table.warnings = {{"short", "a", "ar", "1 of 8", "longer fill it"},
                    {"noise", "a", "ar", "loud"},
                    {"short", "a", "hpd", "2 of 8", "longer fill it"},
                    {"short", "a", "ippd", "1 of 8", "longer fill it"},
                    {"short", "b", "ar", "1 of 8", "longer fill it"},
                    {"short", "", "", "all", "another advice"}};
  const auto merged = merge_warnings(table);
  REQUIRE(merged.size() == 3);
  CHECK(merged[0].text() == "a ar, ippd; b ar: 1 of 8; a hpd: 2 of 8; longer fill it.");
  REQUIRE(merged[0].findings.size() == 2);
  CHECK(merged[0].findings[0].members == std::vector<std::size_t>{0, 3, 4});
  CHECK(merged[1].text() == "a ar: loud.");
  CHECK(merged[2].text() == "all; another advice.");
  const std::string md = render(table, TableFormat::md);
  CHECK_THAT(md, Catch::Contains("- WARNING (short) a ar, ippd; b ar: 1 of 8; a hpd: 2 of 8;"));
  const Json json = Json::parse(render(table, TableFormat::json));
  REQUIRE(json["warnings"].size() == 6);
  CHECK(json["warnings"][2] == Json{{"code", "short"},
                                    {"dataset", "a"},
                                    {"arm", "hpd"},
                                    {"text", "2 of 8; longer fill it"}});
}

TEST_CASE("a list of texts is one text in csv") {
  Table table;
  table.columns = {{"arms"}};
  table.rows = {{{"ar, hpd", Json{"ar", "hpd"}}}};
  CHECK(render(table, TableFormat::csv) == "arms\n\"ar, hpd\"\n");
  CHECK(render(table, TableFormat::jsonl) == "{\"arms\":[\"ar\",\"hpd\"]}\n");
}

TEST_CASE("csv-safe has no text that a spreadsheet takes for a formula") {
  Table table;
  table.columns = {{"=a"}, {"b"}};
  table.rows = {{"=1+1", number_cell(-2.5, 1)}, {"+x", "@y"}, {"-z,", "\tt"}, {"\rr", "a=b"}};
  CHECK(render(table, TableFormat::csv_safe) ==
        "'=a,b\n'=1+1,-2.5\n'+x,'@y\n\"'-z,\",'\tt\n\"'\rr\",a=b\n");
  CHECK(render(table, TableFormat::csv) == "=a,b\n=1+1,-2.5\n+x,@y\n\"-z,\",\tt\n\"\rr\",a=b\n");
  CHECK(parse_table_format("csv-safe") == TableFormat::csv_safe);
}

TEST_CASE("json and jsonl hold numbers as numbers, in the order of the columns") {
  CHECK(render(example_table(), TableFormat::jsonl) ==
        "{\"arm\":\"ar\",\"products_per_s\":1.23456,\"note\":\"a|b\"}\n"
        "{\"arm\":\"hpd k_max=30\",\"products_per_s\":12,\"note\":\"said \\\"é\\\", 100%\"}\n"
        "{\"arm\":\"日本\",\"products_per_s\":null,\"note\":null}\n");
  const Json json = Json::parse(render(example_table(), TableFormat::json));
  CHECK(json["title"] == "Speed on oa-mine");
  CHECK(json["columns"] == Json{"arm", "products_per_s", "note"});
  CHECK(json["rows"][0]["products_per_s"] == 1.23456);
  CHECK(json["notes"] == Json::array({"oracle: references"}));
  Table twice;
  twice.columns = {{"x"}, {"x"}};
  twice.rows = {{"1", "2"}};
  CHECK(render(twice, TableFormat::jsonl) == "{\"x\":\"1\",\"x_2\":\"2\"}\n");
  twice.rows.clear();
  CHECK(render(twice, TableFormat::jsonl).empty());
}

TEST_CASE("latex is a booktabs table with its special characters escaped") {
  CHECK(render(example_table(), TableFormat::latex) ==
        "\\begin{table}\n"
        "\\centering\n"
        "\\caption{Speed on oa-mine}\n"
        "\\begin{tabular}{lrl}\n"
        "\\toprule\n"
        "arm & products/s & note \\\\\n"
        "\\midrule\n"
        "ar & 1.23 & a\\textbar{}b \\\\\n"
        "hpd k\\_max=30 & 12 & said \"é\", 100\\% \\\\\n"
        "日本 & n/a &  \\\\\n"
        "\\bottomrule\n"
        "\\end{tabular}\n"
        "\\par\\footnotesize oracle: references\n"
        "\\end{table}\n");
  Table special;
  special.columns = {{"a^b~c\\d"}};
  special.rows = {{"[1.0, 2.0] × {x} & #1 $ ± <y>"}};
  const std::string out = render(special, TableFormat::latex);
  CHECK_THAT(out, Catch::Contains("a\\textasciicircum{}b\\textasciitilde{}c\\textbackslash{}d"));
  CHECK_THAT(
      out, Catch::Contains(
               "{[1.0, 2.0] $\\times$ \\{x\\} \\& \\#1 \\$ $\\pm$ \\textless{}y\\textgreater{}}"));
}

TEST_CASE("a cell is one line, and invalid UTF-8 is repaired in every format") {
  Table table;
  table.columns = {{"a"}};
  table.rows = {{"x\ny\xFF"}};
  CHECK(render(table, TableFormat::md) == "| a    |\n| ---- |\n| x y\uFFFD |\n");
  CHECK(render(table, TableFormat::jsonl) == "{\"a\":\"x\\ny\uFFFD\"}\n");
  table.rows.push_back({std::string("\x1B[2J\0", 5)});
  CHECK_THAT(render(table, TableFormat::md), Catch::Contains("| ·[2J· |\n"));
  table.rows.pop_back();
  CHECK(render(table, TableFormat::csv) == "a\n\"x\ny\uFFFD\"\n");
}

TEST_CASE("formats are known by name") {
  CHECK(parse_table_format("latex") == TableFormat::latex);
  CHECK_THROWS_WITH(parse_table_format("jsonn"),
                    Catch::Contains("no format 'jsonn'; did you mean 'json'"));
}

TEST_CASE("display width counts columns, not bytes") {
  CHECK(display_width("abc") == 3);
  CHECK(display_width("é") == 1);
  CHECK(display_width("e\u0301") == 1);
  CHECK(display_width("日本") == 4);
}
