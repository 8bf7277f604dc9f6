// APAR's tree: the worked example literally, 1,000 random trees against the paper's rules, and the
// order and newlines of the restored text.
#include <algorithm>
#include <map>
#include <memory>

#include "decoders/apar/format.hpp"
#include "src/support/rng.hpp"
#include "src/support/text.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/decoding.hpp"

using namespace pardec;
using namespace pardec::test;

namespace {

constexpr AparTokens kControl{.fork = 900, .child = 901};
constexpr Token F = 900, C = 901, E = 902;
constexpr AparEnds kEnds{.eos = E, .main_has_eos = true};

/// a0 [Fork] {d0 d1} b0 [Fork] {e0 e1}, then nothing.
ParagraphTree apar_worked_example(Token a0, Token d0, Token d1, Token b0, Token e0, Token e1) {
  ParagraphTree tree;
  tree.node(0).tokens = {a0};
  const auto [b, d] = tree.fork(0);
  tree.node(d).tokens = {d0, d1};
  tree.node(b).tokens = {b0};
  const auto [last, e] = tree.fork(b);
  tree.node(e).tokens = {e0, e1};
  CHECK(tree.node(last).tokens.empty());
  return tree;
}

std::vector<std::string> mask(const AparLayout& layout) {
  std::vector<std::string> rows;
  for (const AparRow& q : layout.rows) {
    std::string& row = rows.emplace_back();
    for (const AparRow& k : layout.rows)
      row += visible(q.label, k.label, layout.segments) ? '1' : '0';
  }
  return rows;
}

// --- The paper's rules without nodes: a thread is its list of tokens, and a fork copies the list
// ---

/// A token of the slow reference: a unique mark, and its id in the vocabulary.
struct Mark {
  int mark;
  Token token;
};
using Path = std::vector<Mark>;

/// Texts with the details that may follow them.
struct Paragraph;
using Paragraphs = std::vector<Paragraph>;
struct Paragraph {
  Tokens text;
  std::shared_ptr<Paragraphs> details;  ///< none: the thread's last paragraph
};

struct SlowTree {
  std::vector<Path> packed;  ///< in packed order, each token as the path that ends with it
  std::vector<std::pair<Path, Token>> targets;
  int marks = 0, threads = 0, deepest = 0;

  Mark mark(Token token) { return {marks++, token}; }

  /// packed(node) = own tokens (+[Fork] if it forks), then [Child]+packed(first_child), then
  /// packed(next_sibling); each thread ends with its own EOS.
  void pack(const Paragraphs& paragraphs, size_t at, Path path, int depth) {
    deepest = std::max(deepest, depth);
    threads += at == 0;
    const auto add = [&](Token token, bool is_target) {
      if (is_target) targets.emplace_back(path, token);
      path.push_back(mark(token));
      packed.push_back(path);
    };
    const Paragraph& own = paragraphs[at];
    for (const Token token : own.text) add(token, true);
    if (!own.details) return add(E, true);
    add(F, true);
    Path child = path;
    child.push_back(mark(C));
    packed.push_back(child);
    pack(*own.details, 0, child, depth + 1);
    pack(paragraphs, at + 1, path, depth);
  }
};

Paragraphs random_paragraphs(Rng& rng, int depth) {
  Paragraphs all;
  const auto forks = depth > 1 ? rng.below(4) : 0;
  for (std::uint64_t i = 0; i <= forks; ++i) {
    Paragraph& own = all.emplace_back();
    for (std::uint64_t n = rng.below(4); n > 0; --n)
      own.text.push_back(static_cast<Token>(rng.below(800)));
    if (i < forks) own.details = std::make_shared<Paragraphs>(random_paragraphs(rng, depth - 1));
  }
  return all;
}

/// The same as nodes. Threads continue in any order, as in decoding.
void grow(ParagraphTree& tree, int node, const Paragraphs& paragraphs, size_t at, bool first) {
  tree.node(node).tokens = paragraphs[at].text;
  if (!paragraphs[at].details) return;
  const auto [next, details] = tree.fork(node);
  const auto go_on = [&, next = next] { grow(tree, next, paragraphs, at + 1, !first); };
  if (first) go_on();
  grow(tree, details, *paragraphs[at].details, 0, !first);
  if (!first) go_on();
}

}  // namespace

