#include "src/reproduction/paper_item.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <set>
#include <tuple>

#include "src/support/error.hpp"
#include "src/support/number_text.hpp"
#include "src/support/project_files.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

using Kind = ClaimTest::Kind;

constexpr std::array<std::pair<std::string_view, Kind>, 7> kKinds{{{"ratio", Kind::ratio},
                                                                   {"bound", Kind::bound},
                                                                   {"difference", Kind::difference},
                                                                   {"order", Kind::order},
                                                                   {"trend", Kind::trend},
                                                                   {"optimum", Kind::optimum},
                                                                   {"identity", Kind::identity}}};

/// A text, or a list of texts.
std::vector<std::string> texts(const Json& value, const std::string& where) {
  if (value.is_null()) return {};
  if (value.is_string()) return {value.get<std::string>()};
  std::vector<std::string> all;
  if (value.is_array())
    for (const Json& one : value)
      if (one.is_string()) all.push_back(one.get<std::string>());
  if (!value.is_array() || all.size() != value.size())
    throw ConfigError(str(where, " is ", dump(value), ", expected a text or a list of texts"));
  return all;
}

Kind parse_kind(const std::string& text, const std::string& where) {
  std::vector<std::string> known;
  for (const auto& [name, kind] : kKinds) {
    if (name == text) return kind;
    known.emplace_back(name);
  }
  throw ConfigError(str(where, " is '", text, "'", known_names(text, known)));
}

ClaimVerdict parse_expected(const std::string& text, const std::string& where) {
  for (const ClaimVerdict verdict : kClaimVerdicts)
    if (verdict != ClaimVerdict::not_testable && name(verdict) == text) return verdict;
  throw ConfigError(
      str(where, " is '", text, "', expected confirmed, refuted, not contradicted or open"));
}

/// An arm, or [arm, over].
Point point_of(const Json& value, const std::string& where) {
  const std::vector<std::string> arms = texts(value, where);
  if (arms.empty() || arms.size() > 2)
    throw ConfigError(str(where, " is ", dump(value), ", expected an arm, or an arm and another"));
  return {arms[0], arms.size() > 1 ? arms[1] : "", "", {}};
}

