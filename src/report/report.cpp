#include "src/report/report.hpp"

#include <algorithm>
#include <map>

#include "src/report/html.hpp"
#include "src/report/page.hpp"
#include "src/support/text.hpp"

namespace pardec {
namespace {

/// Collects the page's pieces; texts come in escaped.
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

void write_head(Page& page, const Report& report) {
  page.line("<!doctype html>")
      .line("<html lang=\"en\">")
      .line("<head>")
      .line("<meta charset=\"utf-8\">")
      .line("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">")
      .line("<meta name=\"generator\" content=\"pardec report\">")
      // The page may load nothing, wherever it is opened.
      .line(
          "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
          "style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:\">")
      .line("<link rel=\"icon\" href=\"data:,\">")
      .line(element("title", "", report.title))
      .line("<style>", page_style(), "</style>")
      .line("</head>")
      .line("<body>");
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
  page.line("<nav aria-label=\"Sections\">");
  if (!report.tables.empty()) page.line("<a href=\"#comparison\">Comparison</a>");
  page.line("<a href=\"#figures\">Figures</a>");
  if (!report.examples.empty()) page.line("<a href=\"#examples\">Examples</a>");
  if (report.tables.size() > 1) page.line("<a href=\"#details\">Tokens and time</a>");
  page.line("<a href=\"#measured\">How it was measured</a>").line("</nav>").line("</header>");
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

void write_table(Page& page, const ReportTable& shown) {
  const Table table = without_data_columns(shown.table);
  const auto classes = [&](std::size_t c) {
    return table.columns[c].align == Align::right ? " class=\"number\"" : "";
  };
  page.line("<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"",
            escape_html(shown.heading), "\">")
      .line("<table class=\"sortable\" id=\"", shown.id, "-table\">")
      .line("<caption class=\"out\">", escape_html(shown.heading + ": " + table.title),
            "</caption>")
      .line("<thead><tr>");
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    const Column& column = table.columns[c];
    page.line("<th scope=\"col\" aria-sort=\"none\" data-key=\"",
              escape_html(column.key.empty() ? column.header : column.key), "\"", classes(c),
              "><button type=\"button\">", escape_html(column.header), "</button></th>");
  }
  page.line("</tr></thead>").line("<tbody>");
  for (const auto& row : table.rows) {
    std::string cells;
    for (std::size_t c = 0; c < table.columns.size(); ++c) {
      const Cell cell = c < row.size() ? row[c] : Cell("");
      cells += str("<td", classes(c),
                   cell.value ? str(" data-value=\"", escape_html(dump(*cell.value)), "\"") : "",
                   ">", escape_html(cell.text), "</td>");
    }
    page.line("<tr>", cells, "</tr>");
  }
  page.line("</tbody></table></div>");
  if (!table.notes.empty()) {
    page.line("<ul class=\"notes\">");
    for (const auto& note : table.notes) page.line(element("li", "", note));
    page.line("</ul>");
  }
  page.line("<script type=\"application/json\" id=\"", shown.id, "-json\">",
            escape_json_script(rstrip(render(shown.table, TableFormat::json))), "</script>");
}

void write_figures(Page& page, const Report& report) {
  page.line("<h2 id=\"figures\">Figures</h2>");
  if (report.figures.empty())
    page.line(element(
        "p", "subtitle",
        report.without_figures.empty() ? "There is nothing to draw." : report.without_figures));
  page.line("<div class=\"figures\">");
  for (const auto& figure : report.figures)
    page.line("<figure>")
        .line(element("h3", "", figure.heading))
        .line("<div class=\"drawing\">", figure.svg, "</div>")
        .line(element("figcaption", "", figure.caption))
        .line("</figure>");
  page.line("</div>");
}

std::string_view name(ExampleKind kind) {
  switch (kind) {
    case ExampleKind::identical:
      return "identical";
    case ExampleKind::differing:
      return "differing";
    case ExampleKind::failed:
      return "failed";
  }
  return "";
}

std::string answer_html(const ReportAnswer& answer) {
  if (answer.failed) return "<span class=\"absent\">failed</span>";
  std::string text =
      answer.text.empty() ? "<span class=\"absent\">absent</span>" : escape_html(answer.text);
  if (answer.differs) text = "<mark>" + text + "</mark>";
  if (answer.correctness == Correctness::right)
    text += " <span class=\"right\" title=\"right\" role=\"img\" aria-label=\"right\">✓</span>";
  if (answer.correctness == Correctness::wrong)
    text += " <span class=\"wrong\" title=\"wrong\" role=\"img\" aria-label=\"wrong\">✗</span>";
  return text;
}

/// Nothing was to be found and nobody found anything: not worth a line.
bool is_empty(const ReportField& field) {
  return field.gold.empty() && std::all_of(field.answers.begin(), field.answers.end(),
                                           [](const auto& a) { return a.text.empty(); });
}

void write_example(Page& page, const ExampleGroup& group, const ReportExample& example) {
  page.line("<article class=\"example\" data-kind=\"", name(example.kind), "\">")
      .line("<div class=\"meta\"><span class=\"badge ", name(example.kind), "\">",
            name(example.kind), "</span>", element("span", "", example.key),
            element("span", "", example.category), "</div>");
  page.line(
      element("p", "", example.text.empty() ? "(its text is not in this database)" : example.text));
  const auto shown =
      static_cast<std::size_t>(std::count_if(example.fields.begin(), example.fields.end(),
                                             [](const auto& field) { return !is_empty(field); }));
  if (shown > 0) {
    page.line("<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"Answers to ",
              escape_html(example.key),
              "\"><table><thead><tr><th scope=\"col\">field</th>"
              "<th scope=\"col\">gold</th>");
    for (const auto& arm : group.arms) page.line("<th scope=\"col\">", escape_html(arm), "</th>");
    page.line("</tr></thead><tbody>");
    for (const auto& field : example.fields) {
      if (is_empty(field)) continue;
      std::string cells = str("<th scope=\"row\">", escape_html(field.name), "</th><td>");
      if (!field.annotated)
        cells += "<span class=\"absent\">not annotated</span>";
      else if (field.gold.empty())
        cells += "<span class=\"absent\">absent</span>";
      else
        cells += escape_html(join(field.gold, " | "));
      cells += "</td>";
      for (const auto& answer : field.answers) cells += "<td>" + answer_html(answer) + "</td>";
      page.line("<tr>", cells, "</tr>");
    }
    page.line("</tbody></table></div>");
  }
  if (const std::size_t rest = example.fields.size() - shown; rest > 0)
    page.line("<p class=\"rest\">", rest, shown ? " more" : "",
              rest == 1 ? " field is" : " fields are", " absent in all columns.</p>");
  if (!example.note.empty()) page.line(element("p", "rest", example.note));
  page.line("</article>");
}

void write_examples(Page& page, const Report& report) {
  if (report.examples.empty()) return;
  std::map<ExampleKind, int> counts;
  for (const auto& group : report.examples)
    for (const auto& example : group.examples) ++counts[example.kind];
  page.line("<h2 id=\"examples\">Examples</h2>")
      .line(
          "<p class=\"legend\">Answers of two arms to the same input. <mark>Marked</mark> "
          "differs from the first arm's answer. <span class=\"right\">✓</span> right, <span "
          "class=\"wrong\">✗</span> wrong by the annotation; no sign: not annotated, or the "
          "answers were forced.</p>");
  if (counts.size() > 1) {
    page.line("<div class=\"filter\" role=\"group\" aria-label=\"Show examples\">")
        .line(
            "<button class=\"plain\" type=\"button\" data-filter=\"all\" "
            "aria-pressed=\"true\">all</button>");
    for (const auto& [kind, count] : counts)
      page.line("<button class=\"plain\" type=\"button\" data-filter=\"", name(kind),
                "\" aria-pressed=\"false\">", name(kind), " (", count, ")</button>");
    page.line("</div>");
  }
  for (const auto& group : report.examples) {
    page.line("<div class=\"group\">")
        .line(element("h3", "", group.heading))
        .line(element("p", "", group.note))
        .line("</div>");
    for (const auto& example : group.examples) write_example(page, group, example);
  }
}

void write_facts(Page& page, const Report& report) {
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

std::string render_report(const Report& report) {
  Page page;
  write_head(page, report);
  write_header(page, report);
  page.line("<main>");
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
          "<footer>One file, nothing loaded from anywhere. Every number stands in it in full "
          "precision: in the tables' data-value attributes and as JSON.</footer>")
      .line("<script>", page_script(), "</script>")
      .line("</body>")
      .line("</html>");
  return page.take();
}

}  // namespace pardec