TEST_CASE("apar, worked example: packed order, positions, mask and targets") {
  const AparLayout layout = lay_out({1, 2}, apar_worked_example(3, 4, 5, 6, 7, 8), kControl, kEnds);
  Tokens tokens;
  std::vector<int> positions;
  std::vector<std::optional<Token>> targets;
  for (const AparRow& row : layout.rows) {
    tokens.push_back(row.token);
    positions.push_back(row.label.position);
    targets.push_back(row.target);
  }
  CHECK(tokens == Tokens{1, 2, 3, F, C, 4, 5, E, 6, F, C, 7, 8, E, E});
  CHECK(positions == std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7, 4, 5, 6, 7, 8, 9, 6});
  CHECK(mask(layout) ==
        std::vector<std::string>{"100000000000000", "110000000000000", "111000000000000",
                                 "111100000000000", "111110000000000", "111111000000000",
                                 "111111100000000", "111111110000000", "111100001000000",
                                 "111100001100000", "111100001110000", "111100001111000",
                                 "111100001111100", "111100001111110", "111100001100001"});
  const std::vector<std::optional<Token>> expected = {
      std::nullopt, 3, F, 6, 4, 5, E, std::nullopt, F, E, 7, 8, E, std::nullopt, std::nullopt};
  CHECK((targets == expected));
}

TEST_CASE("apar, worked example: restored order, and the sample without ends") {
  const ParagraphTree tree = apar_worked_example(3, 4, 5, 6, 7, 8);
  Tokens restored;
  for (const int node : tree.restore_order())
    restored.insert(restored.end(), tree.node(node).tokens.begin(), tree.node(node).tokens.end());
  CHECK(restored == Tokens{3, 4, 5, 6, 7, 8});
  const TrainingSample sample = apar_sample(lay_out({1, 2}, tree, kControl, kEnds), 2);
  CHECK(sample.tokens == Tokens{1, 2, 3, F, C, 4, 5, 6, F, C, 7, 8});
  const bool taught = sample.targets == std::vector<std::pair<int, Token>>{
                                            {1, 3}, {2, F}, {3, 6}, {4, 4},  {5, 5}, {6, E},
                                            {7, F}, {8, E}, {9, 7}, {10, 8}, {11, E}};
  CHECK(taught);
}