ClaimTest read_test(const Json& json, const std::string& where) {
  JsonReader read(json, where);
  ClaimTest test{};
  test.kind = parse_kind(read.required<std::string>("kind"), read.where("kind"));
  test.label = read.optional<std::string>("label", "");
  test.metric = read.required<std::string>("metric");
  test.in = texts(read.any("in"), read.where("in"));
  const auto each = read.optional<std::string>("each", "dataset");
  if (each != "dataset" && each != "category")
    throw ConfigError(str(read.where("each"), " is '", each, "', expected dataset or category"));
  test.each_category = each == "category";
  const Json categories = read.any("categories");
  const auto over = read.optional<std::string>("over", "");
  const auto groups = [&] {
    std::vector<std::vector<std::string>> all;
    if (categories.is_array())
      for (const Json& group : categories) all.push_back(texts(group, read.where("categories")));
    return all;
  };
  const auto arms = texts(read.any("of"), read.where("of"));
  switch (test.kind) {
    case Kind::ratio:
    case Kind::bound:
    case Kind::difference:
    case Kind::identity: {
      const auto from = read.optional<std::string>("from", over);
      for (const std::string& arm : arms) {
        if (categories.is_null()) test.points.push_back({arm, from, "", {}});
        for (const auto& group : groups()) test.points.push_back({arm, from, "", group});
      }
      if (test.kind != Kind::bound && from.empty())
        throw ConfigError(
            str(where, ": has no 'over' or 'from', expected the arm to compare with"));
      test.limit = parse_limit(read.required<std::string>("op"), read.required<double>("than"),
                               read.where("op"));
      break;
    }
    case Kind::order:
      test.limit.value = read.optional<double>("by", 1);
      if (const Json& listed = read.any("arms"); !listed.is_null()) {
        for (const Json& one : listed) test.points.push_back(point_of(one, read.where("arms")));
      } else {
        if (arms.size() != 1)
          throw ConfigError(
              str(where, ": expected 'arms', or 'of' with 'datasets' or 'categories'"));
        for (const auto& dataset : texts(read.any("datasets"), read.where("datasets")))
          test.points.push_back({arms[0], over, dataset, {}});
        for (const auto& group : groups()) test.points.push_back({arms[0], over, "", group});
      }
      break;
    case Kind::trend: {
      const auto direction = read.required<std::string>("direction");
      if (direction != "rises" && direction != "falls")
        throw ConfigError(
            str(read.where("direction"), " is '", direction, "', expected rises or falls"));
      test.rises = direction == "rises";
      test.limit.value = read.optional<double>("by", 1);
      [[fallthrough]];
    }
    case Kind::optimum:
      for (const Json& one : read.any("along"))
        test.points.push_back(point_of(one, read.where("along")));
      if (test.kind != Kind::optimum) break;
      test.among = texts(read.any("among"), read.where("among"));
      for (const std::string& arm : test.among)
        if (std::none_of(test.points.begin(), test.points.end(),
                         [&](const Point& point) { return point.arm == arm; }))
          throw ConfigError(str(read.where("among"), " has '", arm, "', expected arms of 'along'"));
      if (test.among.empty())
        throw ConfigError(str(read.where("among"), " is empty, expected arms of 'along'"));
      break;
  }
  if (test.points.size() < (test.kind >= Kind::order && test.kind <= Kind::optimum ? 2U : 1U))
    throw ConfigError(str(where, ": names too few arms, datasets or categories to test"));
  if (const Json& when = read.any("when"); !when.is_null()) {
    if (when != Json{{"rows_per_pass", {{"at_most", "balance"}}}})
      throw ConfigError(str(read.where("when"), " is ", dump(when),
                            R"(, expected {"rows_per_pass": {"at_most": "balance"}})"));
    test.below_balance = true;
  }
  read.finish();
  return test;
}

/// One test, or a list of several tests, each with a label.
std::vector<ClaimTest> read_tests(const Json& json, const std::string& where) {
  if (!json.is_array()) return {read_test(json, where)};
  std::vector<ClaimTest> tests;
  std::set<std::string> labels;
  for (std::size_t i = 0; i < json.size(); ++i) {
    tests.push_back(read_test(json[i], str(where, "[", i, "]")));
    if (const std::string& label = tests.back().label;
        label.empty() || !labels.insert(label).second)
      throw ConfigError(str(where, "[", i, "]: label is '", label,
                            "', expected one that no other test of the claim has"));
  }
  if (tests.empty()) throw ConfigError(str(where, " is empty, expected a test"));
  return tests;
}

Claim read_claim(const Json& json, const std::string& where) {
  JsonReader read(json, where);
  Claim claim;
  claim.id = read.required<std::string>("id");
  claim.says = read.required<std::string>("says");
  claim.where = read.optional<std::string>("where", "");
  claim.published = read.any("published");
  if (claim.published.is_object() && claim.published.contains("by")) {
    const Json& by = claim.published["by"];
    for (const auto& [dataset, networks] : by.items()) {
      if (!networks.is_object() || networks.empty())
        throw ConfigError(str(read.where("published"), ": ", dataset, " is ", dump(networks),
                              ", expected an object: a number for each network"));
      for (const auto& [network, value] : networks.items()) {
        if (!value.is_number())
          throw ConfigError(str(read.where("published"), ": ", network, " is ", dump(value),
                                ", expected a number"));
        claim.published_by[dataset][network] = value.get<double>();
      }
    }
  }
  claim.tests = read_tests(read.any("test"), read.where("test"));
  claim.scales = read.required<std::vector<std::string>>("scales");
  const auto by_scale = [&](const char* key, const auto& take) {
    const Json& value = read.any(key);
    for (const std::string& scale : claim.scales) {
      const Json said = value.is_object() ? value.value(scale, Json()) : value;
      if (said.is_string()) take(scale, said.get<std::string>());
    }
  };
  by_scale("expect", [&](const std::string& scale, const std::string& said) {
    claim.expect[scale] = parse_expected(said, read.where("expect"));
  });
  by_scale("by_construction", [&](const std::string& scale, const std::string& said) {
    claim.by_construction[scale] = said;
  });
  read.finish();
  return claim;
}

