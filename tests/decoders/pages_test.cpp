// The worked examples of the decoders' pages: each block is made again from the code.
#include <algorithm>
#include <iomanip>
#include <map>
#include <sstream>

#include "decoders/apar/format.hpp"
#include "decoders/ar/format.hpp"
#include "decoders/aspd/layout.hpp"
#include "decoders/hpd/hpd.hpp"
#include "decoders/ippd/ippd.hpp"
#include "decoders/medusa/tree.hpp"
#include "decoders/skeleton_of_thought/skeleton_of_thought.hpp"
#include "decoders/space/space.hpp"
#include "decoders/speculation/prompt_lookup.hpp"
#include "decoders/speculation/self_speculative.hpp"
#include "decoders/speculation/verification.hpp"
#include "src/support/files.hpp"
#include "src/support/text.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/decoding.hpp"

using namespace pardec;
using namespace pardec::test;

namespace {

using Words = std::vector<std::string>;
using Lines = std::vector<Words>;  // cells of a block, by line

/// The decoders' pages by name: a folder's README.md, or one of several in the folder.
std::map<std::string, std::filesystem::path> pages() {
  const auto folder = std::filesystem::path(PARDEC_SOURCE_DIR) / "decoders";
  std::map<std::string, std::filesystem::path> found;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    const std::filesystem::path& file = entry.path();
    if (file.extension() != ".md" || file.parent_path() == folder) continue;
    std::string name =
        file.stem() == "README" ? file.parent_path().filename().string() : file.stem().string();
    std::replace(name.begin(), name.end(), '_', '-');
    found.emplace(name, file);
  }
  return found;
}

Words words_of(const std::string& line) {
  Words words;
  std::istringstream in(line);
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

/// The blocks marked `text` of a decoder's page, each line as its words.
std::vector<Lines> blocks(const std::string& decoder) {
  std::vector<Lines> found;
  bool inside = false;
  for (const std::string& line : split(read_file(pages().at(decoder)), '\n')) {
    if (line == "```text")
      found.emplace_back();
    else if (inside && line != "```")
      found.back().push_back(words_of(line));
    inside = line == "```text" || (inside && line != "```");
  }
  return found;
}

/// A block without its first line, which names the columns.
Lines rows(Lines block) {
  REQUIRE(!block.empty());
  block.erase(block.begin());
  return block;
}

/// "token position sees" of rows in this order.
Lines table(const Words& names, const std::vector<RowLabel>& labels, const Segments& segments) {
  REQUIRE(names.size() == labels.size());
  Lines lines;
  for (size_t q = 0; q < labels.size(); ++q) {
    std::string sees;
    for (const RowLabel& key : labels) sees += visible(labels[q], key, segments) ? '1' : '0';
    lines.push_back({names[q], str(labels[q].position), sees});
  }
  return lines;
}

/// The same for the rows that a pass computed, and for those before.
Lines table(const Words& names, const Trace& trace) {
  REQUIRE(trace.tokens.size() >= names.size());
  Lines lines;
  for (size_t q = 0; q < names.size(); ++q) {
    std::string sees(names.size(), '0');
    for (const int key : trace.visible[q]) sees.at(static_cast<size_t>(key)) = '1';
    lines.push_back({names[q], str(trace.position[q]), sees});
  }
  return lines;
}

std::string two_digits(double value) {
  std::ostringstream out;
  out << std::fixed << std::setprecision(2) << value;
  return out.str();
}

/// A row with two digits in each cell.
Words numbers(const std::string& name, const std::vector<double>& values) {
  Words words{name};
  for (const double value : values) words.push_back(two_digits(value));
  return words;
}

RowLogits chooses(Token best) {
  RowLogits row;
  row.best = best;
  return row;
}

/// The trace of the only stream; that of its draft network would come after it.
const Trace& trace_of(const Ran& ran) {
  REQUIRE(ran.errors == std::vector<std::string>{""});
  return ran.traces.begin()->second;
}

}  // namespace

