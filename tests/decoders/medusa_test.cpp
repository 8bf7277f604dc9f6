// Medusa: trees of guesses, alone and in the threads of apar. Greedy ids are those of the same
// decoder without guesses, whatever is guessed. Guesses and accepted paths are those of a slow
// implementation of the paper. Also masks, ends, counts and distributions.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "decoders/medusa/tree.hpp"
#include "src/model/files/parameters.hpp"
#include "src/support/error.hpp"
#include "src/support/files.hpp"
#include "src/support/text.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/decoding.hpp"
#include "tests/support/medusa_reference.hpp"
#include "tests/support/outcomes.hpp"

using namespace pardec;
using namespace pardec::test;

namespace {

// fp32: a pass over several rows sums in another order than one over a single row, which moves
// logits by some 5e-6 (measured in tests/model). Choices with a gap below ten times that may
// change.
constexpr float kTie = 5e-5f;

constexpr int kFew = 14;  // ids: so few that random heads are often right

/// A random network of few ids with random heads, the last id ending a sequence.
struct Guessing {
  explicit Guessing(const std::string& family, std::uint64_t seed, Json changes = Json::object(),
                    const Tokens& loud = {})
      : network(family, seed, changed(std::move(changes)), loud) {
    network.add_heads(4, 1 + static_cast<int>(seed % 2), seed, /*share_head=*/seed % 3 == 0);
  }
  static Json changed(Json changes) {
    Json all = {{"vocab_size", kFew}, {"eos_token_id", kFew - 1}, {"hidden_size", 32}};
    all.update(changes);
    return all;
  }
  TinyNetwork network;
};

/// A network whose next token depends only on the last one, and whose head h guesses the true token
/// h places ahead at a given rank.
class Chain {
 public:
  static constexpr int kIds = 64;
  /// `next[x]` follows x. `ranks[h - 1]`: the rank at which head h guesses the truth.
  Chain(const Tokens& next, const std::vector<int>& ranks, std::vector<Token> eos) : next_(next) {
    write_file(folder_.path() / "config.json", Json{{"model_type", "llama"},
                                                    {"vocab_size", kIds},
                                                    {"hidden_size", kIds},
                                                    {"intermediate_size", 4},
                                                    {"num_hidden_layers", 1},
                                                    {"num_attention_heads", 4},
                                                    {"num_key_value_heads", 2},
                                                    {"head_dim", 16},
                                                    {"max_position_embeddings", 256},
                                                    {"eos_token_id", eos},
                                                    {"tie_word_embeddings", false}}
                                                   .dump());
    const std::string layer = "model.layers.0.";
    std::vector<WholeTensor> tensors{{"model.embed_tokens.weight", {kIds, kIds}},
                                     {layer + "input_layernorm.weight", {kIds}},
                                     {layer + "self_attn.q_proj.weight", {64, kIds}},
                                     {layer + "self_attn.k_proj.weight", {32, kIds}},
                                     {layer + "self_attn.v_proj.weight", {32, kIds}},
                                     {layer + "self_attn.o_proj.weight", {kIds, 64}},
                                     {layer + "post_attention_layernorm.weight", {kIds}},
                                     {layer + "mlp.gate_proj.weight", {4, kIds}},
                                     {layer + "mlp.up_proj.weight", {4, kIds}},
                                     {layer + "mlp.down_proj.weight", {kIds, 4}},
                                     {"model.norm.weight", {kIds}},
                                     {"lm_head.weight", {kIds, kIds}}};
    write_bf16(folder_.path() / "model.safetensors", tensors,
               [&](const std::string& name, std::int64_t at) {
                 const auto row = static_cast<Token>(at / kIds),
                            column = static_cast<Token>(at % kIds);
                 if (name.ends_with("norm.weight")) return 1.f;
                 if (name.starts_with("model.embed")) return row == column ? 1.f : 0.f;
                 if (name.starts_with("lm_head")) return row == after(column, 1) ? 1.f : 0.f;
                 return 0.f;
               });
    std::vector<WholeTensor> heads;
    for (size_t h = 0; h < ranks.size(); ++h) heads.push_back({str(h, ".0.weight"), {kIds, kIds}});
    write_bf16(folder_.path() / "medusa_heads.safetensors", heads,
               [&](const std::string& name, std::int64_t at) {
                 const auto row = static_cast<Token>(at / kIds),
                            column = static_cast<Token>(at % kIds);
                 const int h = name[0] - '0' + 1;
                 // `rank` of the ids that follow the true one in the order of ids come before it.
                 const int further = (row - after(column, 1 + h) + kIds) % kIds;
                 const int rank = ranks[static_cast<size_t>(h) - 1];
                 if (further > rank) return 0.f;
                 return 1.f + static_cast<float>(further) / 64;
               });
  }

  Model load() const { return Model::load(folder_.path(), {.dtype = Dtype::fp32}); }
  Token after(Token x, int steps) const {
    for (; steps > 0; --steps) x = next_[static_cast<size_t>(x)];
    return x;
  }
  /// The `count` tokens that follow x.
  Tokens text_after(Token x, int count) const {
    Tokens text;
    for (int i = 1; i <= count; ++i) text.push_back(after(x, i));
    return text;
  }