Published read_published(const Json& json, const std::string& where) {
  JsonReader read(json, where);
  Published published;
  published.unit = read.required<std::string>("unit");
  published.source = read.required<std::string>("source");
  published.setting = read.any("setting");
  published.keys = read.required<std::vector<std::string>>("keys");
  const Json datasets = read.any("datasets");
  if (!datasets.is_object())
    throw ConfigError(str(read.where("datasets"), " is ", dump(datasets),
                          ", expected an object: the dataset here, or null, by the paper's name"));
  for (const auto& [theirs, here] : datasets.items()) {
    if (!here.is_null() && !here.is_string())
      throw ConfigError(str(read.where("datasets"), ": ", theirs, " is ", dump(here),
                            ", expected the name of a dataset, or null"));
    published.datasets[theirs] =
        here.is_null() ? std::nullopt : std::optional(here.get<std::string>());
  }
  const Json cells = read.any("cells");
  for (size_t i = 0; i < cells.size(); ++i) {
    const Json& cell = cells[i];
    if (!cell.is_array() || cell.size() != published.keys.size() + 1 || !cell.back().is_number())
      throw ConfigError(str(read.where("cells"), "[", i, "] is ", dump(cell), ", expected ",
                            published.keys.size(), " keys and a number"));
    published.cells.push_back(
        {std::vector<Json>(cell.begin(), cell.end() - 1), cell.back().get<double>()});
    if (const std::string of = published.dataset_of(published.cells.back());
        !of.empty() && !published.datasets.contains(of))
      throw ConfigError(str(read.where("cells"), "[", i, "] is of dataset '", of,
                            "', which published.datasets does not have"));
  }
  for (const Json& doubt : read.any("doubts")) {
    JsonReader one(doubt, read.where("doubts"));
    const Json at = one.any("at");
    published.doubts.push_back({at, one.required<std::string>("why")});
    one.finish();
  }
  read.finish();
  return published;
}

PrintedFigure::Form parse_form(const std::string& text, const std::string& where) {
  using Form = PrintedFigure::Form;
  static const std::vector<std::pair<std::string, Form>> kForms{
      {"lines", Form::lines}, {"bars", Form::bars},       {"stacked", Form::stacked},
      {"heat", Form::heat},   {"density", Form::density}, {"scatter", Form::scatter},
      {"cache", Form::cache}};
  std::vector<std::string> known;
  for (const auto& [name, form] : kForms) {
    if (name == text) return form;
    known.push_back(name);
  }
  throw ConfigError(str(where, " is '", text, "'", known_names(text, known)));
}

