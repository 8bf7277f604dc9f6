// A table on a terminal: no line is wider than the screen, and nothing is lost.
#include "src/report/text_table.hpp"

#include "src/report/metric_title.hpp"
#include "src/support/text.hpp"
#include "tests/support/catch.hpp"

using namespace pardec;

namespace {

Table speeds(const std::string& arm = "prompt-lookup") {
  Table table;
  table.title = "model, fp32, cpu, 2 threads";
  Column dataset{"dataset"};
  dataset.group = true;
  table.columns = {dataset,
                   {"arm"},
                   {"speedup"},
                   {"difference"},
                   {"verdict"},
                   {"F1 micro"},
                   {"tokens per pass", Align::right}};
  table.rows = {{"oa-mine", "ar", "baseline", "-", "-", "0.596", "1.00"},
                {"oa-mine", arm, "4.81 [4.50, 5.15]", "-0.004 [-0.052, +0.043]",
                 Cell("open: needs about 75 in all", Json("open"), Tone::caution), "0.592", "7.13"},
                {"squad", "ar", "baseline", "-", "-", "0.400", "1.00"}};
  table.conclusion = {"Of these, on this machine, for oa-mine: stay with ar."};
  table.notes = {"a note that is so long that it goes over more than one line of a terminal of 80"};
  table.warnings = {{"broken", "oa-mine", arm, "6 of 6 answers failed", "nothing can be read"}};
  return table;
}

int widest(const std::string& text) {
  int width = 0;
  for (const std::string& line : split(text, '\n')) width = std::max(width, display_width(line));
  return width;
}

/// The text without line ends and spaces.
std::string squeezed(std::string text) { return replace_all(replace_all(text, "\n", ""), " ", ""); }

}  // namespace

TEST_CASE("a table has its natural width if there is room") {
  CHECK(
      text_table(speeds(), {120}) ==
      "model, fp32, cpu, 2 threads\n"
      "\n"
      "arm            speedup            difference               verdict                      F1 "
      "micro  tokens per pass\n"
      "-------------  -----------------  -----------------------  ---------------------------  "
      "--------  ---------------\n"
      "oa-mine\n"
      "ar             baseline           -                        -                            "
      "0.596 "
      "               1.00\n"
      "prompt-lookup  4.81 [4.50, 5.15]  -0.004 [-0.052, +0.043]  open: needs about 75 in all  "
      "0.592 "
      "               7.13\n"
      "squad\n"
      "ar             baseline           -                        -                            "
      "0.400 "
      "               1.00\n"
      "\n"
      "Of these, on this machine, for oa-mine: stay with ar.\n"
      "\n"
      "- WARNING (broken) oa-mine prompt-lookup: 6 of 6 answers failed; nothing can be read.\n"
      "- a note that is so long that it goes over more than one line of a terminal of 80\n");
}

TEST_CASE("at 80 columns every row has its quality, and intervals are not cut") {
  const std::string text = text_table(speeds(), {80});
  CHECK(widest(text) <= 80);
  CHECK_THAT(text, Catch::Contains("prompt-lookup  4.81"));
  for (const char* whole : {"[4.50, 5.15]", "[-0.052, +0.043]", "in all", "0.592", "7.13"})
    CHECK_THAT(text, Catch::Contains(whole));
  const auto lines = split(text, '\n');
  CHECK(std::count_if(lines.begin(), lines.end(),
                      [](const std::string& line) { return line.starts_with("arm "); }) == 1);
}

TEST_CASE("no width and no name makes a line too wide, and no text is lost") {
  for (const int width : {24, 40, 60, 79, 80, 100, 160})
    for (const std::string& arm :
         {std::string("a"), std::string("hpd,k_max=16,batch_size=4,cache_blocks=300,stack=12"),
          std::string(90, 'x'), std::string("日本語の名前日本語の名前日本語の名前")}) {
      CAPTURE(width, arm);
      const std::string text = text_table(speeds(arm), {width});
      CHECK(widest(text) <= width);
      CHECK_THAT(squeezed(text), Catch::Contains("75"));
      CHECK_THAT(squeezed(text), Catch::Contains("0.592"));
      CHECK_THAT(squeezed(text), Catch::Contains("7.13"));
    }
}