TEST_CASE("pages: every decoder has one, and there are no others") {
  Words names, found;
  for (const DecoderEntry& entry : decoders()) names.emplace_back(entry.name);
  for (const auto& [name, file] : pages()) found.push_back(name);
  std::sort(names.begin(), names.end());
  CHECK(names == found);
  for (const std::string& name : names) {
    INFO(name);
    CHECK(!blocks(name).empty());
  }
}

TEST_CASE("pages: ar") {
  const TrainingSample sample = causal_sample({1, 2}, {3, 4, 5});
  const Words text{"p1", "p2", "red", "wine", "</s>"};
  Lines lines = table({text.begin(), text.end() - 1}, sample.labels, sample.segments);
  for (Words& line : lines) line.emplace_back("-");
  for (const auto& [row, target] : sample.targets)
    lines[static_cast<size_t>(row)].back() = text[static_cast<size_t>(target) - 1];
  CHECK(rows(blocks("ar").at(0)) == lines);
}

TEST_CASE("pages: hpd") {
  const HpdLayout layout = lay_out({1, 2}, {{3, 4}, {5, 6}}, 1, {.k_max = 3, .stack = 1});
  std::vector<RowLabel> labels = layout.labels;
  for (int k = 1; k <= 2; ++k)
    for (int r = 0; r < 2; ++r) labels.push_back(layout.value(r, k));
  CHECK(rows(blocks("hpd").at(0)) ==
        table({"p1", "p2", "\"Brand\"", ":", "\"Color\"", ":", "Orm", "dark", "Ltd", "red"}, labels,
              Segments()));
  CHECK(layout.last_position() == 11);

  const HpdLayout two =
      lay_out({1, 2}, {{3, 4}, {5, 6}, {7, 8, 9}, {10, 11}}, 2, {.k_max = 3, .stack = 2});
  Words skeleton{"skeleton"}, values{"values"};
  for (size_t i = 2; i < two.labels.size(); ++i) skeleton.push_back(str(two.labels[i].position));
  for (int r = 0; r < 4; ++r) values.push_back(str(two.value(r, 1).position));
  CHECK(blocks("hpd").at(1) == Lines{skeleton, values});
}

TEST_CASE("pages: ippd") {
  Pieces pieces;
  pieces.prefix = {10, 11};
  pieces.contexts = {{20, 21}, {30}};
  pieces.fields = {{{40}, {50, 51}}, {{60}}};
  const IppdLayout layout = lay_out(pieces, "page");
  Segments segments;
  for (const auto& sees : layout.sees) segments.add(sees);
  std::vector<RowLabel> labels = layout.labels;
  for (int t = 1; t <= 2; ++t)
    for (int question = 0; question < 3; ++question) labels.push_back(layout.answer(question, t));
  CHECK(rows(blocks("ippd").at(0)) == table({"P0", "P1", "C0", "C1", "Q0", "R0", "R1", "D0", "S0",
                                             "q1", "r1", "s1", "q2", "r2", "s2"},
                                            labels, segments));
}

TEST_CASE("pages: space") {
  constexpr int n = 2, k = 2, kFar = 1000;
  const SpaceGrid grid = space_grid(n, 2, k, kFar);
  Segments segments;
  for (int i = 0; i <= k; ++i) segments.add({0});
  std::vector<RowLabel> labels{text_label(0), text_label(1)};
  labels.insert(labels.end(), grid.labels.begin(), grid.labels.end());
  CHECK(rows(blocks("space").at(0)) ==
        table({"t0", "t1", "t2", "M", "M", "c1", "M", "M", "c2", "M", "M"}, labels, segments));
}

TEST_CASE("pages: apar") {
  constexpr Token kFork = 900, kChild = 901, kEnd = 902;
  ParagraphTree tree;
  tree.node(0).tokens = {3};
  const auto [b, details] = tree.fork(0);
  tree.node(details).tokens = {4, 5};
  tree.node(b).tokens = {6};
  tree.node(tree.fork(b).second).tokens = {7, 8};
  const TrainingSample sample =
      apar_sample(lay_out({1, 2}, tree, {.fork = kFork, .child = kChild}, {.eos = kEnd}), 2);
  CHECK(rows(blocks("apar").at(0)) ==
        table({"p1", "p2", "a", "[Fork]", "[Child]", "d", "e", "b", "[Fork]", "[Child]", "f", "g"},
              sample.labels, sample.segments));
}