PrintedFigure read_panel(const Json& json, const std::string& where) {
  using Form = PrintedFigure::Form;
  JsonReader read(json, where);
  PrintedFigure figure;
  figure.form = parse_form(read.required<std::string>("form"), read.where("form"));
  figure.title = read.optional<std::string>("title", "");
  figure.metrics = texts(read.any("metric"), read.where("metric"));
  figure.along = read.optional<std::string>("along", "");
  figure.by = read.optional<std::string>("by", "");
  const Json series = read.any("series");
  for (std::size_t i = 0; i < series.size(); ++i) {
    JsonReader one(series[i], str(read.where("series"), "[", i, "]"));
    PrintedFigure::Series added{one.required<std::string>("name"), {}};
    const Json arms = one.any("arms");
    for (const Json& arm : arms.is_string() ? Json::array({arms}) : arms)
      added.arms.push_back(point_of(arm, one.where("arms")));
    one.finish();
    figure.series.push_back(std::move(added));
  }
  const Json parts = read.any("parts");
  for (std::size_t i = 0; i < parts.size(); ++i) {
    JsonReader one(parts[i], str(read.where("parts"), "[", i, "]"));
    figure.parts.push_back(
        {one.required<std::string>("name"), one.required<std::string>("metric")});
    one.finish();
  }
  figure.x_label = read.optional<std::string>("x_label", "");
  figure.y_label = read.optional<std::string>("y_label", "");
  figure.times = read.optional<double>("times", 1);
  figure.inverse = read.optional<bool>("inverse", false);
  figure.in = texts(read.any("in"), read.where("in"));
  figure.note = read.optional<std::string>("note", "");
  read.finish();
  const auto need = [&](bool there, const char* what) {
    if (!there) throw ConfigError(str(where, ": has no ", what, ", which its form needs"));
  };
  need(!figure.series.empty(), "'series'");
  need(figure.form == Form::stacked || figure.form == Form::cache || !figure.metrics.empty(),
       "'metric'");
  need(figure.form != Form::stacked || !figure.parts.empty(), "'parts'");
  need(figure.form == Form::stacked || figure.form == Form::cache || figure.form == Form::density ||
           !figure.along.empty(),
       "'along'");
  need(figure.form != Form::heat || !figure.by.empty(), "'by'");
  if (figure.form == Form::bars && figure.along != "category" && figure.along != "dataset")
    throw ConfigError(
        str(read.where("along"), " is '", figure.along, "', expected category or dataset"));
  return figure;
}

/// The labels of a scale's arms; empty: the scale names none.
std::vector<std::string> labels_at(const PaperItem& item, const std::string& scale) {
  std::vector<std::string> labels;
  const Json spec = item.scale(scale);
  for (const Json& arm : spec.value("decoders", Json::array()))
    labels.push_back(arm.value("label", arm.value("name", "")));
  return labels;
}

/// Checks that each arm of a figure is an arm of some scale, unless nothing is run.
void check_figures(const PaperItem& item) {
  std::set<std::string> known;
  for (const auto& [scale, ignored] : item.scales.items())
    for (const std::string& label : labels_at(item, scale)) known.insert(label);
  for (const PrintedFigure& figure : item.figures)
    for (const PrintedFigure::Series& series : figure.series)
      for (const Point& point : series.arms)
        for (const std::string& arm : {point.arm, point.over})
          if (!arm.empty() && !known.empty() && !known.contains(arm))
            throw ConfigError(str(item.file.string(), ": figure names arm '", arm,
                                  "', which no scale has",
                                  known_names(arm, {known.begin(), known.end()})));
}

/// Checks that claims only name arms of the scale; other arms would always be missing.
void check_arms(const PaperItem& item) {
  for (const Claim& claim : item.claims)
    for (const std::string& scale : claim.scales) {
      const std::vector<std::string> labels = labels_at(item, scale);
      if (labels.empty()) continue;
      for (const ClaimTest& test : claim.tests)
        for (const Point& point : test.points)
          for (const std::string& arm : {point.arm, point.over})
            if (!arm.empty() && std::find(labels.begin(), labels.end(), arm) == labels.end())
              throw ConfigError(str(item.file.string(), ": claim ", claim.id, " names arm '", arm,
                                    "', which scale ", scale, " does not have",
                                    known_names(arm, labels)));
    }
}

/// Order of items in a paper: tables, then figures, by number.
std::tuple<int, int> rank_of(const std::string& item) {
  const size_t space = item.find(' ');
  int number = 0;
  if (space != std::string::npos)
    std::from_chars(item.data() + space + 1, item.data() + item.size(), number);
  return {item.starts_with("Table") ? 0 : 1, number};
}

/// Normalizes `Table 5`, `table5` and `t5` to table5.
std::string item_key(const std::string& text) {
  std::string key;
  for (const char c : text)
    if (c != ' ' && c != '-' && c != '_')
      key += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  if (key.size() > 1 && std::isdigit(static_cast<unsigned char>(key[1])) != 0) {
    if (key[0] == 't') return "table" + key.substr(1);
    if (key[0] == 'f') return "figure" + key.substr(1);
  }
  return key;
}

}  // namespace