TEST_CASE("many columns become bands, each with the names of the rows") {
  Table table;
  table.columns = {{"run"}, {"arm"}};
  for (int c = 0; c < 20; ++c)
    table.columns.push_back({str("column ", c), Align::right, str("key_", c)});
  for (const char* arm : {"ar", "hpd"}) {
    auto& row = table.rows.emplace_back();
    row = {"one", arm};
    for (int c = 0; c < 20; ++c) row.push_back(str(arm, 1000000 + c));
  }
  const std::string text = text_table(table, {80});
  CHECK(widest(text) <= 80);
  for (int c = 0; c < 20; ++c) CHECK_THAT(text, Catch::Contains(str("hpd", 1000000 + c)));
  const auto lines = split(text, '\n');
  const auto begun = std::count_if(lines.begin(), lines.end(), [](const std::string& line) {
    return line.starts_with("one  hpd  ");
  });
  CHECK(begun > 1);
}

TEST_CASE("colours only where they are asked for") {
  CHECK(text_table(speeds(), {80}).find('\033') == std::string::npos);
  const std::string text = text_table(speeds(), {120, true});
  CHECK_THAT(text, Catch::Contains("\033[33mopen: needs about 75 in all\033[0m"));
  CHECK_THAT(text, Catch::Contains("\033[31mWARNING (broken)"));
  Table evil = speeds("\033[2J");
  CHECK_THAT(text_table(evil, {120}), !Catch::Contains("\033"));
}

TEST_CASE("the short form, all columns, or the named ones") {
  Table table = speeds();
  Column wide{"n", Align::right};
  wide.wide = true;
  table.columns.push_back(wide);
  table.columns.push_back({"seconds", Align::right, "seconds_each", /*data_only=*/true});
  table.columns[3].brief = true;
  table.wide_notes = {"n: examples"};
  for (auto& row : table.rows) row.insert(row.end(), {number_cell(std::int64_t{38}), "7"});
  for (const TableFormat format : {TableFormat::text, TableFormat::md, TableFormat::latex}) {
    const auto shown = [&](const ColumnChoice& choice) {
      return render(choose_columns(table, choice), format, {200});
    };
    CHECK_THAT(shown({}), Catch::Contains("difference") && !Catch::Contains("38"));
    CHECK_THAT(shown({}), !Catch::Contains("n: examples"));
    CHECK_THAT(shown({.wide = true}), Catch::Contains("38") && !Catch::Contains("difference"));
    CHECK_THAT(shown({.wide = true}),
               Catch::Contains("n: examples") && !Catch::Contains("seconds"));
  }
  const Json json = Json::parse(render(choose_columns(table, {}), TableFormat::json));
  CHECK(json["columns"] == Json{"dataset", "arm", "speedup", "difference", "verdict", "F1 micro",
                                "tokens per pass", "n", "seconds_each"});
  CHECK(render(choose_columns(table, {.names = {"n", "arm", "seconds_each"}}), TableFormat::csv) ==
        "n,arm,seconds_each\n38,ar,7\n38,prompt-lookup,7\n38,ar,7\n");
  CHECK_THAT(render(choose_columns(table, {.names = {"arm", "rouge_l"}}), TableFormat::md),
             Catch::Contains("does not have: rouge_l"));
}

TEST_CASE("the title of a metric follows from its key") {
  CHECK(metric_title("f1_micro") == "F1 micro");
  CHECK(metric_title("f1_strict") == "F1 strict");
  CHECK(metric_title("token_f1") == "token F1");
  CHECK(metric_title("rouge_l") == "ROUGE L");
  CHECK(metric_title("pass_at_1") == "pass@1");
  CHECK(metric_title("extractgpt_f1") ==
        "F1 micro");  // the store's name for the tokens of one answer
}