TEST_CASE("pages: aspd") {
  const Words branch{"<Branch>", "", ":", "0", "1", "</Branch>"};
  Words names{"u0", "u1", "<Title>", "a", "</Title>", "<Title>", "b", "</Title>", "<Para>"};
  for (const auto& [title, letter] : {std::pair{"a", "x"}, {"b", "y"}})
    for (const std::string& word : branch)
      names.push_back(word.empty() ? title : word == "0" || word == "1" ? letter + word : word);
  names.insert(names.end(), {"</Para>", "z"});

  Lines lines;
  for (const std::string& name : names) lines.push_back({name});
  for (const AspdPositions positions :
       {AspdPositions{AspdScheme::same_seq, 0}, AspdPositions{AspdScheme::same_max, 0},
        AspdPositions{AspdScheme::same_re, 0}, AspdPositions{AspdScheme::fix, 32}}) {
    Segments segments;
    AspdLayout layout(positions, /*shared=*/false,
                      [&](const std::vector<int>& sees) { return segments.add(sees); });
    std::vector<RowLabel> labels, moved;
    for (int i = 0; i < 9; ++i) labels.push_back(layout.main());
    layout.open(2);
    for (int k = 0; k < 2; ++k)
      for (int r = 0; r < 6; ++r) labels.push_back(layout.branch(k, r));
    layout.close({6, 6});
    if (layout.moves())
      for (int k = 0; k < 2; ++k)
        for (int r = 0; r < 6; ++r) labels[static_cast<size_t>(9 + 6 * k + r)] = layout.copy(k, r);
    for (int i = 0; i < 2; ++i) labels.push_back(layout.main());
    const Lines one = table(names, labels, segments);
    for (size_t i = 0; i < lines.size(); ++i) {
      if (lines[i].size() == 1) lines[i].push_back(str(labels[i].order));
      lines[i].push_back(one[i][1]);
      if (positions.scheme == AspdScheme::fix) lines[i].push_back(one[i][2]);
      CHECK(str(labels[i].order) == lines[i][1]);
    }
  }
  CHECK(rows(blocks("aspd").at(0)) == lines);
}

TEST_CASE("pages: skeleton-of-thought") {
  const Lines page = blocks("skeleton-of-thought").at(0);
  std::string skeleton;
  Lines points;
  for (const Words& line : page) {
    if (line.at(0) == "skeleton") skeleton += join({line.begin() + 1, line.end()}, " ") + "\n";
    if (line.at(0) == "point") points.push_back({line.begin() + 1, line.end()});
  }
  Lines read;
  for (const SkeletonPoint& point : parse_skeleton(skeleton)) {
    read.push_back(words_of(point.text));
    read.back().insert(read.back().begin(), point.number);
  }
  CHECK(points.size() == 2);
  CHECK(read == points);
}