 private:
  Tokens next_;
  TemporaryFolder folder_;
};

/// Every id follows every other in one round.
Tokens one_round() {
  Tokens next(Chain::kIds);
  for (Token x = 0; x < Chain::kIds; ++x) next[static_cast<size_t>(x)] = (x + 27) % Chain::kIds;
  return next;
}

std::int64_t sum(const std::vector<std::int64_t>& counts) {
  return std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
}

Tokens random_ids(Rng& rng, int count, int ids) {
  Tokens tokens;
  for (int i = 0; i < count; ++i)
    tokens.push_back(static_cast<Token>(rng.below(static_cast<std::uint64_t>(ids))));
  return tokens;
}

std::unique_ptr<Decoder> medusa(const std::string& tree, Json options = Json::object()) {
  options["tree"] = tree;
  if (!options.contains("ask")) options["ask"] = "separately";
  return make_decoder("medusa", options);
}

/// Of its nodes, in their order.
std::vector<RankPath> paths_of(const MedusaTree& tree) {
  std::vector<RankPath> paths;
  for (const auto& node : tree.nodes) {
    RankPath path{node.rank};
    for (int a = node.parent; a >= 0; a = tree.nodes[static_cast<size_t>(a)].parent)
      path.insert(path.begin(), tree.nodes[static_cast<size_t>(a)].rank);
    CHECK(std::ssize(path) == node.depth);
    paths.push_back(path);
  }
  return paths;
}

const std::vector<std::pair<std::string, std::vector<RankPath>>>& trees() {
  static const std::vector<std::pair<std::string, std::vector<RankPath>>> kTrees{
      {"1x7x6", dense_paths({7, 6})},
      {"sparse", sparse_paths()},
      {"1x2x2x2x2", dense_paths({2, 2, 2, 2})},
      {"1x1", dense_paths({1})},
      {"1x5x1x3", dense_paths({5, 1, 3})},
      {"1x3x2.0.1x1", {{0}, {1}, {2}, {0, 0}, {0, 1}, {2, 0}, {0, 0, 0}, {0, 1, 0}, {2, 0, 0}}},
      {"1x2x1.0x2", {{0}, {1}, {0, 0}, {0, 0, 0}, {0, 0, 1}}}};
  return kTrees;
}

/// Properties of any answer of one stream.
void check_counters(const Answers& answers) {
  const Counters& c = answers.counters;
  std::int64_t emitted = 0, forwards = 0;
  for (const auto& [tokens, count] : c.emitted) emitted += tokens * count, forwards += count;
  CHECK(emitted == c.chosen);
  CHECK(forwards == c.forwards);
  CHECK(c.forced == 0);
  REQUIRE(c.drafted.size() == c.accepted.size());
  for (size_t i = 0; i < c.drafted.size(); ++i) CHECK(c.accepted[i] <= c.drafted[i]);
  // Each pass gave its accepted guesses and one more token; only the last may end with a guess.
  const std::int64_t own = c.chosen - sum(c.accepted);
  CHECK((own == c.forwards ||
         (own == c.forwards - 1 && answers.stop != Stop::limit && answers.stop != Stop::context)));
  CHECK(c.fed == c.prompt + (c.forwards - 1) + c.scratch + sum(c.accepted));
}

}  // namespace

// --- Trees ---

TEST_CASE(
    "medusa: APAR's dense tree has 50 nodes and 42 paths, the sparse one 63 nodes after the root") {
  const MedusaTree dense = parse_medusa_tree("1x7x6", "t");
  CHECK(dense.nodes.size() + 1 == 50);
  std::set<int> inner{-1};
  for (const auto& node : dense.nodes) inner.insert(node.parent);
  CHECK(dense.nodes.size() + 1 - inner.size() == 42);
  CHECK(dense.depth() == 2);
  CHECK(dense.width(1) == 7);
  CHECK(dense.width(2) == 6);
  const MedusaTree sparse = parse_medusa_tree("sparse", "t");
  CHECK(sparse.nodes.size() == 63);
  CHECK(sparse.depth() == 4);
  CHECK(sparse.width(1) == 10);
  CHECK(sparse.width(2) == 10);
  CHECK(sparse.width(3) == 10);
  CHECK(sparse.width(4) == 2);
  CHECK(MedusaTree{}.depth() == 0);
}

TEST_CASE("medusa: the paths of trees are those of their description, in order") {
  for (const auto& [name, paths] : trees()) {
    const MedusaTree tree = parse_medusa_tree(name, "t");
    INFO(name);
    CHECK(tree.name == name);
    CHECK(paths_of(tree) == paths);
  }
}

TEST_CASE("medusa: the most likely tree consists of the most likely paths") {
  Rng rng(5);
  for (int round = 0; round < 40; ++round) {
    const int heads = 1 + static_cast<int>(rng.below(4)),
              width = 2 + static_cast<int>(rng.below(4));
    std::vector<std::vector<double>> ranks(static_cast<size_t>(heads));
    for (auto& of_head : ranks) {
      for (int rank = 0; rank < width; ++rank) of_head.push_back(rng.uniform());
      std::sort(of_head.rbegin(), of_head.rend());
    }
    std::vector<std::pair<double, RankPath>> all;  // each path, as often right as all guesses on it
    std::vector<std::pair<double, RankPath>> level{{1, {}}};
    for (int head = 0; head < heads; ++head) {
      std::vector<std::pair<double, RankPath>> deeper;
      for (const auto& [right, path] : level)
        for (int rank = 0; rank < width; ++rank) {
          RankPath longer = path;
          longer.push_back(rank);
          deeper.emplace_back(right * ranks[static_cast<size_t>(head)][static_cast<size_t>(rank)],
                              longer);
        }
      all.insert(all.end(), deeper.begin(), deeper.end());
      level = std::move(deeper);
    }
    std::sort(all.begin(), all.end(),
              [](const auto& a, const auto& b) { return a.first > b.first; });
    const auto most = std::min<size_t>(all.size(), 1 + rng.below(40));
    double tokens = 1;
    std::set<RankPath> likeliest;
    for (size_t i = 0; i < most; ++i) tokens += all[i].first, likeliest.insert(all[i].second);
    const ExpectedTree best = likeliest_tree(ranks, static_cast<int>(most));
    INFO(best.tree.name);
    CHECK(std::abs(best.tokens_per_pass - tokens) < 1e-9);
    const auto paths = paths_of(best.tree);
    CHECK(std::set<RankPath>(paths.begin(), paths.end()) == likeliest);
    CHECK(parse_medusa_tree(best.tree.name, "t").nodes == best.tree.nodes);
  }
  CHECK(likeliest_tree({}, 64).tree.nodes.empty());
  const std::vector<std::vector<double>> never{{0.5, 0}, {0}};
  CHECK(likeliest_tree(never, 64).tree.name == "1x1");
  CHECK(likeliest_tree(never, 64).tokens_per_pass == 1.5);
  // A rank that happened to be right less often than the next one hides no better rank.
  const std::vector<std::vector<double>> gap{{0.5, 0.2, 0, 0.1}}, late{{0.5, 0.01, 0.3}, {0.1}};
  CHECK(likeliest_tree(gap, 16).tree.name == "1x4");
  CHECK(std::abs(likeliest_tree(gap, 16).tokens_per_pass - 1.8) < 1e-12);
  CHECK(likeliest_tree(late, 3).tree.name == "1x3");
  CHECK(std::abs(likeliest_tree(late, 3).tokens_per_pass - 1.81) < 1e-12);
}