std::string Published::dataset_of(const PublishedCell& cell) const {
  for (std::size_t k = 0; k < keys.size(); ++k)
    if (keys[k] == "dataset" && cell.at[k].is_string()) return cell.at[k].get<std::string>();
  return datasets.size() == 1 ? datasets.begin()->first : "";
}

bool Claim::tested_at(const std::string& scale) const {
  return std::find(scales.begin(), scales.end(), scale) != scales.end();
}

Json Claim::published_of(const std::string& dataset, const std::string& network) const {
  if (published_by.empty()) return published;
  double least = NAN, most = NAN;
  for (const auto& [of_dataset, numbers] : published_by) {
    if (!dataset.empty() && of_dataset != dataset) continue;
    for (const auto& [name, value] : numbers)
      if (name == network || !numbers.contains(network)) {
        least = std::fmin(least, value);
        most = std::fmax(most, value);
      }
  }
  return std::isnan(least) ? Json() : Json{{"least", least}, {"most", most}};
}

Json PaperItem::match_at(const std::string& which) const {
  const Json own = scale(which).value("match", Json());
  Json all = match;
  if (own.is_object()) all.update(own, /*merge_objects=*/true);
  return all;
}

namespace {

/// A scale with the settings of the scale that it is `like`. `scales`: those of `file`. `depth`:
/// the number of scales on the way to this one.
Json resolved(const Json& scales, const std::filesystem::path& file, const std::string& which,
              int depth) {
  constexpr int kMostScales = 10;
  const auto found = scales.find(which);
  if (found == scales.end()) {
    std::vector<std::string> known;
    for (const auto& [one, ignored] : scales.items()) known.push_back(one);
    throw ConfigError(
        str(file.string(), ": has no scale '", which, "'", known_names(which, known)));
  }
  Json scale = *found;
  const std::string like = scale.value("like", "");
  if (like.empty()) return scale;
  if (depth == kMostScales)
    throw ConfigError(str(file.string(), ": scale '", which, "' is 'like' ", like, ", after ",
                          kMostScales, " other scales; expected no circle"));
  scale.erase("like");
  const std::string of = like.substr(like.rfind('#') + 1);  // the whole text without a #
  const auto other_file =
      like.find('/') == std::string::npos
          ? file
          : file.parent_path().parent_path() / (like.substr(0, like.rfind('#')) + ".json");
  // Of other items only the scales are read, since items may refer to one another.
  Json other =
      resolved(other_file == file ? scales : read_json(other_file).value("scales", Json::object()),
               other_file, of, depth + 1);
  other.merge_patch(scale);
  return other;
}

}  // namespace

Json PaperItem::scale(const std::string& which) const { return resolved(scales, file, which, 0); }

