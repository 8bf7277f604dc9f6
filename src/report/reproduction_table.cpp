#include "src/report/reproduction_table.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "datasets/dataset.hpp"
#include "src/report/measured_columns.hpp"
#include "src/reproduction/counterpart.hpp"
#include "src/support/error.hpp"
#include "src/support/number_text.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

/// Four significant digits, and no more decimals than useful.
std::string number(double value) {
  const double size = std::abs(value);
  if (size > 0 && size < 0.01) return str(value);
  return fixed(value, size >= 1000 ? 0 : size >= 100 ? 1 : size >= 1 ? 2 : 3);
}
Cell number_or_none(double value) {
  return std::isfinite(value) ? Cell(number(value), json_of(value)) : no_cell();
}

std::string interval_text(const Interval& interval) {
  return std::isfinite(interval.low)
             ? str("[", number(interval.low), ", ", number(interval.high), "]")
             : "";
}
Cell interval_or_none(const Interval& interval) {
  if (!std::isfinite(interval.low)) return no_cell();
  return {interval_text(interval), Json{interval.low, interval.high}};
}

std::string text_of(const Json& value) {
  return value.is_string() ? value.get<std::string>() : dump(value);
}

/// The missing dataset, for messages: the cell is about a dataset of the paper that does not exist
/// here. Empty: the dataset exists, or the cell is not about one dataset.
std::string unknown_dataset(const Published& published, const PublishedCell& cell) {
  const std::string theirs = published.dataset_of(cell);
  const auto found = published.datasets.find(theirs);
  return found == published.datasets.end() || found->second
             ? ""
             : str("a dataset of pardec for the paper's '", theirs, "'");
}

/// The measure of speed that the item's speedups compare.
std::string speed_measure(const PaperItem& item) {
  const Json metric = item.match.is_object() ? item.match.value("metric", Json()) : Json();
  const auto names = [&](const char* speedup) {
    return metric == speedup ||
           (metric.is_object() && std::any_of(metric.begin(), metric.end(),
                                              [&](const Json& one) { return one == speedup; }));
  };
  return names("decode_speedup")  ? "decode_speed"
         : names("token_speedup") ? "tokens_per_second"
                                  : "speed";
}

/// "amazon-reviews, stand-in"
std::string measured_on(const Counterpart& here, const Evidence& evidence) {
  std::vector<std::string> places;
  for (const std::string& dataset : here.datasets)
    places.push_back(str(dataset, evidence.qualifiers(dataset).standin ? ", stand-in" : ""));
  return join(places, "; ");
}

/// The codes of the warnings that make a number unfit as evidence.
Cell unfit_cell(const Counterpart& here, const Evidence& evidence) {
  std::vector<std::string> codes;
  for (const std::string& dataset : here.datasets)
    for (const Caveat& caveat : evidence.caveats(dataset, here.labels(), here.metric))
      if (caveat.effect == Effect::unfit &&
          std::find(codes.begin(), codes.end(), caveat.code) == codes.end())
        codes.push_back(caveat.code);
  return codes.empty() ? no_cell() : Cell(join(codes, ", "));
}

/// "2.18 to 33.01", "at 6", or the text itself.
std::string published_text(const Json& published) {
  if (published.is_null()) return "-";
  if (!published.is_object()) return text_of(published);
  if (published.contains("at")) return str("at ", text_of(published["at"]));
  const auto end = [&](const char* key) {
    return published.contains(key) ? number(published[key].get<double>()) : std::string();
  };
  if (!published.contains("most")) return str("at least ", end("least"));
  if (!published.contains("least")) return str("at most ", end("most"));
  return published["least"] == published["most"] ? end("least")
                                                 : str(end("least"), " to ", end("most"));
}

/// "squad 4.10 to 7.19; race 2.18": the paper's numbers for what was tested.
std::string published_text(const ClaimFinding& finding) {
  const auto numbers = finding.published();
  std::vector<std::string> texts;
  for (const auto& [dataset, published] : numbers)
    texts.push_back(numbers.size() == 1 ? published_text(published)
                                        : str(dataset, " ", published_text(published)));
  return texts.empty() ? "-" : join(texts, "; ");
}

/// The same as data: the numbers, or an object of them by dataset.
Json published_json(const ClaimFinding& finding) {
  if (finding.claim->published_by.empty()) return finding.claim->published;
  Json all = Json::object();
  for (const auto& [dataset, published] : finding.published()) all[dataset] = published;
  return all;
}