TEST_CASE("medusa: options, and missing heads") {
  CHECK(make_decoder("medusa", Json::object())->options().dump() ==
        R"({"ask":"together","stack":1,"tree":"1x7x6","acceptance":"typical"})");
  for (const char* bad :
       {"", "1", "7x6", "1x0", "1x", "1x7x", "dense", "1x7,6", "1x2000", "1x-1", "1x32x32",
        "1x99999999999", "1x2.1", "1x2x1.", "1x2x1.1.1", "1x2x0.0", "1x2x1,1", "1x2x1.-1"})
    CHECK_THROWS_WITH(
        make_decoder("medusa", {{"tree", bad}}),
        Catch::Contains(str("medusa.tree is '", bad, "'")) && Catch::Contains("1x7x6"));
  CHECK_THROWS_WITH(make_decoder("apar", {{"medusa", "7x6"}}), Catch::Contains("apar.medusa is"));
  CHECK_THROWS_WITH(make_decoder("medusa", {{"acceptance", "some"}}), Catch::Contains("'some'"));

  TinyNetwork none("llama", 1), some("llama", 1, {{"vocab_size", 8}});
  some.add_heads(2, 1);
  const SteadyClock clock;
  Model without = none.load(Dtype::fp32), with = some.load(Dtype::fp32);
  Engine engine(without, clock), guessing(with, clock);
  CHECK(without.config().extra_heads == 0);
  CHECK(with.config().extra_heads == 2);
  CHECK(with.weight_bytes() < without.weight_bytes());  // fewer ids; heads are not counted
  CHECK_THROWS_WITH(
      medusa("1x7x6")->check({engine, nullptr}),
      Catch::Contains("medusa.tree=1x7x6 needs 2 extra heads") && Catch::Contains("has 0"));
  medusa("1x7x6")->check({guessing, nullptr});
  CHECK_THROWS_WITH(medusa("1x2x2x2")->check({guessing, nullptr}), Catch::Contains("needs 3"));
  CHECK_THROWS_WITH(medusa("1x7x9")->check({guessing, nullptr}), Catch::Contains("8 ids"));
  const auto apar = make_decoder("apar", {{"medusa", "1x2x2x2"}});
  CHECK_THROWS_WITH(apar->check({guessing, nullptr}), Catch::Contains("apar.medusa=1x2x2x2"));
}

/// For a network of whose weights only the files are made.
static Json small_config() {
  return {{"model_type", "llama"},    {"vocab_size", 8},
          {"hidden_size", 16},        {"intermediate_size", 8},
          {"num_hidden_layers", 1},   {"num_attention_heads", 1},
          {"num_key_value_heads", 1}, {"max_position_embeddings", 64}};
}

TEST_CASE("medusa: a wrong file of heads is an error that says where") {
  const auto refused = [](const std::vector<WholeTensor>& tensors, const std::string& what) {
    TemporaryFolder folder;
    synthesise_checkpoint(small_config(), 1, folder.path());
    write_bf16(folder.path() / "medusa_heads.safetensors", tensors,
               [](const std::string&, std::int64_t) { return 0.5f; });
    INFO(what);
    if (what.empty())
      CHECK(Model::load(folder.path(), {}).config().extra_heads == 2);
    else
      CHECK_THROWS_WITH(Model::load(folder.path(), {}),
                        Catch::Contains("medusa_heads.safetensors") && Catch::Contains(what));
  };
  const WholeTensor w{"0.0.linear.weight", {16, 16}}, b{"0.0.linear.bias", {16}},
      o{"0.1.weight", {8, 16}}, w1{"1.0.linear.weight", {16, 16}}, b1{"1.0.linear.bias", {16}},
      o1{"1.1.weight", {8, 16}};
  refused({w, b, o, w1, b1, o1}, "");
  refused({{"0.0.weight", {8, 16}}, {"1.0.weight", {8, 16}}}, "");  // no residual block
  refused({w, b, w1, b1}, "");                                      // on the network's own head
  refused({w, b, o, w1, b1}, "no tensor '1.1.weight' of shape [8, 16]");
  refused({w, b, w1, b1, o1}, "has tensor '1.1.weight'");
  refused({w, b, w1}, "no tensor '1.0.linear.bias'");
  refused({b, w1, b1}, "no tensor '0.0.weight'");
  refused({w, b, o, o1}, "no tensor '1.0.linear.weight'");
  refused({w, b, {"0.1.weight", {9, 16}}}, "has shape [9, 16], expected [8, 16]");
  refused({w, b, o, {"extra", {2}}}, "has tensor 'extra'");
  refused({{"1.0.weight", {8, 16}}}, "no tensor of a head 0");
}

TEST_CASE("synthesised heads are loaded, and depend on their seed") {
  TemporaryFolder folder;
  synthesise_checkpoint(small_config(), 1, folder.path());
  std::vector<std::string> bytes;
  for (const std::uint64_t seed : {1, 1, 2}) {
    synthesise_extra_heads({.heads = 3, .blocks = 2}, seed, folder.path());
    bytes.push_back(read_file(folder.path() / "medusa_heads.safetensors"));
    CHECK(Model::load(folder.path(), {}).config().extra_heads == 3);
  }
  CHECK(bytes[0] == bytes[1]);
  CHECK(bytes[0] != bytes[2]);
}

// --- Verdicts ---

namespace {

RowLogits row_with(Token best, std::vector<double> probabilities = {}) {
  RowLogits row;
  row.best = best;
  row.probabilities = std::move(probabilities);
  return row;
}

Tokens tokens_of(const TreeVerdict& verdict) {
  Tokens tokens;
  for (const Choice& choice : verdict.choices) tokens.push_back(choice.token);
  return tokens;
}

}  // namespace

TEST_CASE("medusa: the path that agrees with the network, and one more token") {
  // root: 5 or 6; after each: 7 or 8.
  const MedusaTree tree = parse_medusa_tree("1x2x2", "t");
  const Tokens tokens{5, 6, 7, 8, 7, 8};
  SeededChance unused(1);
  const auto verdict = [&](std::vector<Token> best) {
    std::vector<RowLogits> rows;
    for (const Token token : best) rows.push_back(row_with(token));
    return accept_exact(tree, tokens, rows, unused);
  };
  CHECK(tokens_of(verdict({6, 0, 8, 1, 2, 3, 4})) == Tokens{6, 8, 4});
  CHECK(verdict({6, 0, 8, 1, 2, 3, 4}).nodes == std::vector<int>{1, 5});
  CHECK(tokens_of(verdict({5, 7, 8, 1, 2, 3, 4})) == Tokens{5, 7, 1});
  CHECK(tokens_of(verdict({5, 9, 8, 1, 2, 3, 4})) == Tokens{5, 9});
  CHECK(tokens_of(verdict({7, 7, 8, 1, 2, 3, 4})) == Tokens{7});
  CHECK(tokens_of(accept_exact(tree, {}, std::vector{row_with(5)}, unused)) == Tokens{5});
  // Forced: only the coins decide, along the best guesses.
  struct Coins final : Chance {
    explicit Coins(std::vector<bool> given) : sides(std::move(given)) {}
    Token draw(const std::vector<double>&) override { return 0; }
    bool happens(double) override { return sides.at(at++); }
    std::vector<bool> sides;
    size_t at = 0;
  };
  std::vector<RowLogits> rows;
  for (const Token token : {9, 9, 8, 1, 2, 3, 4}) rows.push_back(row_with(token));
  Coins both({true, true}), one({true, false});
  const TreeVerdict deep = accept_exact(tree, tokens, rows, unused, {AcceptanceLaw{{0.5}}, both});
  CHECK(tokens_of(deep) == Tokens{5, 7, 1});
  CHECK(deep.choices[0].unforced == 9);
  CHECK(tokens_of(accept_exact(tree, tokens, rows, unused, {AcceptanceLaw{{0.5}}, one})) ==
        Tokens{5, 9});
}