TEST_CASE("pages: speculative") {
  // Its own draft: every guess is right.
  TinyNetwork network;
  Model model = network.load(Dtype::fp32), draft = network.load(Dtype::fp32);
  const auto decoder = make_decoder("speculative", {{"gamma", 2}, {"ask", "separately"}});
  const Ran ran = run(model, network.tokenizer(), *decoder, {open_request("x", {50, 60, 70}, 6)}, 1,
                      true, {}, &draft);
  const Trace& trace = trace_of(ran);
  Lines passes;
  for (size_t row = 0; row < trace.tokens.size(); ++row) {
    const auto pass = static_cast<size_t>(trace.step[row]);
    if (pass == passes.size()) passes.push_back({str(pass)});
    passes[pass].push_back(str(trace.position[row]));
  }
  for (size_t pass = 0; pass < passes.size(); ++pass)
    passes[pass].push_back(
        str(std::count_if(trace.emitted.begin(), trace.emitted.end(), [&](int row) {
          return trace.step[static_cast<size_t>(row)] == static_cast<int>(pass);
        })));
  const std::vector<Lines> page = blocks("speculative");
  CHECK(rows(page.at(0)) == passes);

  const Candidates guesses{{20, 21}, {}};
  Lines verdicts;
  for (const Tokens& best : {Tokens{20, 21, 30}, {20, 25, 30}, {27, 25, 30}}) {
    Words& line = verdicts.emplace_back();
    std::vector<RowLogits> logits;
    for (const Token token : best) {
      logits.push_back(chooses(token));
      line.push_back(str(token));
    }
    for (const Choice& choice : accept_greedy(logits, guesses).choices)
      line.push_back(str(choice.token));
  }
  CHECK(rows(page.at(1)) == verdicts);

  const std::vector<double> p{0.5, 0.3, 0.2}, q{0.2, 0.7, 0.1};
  CHECK(page.at(2) == Lines{numbers("p", p), numbers("q", q), numbers("residual", residual(p, q))});
}

TEST_CASE("pages: prompt-lookup") {
  const Lines page = blocks("prompt-lookup").at(0);
  REQUIRE(page.size() == 2);
  Words known;
  Tokens text;
  for (size_t i = 1; i < page[0].size(); ++i) {
    const auto found = std::find(known.begin(), known.end(), page[0][i]);
    text.push_back(static_cast<Token>(found - known.begin()));
    if (found == known.end()) known.push_back(page[0][i]);
  }
  Words guesses{"guesses"};
  for (const Token token : look_up(text, 3, 10))
    guesses.push_back(known[static_cast<size_t>(token)]);
  CHECK(page[1] == guesses);
  CHECK(text.size() == 6);
  CHECK(guesses.size() == 5);
}

TEST_CASE("pages: self-speculative") {
  Lines lines;
  for (const auto& [option, layers] :
       {std::pair{"odd", 6}, {"3+5-8", 10}, {"all", 3}, {"none", 3}}) {
    Words& line = lines.emplace_back(Words{option, str(layers)});
    const std::vector<bool> skipped = parse_layers(option, layers, "page");
    for (int layer = 0; layer < layers; ++layer)
      if (skipped[static_cast<size_t>(layer)]) line.push_back(str(layer));
    if (line.size() == 2) line.emplace_back("-");
  }
  CHECK(rows(blocks("self-speculative").at(0)) == lines);
}

TEST_CASE("pages: medusa") {
  TinyNetwork network;
  network.add_heads(2, 1);
  Model model = network.load(Dtype::fp32);
  const auto decoder = make_decoder("medusa", {{"tree", "1x2x2"}, {"ask", "separately"}});
  const Ran ran =
      run(model, network.tokenizer(), *decoder, {open_request("x", {50, 60, 70}, 9)}, 1, true);
  const Trace& trace = trace_of(ran);
  REQUIRE(std::count(trace.step.begin(), trace.step.end(), 1) == 7);
  CHECK(rows(blocks("medusa").at(0)) ==
        table({"p1", "p2", "p3", "root", "a", "b", "ac", "ad", "bc", "bd"}, trace));
}

TEST_CASE("pages: lookahead") {
  TinyNetwork network;
  Model model = network.load(Dtype::fp32);
  const auto decoder =
      make_decoder("lookahead", {{"window", 2}, {"ngram", 3}, {"ask", "separately"}});
  const Ran ran =
      run(model, network.tokenizer(), *decoder, {open_request("x", {50, 60, 70}, 2)}, 1, true);
  const Trace& trace = trace_of(ran);
  REQUIRE(std::count(trace.step.begin(), trace.step.end(), 0) == 7);
  CHECK(rows(blocks("lookahead").at(0)) ==
        table({"p1", "p2", "p3", "a0", "b0", "a1", "b1"}, trace));
}