/// The words before a number that is a bound.
std::string standing_text(const ClaimFinding::Part& part) {
  switch (part.measured.standing) {
    case Standing::itself:
      break;
    case Standing::at_most:
      return "at most ";
    case Standing::at_least:
      return "at least ";
    case Standing::nothing:
      return "of bounds ";
  }
  return "";
}

/// The unit of a speed; empty: the metric is not a speed.
std::string unit_of(const std::string& metric, const Claim& claim) {
  static const std::map<std::string, std::string> kUnits{
      {"fields_per_second", "questions/s"},
      {"tokens_per_second", "tokens/s"},
      {"tokens_per_second_a_request", "tokens/s of a request"},
      {"decode_speed", "tokens/s after the prompt's pass"},
      {"tps", "tokens/s of an answer"},
      {"seconds_per_job", "seconds"},
      {"latency", "seconds"}};
  if (metric == "speed" || metric == "examples_per_second")
    return str(claim.datasets.empty() ? "examples" : find_dataset(*claim.datasets.begin()).unit,
               "/s");
  const auto found = kUnits.find(metric);
  return found == kUnits.end() ? "" : found->second;
}

/// "ratio of tokens/s", the unit of the measured numbers; empty: they have none.
std::string unit_text(const Claim& claim) {
  std::vector<std::string> units;
  for (const ClaimTest& test : claim.tests) {
    std::string unit = unit_of(test.metric, claim);
    if (unit.empty()) continue;
    const bool level = test.kind == ClaimTest::Kind::bound && test.points.front().over.empty();
    unit = level ? unit : "ratio of " + unit;
    if (std::find(units.begin(), units.end(), unit) == units.end()) units.push_back(unit);
  }
  return join(units, ", ");
}

/// "squad 5.12 [4.80, 5.44]; race ... (ratio of tokens/s)": at most six parts.
std::string measured_text(const ClaimFinding& finding, const std::string& unit) {
  constexpr size_t kMost = 6;
  std::vector<std::string> parts;
  for (const auto& part : finding.parts) {
    if (parts.size() == kMost) {
      parts.push_back(str("and ", finding.parts.size() - kMost, " more"));
      break;
    }
    const std::string interval = part.measured.exact ? "" : interval_text(part.measured.value);
    const auto value = [&] {
      if (!part.identity) return str(standing_text(part), number(part.measured.value.estimate));
      return str(part.identity->same, " of ", part.identity->compared, " the same",
                 part.identity->ties ? str(" and ", part.identity->ties, " by equal logits") : "",
                 ", a share of ", number(part.measured.value.estimate));
    };
    parts.push_back(str(part.label, " ", value(), interval.empty() ? "" : " ", interval));
  }
  return parts.empty() ? "-" : str(join(parts, "; "), unit.empty() ? "" : str(" (", unit, ")"));
}

Json parts_json(const ClaimFinding& finding) {
  Json parts = Json::array();
  for (const auto& part : finding.parts) {
    Json& one = parts.emplace_back(Json{{"label", part.label},
                                        {"rule", part.rule},
                                        {"value", json_of(part.measured.value.estimate)},
                                        {"low", json_of(part.measured.value.low)},
                                        {"high", json_of(part.measured.value.high)},
                                        {"units", part.measured.units},
                                        {"verdict", name(part.verdict)}});
    if (const std::string bound(rstrip(standing_text(part))); !bound.empty()) one["bound"] = bound;
    if (!part.unfit.empty()) one["unfit"] = part.unfit;
    if (part.identity)
      one.update({{"same", part.identity->same},
                  {"compared", part.identity->compared},
                  {"ties", part.identity->ties}});
  }
  return parts;
}

/// "untaught k5, k2; disturbed ar": the codes of the warnings, those first that make a number
/// unfit.
std::string caveats_text(const ClaimFinding& finding) {
  std::vector<std::string> codes;
  std::map<std::string, std::vector<std::string>> arms;
  const auto add_all = [&](bool beside) {
    for (const Caveat& caveat : finding.caveats) {
      if ((caveat.effect == Effect::beside) != beside) continue;
      if (arms[caveat.code].empty()) codes.push_back(caveat.code);
      if (auto& of = arms[caveat.code]; std::find(of.begin(), of.end(), caveat.arm) == of.end())
        of.push_back(caveat.arm);
    }
  };
  add_all(false);
  add_all(true);
  std::vector<std::string> texts;
  for (const std::string& code : codes) texts.push_back(str(code, " ", join(arms[code], ", ")));
  return texts.empty() ? "-" : join(texts, "; ");
}