TEST_CASE("medusa: typical acceptance, by its formula") {
  const MedusaTree tree = parse_medusa_tree("1x2x2", "t");
  SeededChance chance(1);
  // H = 1.1422, 0.3 exp(-H) = 0.0957: the limit is 0.09.
  const std::vector<double> p{.5, .3, .15, .05};
  const std::vector<double> sure{0, 0, 0, 1};  // H = 0: the limit is 0.09
  const auto verdict = [&](const Tokens& tokens, const std::vector<std::vector<double>>& rows) {
    std::vector<RowLogits> all;
    for (const auto& row : rows) all.push_back(row_with(0, row));
    return accept_typical(tree, tokens, all, chance);
  };
  // Guess 3 (.05) is refused, guess 2 (.15) is good; after it 1 is good.
  const TreeVerdict second = verdict({3, 2, 0, 1, 3, 1}, {p, sure, p, sure, sure, sure, sure});
  CHECK(second.nodes == std::vector<int>{1, 5});
  CHECK(tokens_of(second) == Tokens{2, 1, 3});
  // The longest wins, though the first guess is more likely; of two equally long ones the first.
  CHECK(verdict({0, 1, 2, 1, 0, 1}, {p, sure, p, sure, sure, sure, sure}).nodes ==
        std::vector<int>{1, 4});
  CHECK(verdict({0, 1, 2, 1, 0, 1}, {p, p, p, sure, sure, sure, sure}).nodes ==
        std::vector<int>{0, 2});
  CHECK(verdict({3, 3, 2, 1, 0, 1}, {p, p, p, p, p, p, p}).nodes.empty());
  // A flat distribution over 100 ids: 0.3 exp(-ln 100) = 0.003 is below 0.01.
  const std::vector<double> flat(100, 0.01);
  CHECK(verdict({50, 51, 60, 61, 60, 61}, std::vector(7, flat)).nodes == std::vector<int>{0, 2});
  // .08 is below 0.09, and 0.3 exp(-H) of it: H = 0.2788 -> 0.227.
  CHECK(verdict({1, 1, 0, 0, 0, 0}, std::vector(7, std::vector<double>{.92, .08})).nodes.empty());
}

// --- Decoding ---

TEST_CASE("medusa, worked example: rows, positions, mask and what is kept") {
  // 1 -> 28 -> 55 -> 18 -> 45 -> 8 -> 35 ...; both heads have the truth as their second guess.
  const Chain chain(one_round(), {1, 1}, {});
  const Tokens truth = chain.text_after(1, 9);
  REQUIRE(truth == Tokens{28, 55, 18, 45, 8, 35, 62, 25, 52});
  Model model = chain.load();
  const TinyNetwork bytes;
  const Ran ran =
      run(model, bytes.tokenizer(), *medusa("1x2x2"), {open_request("r", {0, 1}, 7)}, 1, true);
  CHECK(ran.of().tokens == Tokens{28, 55, 18, 45, 8, 35, 62});
  const Trace& trace = ran.traces.at("r/0/0");
  // Head 1 guesses 56, 55 after 28, head 2 guesses 19, 18 after each.
  CHECK(trace.tokens == Tokens{0, 1, 28, 56, 55, 19, 18, 19, 18,  //
                               45, 9, 8, 36, 35, 36, 35});
  CHECK(trace.position == std::vector<int>{0, 1, 2, 3, 3, 4, 4, 4, 4, 5, 6, 6, 7, 7, 7, 7});
  CHECK(trace.step == std::vector<int>{0, 0, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2});
  const auto mask = [&](size_t row) {
    std::string text(trace.tokens.size(), '0');
    for (const int key : trace.visible[row]) text[static_cast<size_t>(key)] = '1';
    return text;
  };
  std::vector<std::string> rows;
  for (size_t row = 0; row < trace.tokens.size(); ++row) rows.push_back(mask(row));
  CHECK(rows == std::vector<std::string>{"1000000000000000", "1100000000000000",  // the prompt
                                         "1110000000000000",                      // 28
                                         "1111000000000000", "1110100000000000",  // 56, 55
                                         "1111010000000000",
                                         "1111001000000000",                      // 19, 18 after 56
                                         "1110100100000000", "1110100010000000",  // and after 55
                                         "1110100011000000",  // 45: sees 28 55 18
                                         "1110100011100000", "1110100011010000",  //
                                         "1110100011101000", "1110100011100100",  //
                                         "1110100011010010", "1110100011010001"});
  const std::vector<std::optional<int>> dropped = {{}, {}, {}, 1,  {}, 1, 1, 1,
                                                   {}, {}, 2,  {}, 2,  2, 2, {}};
  CHECK((trace.dropped_at == dropped));
  CHECK(trace.emitted == std::vector<int>{1, 2, 4, 8, 9, 11, 15});
  for (const size_t row : {2, 9}) CHECK(trace.from[row] == static_cast<int>(row == 2 ? 1 : 8));
  for (const size_t row : {3, 4, 8, 15}) CHECK(!trace.from[row]);
  const Counters& c = ran.of().counters;
  CHECK(c.forwards == 3);
  CHECK(c.emitted == std::map<std::int64_t, std::int64_t>{{1, 1}, {3, 2}});
  CHECK(c.drafted == std::vector<std::int64_t>{2, 2});
  CHECK(c.accepted == std::vector<std::int64_t>{2, 2});
  CHECK(c.scratch == 8);
  CHECK(c.fed == 16);
}

TEST_CASE("medusa: good guesses save forwards to the formula, wrong ones cost none") {
  const TinyNetwork bytes;
  struct Case {
    std::string tree;
    std::vector<int> ranks;  // of the truth
    int right;               // consecutive guesses that the tree contains
  };
  for (const Case& one :
       {Case{"1x7x6", {0, 0}, 2}, Case{"1x7x6", {6, 5}, 2}, Case{"1x7x6", {7, 0}, 0},
        Case{"1x7x6", {2, 6}, 1}, Case{"sparse", {0, 0, 0, 1}, 4}, Case{"sparse", {0, 0, 0, 2}, 3},
        Case{"sparse", {1, 0, 1, 0}, 3}, Case{"sparse", {9, 0, 0, 0}, 2},
        Case{"sparse", {9, 1, 0, 0}, 1}, Case{"sparse", {10, 0, 0, 0}, 0},
        Case{"1x1x1x1x1", {0, 0, 0, 0}, 4}, Case{"1x2", {0, 0}, 1}}) {
    const Chain chain(one_round(), one.ranks, {});
    Model model = chain.load();
    for (const int n : {1, 2, 3, 17, 31, 40}) {
      const Answers answers =
          run(model, bytes.tokenizer(), *medusa(one.tree), {open_request("r", {7, 3}, n)}).of();
      INFO(one.tree << ", truth at " << one.ranks[0] << ", " << n << " tokens");
      CHECK(answers.tokens == chain.text_after(3, n));
      // The prompt's pass gives one token, any other the right guesses and one more.
      CHECK(answers.counters.forwards == 1 + (n - 1 + one.right) / (one.right + 1));
      if (one.right == 0) CHECK(sum(answers.counters.accepted) == 0);
      if (one.right == 0 && n > 2) CHECK(sum(answers.counters.drafted) > 0);
      check_counters(answers);
    }
  }
}