TEST_CASE("apar: 1,000 random trees have the paper's visible rows, positions and targets") {
  Rng rng(31);
  int deep = 0;
  std::int64_t pairs = 0, seen = 0, unrolled_targets = 0;
  for (int round = 0; round < 1000; ++round) {
    Tokens prompt(1 + rng.below(4), 5);
    const Paragraphs paragraphs = random_paragraphs(rng, 3);
    SlowTree slow;
    Path path;
    for (const Token token : prompt) {
      path.push_back(slow.mark(token));
      slow.packed.push_back(path);
    }
    slow.pack(paragraphs, 0, path, 1);
    deep += slow.deepest == 3;

    ParagraphTree tree;
    grow(tree, 0, paragraphs, 0, round % 2 == 0);
    const AparLayout layout = lay_out(prompt, tree, kControl, kEnds);
    INFO("round " << round);
    REQUIRE(layout.rows.size() == slow.packed.size());
    std::string wrong;
    for (size_t i = 0; i < layout.rows.size(); ++i) {
      const Path& own = slow.packed[i];
      if (layout.rows[i].token != own.back().token) wrong = str("token ", i);
      if (layout.rows[i].label.position != std::ssize(own) - 1) wrong = str("position ", i);
      for (size_t j = 0; j < layout.rows.size(); ++j) {
        // Any token attends only to tokens on its path to root.
        const bool should = std::any_of(own.begin(), own.end(), [&](const Mark& m) {
          return m.mark == slow.packed[j].back().mark;
        });
        ++pairs, seen += should;
        if (should != visible(layout.rows[i].label, layout.rows[j].label, layout.segments))
          wrong = str("row ", i, " and key ", j);
      }
    }
    REQUIRE(wrong == "");

    // Every [Fork], text token and EOS is learned exactly once, each after its path, and [Child]
    // never. The plain sequences of the official training learn the same.
    using Lesson = std::pair<Tokens, Token>;
    std::vector<Lesson> should, packed, unrolled;
    for (const auto& [before, target] : slow.targets) {
      Tokens tokens;
      for (const Mark& m : before) tokens.push_back(m.token);
      should.emplace_back(tokens, target);
    }
    const TrainingSample sample = apar_sample(layout, static_cast<int>(prompt.size()));
    for (const auto& [row, target] : sample.targets) {
      const RowLabel& q = sample.labels[static_cast<size_t>(row)];
      Tokens tokens(static_cast<size_t>(q.position) + 1, -1);
      for (size_t k = 0; k < sample.tokens.size(); ++k)
        if (visible(q, sample.labels[k], sample.segments))
          tokens[static_cast<size_t>(sample.labels[k].position)] = sample.tokens[k];
      packed.emplace_back(tokens, target);
    }
    const auto threads = apar_threads(prompt, tree, kControl, kEnds);
    REQUIRE(std::ssize(threads) == slow.threads);
    for (const TrainingSample& thread : threads)
      for (const auto& [row, target] : thread.targets)
        unrolled.emplace_back(Tokens(thread.tokens.begin(), thread.tokens.begin() + row + 1),
                              target);
    for (auto* lessons : {&should, &packed, &unrolled}) std::sort(lessons->begin(), lessons->end());
    REQUIRE((packed == should));
    REQUIRE((unrolled == should));
    unrolled_targets += std::ssize(unrolled);
  }
  CHECK(deep > 200);
  CHECK(seen > 100'000);
  CHECK(pairs > 2 * seen);
  CHECK(unrolled_targets > 20'000);
}

TEST_CASE("apar: the restored text has the newlines that [Fork] replaced") {
  TinyNetwork network;
  const Tokenizer& tokenizer = network.tokenizer();
  const auto text = [&](const std::string& own, const std::string& detail,
                        const std::string& sibling) {
    ParagraphTree tree;
    tree.node(0).tokens = tokenizer.encode(own, false);
    const auto [next, details] = tree.fork(0);
    tree.node(next).tokens = tokenizer.encode(sibling, false);
    tree.node(details).tokens = tokenizer.encode(detail, false);
    const RestoredText restored = restore(tree, tokenizer);
    // Each token ends where its bytes do.
    size_t token = 0;
    for (const int node : tree.restore_order())
      for (const Token id : tree.node(node).tokens) {
        const std::string_view bytes = tokenizer.bytes(id);
        const size_t end = restored.ends.at(token++);
        CHECK(restored.bytes.substr(end - bytes.size(), bytes.size()) == bytes);
      }
    CHECK(token == restored.ends.size());
    return restored.bytes;
  };
  CHECK(text("Sleep:", " rest.", "\n\nEat:") == "Sleep: rest.\n\nEat:");
  CHECK(text("Sleep:", " rest.", "Eat:") == "Sleep: rest.\n\nEat:");
  CHECK(text("Sleep:", " rest.", "\nEat:") == "Sleep: rest.\n\nEat:");
  CHECK(text("Sleep:", " rest.", "\n\n\nEat:") == "Sleep: rest.\n\n\nEat:");
  CHECK(text("1. Sleep:", "rest.", "2. Eat:") == "1. Sleep:\nrest.\n\n2. Eat:");
  CHECK(text("1. Sleep:", "\nrest.", "2. Eat:") == "1. Sleep:\nrest.\n\n2. Eat:");
  CHECK(text("at 1.5 h:", "rest.", "b") == "at 1.5 h:rest.\n\nb");  // no list number
  CHECK(text("end. So:", "rest.", "b") == "end. So:rest.\n\nb");
  CHECK(text("1. Sleep:", "", "") == "1. Sleep:");  // nothing follows from nothing
  CHECK(text("1. Sleep:", "", "2.") == "1. Sleep:\n\n2.");
}

TEST_CASE("apar: in a list of lists each paragraph is repaired by itself") {
  TinyNetwork network;
  const Tokenizer& tokenizer = network.tokenizer();
  ParagraphTree tree;
  const auto set = [&](int node, const std::string& text) {
    tree.node(node).tokens = tokenizer.encode(text, false);
  };
  set(0, "1. a:");
  const auto [two, inner] = tree.fork(0);
  set(two, "2. b");
  const auto [inner_next, leaf] = tree.fork(inner);  // details that fork before they say anything
  set(leaf, "x");
  set(inner_next, "y");
  CHECK(restore(tree, tokenizer).bytes == "1. a:\nx\n\ny\n\n2. b");
}