Json caveats_json(const ClaimFinding& finding) {
  Json all = Json::array();
  for (const Caveat& caveat : finding.caveats)
    all.push_back({{"code", caveat.code},
                   {"dataset", caveat.dataset},
                   {"arm", caveat.arm},
                   {"found", caveat.found},
                   {"effect", name(caveat.effect)}});
  return all;
}

/// "by construction, forced": the qualifications of a verdict.
std::string qualified_text(const ClaimFinding& finding) {
  return str(finding.by_construction().empty() ? "" : "by construction, ",
             finding.qualifiers.text());
}

std::string heading(const PaperItem& item, const std::string& what) {
  std::string paper = item.paper;
  for (char& c : paper) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return str(paper, ", ", item.item, ": ", item.measures, " (", what, ")");
}

/// "confirmed (scaled)"
std::string shown_verdict(const ClaimFinding& finding) {
  const std::string verdict(name(finding.verdict));
  return finding.verdict == ClaimVerdict::not_testable
             ? verdict
             : str(verdict, " (", qualified_text(finding), ")");
}

}  // namespace

Table published_table(const PaperItem& item, const std::string& scale, const Evidence& evidence,
                      const std::vector<Difference>& differs, bool measured_only) {
  Table table;
  table.title = heading(item, scale.empty() ? "pardec measures nothing of it" : "scale " + scale);
  for (const std::string& key : item.published.keys) table.columns.push_back({key});
  const bool derived = item.published.source.starts_with("derived");
  table.columns.push_back(
      {str(derived ? "derived " : "published ", item.published.unit), Align::right, "published"});
  table.columns.push_back({"measured", Align::right, "measured"});
  table.columns.push_back({"95 % interval", Align::left, "measured_interval"});
  table.columns.push_back({"measured on", Align::left, "measured_on"});
  table.columns.push_back({"unfit by", Align::left, "unfit"});
  const Matching matching(item, scale.empty() ? item.match : item.match_at(scale));
  size_t left_out = 0, unmeasured = 0;
  std::vector<std::string> lacks;
  for (const PublishedCell& cell : item.published.cells) {
    if (!matching.shown(cell)) {
      ++left_out;
      continue;
    }
    const auto here = matching.of(cell);
    const Found found = here ? measured(*here, evidence)
                             : Found{std::nullopt, unknown_dataset(item.published, cell)};
    if (!found.lacks.empty() && std::find(lacks.begin(), lacks.end(), found.lacks) == lacks.end())
      lacks.push_back(found.lacks);
    if (measured_only && !found.measured) {
      ++unmeasured;
      continue;
    }
    auto& row = table.rows.emplace_back();
    for (const Json& key : cell.at) row.emplace_back(text_of(key), key);
    row.push_back(number_or_none(cell.value));
    row.push_back(found.measured ? number_or_none(found.measured->value.estimate) : no_cell());
    row.push_back(found.measured && !found.measured->exact ? interval_or_none(found.measured->value)
                                                           : no_cell());
    row.push_back(found.measured ? Cell(measured_on(*here, evidence)) : no_cell());
    row.push_back(found.measured ? unfit_cell(*here, evidence) : no_cell());
  }
  if (std::all_of(table.rows.begin(), table.rows.end(),
                  [](const auto& row) { return row.back().text == no_cell().text; })) {
    table.columns.pop_back();
    for (auto& row : table.rows) row.pop_back();
  }
  if (item.published.source != "printed")
    table.notes.push_back(
        str(derived ? "not printed in the paper: " : "published: ", item.published.source));
  if (unmeasured)
    table.notes.push_back(str(unmeasured, " published numbers have no measured counterpart"));
  if (left_out)
    table.notes.push_back(str(left_out, " more published numbers (of other settings) are in ",
                              item.file.filename().string()));
  if (!lacks.empty()) table.notes.push_back(str("not measured, for lack of: ", join(lacks, "; ")));
  for (const Difference& one : differs) table.notes.push_back(one.text);
  return table;
}