TEST_CASE("medusa equals its paper: guesses and accepted paths of every pass, on plain lists") {
  int accepted = 0, deep = 0;
  for (const char* family : {"llama", "qwen3"}) {
    Guessing guessing(family, 5, {{"eos_token_id", Json::array()}});
    Model model = guessing.network.load(Dtype::fp64);
    Rng rng(3);
    for (const auto& [name, paths] : trees())
      for (int round = 0; round < 3; ++round) {
        const int limit = 8 + 4 * round;
        const Tokens prompt = random_ids(rng, 1 + 2 * round, kFew);
        const SlowMedusa slow = slow_medusa(guessing.network.slow(), prompt, paths, limit);
        const Ran ran = run(model, guessing.network.tokenizer(), *medusa(name),
                            {open_request("r", prompt, limit)}, 1, true);
        INFO(family << " " << name << " round " << round);
        CHECK(ran.of().tokens == slow.tokens);
        std::vector<int> given(static_cast<size_t>(ran.of().counters.forwards));
        const Trace& trace = ran.traces.at("r/0/0");
        for (const int row : trace.emitted)
          ++given[static_cast<size_t>(trace.step[static_cast<size_t>(row)])];
        std::vector<int> want{1};
        for (const int a : slow.accepted) want.push_back(a + 1), accepted += a, deep += a > 1;
        CHECK(given == want);
        CHECK(sum(ran.of().counters.drafted) ==
              std::accumulate(slow.deepest.begin(), slow.deepest.end(), 0));
        CHECK(sum(ran.of().counters.accepted) ==
              std::accumulate(slow.accepted.begin(), slow.accepted.end(), 0));
      }
  }
  CHECK(accepted > 50);
  CHECK(deep > 10);
}

TEST_CASE("medusa: greedy ids, ends and texts are those of ar") {
  std::map<Stop, int> stops, inside;
  std::int64_t saved = 0;
  for (const char* family : {"llama", "qwen3"})
    for (const bool few : {true, false}) {
      const Json changes = {{"max_position_embeddings", few ? 40 : 160}};
      Json eos = Json::array();
      for (int id = 20; id < 32; ++id) eos.push_back(id);
      std::optional<Guessing> small;
      std::optional<TinyNetwork> large;
      if (few) {
        small.emplace(family, 6, changes);
      } else {
        Json more = changes;
        more["eos_token_id"] = eos;
        large.emplace(family, 14, more);
        large->add_heads(4, 1);
      }
      const TinyNetwork& network = few ? small->network : *large;
      Model model = network.load(Dtype::fp32);
      for (const bool together : {false, true}) {
        if (together && few) continue;  // JSON needs the tokenizer's ids
        const Json asking = {{"ask", together ? "together" : "separately"}, {"stack", 1}};
        const auto ar = make_decoder("ar", asking);
        std::vector<Request> requests;
        Rng rng(8);
        for (int i = 0; few && i < 24; ++i)
          requests.push_back(open_request(str("open", i),
                                          random_ids(rng, 1 + static_cast<int>(rng.below(38)), 14),
                                          1 + static_cast<int>(rng.below(40))));
        if (few) requests.push_back(open_request("full", random_ids(rng, 40, 14), 9));
        for (int i = 0; !few && i < 6; ++i) {
          Job job = random_job(str("job", i), 1, 1 + i % 3, static_cast<std::uint64_t>(i));
          job.limits = {.max_new_tokens = 14, .per_field = 3 + i};
          requests.push_back(make_request(job, *ar, network.tokenizer()));
        }
        const Ran want = run(model, network.tokenizer(), *ar, requests, 4);
        std::vector<std::string> names{"1x90x2"};
        if (few) {
          names.clear();
          for (const auto& [name, paths] : trees()) names.push_back(name);
        }
        for (const std::string& tree : names) {
          const auto decoder = medusa(tree, asking);
          const Ran got = run(model, network.tokenizer(), *decoder, requests, 3);
          for (size_t i = 0; i < requests.size(); ++i) {
            INFO(family << " " << tree << " " << asking.dump() << " " << requests[i].job.id);
            REQUIRE(want.errors[i] == "");
            REQUIRE(got.errors[i] == "");
            const Answers &a = want.of(i), &b = got.of(i);
            if (smallest_gap(a) < kTie) continue;
            CHECK(chosen_ids(b) == chosen_ids(a));
            CHECK(b.text == a.text);
            CHECK(b.stop == a.stop);
            CHECK(b.parsed == a.parsed);
            for (size_t f = 0; f < flat(a).size(); ++f) {
              CHECK(flat(b)[f].stop == flat(a)[f].stop);
              CHECK(flat(b)[f].text == flat(a)[f].text);
              CHECK(flat(b)[f].unforced.empty());
            }
            CHECK(b.counters.forwards <= a.counters.forwards);
            CHECK(b.counters.text == a.counters.text);
            if (flat(a).size() == 1 || together) check_counters(b);
            saved += a.counters.forwards - b.counters.forwards;
            if (!few) continue;
            ++stops[b.stop];
            if (b.counters.emitted.rbegin()->first > 1) ++inside[b.stop];
          }
        }
      }
    }
  for (const Stop stop : {Stop::eos, Stop::limit, Stop::context}) {
    INFO(name(stop));
    CHECK(stops[stop] > 15);
    CHECK(inside[stop] > 8);
  }
  CHECK(saved > 300);
}