PaperItem read_paper_item(const std::filesystem::path& file) {
  const Json json = read_json(file);
  JsonReader read(json, file.string());
  PaperItem item;
  item.file = file;
  item.name = read.required<std::string>("name");
  const Json paper = read.any("paper");
  JsonReader of_paper(paper, read.where("paper"));
  item.paper = of_paper.required<std::string>("id");
  item.item = of_paper.required<std::string>("item");
  item.item_class = of_paper.required<std::string>("class");
  item.section = of_paper.optional<std::string>("section", "");
  item.measures = of_paper.required<std::string>("measures");
  of_paper.finish();
  item.published = read_published(read.any("published"), read.where("published"));
  item.match = read.any("match");
  if (item.match.is_object() && item.match.contains("dataset"))
    throw ConfigError(str(read.where("match"),
                          " has a dataset, expected none: published.datasets says of which "
                          "dataset a cell is"));
  item.scales = read.any("scales");
  if (item.scales.is_null()) item.scales = Json::object();
  item.lacks = read.optional<std::string>("lacks", "");
  if (item.scales.empty() == item.lacks.empty())
    throw ConfigError(str(read.where("lacks"), " is '", item.lacks, "' in a file with ",
                          counted(static_cast<std::int64_t>(item.scales.size()), "scale"),
                          ", expected either scales, or 'lacks' with what is missing"));
  const Json claims = read.any("claims");
  for (size_t i = 0; i < claims.size(); ++i)
    item.claims.push_back(read_claim(claims[i], str(read.where("claims"), "[", i, "]")));
  for (Claim& claim : item.claims) {
    std::set<std::string> known;
    for (const auto& [theirs, here] : item.published.datasets)
      if (here) known.insert(*here);
    for (const auto& [dataset, networks] : claim.published_by) {
      if (!known.contains(dataset))
        throw ConfigError(str(read.where("claims"), ": ", claim.id, " has numbers of dataset '",
                              dataset, "', which published.datasets does not have"));
      claim.datasets.insert(dataset);
    }
    if (claim.datasets.empty()) claim.datasets = std::move(known);
    for (const std::string& scale : claim.scales) {
      const Json spec = item.scale(scale);
      const Json shapes = spec.value("shapes", Json::object());
      claim.networks[scale] = shapes.value(spec.value("model", "main"), "");
    }
  }
  if (const Json& figure = read.any("figure"); figure.is_array()) {
    for (std::size_t i = 0; i < figure.size(); ++i)
      item.figures.push_back(read_panel(figure[i], str(read.where("figure"), "[", i, "]")));
  } else if (!figure.is_null()) {
    item.figures.push_back(read_panel(figure, read.where("figure")));
  }
  read.finish();
  check_arms(item);
  check_figures(item);
  return item;
}

std::vector<std::string> paper_names() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(project_file("experiments/papers")))
    if (entry.is_directory() && entry.path().filename() != "networks")
      names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

PaperCatalogue read_papers() {
  PaperCatalogue papers;
  const std::filesystem::path root = project_file("experiments/papers");
  for (const std::string& paper : paper_names()) {
    std::vector<PaperItem> items;
    for (const auto& entry : std::filesystem::directory_iterator(root / paper))
      if (entry.path().extension() == ".json") items.push_back(read_paper_item(entry.path()));
    std::sort(items.begin(), items.end(), [](const PaperItem& a, const PaperItem& b) {
      return rank_of(a.item) < rank_of(b.item);
    });
    papers.items.insert(papers.items.end(), items.begin(), items.end());
  }
  const std::filesystem::path pictures = root / "pictures.json";
  const Json json = read_json(pictures);
  for (const Json& one : json) {
    JsonReader read(one, pictures.string());
    const auto paper = read.required<std::string>("paper"),
               item = read.required<std::string>("item");
    papers.pictures.push_back({paper, item, read.required<std::string>("why")});
    read.finish();
  }
  return papers;
}

const PaperItem& find_item(const PaperCatalogue& papers, const std::string& paper,
                           const std::string& item) {
  std::vector<std::string> known;
  for (const PaperItem& one : papers.items) {
    if (one.paper != paper) continue;
    known.push_back(item_key(one.item));
    if (known.back() == item_key(item)) return one;
  }
  for (const PaperPicture& picture : papers.pictures)
    if (picture.paper == paper && item_key(picture.item) == item_key(item))
      throw ConfigError(
          str(paper, ", ", picture.item, ": nothing is measured in it: ", picture.why));
  if (known.empty())
    throw ConfigError(str("unknown paper '", paper, "'", known_names(paper, paper_names())));
  throw ConfigError(str("paper ", paper, " has no item '", item, "'", known_names(item, known)));
}

std::map<std::string, Json> published_rows(const std::string& table) {
  const PaperItem item = read_paper_item(project_file("experiments/papers/" + table));
  std::map<std::string, Json> rows;
  for (const PublishedCell& cell : item.published.cells)
    rows[cell.at[0].get<std::string>()][cell.at[1].get<std::string>()] = cell.value;
  return rows;
}

}  // namespace pardec