Table bounds_table(const PaperItem& item, const Evidence& evidence,
                   const std::vector<std::string>& arms, const std::string& baseline,
                   const std::vector<Difference>& differs) {
  Table table;
  table.title = heading(item, "scale bound");
  table.columns = {{"place"},
                   {"arm"},
                   {"tokens per pass", Align::right, "tokens_per_forward"},
                   {"rows per pass", Align::right, "rows_per_pass"},
                   {"tokens/example", Align::right, "tokens_per_example"},
                   {"speedup at most", Align::right, "speedup"},
                   {"95% interval", Align::left, "speedup_interval"}};
  const std::string speed = speed_measure(item);
  for (const std::string& place : evidence.places())
    for (const std::string& arm : arms) {
      const Found tokens = evidence.level({place}, arm, "tokens_per_forward");
      if (!tokens.measured) continue;
      const Found ratio = evidence.ratio({place}, arm, baseline, speed);
      const auto cell = [](const Found& found) {
        return found.measured ? number_or_none(found.measured->value.estimate) : no_cell();
      };
      table.rows.push_back(
          {place, arm, cell(tokens), cell(evidence.level({place}, arm, "rows_per_pass")),
           cell(evidence.level({place}, arm, "length")), cell(ratio),
           ratio.measured && arm != baseline ? ratio_interval_cell(ratio.measured->value)
                                             : no_cell()});
    }
  table.notes.push_back(str(
      "speedup at most: time of the baseline's passes over that of the arm's, if each were as fast "
      "as the machine allows (roofline), ",
      speed == "decode_speed"
          ? "per generated token (control tokens included, the prompt's pass and its token "
            "excluded)"
      : speed == "tokens_per_second" ? "per generated token"
                                     : "per example, no matter how many tokens an arm generates",
      "; interval over ", kFewestBlocks, " examples or more."));
  for (const Difference& one : differs) table.notes.push_back(one.text);
  return table;
}

ReproducedItem reproduced_item(const Reproduction& result, bool measured_only, bool with_figures) {
  const PaperItem& item = *result.item;
  std::string commit, measured;
  if (result.run && !result.run->comparison().arms.empty()) {
    const RunRow& run = result.run->comparison().arms.front().run.run;
    commit = run.commit;
    measured = run.started_utc.substr(0, 10);
  }
  return {
      &item,
      item.scale(result.scale).contains("bound")
          ? bounds_table(item, *result.evidence, result.arms, result.baseline, result.differs)
          : published_table(item, result.scale, *result.evidence, result.differs, measured_only),
      result.findings,
      commit,
      measured,
      with_figures ? printed_figures(item, result.scale, *result.evidence)
                   : std::vector<NamedFigure>{}};
}