namespace {

/// Visible rows and positions by the definition: a token of the text attends to the text before it.
/// A guess attends to the text through the root, to the guesses before it on its path, and to
/// itself, one position after the guess before it. Returns the number of passes with guesses.
int check_tree_masks(const Trace& trace, int prompt, const std::vector<RankPath>& paths) {
  int passes = 0;
  std::vector<int> text;  // rows so far, in order
  const int rows = static_cast<int>(trace.tokens.size());
  for (int first = 0; first < rows;) {
    int end = first;
    while (end < rows &&
           trace.step[static_cast<size_t>(end)] == trace.step[static_cast<size_t>(first)])
      ++end;
    const auto is = [&](int row, int position, std::vector<int> keys) {
      keys.push_back(row);
      std::sort(keys.begin(), keys.end());
      CHECK(trace.visible[static_cast<size_t>(row)] == keys);
      CHECK(trace.position[static_cast<size_t>(row)] == position);
    };
    int row = first;
    for (const int pending = first == 0 ? prompt : 1; row < first + pending; ++row) {
      is(row, static_cast<int>(text.size()), text);
      text.push_back(row);
    }
    const int root = static_cast<int>(text.size()) - 1;
    std::map<RankPath, int> at;  // rows of the guesses
    for (; row < end; ++row) {
      const RankPath& path = paths.at(static_cast<size_t>(row - first - 1));
      std::vector<int> keys = text;
      for (size_t d = 1; d < path.size(); ++d)
        keys.push_back(at.at(RankPath(path.begin(), path.begin() + static_cast<long>(d))));
      is(row, root + static_cast<int>(path.size()), keys);
      at[path] = row;
      // A guess of one head at one rank, at any place of the tree.
      for (const auto& [other, r] : at)
        if (other.size() == path.size() && other.back() == path.back())
          CHECK(trace.tokens[static_cast<size_t>(r)] == trace.tokens[static_cast<size_t>(row)]);
    }
    passes += !at.empty();
    for (int r = text.back() + 1; r < end; ++r)
      if (!trace.dropped_at[static_cast<size_t>(r)]) text.push_back(r);
    first = end;
  }
  return passes;
}

}  // namespace

TEST_CASE("medusa: visible rows on a thousand passes") {
  Guessing guessing("llama", 7, {{"num_hidden_layers", 1}, {"eos_token_id", Json::array()}});
  Model model = guessing.network.load(Dtype::fp32);
  Rng rng(12);
  int passes = 0;
  for (int round = 0; passes < 1000; ++round) {
    REQUIRE(round < 200);
    const auto& [name, paths] = trees()[static_cast<size_t>(round) % trees().size()];
    const int prompt = 1 + static_cast<int>(rng.below(9));
    const Ran ran = run(model, guessing.network.tokenizer(), *medusa(name),
                        {open_request("r", random_ids(rng, prompt, kFew), 30)}, 1, true);
    INFO(name << " round " << round);
    passes += check_tree_masks(ran.traces.at("r/0/0"), prompt, paths);
  }
}

TEST_CASE("medusa: replay by a transformer of naive loops, refused guesses included") {
  for (const char* family : {"llama", "qwen3"}) {
    Guessing guessing(family, 9);
    Model model = guessing.network.load(Dtype::fp32);
    Rng rng(2);
    std::vector<Request> requests;
    for (int i = 0; i < 3; ++i)
      requests.push_back(open_request(str("r", i), random_ids(rng, 3 + 7 * i, kFew - 1), 14));
    for (const auto& [name, paths] : trees()) {
      const Ran ran = run(model, guessing.network.tokenizer(), *medusa(name), requests, 2, true);
      INFO(family << " " << name);
      REQUIRE(ran.traces.size() == 3);
      for (const auto& [sequence, trace] : ran.traces) {
        const Replay again = replay(guessing.network.slow(), trace, 5e-4);
        CHECK(again.wrong == std::vector<std::string>{});
        const Answers& answers = ran.of(static_cast<size_t>(trace.request[1] - '0'));
        REQUIRE(again.top.size() == answers.tokens.size());
        for (size_t t = 0; t < again.top.size(); ++t) {
          CHECK(again.top[t].best == answers.tokens[t]);
          CHECK(std::abs(again.top[t].gap() - answers.gaps[t]) < 1e-3);
        }
        for (size_t row = 0; row < trace.tokens.size(); ++row)
          CHECK(std::ssize(trace.visible[row]) == trace.position[row] + 1);
        CHECK(std::ssize(trace.tokens) == answers.counters.fed);
      }
    }
  }
}

TEST_CASE("medusa: alone or packed, under a cache budget or not, answers and counts are the same") {
  Guessing guessing("llama", 10, Json::object(), {9, 9, 9, 9});
  Model model = guessing.network.load(Dtype::fp64);
  const Json forks = {{"fork_token", 9},
                      {"child_token", 10},
                      {"ask", "separately"},
                      {"max_depth", 0},
                      {"medusa", "1x4x3"}};
  std::int64_t accepted = 0;
  for (const bool apar : {false, true})
    for (const double temperature : {0.0, 0.9})
      for (const char* acceptance : {"typical", "exact"}) {
        if (apar && std::string(acceptance) == "typical") continue;
        const auto decoder =
            apar ? make_decoder("apar", forks) : medusa("1x4x3", {{"acceptance", acceptance}});
        std::vector<Request> requests;
        Rng rng(9);
        for (int i = 0; i < 9; ++i)
          requests.push_back(open_request(
              str("r", i), random_ids(rng, 2 + 3 * i, kFew - 1), 3 + (i * 7) % 17,
              {.temperature = temperature, .top_k = 9}, static_cast<std::uint64_t>(i)));
        const Ran alone = run(model, guessing.network.tokenizer(), *decoder, requests);
        std::int64_t widest = 0;
        for (size_t i = 0; i < requests.size(); ++i) {
          REQUIRE(alone.errors[i] == "");
          widest = std::max(widest, (alone.of(i).counters.cached_peak + 15) / 16);
          accepted += sum(alone.of(i).counters.accepted);
        }
        const auto same = [&](const Ran& packed) {
          for (size_t i = 0; i < requests.size(); ++i) {
            INFO(decoder->name() << " " << acceptance << " " << temperature << " request " << i);
            REQUIRE(packed.errors[i] == "");
            CHECK(chosen_ids(packed.of(i)) == chosen_ids(alone.of(i)));
            CHECK(packed.of(i).text == alone.of(i).text);
            CHECK(packed.of(i).stop == alone.of(i).stop);
            OrderedJson a = to_json(alone.of(i).counters), b = to_json(packed.of(i).counters);
            for (OrderedJson* cost : {&a, &b})
              for (const char* time :
                   {"prefill_ns", "decode_ns", "total_ns", "first_token_ns", "draft_ns"})
                cost->erase(time);
            CHECK(b == a);
          }
        };
        for (const int live : {2, 9})
          same(run(model, guessing.network.tokenizer(), *decoder, requests, live));
        const Ran tight = run(model, guessing.network.tokenizer(), *decoder, requests, 9, false,
                              {.blocks = widest + 2, .watermark = 0.0});
        CHECK(tight.cache.peak_blocks <= widest + 2);
        same(tight);
      }
  CHECK(accepted > 100);
}

