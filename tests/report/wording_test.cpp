// Which texts of a table and a page are put into the reader's words, and which stay unchanged.
#include "src/report/wording.hpp"

#include "src/report/report.hpp"
#include "src/support/text.hpp"
#include "tests/support/catch.hpp"

using namespace pardec;

namespace {

/// Like the command line: `x` becomes --x.
std::string flags(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size(); ++at)
    if (text.substr(at, 3) == "`x`") {
      out += "--x";
      at += 2;
    } else {
      out += text[at];
    }
  return out;
}

Table example() {
  Table table;
  table.title = "`x`";
  table.columns = {{"arm"}, {.header = "why", .messages = true}};
  table.rows = {{"`x`", Cell("`x` lacks", Json{{"reasons", {"`x`", 1}}})}, {"one"}};
  table.notes = {"note `x`"};
  table.wide_notes = {"wide `x`"};
  table.conclusion = {"take `x`"};
  for (int i = 0; i < 8; ++i)
    table.warnings.push_back({"code", "d", "a", str(i, " `x`"), "raise `x`"});
  return table;
}

}  // namespace

TEST_CASE("messages of a table are put into words, other cells are not") {
  const Table table = worded(example(), flags);
  CHECK(table.title == "`x`");
  CHECK(table.rows[0][0].text == "`x`");
  CHECK(table.rows[0][1].text == "--x lacks");
  CHECK(*table.rows[0][1].value == Json{{"reasons", {"--x", 1}}});
  CHECK(table.notes.front() == "note --x");
  CHECK(table.wide_notes.front() == "wide --x");
  CHECK(table.conclusion.front() == "take --x");
  CHECK(table.warnings.front().text() == "0 --x; raise --x");
  CHECK(worded(example(), {}).notes.front() == "note `x`");
}

TEST_CASE("every format puts messages into words, including its own") {
  Table table = example();
  table.columns.push_back({.header = "more", .wide = true});
  const auto wording = [](std::string_view text) {
    return replace_all(replace_all(flags(text), "`format=json`", "--format json"), "`wide`",
                       "--wide");
  };
  for (const TableFormat format : {TableFormat::text, TableFormat::md, TableFormat::latex}) {
    const std::string out = render(table, format, {200}, wording);
    CHECK_THAT(out, Catch::Contains("note --x") && Catch::Contains("take --x") &&
                        Catch::Contains("5 --x; and 2 more findings, which --format json has; "
                                        "raise --x.") &&
                        Catch::Contains("--x lacks"));
    CHECK((out.find("all columns: --wide.") != std::string::npos) == (format == TableFormat::text));
  }
  const Json json = Json::parse(render(table, TableFormat::json, {}, wording));
  CHECK(json["rows"][0] ==
        Json{{"arm", "`x`"}, {"why", {{"reasons", {"--x", 1}}}}, {"more", nullptr}});
  CHECK(json["notes"] == Json{"note --x", "wide --x"});
  CHECK(json["warnings"][7]["text"] == "7 --x; raise --x");
  CHECK_THAT(render(table, TableFormat::csv, {}, wording), Catch::Contains("`x`,"));
  CHECK_THAT(render(example(), TableFormat::text, {200}),
             Catch::Contains("which `format=json` has"));
}

TEST_CASE("messages of a page are put into words; prompts and answers are not") {
  Report report;
  report.title = "page";
  report.marks = {"mark `x`"};
  report.warnings = {{"title", {"found `x`"}, "advice `x`"}};
  report.advice = {{"said `x`", {"more `x`"}}};
  report.tables = {{"comparison", "Comparison", example(), {{{0, "row `x`"}}}}};
  report.examples.notes = {"drawn `x`"};
  ReportExample asked{.dataset = "d", .key = "k", .category = "", .text = "question `x`"};
  asked.answers = {{.arm = "a", .text = "answer `x`", .stop = "eos"},
                   {.arm = "b", .stop = "error", .error = "failed `x`"}};
  asked.answers[0].lines = {{"", {"token `x`"}, {1}}};
  report.examples.examples = {asked};
  report.facts = {{"Run", {{"command", "pardec `x`"}, {"its page", "pardec report `x`", true}}}};
  const std::string page = render_report(report, flags);
  for (const char* one : {"mark --x", "found --x", "advice --x", "said --x", "more --x", "row --x",
                          "note --x", "drawn --x", "Failed: failed --x", "pardec report --x",
                          "question `x`", "answer `x`", "token `x`", "pardec `x`"})
    CHECK_THAT(page, Catch::Contains(one));
  CHECK(render_report(report).find("--x") == std::string::npos);
}