Table claims_table(const std::vector<ReproducedItem>& items, const std::string& title) {
  Table table;
  table.title = title;
  const bool several = items.size() > 1;
  if (several) table.columns.push_back({"item"});
  for (const Column& column :
       {Column{"claim"}, Column{"verdict"}, Column{"qualified"}, Column{"says"},
        Column{"published"}, Column{"measured"}, Column{"why"}, Column{"warnings"},
        Column{"expected"}, Column{"scale"}, Column{"unit", Align::left, "measured_unit"},
        Column{"by construction", Align::left, "by_construction"}})
    table.columns.push_back(column);
  for (std::size_t last = 1; last <= 3; ++last)
    table.columns[table.columns.size() - last].data_only = true;
  for (Column& column : table.columns)
    column.messages =
        column.header == "measured" || column.header == "why" || column.header == "warnings";
  for (const ReproducedItem& of_item : items)
    for (const ClaimFinding& finding : of_item.findings) {
      const auto expected = finding.claim->expect.find(finding.scale);
      const std::string why = finding.why();
      const bool decided = finding.verdict != ClaimVerdict::not_testable;
      auto& row = table.rows.emplace_back();
      if (several) row.emplace_back(of_item.item->name);
      row.emplace_back(finding.claim->id);
      row.emplace_back(std::string(name(finding.verdict)));
      row.emplace_back(decided ? qualified_text(finding) : "-");
      row.emplace_back(finding.claim->says);
      row.emplace_back(published_text(finding), published_json(finding));
      const std::string unit = unit_text(*finding.claim);
      row.emplace_back(measured_text(finding, unit), parts_json(finding));
      row.emplace_back(why.empty() ? "-" : why);
      row.emplace_back(caveats_text(finding), caveats_json(finding));
      row.emplace_back(expected == finding.claim->expect.end() ? std::string("-")
                       : finding.unexpected()                  ? str(name(expected->second), " (!)")
                                              : std::string(name(expected->second)));
      row.emplace_back(finding.scale);
      row.push_back(unit.empty() ? no_cell() : Cell(unit));
      const std::string cannot = finding.by_construction();
      row.push_back(cannot.empty() ? no_cell() : Cell(cannot));
    }
  std::vector<const ClaimFinding*> findings;
  for (const ReproducedItem& of_item : items)
    for (const ClaimFinding& finding : of_item.findings) findings.push_back(&finding);
  const auto any = [&](const auto& is) {
    return std::any_of(findings.begin(), findings.end(),
                       [&](const ClaimFinding* finding) { return is(*finding); });
  };
  table.notes = {
      counts_text(findings) + ".",
      "confirmed: the 95 % interval lies wholly where the claim says, after Holm's adjustment for "
      "its parts; refuted: wholly elsewhere; open: it contains the limit, is over fewer than 10 "
      "blocks or examples, or a warning makes the number unfit; not testable: something is "
      "missing, which column why names.",
      "measured: as in the paper; scaled: a smaller network or fewer examples; stand-in: other "
      "data than the publisher's; forced: an oracle chose the tokens; bound: computed by the "
      "roofline; counted: computed from counts of the data, nothing ran; by construction: it "
      "cannot fail, and is counted separately."};
  if (any([](const ClaimFinding& one) { return one.qualifiers.bound && !one.parts.empty(); }))
    table.notes.emplace_back(
        "not contradicted: a bound leaves room for it. A bound may refute a claim, and confirms "
        "none: it is an upper limit of the speedup, if the baseline reaches its roofline. The "
        "ratio of two such limits decides nothing.");
  if (any([](const ClaimFinding& one) { return !one.caveats.empty(); }))
    table.notes.emplace_back(
        "warnings: what compare warns of for the arms of these numbers (codes: results/table.md; "
        "experiments/papers/README.md says which warnings make which numbers unfit).");
  return table;
}

Table papers_table(const PaperCatalogue& papers, const StoredVerdicts& verdicts) {
  Table table;
  table.title = "Tables and figures of the papers";
  table.columns = {{.header = "paper", .group = true},
                   {"item"},
                   {"class"},
                   {"measures"},
                   {.header = "published", .align = Align::right, .data_only = true},
                   {"scales"},
                   {"claims", Align::right},
                   {.header = "verdicts", .data_only = verdicts.empty()},
                   {.header = "file", .data_only = true}};
  for (const std::string& paper : paper_names()) {
    for (const PaperItem& item : papers.items) {
      if (item.paper != paper) continue;
      std::vector<std::string> scales, claims, said;
      for (const auto& [scale, ignored] : item.scales.items()) scales.push_back(scale);
      const auto stored = verdicts.find(item.name);
      for (const Claim& claim : item.claims) {
        claims.push_back(claim.id);
        if (stored == verdicts.end()) continue;
        if (const auto one = stored->second.find(claim.id); one != stored->second.end())
          said.push_back(str(claim.id, " ", shown_verdict(one->second)));
      }
      table.rows.push_back(
          {item.paper, item.item, item.item_class, item.measures,
           number_cell(std::ssize(item.published.cells)), scales.empty() ? "-" : join(scales, ", "),
           claims.empty() ? Cell("-") : Cell(std::to_string(claims.size()), join(claims, ", ")),
           said.empty() ? "-" : join(said, "; "), item.file.filename().string()});
    }
    for (const PaperPicture& picture : papers.pictures)
      if (picture.paper == paper)
        table.rows.push_back(
            {picture.paper, picture.item, "E", picture.why, no_cell(), "-", "-", "-", no_cell()});
  }
  table.notes = {
      "class: what the whole item would need: A and B nothing more, C something that pardec does "
      "not do yet, D weights, hardware or people that are not available; E is a picture in which "
      "nothing is measured. Scales are parts of an item, and have their own verdicts.",
      "claims: their number; reproduce PAPER ITEM prints them."};
  if (!verdicts.empty())
    table.notes.emplace_back("verdicts: the newest in the database that decided anything.");
  return table;
}