TEST_CASE(
    "medusa: exact acceptance has ar's joint distribution of three tokens, typical acceptance does "
    "not") {
  TinyNetwork network("llama", 3, {{"vocab_size", 4}, {"eos_token_id", 3}});
  network.add_heads(2, 1);
  Model model = network.load(Dtype::fp64);
  const auto ar = make_decoder("ar", {{"ask", "separately"}});
  const auto law = [&](const Decoder& decoder, const Request& request) {
    return law_of<Tokens>([&](Chance& chance) {
      return run(model, network.tokenizer(), decoder, {request}, 1, false, {}, nullptr, &chance)
          .of()
          .tokens;
    });
  };
  for (const Sampling& sampling :
       {Sampling{.temperature = 3.0}, Sampling{.temperature = 2.0, .top_k = 3, .top_p = 0.9}}) {
    const Request request = open_request("r", {0, 1, 2, 0}, 3, sampling);
    const auto want = law(*ar, request);
    CHECK(want.size() > 8);
    for (const char* tree : {"1x2x2", "1x4x4", "1x1"})
      CHECK(total_variation(law(*medusa(tree, {{"acceptance", "exact"}}), request), want) < 1e-12);
    CHECK(total_variation(law(*medusa("1x4x4"), request), want) > 0.05);
  }
}

TEST_CASE(
    "medusa, oracle accept:A: the number of forwards is that of the coins and of the formula") {
  Guessing guessing("llama", 40, {{"eos_token_id", Json::array()}});
  Model model = guessing.network.load(Dtype::fp32);
  for (const auto& [tree, H] :
       std::vector<std::pair<std::string, int>>{{"1x7x6", 2}, {"sparse", 4}})
    for (const double rate : {0.0, 0.5, 0.8, 1.0}) {
      constexpr int kTokens = 41;
      std::vector<Request> requests;
      for (int i = 0; i < 6; ++i) {
        requests.push_back(open_request(str("r", i), {9, 8, static_cast<Token>(i)}, kTokens, {},
                                        static_cast<std::uint64_t>(i)));
        requests.back().acceptance = AcceptanceLaw{{rate}};
      }
      const Ran ran = run(model, guessing.network.tokenizer(), *medusa(tree), requests, 4);
      double in_full = 0, full = 0;
      for (size_t i = 0; i < requests.size(); ++i) {
        SeededChance coins(derive_seed(requests[i].job.seed, "accept"));
        int emitted = 1, forwards = 1;
        while (emitted < kTokens) {
          const int guesses = std::min(H, kTokens - emitted - 1);
          int kept = 0;
          while (kept < guesses && coins.happens(rate)) ++kept;
          emitted += kept + 1;
          ++forwards;
          if (guesses == H) in_full += kept + 1, ++full;
        }
        INFO(tree << " rate " << rate << " request " << i);
        CHECK(ran.of(i).counters.forwards == forwards);
        CHECK(std::ssize(ran.of(i).tokens) == kTokens);
        CHECK(flat(ran.of(i))[0].unforced.size() == kTokens);
        if (rate == 0) CHECK(ran.of(i).counters.forwards == kTokens);
        if (rate == 1) CHECK(ran.of(i).counters.forwards == 1 + (kTokens - 1 + H) / (H + 1));
        check_counters(ran.of(i));
      }
      const double expected = rate == 1 ? H + 1 : (1 - std::pow(rate, H + 1)) / (1 - rate);
      const double sigma = (H + 1) / 2.0 / std::sqrt(full);
      CHECK(std::abs(in_full / full - expected) <= 4 * sigma * (rate > 0 && rate < 1));
    }
}

// --- In the threads of apar ---

TEST_CASE("medusa-apar, worked example: acceptance ends at [Fork], [Child] guesses from its row") {
  // u a0 [F] b0 E; [C] d0 d1 E. Guesses are right along the chain.
  constexpr Token F = 40, C = 41, E = 0, u = 11, a0 = 21, b0 = 22, d0 = 23, d1 = 24;
  Tokens next = one_round();
  for (const auto& [x, y] :
       {std::pair{u, a0}, {a0, F}, {F, b0}, {b0, E}, {C, d0}, {d0, d1}, {d1, E}})
    next[static_cast<size_t>(x)] = y;
  const Chain chain(next, {0, 0}, {E});
  const Token x = chain.after(E, 1);
  Model model = chain.load();
  const TinyNetwork bytes;
  const auto decode = [&](const char* tree) {
    return run(
        model, bytes.tokenizer(),
        *make_decoder(
            "apar",
            {{"ask", "separately"}, {"fork_token", F}, {"child_token", C}, {"medusa", tree}}),
        {open_request("r", {u}, 50)}, 1, true);
  };
  const Ran plain = decode("none"), ran = decode("1x1x1");
  CHECK(plain.of().tokens == Tokens{a0, F, b0, E, d0, d1, E});
  CHECK(plain.of().counters.forwards == 6);
  CHECK(plain.of().counters.drafted.empty());
  const Trace& trace = ran.traces.at("r/0/0");
  CHECK(ran.of().tokens == Tokens{a0, F, b0, E, d0, d1, E});
  CHECK(ran.of().text == plain.of().text);
  CHECK(ran.of().stop == Stop::eos);
  CHECK(trace.tokens == Tokens{u,                  //
                               a0, F, b0,          // [F] is accepted, and b0 after it is not
                               b0, E, x, C, E, x,  // [C]: guesses of [F]'s row
                               d0, d1, E});
  CHECK(trace.position == std::vector<int>{0, 1, 2, 3, 3, 4, 5, 3, 4, 5, 4, 5, 6});
  CHECK(trace.step == std::vector<int>{0, 1, 1, 1, 2, 2, 2, 2, 2, 2, 3, 3, 3});
  using Rows = std::vector<int>;
  CHECK(trace.visible[3] == Rows{0, 1, 2, 3});
  CHECK(trace.visible[4] == Rows{0, 1, 2, 4});
  CHECK(trace.visible[6] == Rows{0, 1, 2, 4, 5, 6});
  CHECK(trace.visible[7] == Rows{0, 1, 2, 7});
  CHECK(trace.visible[9] == Rows{0, 1, 2, 7, 8, 9});
  CHECK(trace.visible[12] == Rows{0, 1, 2, 7, 10, 11, 12});
  CHECK(trace.emitted == Rows{0, 1, 2, 4, 7, 10, 11});
  CHECK(trace.dropped_at[3] == 1);
  for (const size_t row : {4, 5, 6, 8, 9}) CHECK(trace.dropped_at[row] == 2);
  for (const size_t row : {0, 1, 2}) CHECK(!trace.dropped_at[row]);
  const Counters& c = ran.of().counters;
  CHECK(c.forwards == 4);
  CHECK(c.forced == 1);
  CHECK(c.chosen == 7);
  CHECK(c.emitted == std::map<std::int64_t, std::int64_t>{{1, 1}, {2, 3}});
  CHECK(c.branch_lengths == std::vector<std::int64_t>{4, 3});
  CHECK(c.drafted == std::vector<std::int64_t>{4, 4});
  CHECK(c.accepted == std::vector<std::int64_t>{3, 1});
  CHECK(c.scratch == 4);
}

