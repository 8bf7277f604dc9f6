#include "src/report/report.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>

#include "src/report/html.hpp"
#include "src/report/page.hpp"
#include "src/support/hashing.hpp"
#include "src/support/number_text.hpp"
#include "src/support/text.hpp"

namespace pardec {
namespace {

/// Collects the page's parts; texts must already be escaped.
class Page {
 public:
  template <typename... Parts>
  Page& line(const Parts&... parts) {
    out_ += str(parts..., "\n");
    return *this;
  }
  std::string take() { return std::move(out_); }

 private:
  std::string out_;
};

std::string element(std::string_view tag, std::string_view classes, std::string_view text) {
  return str("<", tag, classes.empty() ? "" : str(" class=\"", classes, "\""), ">",
             escape_html(text), "</", tag, ">");
}

void write_head(Page& page, const Report& report, const std::string& script) {
  page.line("<!doctype html>")
      .line("<html lang=\"en\">")
      .line("<head>")
      .line("<meta charset=\"utf-8\">")
      .line("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">")
      .line("<meta name=\"generator\" content=\"pardec report\">")
      // The page may load nothing, wherever it is opened.
      .line(
          "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
          "style-src 'unsafe-inline'; script-src ",
          script_source(script), "; img-src data:\">")
      .line("<link rel=\"icon\" href=\"data:,\">")
      .line(element("title", "", report.title))
      .line("<style>", page_style(), "</style>")
      .line("</head>")
      .line("<body>");
}

/// Further findings of a warning are folded.
constexpr std::size_t kFolded = 3;

void write_warnings(Page& page, const Report& report) {
  if (report.warnings.empty()) return;
  page.line("<section class=\"warnings\" aria-label=\"Warnings\"><h2>",
            counted(std::ssize(report.warnings), "warning"), "</h2><ol>");
  for (std::size_t w = 0; w < report.warnings.size(); ++w) {
    const ReportWarning& warning = report.warnings[w];
    page.line("<li id=\"warning-", w + 1, "\">", element("strong", "", warning.title),
              warning.advice.empty() ? "" : ": ", escape_html(warning.advice));
    const bool folded = warning.findings.size() > kFolded;
    if (folded)
      page.line("<details><summary>", counted(std::ssize(warning.findings), "finding"),
                "</summary>");
    page.line("<ul>");
    for (const std::string& finding : warning.findings) page.line(element("li", "", finding));
    page.line("</ul>", folded ? "</details>" : "", "</li>");
  }
  page.line("</ol></section>");
}

bool are_verdicts(const ReportTable& table) { return table.id == "verdicts"; }

/// Whether there are figures, or a reason for having none.
bool has_figures(const Report& report) {
  return !report.figures.empty() || !report.without_figures.empty();
}

void write_advice(Page& page, const Report& report) {
  if (report.advice.empty()) return;
  page.line("<section class=\"advice\" aria-label=\"Recommendation\">");
  for (const Report::Advice& one : report.advice) {
    page.line(element("p", "", one.said));
    for (const std::string& more : one.more) page.line(element("p", "more", more));
  }
  page.line("</section>");
}

void write_header(Page& page, const Report& report) {
  page.line("<header>")
      .line("<div class=\"top\"><div>")
      .line(element("h1", "", report.title))
      .line(element("p", "subtitle", report.subtitle))
      .line(
          "</div><button id=\"theme\" class=\"plain\" type=\"button\" hidden>Dark</button></div>");
  if (!report.marks.empty()) {
    page.line("<ul class=\"marks\">");
    for (const auto& mark : report.marks) page.line(element("li", "", mark));
    page.line("</ul>");
  }
  write_advice(page, report);
  write_warnings(page, report);
  page.line("<nav aria-label=\"Sections\">");
  const auto verdicts = std::count_if(report.claims.begin(), report.claims.end(), are_verdicts);
  if (verdicts > 0) page.line("<a href=\"#verdicts\">Verdicts</a>");
  if (std::ssize(report.claims) > verdicts)
    page.line("<a href=\"#published\">Published and measured</a>");
  if (!report.tables.empty()) page.line("<a href=\"#comparison\">Comparison</a>");
  if (has_figures(report)) page.line("<a href=\"#figures\">Figures</a>");
  if (!report.examples.examples.empty()) page.line("<a href=\"#examples\">Examples</a>");
  if (report.tables.size() > 1) page.line("<a href=\"#details\">Tokens and time</a>");
  if (!report.facts.empty()) page.line("<a href=\"#measured\">How it was measured</a>");
  page.line("</nav>").line("</header>");
}

void write_highlights(Page& page, const Report& report) {
  if (report.highlights.empty()) return;
  page.line("<div class=\"highlights\">");
  for (const auto& highlight : report.highlights) {
    page.line("<div class=\"highlight\">")
        .line(element("div", "label", highlight.label))
        .line("<div class=\"value\">", escape_html(highlight.value), " ",
              element("span", "range", highlight.range), "</div>");
    if (!highlight.beside.empty()) {
      page.line("<ul class=\"beside\">");
      for (const auto& text : highlight.beside) page.line(element("li", "", text));
      page.line("</ul>");
    }
    page.line("</div>");
  }
  page.line("</div>");
}

/// Texts wider than these may use two lines in a table, or many lines.
constexpr int kLoose = 13, kWrapped = 44;

/// The column that stays visible, and shows a row's warnings.
bool is_arm(const Column& column) { return column.header == "arm"; }

/// A sign at the end of a row's name, with the number of warnings if there are several. It contains
/// the texts of all warnings, and links to the first, which is the most serious.
std::string warning_sign(const std::vector<RowWarning>& warnings) {
  if (warnings.empty()) return "";
  std::vector<std::string> texts;
  for (const RowWarning& warning : warnings) texts.push_back(escape_html(warning.text));
  const bool one = warnings.size() == 1;
  const std::string count = std::to_string(warnings.size());
  return str("<a class=\"warn\"", one ? "" : " data-count=\"" + count + "\"", " href=\"#warning-",
             warnings.front().warning + 1, "\" title=\"", join(texts, "&#10;"), "\" aria-label=\"",
             one ? "Warning" : count + " warnings", ": ", join(texts, "; "), "\"></a>");
}

/// A cell's text; an interval after an estimate is not broken.
std::string cell_html(const std::string& text) {
  const auto begin = text.find(" ["), end = text.find(']', begin);
  if (begin == std::string::npos || end == std::string::npos) return escape_html(text);
  return str(escape_html(text.substr(0, begin + 1)), "<span class=\"whole\">",
             escape_html(text.substr(begin + 1, end - begin)), "</span>",
             escape_html(text.substr(end + 1)));
}

/// Buttons that select the rows with one text.
void write_row_filter(Page& page, const ReportTable& shown, const Table& table) {
  const auto column = std::find_if(
      table.columns.begin(), table.columns.end(),
      [&](const Column& one) { return (one.key.empty() ? one.header : one.key) == shown.filter; });
  if (shown.filter.empty() || column == table.columns.end()) return;
  std::map<std::string, std::int64_t> counts;
  for (const auto& row : table.rows)
    ++counts[row[static_cast<std::size_t>(column - table.columns.begin())].text];
  if (counts.size() < 2) return;
  page.line("<div class=\"filter\" role=\"group\" aria-label=\"Show rows\" data-rows-of=\"",
            shown.id, "-table\" data-column=\"", escape_html(shown.filter), "\" hidden>",
            "<button class=\"plain\" type=\"button\" value=\"\" aria-pressed=\"true\">all (",
            table.rows.size(), ")</button>");
  for (const auto& [text, count] : counts)
    page.line("<button class=\"plain\" type=\"button\" value=\"", escape_html(text),
              "\" aria-pressed=\"false\">", escape_html(text), " (", count, ")</button>");
  page.line("</div>");
}

void write_table(Page& page, const ReportTable& shown) {
  const Table table = without_data_columns(shown.table);
  // Columns that a narrow screen may leave out: they have the same text in every row.
  std::vector<bool> same(table.columns.size());
  for (std::size_t c = 0; c < table.columns.size(); ++c)
    same[c] = table.columns[c].header == "dataset" && table.rows.size() > 1 &&
              std::all_of(table.rows.begin(), table.rows.end(), [&](const auto& row) {
                return c < row.size() && row[c].text == table.rows.front()[c].text;
              });
  // If a table has several columns of sentences, a narrow screen shows them as lines: from the
  // first of these columns on, each cell has its own line with the column's name.
  std::set<std::size_t> sentences;
  for (const auto& row : table.rows)
    for (std::size_t c = 0; c < row.size(); ++c)
      if (display_width(row[c].text) > kWrapped) sentences.insert(c);
  const bool prose = sentences.size() >= 2;
  const auto classes = [&](std::size_t c, std::string_view text, Tone tone = Tone::plain) {
    std::vector<std::string> names;
    if (table.columns[c].align == Align::right) names.emplace_back("number");
    if (is_arm(table.columns[c])) names.emplace_back("arm");
    if (table.columns[c].wide) names.emplace_back("more");
    if (table.columns[c].brief) names.emplace_back("brief");
    if (tone == Tone::plain && table.columns[c].header == "verdict" && !text.empty() && text != "-")
      names.emplace_back(text == "confirmed"          ? "right"
                         : text == "refuted"          ? "wrong"
                         : text == "not contradicted" ? "bounded"
                                                      : "undecided");
    if (tone != Tone::plain)
      names.emplace_back(tone == Tone::good  ? "tone-good"
                         : tone == Tone::bad ? "tone-bad"
                                             : "tone-caution");
    if (same[c]) names.emplace_back("same");
    if (prose && text == "-") names.emplace_back("none");
    if (display_width(text) > kLoose)
      names.emplace_back(display_width(text) > kWrapped ? "wrapped" : "loose");
    return names.empty() ? "" : str(" class=\"", join(names, " "), "\"");
  };
  // If some columns are not always shown, a narrow screen shows one card per row.
  const bool cards = std::any_of(table.columns.begin(), table.columns.end(),
                                 [](const Column& column) { return column.wide; });
  write_row_filter(page, shown, table);
  if (cards)
    page.line("<div class=\"choice\"><input type=\"checkbox\" class=\"all\" id=\"", shown.id,
              "-all\"><label for=\"", shown.id, "-all\">all columns</label>");
  page.line("<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"",
            escape_html(shown.heading), "\">")
      .line("<table class=\"sortable", prose ? " prose" : "", cards ? " cards" : "", "\" id=\"",
            shown.id, "-table\">")
      .line("<caption class=\"out\">",
            escape_html(shown.heading == table.title ? table.title
                                                     : shown.heading + ": " + table.title),
            "</caption>")
      .line("<thead><tr>");
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    const Column& column = table.columns[c];
    page.line("<th scope=\"col\" aria-sort=\"none\" data-key=\"",
              escape_html(column.key.empty() ? column.header : column.key), "\"", classes(c, ""),
              "><button type=\"button\">", escape_html(column.header), "</button></th>");
  }
  page.line("</tr></thead>").line("<tbody>");
  for (std::size_t r = 0; r < table.rows.size(); ++r) {
    const auto& row = table.rows[r];
    std::string cells;
    for (std::size_t c = 0; c < table.columns.size(); ++c) {
      const Cell cell = c < row.size() ? row[c] : Cell("");
      const bool named = is_arm(table.columns[c]);
      cells +=
          str("<td", classes(c, cell.text, cell.tone),
              cell.value ? str(" data-value=\"", escape_html(dump(*cell.value)), "\"") : "",
              cards || (prose && c >= *sentences.begin())
                  ? str(" data-name=\"", escape_html(table.columns[c].header), "\"")
                  : "",
              ">", cell_html(cell.text),
              named && r < shown.warnings.size() ? warning_sign(shown.warnings[r]) : "", "</td>");
    }
    page.line("<tr>", cells, "</tr>");
  }
  page.line("</tbody></table></div>", cards ? "</div>" : "");
  if (!table.notes.empty()) {
    page.line("<ul class=\"notes\">");
    for (const auto& note : table.notes) page.line(element("li", "", note));
    page.line("</ul>");
  }
  if (!table.wide_notes.empty()) {
    page.line("<details class=\"notes\"><summary>What all columns are</summary><ul>");
    for (const auto& note : table.wide_notes) page.line(element("li", "", note));
    page.line("</ul></details>");
  }
  page.line("<script type=\"application/json\" id=\"", shown.id, "-json\">",
            escape_json_script(rstrip(render(shown.table, TableFormat::json))), "</script>");
}

void write_claims(Page& page, const Report& report) {
  bool first = true;
  for (const ReportTable& shown : report.claims) {
    if (are_verdicts(shown)) {
      page.line("<h2 id=\"verdicts\">", escape_html(shown.heading), "</h2>");
    } else {
      if (std::exchange(first, false))
        page.line("<h2 id=\"published\">Published and measured</h2>");
      page.line("<h3 class=\"apart\">", escape_html(shown.heading), "</h3>");
    }
    write_table(page, shown);
  }
}

void write_figures(Page& page, const Report& report) {
  if (!has_figures(report)) return;
  page.line("<h2 id=\"figures\">Figures</h2>");
  if (report.figures.empty()) {
    page.line(element("p", "subtitle", report.without_figures));
    return;
  }
  page.line("<div class=\"figures\">");
  for (const auto& figure : report.figures)
    page.line("<figure>")
        .line(element("h3", "", figure.heading))
        .line("<div class=\"drawing\" role=\"region\" tabindex=\"0\" aria-label=\"",
              escape_html(figure.heading), "\">", figure.svg, "</div>")
        .line(element("figcaption", "", figure.caption))
        .line("</figure>");
  page.line("</div>");
}

// Examples.

std::string mark_of(Correctness correctness) {
  if (correctness == Correctness::unknown) return "";
  const bool right = correctness == Correctness::right;
  const std::string_view word = right ? "right" : "wrong";
  return str(" <span class=\"", word, "\" title=\"", word, "\" role=\"img\" aria-label=\"", word,
             "\">", right ? "✓" : "✗", "</span>");
}

std::string value_html(const ReportValue& value) {
  std::string text =
      value.text.empty() ? "<span class=\"absent\">absent</span>" : escape_html(value.text);
  if (value.differs) text = "<mark>" + text + "</mark>";
  return text + mark_of(value.correctness);
}

/// Whether there is no reference and no answer, so that the field needs no line.
bool is_empty(const ReportExample& example, std::size_t field) {
  return example.fields[field].gold.empty() && example.fields[field].question.empty() &&
         std::all_of(example.answers.begin(), example.answers.end(), [&](const auto& answer) {
           return field >= answer.values.size() || answer.values[field].text.empty();
         });
}

std::string question_html(const ReportField& field) {
  std::string html = escape_html(field.name);
  if (!field.question.empty()) html += str(element("div", "question", field.question));
  if (!field.choices.empty()) {
    html += "<ol class=\"choices\" type=\"A\">";
    for (const auto& choice : field.choices) html += element("li", "", choice);
    html += "</ol>";
  }
  return html;
}

std::string gold_html(const ReportField& field) {
  if (!field.annotated) return "<span class=\"absent\">not annotated</span>";
  if (field.gold.empty()) return "<span class=\"absent\">absent</span>";
  return escape_html(join(field.gold, " | "));
}

void write_values(Page& page, const ReportExample& example) {
  page.line("<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"Answers to ",
            escape_html(example.key),
            "\"><table style=\"min-width:", 150 * (example.answers.size() + 2),
            "px\"><thead><tr><th scope=\"col\">asked</th><th scope=\"col\">gold</th>");
  for (const auto& answer : example.answers)
    page.line("<th scope=\"col\">", escape_html(answer.arm), "</th>");
  page.line("</tr></thead><tbody>");
  std::int64_t empty = 0;
  for (std::size_t f = 0; f < example.fields.size(); ++f) {
    if (is_empty(example, f)) {
      ++empty;
      continue;
    }
    std::string cells = str("<th scope=\"row\">", question_html(example.fields[f]), "</th><td>",
                            gold_html(example.fields[f]), "</td>");
    for (const auto& answer : example.answers)
      cells += str("<td>",
                   f < answer.values.size()
                       ? value_html(answer.values[f])
                       : str("<span class=\"absent\">",
                             answer.error.empty() ? "not asked" : "failed", "</span>"),
                   "</td>");
    page.line("<tr>", cells, "</tr>");
  }
  page.line("</tbody></table></div>");
  if (empty > 0)
    page.line("<p class=\"rest\">Absent in all columns: ",
              counted(empty, empty < std::ssize(example.fields) ? "more field" : "field"), ".</p>");
}

/// The kinds of an answer, for the filters and badges.
std::vector<std::string_view> kinds_of(const ReportAnswer& answer) {
  std::vector<std::string_view> kinds;
  if (answer.differs) kinds.push_back("differs");
  if (!answer.error.empty()) kinds.push_back("failed");
  if (answer.limit) kinds.push_back("limit");
  if (answer.wrong()) kinds.push_back("wrong");
  return kinds;
}

constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kFilters{
    {{"differs", "differs from the baseline"},
     {"failed", "failed"},
     {"limit", "hit the limit"},
     {"wrong", "wrong"}}};

/// The unchanged text; the beginning of each turn is only marked by its style.
std::string raw_html(const ReportAnswer& answer) {
  std::string html;
  std::size_t at = 0;
  for (const auto& [begin, name] : answer.turns) {
    html += escape_html(answer.text.substr(at, begin - at));
    html += str("<span class=\"turn\" data-name=\"", escape_html(name), "\"></span>");
    at = begin;
  }
  return html + escape_html(answer.text.substr(at));
}

void write_answer(Page& page, const ReportAnswer& answer) {
  std::string kinds, badges;
  for (const auto kind : kinds_of(answer)) {
    kinds += str(kinds.empty() ? "" : " ", kind);
    const auto filter = std::find_if(kFilters.begin(), kFilters.end(),
                                     [&](const auto& one) { return one.first == kind; });
    badges += element("span", "badge bad", filter->second);
  }
  if (answer.unparsed) badges += element("span", "badge bad", "not parsed");
  if (answer.is_baseline) badges += element("span", "badge", "baseline");
  page.line("<section class=\"arm\" data-arm=\"", escape_html(answer.arm), "\" data-kinds=\"",
            kinds, "\"><h4>", escape_html(answer.arm), "</h4><div class=\"meta\">", badges,
            answer.error.empty() ? element("span", "stop", "stopped by: " + answer.stop) : "");
  for (const auto& score : answer.scores) page.line(element("span", "score", score));
  page.line("</div>");
  if (!answer.error.empty())
    page.line(element("p", "error", "Failed: " + answer.error));
  else if (answer.text.empty())
    page.line("<p class=\"absent\">The answer is empty.</p>");
  else
    page.line("<div class=\"raw\" role=\"region\" tabindex=\"0\" aria-label=\"Raw text of ",
              escape_html(answer.arm), "\">", raw_html(answer), "</div>");
  page.line("<div class=\"tokens\" role=\"region\" tabindex=\"0\" aria-label=\"Tokens of ",
            escape_html(answer.arm), "\" hidden></div></section>");
}

/// For each arm a list of lines: field, texts, passes, rejected guesses as [pass, text]. The script
/// shows them on request.
Json tokens_json(const ReportExample& example) {
  Json arms = Json::array();
  for (const ReportAnswer& answer : example.answers) {
    Json& lines = arms.emplace_back(Json::array());
    for (const TokenLine& line : answer.lines) {
      Json texts = Json::array();
      for (const auto& text : line.texts) texts.push_back(repair_utf8(text));
      Json rejected = Json::array();
      for (const auto& [pass, text] : line.rejected)
        rejected.push_back(Json::array({pass, repair_utf8(text)}));
      lines.push_back({line.field, std::move(texts), line.passes, std::move(rejected)});
    }
  }
  return arms;
}

void write_example(Page& page, const ReportExample& example, std::size_t number) {
  page.line("<article class=\"example\" id=\"example-", number, "\" aria-label=\"Example ",
            escape_html(example.key), "\">")
      .line("<div class=\"meta\">", element("span", "key", example.key),
            element("span", "", example.dataset),
            example.category.empty() ? "" : element("span", "", example.category), "</div>");
  const bool asked = std::any_of(example.fields.begin(), example.fields.end(),
                                 [](const auto& field) { return !field.question.empty(); });
  if (!example.text.empty())
    page.line("<div class=\"prompt\" role=\"region\" tabindex=\"0\" aria-label=\"Prompt\">",
              escape_html(example.text), "</div>");
  else if (!asked)
    page.line(element("p", "absent", "Its text is not in this database."));
  if (example.open) {  // the answers are shown in full below
    for (const auto& field : example.fields)
      if (!field.question.empty())
        page.line("<div class=\"prompt\" role=\"region\" tabindex=\"0\" aria-label=\"",
                  escape_html(field.name), "\">",
                  example.fields.size() > 1 ? element("span", "absent", field.name + ": ") : "",
                  escape_html(field.question), "</div>");
  } else {
    write_values(page, example);
  }
  page.line("<div class=\"arms\">");
  for (const auto& answer : example.answers) write_answer(page, answer);
  page.line("</div>")
      .line("<script type=\"application/json\" id=\"tokens-", number, "-json\">",
            escape_json_script(dump(tokens_json(example))), "</script>")
      .line("</article>");
}

void write_examples(Page& page, const Report& report) {
  if (report.examples.examples.empty()) return;
  std::map<std::string_view, int> counts;
  std::vector<std::string> arms;
  bool marked = false;
  for (const auto& example : report.examples.examples) {
    std::set<std::string_view> kinds;
    for (const auto& answer : example.answers) {
      if (std::find(arms.begin(), arms.end(), answer.arm) == arms.end()) arms.push_back(answer.arm);
      for (const auto kind : kinds_of(answer)) kinds.insert(kind);
      for (const auto& value : answer.values)
        marked = marked || value.correctness != Correctness::unknown;
    }
    for (const auto kind : kinds) ++counts[kind];
  }
  page.line("<h2 id=\"examples\">Examples</h2>").line("<ul class=\"notes\">");
  for (const auto& note : report.examples.notes) page.line(element("li", "", note));
  page.line("<li><mark>Marked</mark> differs from the baseline's answer. ",
            marked
                ? "<span class=\"right\">✓</span> right, <span class=\"wrong\">✗</span> wrong by "
                  "the dataset's own metric; no sign: not annotated, graded, or absent as it "
                  "should be."
                : "No metric tells right from wrong here.",
            "</li></ul>");
  page.line("<div id=\"browser\">")
      .line("<div class=\"filter\" role=\"group\" aria-label=\"Show examples\" hidden>")
      .line(
          "<button class=\"plain\" type=\"button\" data-filter=\"all\" "
          "aria-pressed=\"true\">all (",
          report.examples.examples.size(), ")</button>");
  for (const auto& [kind, words] : kFilters)
    page.line("<button class=\"plain\" type=\"button\" data-filter=\"", kind,
              "\" aria-pressed=\"false\"", counts[kind] ? "" : " disabled", ">", words, " (",
              counts[kind], ")</button>");
  page.line("<label>of <select id=\"of-arm\"><option value=\"\">any arm</option>");
  for (const auto& arm : arms)
    page.line("<option value=\"", escape_html(arm), "\">", escape_html(arm), "</option>");
  page.line("</select></label></div>")
      .line("<div class=\"browse\">")
      .line(
          "<div class=\"chooser\" hidden><div class=\"steps\">"
          "<button class=\"plain\" type=\"button\" id=\"previous\" title=\"or the arrow keys\" "
          "aria-label=\"Previous "
          "example\">←</button><span id=\"place\" aria-live=\"polite\"></span><button "
          "class=\"plain\" type=\"button\" id=\"next\" title=\"or the arrow keys\" "
          "aria-label=\"Next example\">→</button>"
          "<button class=\"plain\" type=\"button\" id=\"show-tokens\" "
          "aria-pressed=\"false\">tokens and passes</button></div>")
      .line(
          "<ul id=\"chosen\" role=\"listbox\" tabindex=\"0\" aria-label=\"Examples: arrow keys "
          "choose\"></ul></div>")
      .line("<div class=\"shown\">")
      .line(
          "<div class=\"scrub\" hidden><button class=\"plain\" type=\"button\" "
          "id=\"play\" aria-pressed=\"false\">play</button><label for=\"pass\">pass</label>"
          "<input type=\"range\" id=\"pass\" min=\"0\" value=\"0\"><output id=\"at-pass\" "
          "for=\"pass\"></output></div>");
  for (std::size_t i = 0; i < report.examples.examples.size(); ++i)
    write_example(page, report.examples.examples[i], i + 1);
  page.line("</div></div></div>");
}

void write_facts(Page& page, const Report& report) {
  if (report.facts.empty()) return;
  page.line("<h2 id=\"measured\">How it was measured</h2>").line("<div class=\"facts\">");
  for (const auto& group : report.facts) {
    page.line("<section>").line(element("h3", "", group.heading)).line("<dl>");
    for (const auto& fact : group.facts)
      page.line(element("dt", "", fact.name), element("dd", "", fact.value));
    page.line("</dl></section>");
  }
  page.line("</div>");
}

}  // namespace

bool ReportAnswer::wrong() const {
  return std::any_of(values.begin(), values.end(), [](const ReportValue& value) {
    return value.correctness == Correctness::wrong;
  });
}

std::string render_report(Report written, const Wording& wording) {
  const Report report = worded(std::move(written), wording);
  const std::string script = page_script(wording);
  Page page;
  write_head(page, report, script);
  write_header(page, report);
  page.line("<main>");
  write_claims(page, report);
  write_highlights(page, report);
  for (std::size_t t = 0; t < report.tables.size(); ++t) {
    if (t == 1) {
      write_figures(page, report);
      write_examples(page, report);
    }
    if (t < 2)
      page.line("<h2 id=\"", t == 0 ? "comparison" : "details", "\">",
                escape_html(report.tables[t].heading), "</h2>");
    else
      page.line("<h2>", escape_html(report.tables[t].heading), "</h2>");
    write_table(page, report.tables[t]);
  }
  if (report.tables.size() < 2) {
    write_figures(page, report);
    write_examples(page, report);
  }
  write_facts(page, report);
  page.line("</main>")
      .line(
          "<footer>One file, nothing loaded from anywhere. It has every number in full precision: "
          "in the tables' data-value attributes and as JSON.</footer>")
      .line("<script>", script, "</script>")
      .line("</body>")
      .line("</html>");
  return page.take();
}

}  // namespace pardec