Table weights_table(const std::vector<WantedNetwork>& wanted) {
  Table table;
  table.title = "Networks that the claims need and that are trained first";
  table.columns = {
      {"network"},
      {"what it is"},
      {"begins with"},
      {"data"},
      {"done"},
      {"minutes of one core", Align::right, "minutes"},
      {"claims"},
      {.header = "lacks", .messages = true},
      {.header = "command", .data_only = true},
      {.header = "commands that make what is missing", .key = "commands", .data_only = true}};
  for (const WantedNetwork& one : wanted) {
    const Recipe& recipe = one.recipe;
    const std::string done = one.trained  ? str("the network; not ", recipe.model)
                             : !one.begun ? "-"
                             : one.begun->planned > 0
                                 ? str(one.begun->steps, " of ", one.begun->planned, " updates")
                                 : counted(one.begun->steps, "update");
    table.rows.push_back({recipe.out().lexically_normal().string(), recipe.makes, recipe.model,
                          one.data.empty() ? "-" : join(one.data, "; "), done,
                          Cell(fixed(one.minutes, one.minutes < 10 ? 1 : 0), json_of(one.minutes)),
                          Cell(join(one.claims, ", "), Json(one.claims)),
                          one.lacks.empty() ? no_cell() : Cell(one.lacks), one.command,
                          Cell(join(one.commands, "; "), Json(one.commands))});
  }
  for (const auto& [command, recipes] : commands_of(wanted))
    table.notes.push_back(str("first, for ", join(recipes, ", "), ": ", command));
  table.notes.push_back(
      str("to train: ",
          counted(std::count_if(wanted.begin(), wanted.end(),
                                [](const auto& one) { return one.lacks.empty(); }),
                  "network"),
          ", ", duration(static_cast<std::int64_t>(minutes_of(wanted) * 60)),
          " of one core by the recipes. The same command continues a stopped training from its "
          "last checkpoint."));
  return table;
}

Table rehearsal_table(const Rehearsal& rehearsal) {
  Table table;
  table.title = heading(*rehearsal.item, str("dry run of scale ", rehearsal.scale));
  table.columns = {{"dataset"},
                   {"arm"},
                   {"decoder"},
                   {"options"},
                   {"network"},
                   {"in flight", Align::right, "in_flight"},
                   {"examples", Align::right},
                   {"forced by", Align::left, "oracle"},
                   {"answers", Align::right},
                   {"failed", Align::right},
                   {.header = "lacks", .messages = true}};
  std::map<std::string, const RehearsedNetwork*> networks;
  for (const RehearsedNetwork& one : rehearsal.networks) networks[one.label] = &one;
  for (const RehearsedArm& arm : rehearsal.arms) {
    const auto network = networks.find(arm.network);
    table.rows.push_back({arm.dataset, arm.label, arm.decoder, Cell(dump(arm.options), arm.options),
                          network == networks.end() ? arm.network : network->second->folder,
                          number_cell(arm.batch_size),
                          rehearsal.limit > 0 ? number_cell(rehearsal.limit) : Cell("all", Json()),
                          arm.oracle.empty() ? no_cell() : Cell(arm.oracle),
                          number_cell(arm.answers), number_cell(arm.failed),
                          arm.lacks.empty() ? no_cell() : Cell(arm.lacks)});
  }
  for (const RehearsedNetwork& one : rehearsal.networks) {
    const std::string size =
        one.parameters > 0
            ? str(", ", fixed(static_cast<double>(one.parameters) / 1e9, 1), " B parameters, ",
                  fixed(static_cast<double>(one.bytes) / 1e9, 1), " GB")
            : "";
    table.notes.push_back(str(one.label, ": ", one.folder.empty() ? "none" : one.folder, size,
                              one.there || one.folder.empty() ? "" : "; it is not there"));
  }
  std::vector<std::string> tested;
  for (const ClaimFinding& finding : rehearsal.result.findings)
    tested.push_back(finding.lacks.empty()
                         ? finding.claim->id
                         : str(finding.claim->id, " (", join(finding.lacks, "; "), ")"));
  if (!tested.empty()) table.notes.push_back("claims: " + join(tested, ", "));
  table.notes.emplace_back(
      "dry run: two examples of each dataset, on small random networks of the same families, with "
      "answers forced where a decoder can be forced, and without adapters. Nothing is kept, and "
      "the numbers have no meaning.");
  return table;
}

}  // namespace pardec