TEST_CASE("medusa-apar: if the limit cuts neither, texts and threads are those of apar") {
  constexpr Token F = 9, C = 10;
  std::int64_t forks = 0, saved = 0, accepted = 0, chains = 0, cut = 0;
  std::set<Stop> stops;
  for (const char* family : {"llama", "qwen3"}) {
    Guessing guessing(family, 11, {{"max_position_embeddings", 44}}, {F, F});
    Model model = guessing.network.load(Dtype::fp64);
    Rng rng(4);
    for (int round = 0; round < 27; ++round) {
      Json options = {{"ask", "separately"},    {"fork_token", F},  {"child_token", C},
                      {"max_depth", round % 3}, {"max_threads", 0}, {"max_total", 0}};
      // Deep trees of a network that forks often grow fast.
      const int limit = round % 3 == 0 ? 60 : 1000;
      const Request request =
          open_request("r", random_ids(rng, 2 + round % 4 * 9, kFew - 1), limit);
      const Ran plain = run(model, guessing.network.tokenizer(), *make_decoder("apar", options),
                            {request}, 1, true);
      for (const auto& [tree, paths] : trees()) {
        options["medusa"] = tree;
        const Ran ran = run(model, guessing.network.tokenizer(), *make_decoder("apar", options),
                            {request}, 1, true);
        INFO(family << " round " << round << " " << tree);
        REQUIRE(ran.errors[0] == "");
        const Answers &a = plain.of(), &b = ran.of();
        stops.insert(b.stop);
        if (a.counters.chosen == limit || b.counters.chosen == limit) {  // in another order
          CHECK(a.counters.chosen == b.counters.chosen);
          CHECK(b.stop != Stop::eos);
          ++cut;
          continue;
        }
        CHECK(b.text == a.text);
        CHECK(b.stop == a.stop);
        const auto sorted = [](auto values) {
          std::sort(values.begin(), values.end());
          return values;
        };
        CHECK(sorted(b.tokens) == sorted(a.tokens));
        CHECK(sorted(b.counters.branch_lengths) == sorted(a.counters.branch_lengths));
        CHECK(b.counters.forced == a.counters.forced);
        CHECK(b.counters.text == a.counters.text);
        CHECK(b.counters.text_attended == a.counters.text_attended);
        CHECK(b.counters.forwards <= a.counters.forwards);
        std::int64_t emitted = 0;
        for (const auto& [tokens, count] : b.counters.emitted) emitted += tokens * count;
        CHECK(emitted == b.counters.chosen);
        saved += a.counters.forwards - b.counters.forwards;
        accepted += sum(b.counters.accepted);
        forks += std::ssize(b.counters.branch_lengths) - 1;
        // A row attends to one chain of rows, one at each position: that of the row before it, and
        // itself. Its choice is the one that a plain text of these tokens gives.
        const Trace& trace = ran.traces.at("r/0/0");
        for (size_t row = 0; row < trace.tokens.size(); ++row) {
          std::vector<int> before = trace.visible[row];
          std::erase(before, static_cast<int>(row));
          REQUIRE(std::ssize(before) == trace.position[row]);
          if (before.empty()) continue;
          const auto last = *std::max_element(before.begin(), before.end(), [&](int p, int q) {
            return trace.position[static_cast<size_t>(p)] < trace.position[static_cast<size_t>(q)];
          });
          CHECK(trace.visible[static_cast<size_t>(last)] == before);
          CHECK(trace.position[static_cast<size_t>(last)] == trace.position[row] - 1);
          ++chains;
        }
        if (round < 4) {
          const Replay again = replay(guessing.network.slow(), trace, 2e-4);
          CHECK(again.wrong == std::vector<std::string>{});
        }
      }
    }
  }
  CHECK(forks > 200);
  CHECK(saved > 200);
  CHECK(accepted > 400);
  CHECK(chains > 1000);
  CHECK(cut > 10);
  CHECK(stops.size() > 1);
}

TEST_CASE("medusa-apar: bans and caps also apply after guesses") {
  constexpr Token F = 9, C = 10;
  Guessing guessing("llama", 12, {{"eos_token_id", Json::array()}}, {F, F, F, C, C, C});
  Model model = guessing.network.load(Dtype::fp64);
  std::int64_t accepted = 0;
  int most = 0;
  for (const int cap : {0, 3})
    for (std::uint64_t seed = 0; seed < 6; ++seed) {
      Rng rng(seed);
      const Ran ran = run(model, guessing.network.tokenizer(),
                          *make_decoder("apar", {{"ask", "separately"},
                                                 {"fork_token", F},
                                                 {"child_token", C},
                                                 {"max_depth", 0},
                                                 {"max_threads", cap},
                                                 {"medusa", "1x6x5"}}),
                          {open_request("r", random_ids(rng, 5, 9), 60)}, 1, true);
      const Trace& trace = ran.traces.at("r/0/0");
      INFO("cap " << cap << " seed " << seed);
      accepted += sum(ran.of().counters.accepted);
      CHECK(std::find(ran.of().tokens.begin(), ran.of().tokens.end(), C) == ran.of().tokens.end());
      // No head guesses [Child]: it is only ever computed where a thread begins.
      CHECK(std::count(trace.tokens.begin(), trace.tokens.end(), C) == ran.of().counters.forced);
      std::map<int, int> threads;  // by step: last tokens that were computed
      for (size_t row = 0; row < trace.tokens.size(); ++row) {
        const auto& banned = trace.banned[row];
        const bool control = trace.tokens[row] == F || trace.tokens[row] == C;
        if (!trace.predicts[row]) continue;
        CHECK(std::find(banned.begin(), banned.end(), C) != banned.end());
        if (control) CHECK(std::find(banned.begin(), banned.end(), F) != banned.end());
        threads[trace.step[row]] += trace.from[row] || trace.tokens[row] == C;
      }
      for (const auto& [step, live] : threads) {
        most = std::max(most, live);
        if (cap > 0) CHECK(live <= cap);
      }
    }
  CHECK(most > 5);
  CHECK(accepted > 20);
}

TEST_CASE("medusa-apar: a recording of another order is refused") {
  CHECK_THAT(make_decoder("apar", {{"medusa", "1x2"}})->why_not_forced("recorded"),
             Catch::Contains("another order") && Catch::Contains("apar.medusa"));
  CHECK(make_decoder("apar", Json::object())->why_not_forced("recorded").empty());
}
