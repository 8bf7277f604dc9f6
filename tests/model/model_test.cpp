#include "src/model/model.hpp"

#include <torch/csrc/autograd/autograd.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>

#include "src/model/files/safetensors.hpp"
#include "src/model/network.hpp"
#include "src/model/plain/mask.hpp"
#include "src/support/error.hpp"
#include "src/support/files.hpp"
#include "src/support/rng.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/data.hpp"

using namespace pardec;

namespace {

Json small_config(const char* type = "qwen3") {
  return {{"model_type", type},       {"vocab_size", 97},       {"hidden_size", 32},
          {"intermediate_size", 48},  {"num_hidden_layers", 3}, {"num_attention_heads", 4},
          {"num_key_value_heads", 2}, {"head_dim", 16},         {"max_position_embeddings", 256}};
}

struct Checkpointed {
  test::TemporaryFolder folder;
  explicit Checkpointed(const Json& config = small_config()) {
    synthesise_checkpoint(config, 3, folder.path());
  }
  Model load(Dtype dtype) const { return Model::load(folder.path(), {.dtype = dtype}); }
};

struct Fed {
  std::vector<Token> tokens;
  std::vector<RowLabel> labels;
};
Fed causal(int first, int count, int salt = 0) {
  Fed fed;
  for (int i = first; i < first + count; ++i) {
    fed.tokens.push_back((i * 31 + salt * 7 + 5) % 97);
    fed.labels.push_back({i, i, 0, 0});
  }
  return fed;
}
std::vector<OutputRequest> all_rows(size_t count) {
  std::vector<OutputRequest> outputs;
  for (size_t i = 0; i < count; ++i)
    outputs.push_back({.index = static_cast<int>(i), .logits = true});
  return outputs;
}
std::vector<RowLogits> feed(Model& model, KvCache& cache, const Segments& segments,
                            const Fed& fed) {
  const auto outputs = all_rows(fed.tokens.size());
  const SequenceStep step{&cache, &segments, fed.tokens, fed.labels, outputs};
  return model.forward({&step, 1}).front();
}
float difference(const RowLogits& a, const RowLogits& b) {
  REQUIRE(a.logits.size() == b.logits.size());
  float largest = 0;
  for (size_t i = 0; i < a.logits.size(); ++i)
    largest = std::max(largest, std::abs(a.logits[i] - b.logits[i]));
  return largest;
}

// float32 logits of a float64 network: one rounding of values below 16.
constexpr float kRounding = 16 * 0x1p-24f;

}  // namespace

TEST_CASE("rows alone or packed with other sequences have the same logits") {
  const Checkpointed files;
  const Segments segments;
  for (const Dtype dtype : {Dtype::fp64, Dtype::fp32}) {
    Model model = files.load(dtype);
    std::vector<KvCache> alone, packed;
    for (int i = 0; i < 4; ++i) alone.emplace_back(model), packed.emplace_back(model);
    int at[4] = {0, 0, 0, 0};
    for (int round = 0; round < 4; ++round) {
      std::vector<Fed> fed;
      std::vector<std::vector<OutputRequest>> outputs;
      std::vector<SequenceStep> steps;
      for (int i = 0; i < 4; ++i) {
        const int count = round == 0 ? 5 + 9 * i : (i + round) % 3;  // also nothing at all
        fed.push_back(causal(at[i], count, i));
        outputs.push_back(all_rows(static_cast<size_t>(count)));
        at[i] += count;
      }
      for (size_t i = 0; i < 4; ++i)
        steps.push_back({&packed[i], &segments, fed[i].tokens, fed[i].labels, outputs[i]});
      const auto together = model.forward(steps);
      for (size_t i = 0; i < 4; ++i) {
        const auto single = feed(model, alone[i], segments, fed[i]);
        REQUIRE(single.size() == together[i].size());
        // fp32: sums of up to 48 products in another order, through 3 layers; measured 5e-6.
        for (size_t row = 0; row < single.size(); ++row)
          CHECK(difference(single[row], together[i][row]) <=
                (dtype == Dtype::fp64 ? kRounding : 1e-4f));
      }
    }
  }
}

TEST_CASE(
    "after drop, relabel and fork the logits are those of a fresh forward over the living rows") {
  const Checkpointed files;
  Model model = files.load(Dtype::fp64);
  Segments segments;
  KvCache cache(model);
  // Each row is in its own segment, which sees only the prompt. So its key and value depend on no
  // other row, and a fresh pass over the remaining rows gives the same ones.
  const Fed prompt = causal(0, 6);
  feed(model, cache, segments, prompt);
  Tokens history = prompt.tokens;  // by row
  Rng rng(11);
  int compactions = 0;
  for (int round = 0; round < 60; ++round) {
    Fed fed;
    for (int i = 0; i < 8; ++i) {
      fed.tokens.push_back(static_cast<Token>(rng.below(97)));
      fed.labels.push_back({6 + round, 6 + 8 * round + i, segments.add({0}), 0});
    }
    history.insert(history.end(), fed.tokens.begin(), fed.tokens.end());
    feed(model, cache, segments, fed);
    const int first = cache.rows_fed() - 8;
    const size_t slots = cache.slots().size();
    const int accepted = first + static_cast<int>(rng.below(8));
    std::vector<int> rejected;
    for (int row = first; row < first + 8; ++row)
      if (row != accepted) rejected.push_back(row);
    cache.drop(rejected);
    RowLabel moved = fed.labels[static_cast<size_t>(accepted - first)];
    moved.order += 100;
    cache.relabel(accepted, moved);
    if (round % 3 == 0) {
      std::vector<int> drops;
      for (const KvCache::Slot& slot : cache.slots())
        if (slot.alive && slot.row >= 6 && slot.row < first && rng.below(2) == 0)
          drops.push_back(slot.row);
      cache.drop(drops);
    }
    compactions += cache.slots().size() + 20 < slots;
    CHECK(cache.rows_fed() == 6 + 8 * (round + 1));
    CHECK(std::is_sorted(cache.slots().begin(), cache.slots().end(),
                         [](auto& a, auto& b) { return a.row < b.row; }));
    CHECK(cache.rows_alive() == std::count_if(cache.slots().begin(), cache.slots().end(),
                                              [](auto& s) { return s.alive; }));
    if (round % 10 != 9) continue;

    KvCache copy = cache.fork();
    Fed living;
    for (const KvCache::Slot& slot : cache.slots())
      if (slot.alive) {
        living.tokens.push_back(history[static_cast<size_t>(slot.row)]);
        living.labels.push_back(slot.label);
      }
    std::vector<int> everything(static_cast<size_t>(segments.count()));
    std::iota(everything.begin(), everything.end(), 0);
    const int all = segments.add(everything);
    // The first probe sees every remaining row, the second those of a lower order.
    const Fed probe{{static_cast<Token>(round), 5},
                    {{100, 100000, all, 0}, {101, 6 + 4 * round, all, 0}}};
    const auto got = feed(model, copy, segments, probe);
    KvCache fresh(model);
    feed(model, fresh, segments, living);
    const auto want = feed(model, fresh, segments, probe);
    CHECK(difference(got[0], want[0]) <= kRounding);
    CHECK(difference(got[1], want[1]) <= kRounding);
    CHECK(copy.rows_fed() == cache.rows_fed() + 2);  // the original is unchanged
  }
  CHECK(compactions > 0);
  CHECK(std::ssize(cache.slots()) <= 2 * cache.rows_alive() + 64);
}

TEST_CASE("the cache names rows by arrival and frees memory") {
  const Checkpointed files;
  Model model = files.load(Dtype::fp32);
  const Segments segments;
  KvCache cache(model);
  CHECK(cache.bytes() == 0);
  const auto first = feed(model, cache, segments, causal(0, 10));
  // 3 layers of keys and values, 2 heads, 64 slots (a multiple of it), 16 floats
  CHECK(cache.bytes() == 3 * 2 * 2 * 64 * 16 * 4);
  cache.drop(std::vector<int>{7, 8, 9});
  CHECK(cache.slots().size() == 7);  // the last ones are truncated
  CHECK(cache.rows_fed() == 10);
  const auto again = feed(model, cache, segments, causal(7, 3));
  CHECK(cache.slots().back().row == 12);
  for (size_t i = 0; i < 3; ++i) CHECK(difference(first[7 + i], again[i]) <= 1e-4f);
  CHECK_THROWS_AS(cache.drop(std::vector<int>{8}), std::logic_error);   // dropped before
  CHECK_THROWS_AS(cache.drop(std::vector<int>{99}), std::logic_error);  // never computed
  CHECK_THROWS_AS(cache.relabel(8, {}), std::logic_error);
  CHECK_THROWS_AS(cache.relabel(0, {1, 0, 0, 0}), std::logic_error);  // another position
  CHECK(cache.rows_alive() == 10);
  cache.relabel(0, {0, 50, 0, 0});
  CHECK(cache.slots().front().label.order == 50);
  cache.drop(std::vector<int>{3});
  CHECK(cache.slots().size() == 10);  // in the middle: dropped, but in its place
  CHECK_FALSE(cache.slots()[3].alive);
  cache.drop(std::vector<int>{0, 1, 2, 4, 5, 6, 10, 11, 12});
  CHECK(cache.slots().empty());
}

TEST_CASE("the computed mask equals the visibility rule, bit by bit") {
  Rng rng(5);
  for (int round = 0; round < 200; ++round) {
    Segments segments;
    for (int s = 1; s < 6; ++s) {
      std::vector<int> sees;
      for (int k = 0; k < s; ++k)
        if (rng.below(2)) sees.push_back(k);
      segments.add(sees);
    }
    const std::uint64_t breaks = 1 + rng.below(12);  // one label in this many follows no other
    RowLabel last;
    const auto label = [&] {
      if (rng.below(breaks) > 0)
        ++last.position, ++last.order;
      else
        last = {static_cast<int>(rng.below(30)), static_cast<int>(rng.below(20)),
                static_cast<int>(rng.below(6)), static_cast<int>(rng.below(3))};
      return last;
    };
    std::vector<KvCache::Slot> slots;
    const int count = static_cast<int>(rng.below(120));
    for (int i = 0; i < count; ++i) slots.push_back({i, rng.below(8) > 0, label()});
    std::vector<RowLabel> rows;
    for (int i = 0; i < 1 + static_cast<int>(rng.below(20)); ++i) rows.push_back(label());
    const int window = static_cast<int>(rng.below(3)) * 6;  // 0: none
    const auto inside = [&](const RowLabel& q, const RowLabel& k) {
      return window == 0 || q.position - k.position < window;
    };
    MaskRows mask(slots, rows, segments, window);
    REQUIRE(mask.keys() == std::ssize(slots) + std::ssize(rows));
    std::vector<float> out(static_cast<size_t>(mask.keys()));
    for (size_t q = 0; q < rows.size(); ++q) {
      const auto [seen, end] = mask.write(static_cast<int>(q), out.data());
      std::vector<std::uint32_t> words(out.size() / 32 + 1);
      const auto [seen_bits, end_bits] = mask.write_bits(static_cast<int>(q), words.data());
      int expected_seen = 0, expected_end = 0;
      for (size_t k = 0; k < out.size(); ++k) {
        const bool old = k < slots.size();
        const RowLabel& key = old ? slots[k].label : rows[k - slots.size()];
        const bool want =
            (!old || slots[k].alive) && visible(rows[q], key, segments) && inside(rows[q], key);
        CHECK((out[k] == 0.0f) == want);
        CHECK((words[k / 32] >> k % 32 & 1u) == want);
        expected_seen += want;
        if (want) expected_end = static_cast<int>(k) + 1;
      }
      CHECK(seen == expected_seen);
      CHECK(end == expected_end);
      CHECK(seen_bits == expected_seen);
      CHECK(end_bits == expected_end);
      int bits = 0;
      for (const std::uint32_t word : words) bits += std::popcount(word);
      CHECK(bits == expected_seen);
    }
  }
}

TEST_CASE("a long prefill in chunks agrees with short steps") {
  Json config = small_config("llama");
  config["max_position_embeddings"] = 4096;
  const Checkpointed files(config);
  Model model = files.load(Dtype::fp64);
  const Segments segments;
  // 3000 rows: 3000 * 3000 * 4 heads * 12 bytes of scores are 13 chunks; their masks are too large
  // to be kept.
  const Fed fed = causal(0, 3000);
  KvCache whole(model), pieces(model);
  const std::vector<OutputRequest> last{{.index = 2999, .logits = true}};
  const SequenceStep step{&whole, &segments, fed.tokens, fed.labels, last};
  const RowLogits want = model.forward({&step, 1}).front().front();
  RowLogits got;
  for (int at = 0; at < 3000; at += 500)
    got = feed(model, pieces, segments, causal(at, 500)).back();
  CHECK(difference(want, got) <= kRounding);
}

TEST_CASE("gradients agree with central differences") {
  Json config = small_config();
  config["vocab_size"] = 23;
  config["num_hidden_layers"] = 2;
  for (const bool tied : {false, true}) {
    config["tie_word_embeddings"] = tied;
    const Checkpointed files(config);
    Model model = files.load(Dtype::fp64);
    Segments segments;
    segments.add({0});
    segments.add({0});
    const std::vector<Token> tokens{1, 5, 9, 2, 7, 5, 11, 3};
    const std::vector<RowLabel> labels{{0, 0, 0, 0}, {1, 1, 0, 0}, {2, 2, 0, 0}, {3, 3, 1, 0},
                                       {4, 4, 1, 0}, {3, 3, 2, 1}, {4, 4, 2, 2}, {9, 9, 0, 0}};
    const at::Tensor targets =
        at::tensor(std::vector<std::int64_t>{5, 9, 2, 7, 1, 11, 3, 0}, at::kLong);
    const PackedSequence sequence{tokens, labels, &segments};
    const auto loss = [&] {
      const std::vector<std::int64_t> rows{0, 1, 2, 3, 4, 5, 6, 7};
      const at::Tensor inputs = head_inputs(model.network(), {&sequence, 1}, rows);
      return at::cross_entropy_loss(training_logits(model.network(), inputs), targets);
    };
    std::vector<at::Tensor> leaves;
    for (const auto& [name, weight] : model.network().named_parameters())
      leaves.push_back(weight.requires_grad_(true));
    CHECK(leaves.size() == (tied ? 2 : 3) + 2 * 11);
    const auto gradients = torch::autograd::grad({loss()}, leaves);
    Rng rng(1);
    for (size_t i = 0; i < leaves.size(); ++i) {
      REQUIRE(gradients[i].defined());
      const c10::NoGradGuard no_grad;
      double* value = leaves[i].data_ptr<double>();
      for (int sample = 0; sample < 4; ++sample) {
        const auto at =
            static_cast<std::int64_t>(rng.below(static_cast<std::uint64_t>(leaves[i].numel())));
        const double old = value[at], step = 1e-5;
        value[at] = old + step;
        const double above = loss().item<double>();
        value[at] = old - step;
        const double below = loss().item<double>();
        value[at] = old;
        const double numeric = (above - below) / (2 * step);
        const double exact = gradients[i].contiguous().data_ptr<double>()[at];
        INFO(model.network().named_parameters()[i].first << " element " << at);
        // Rounding of the loss (4 * 2^-53 / 1e-5) and the third derivative (1e-10 times a sharpened
        // network's).
        CHECK(std::abs(numeric - exact) <= 1e-7 * std::max(1.0, std::abs(exact)));
      }
    }
  }
}

TEST_CASE("a network's own forward leaves weights trainable, and needs no gradient") {
  const Checkpointed files;
  Model model = files.load(Dtype::fp32);
  const Segments segments;
  for (const auto& [name, weight] : model.network().named_parameters()) weight.requires_grad_(true);
  KvCache cache(model);
  feed(model, cache, segments, causal(0, 5));
  CHECK_FALSE(cache.storage().keys.front().requires_grad());
  const Fed fed = causal(0, 5);
  CHECK_FALSE(logits(model.network(), fed.tokens, fed.labels, segments).requires_grad());
  const PackedSequence sequence{fed.tokens, fed.labels, &segments};
  CHECK(head_inputs(model.network(), {&sequence, 1}, {0}).requires_grad());
}

TEST_CASE("the top-2 prefers the lower id among equals") {
  const auto top = [](std::vector<float> row, std::vector<Token> banned = {}) {
    const OutputRequest request{.banned = std::move(banned)};
    const OutputRequest* pointer = &request;
    return reduce_logits(at::tensor(row).unsqueeze(0), {&pointer, 1}).front();
  };
  for (const int size : {5, 64, 1000, 50001}) {  // vectorised and split reductions too
    std::vector<float> row(static_cast<size_t>(size), 1.0f);
    CHECK((top(row).best == 0 && top(row).second == 1));
    row[0] = 0;
    CHECK((top(row).best == 1 && top(row).second == 2));
    row.back() = 2;
    CHECK((top(row).best == size - 1 && top(row).second == 1));
    row[2] = 2;
    CHECK((top(row).best == 2 && top(row).second == size - 1));
    CHECK((top(row, {2}).best == size - 1 && top(row, {2}).second == 1));
    CHECK((top(row, {2, size - 1, 1}).best == 3));
  }
  CHECK(top({3, 1, 2}).best_logit == 3.0f);
  CHECK(top({3, 1, 2}).second_logit == 2.0f);
}

TEST_CASE("outputs are those that were asked for, and no others") {
  const Checkpointed files;
  Model model = files.load(Dtype::fp32);
  const Segments segments;
  const Fed fed = causal(0, 6);
  const std::vector<OutputRequest> outputs{
      {.index = 4, .logits = true, .banned = {3}},
      {.index = 1},
      {.index = 4, .sampling = {.temperature = 0.8, .top_k = 5, .top_p = 0.9}},
      {.index = 4, .logits = true},
      {.index = 4, .sampling = {.temperature = 1.0}, .confidence = true},
      {.index = 4, .sampling = {.temperature = 1.0}, .logits = true, .allowed = {7, 90}}};
  KvCache cache(model), other(model);
  const SequenceStep step{&cache, &segments, fed.tokens, fed.labels, outputs};
  const auto rows = model.forward({&step, 1}).front();
  const auto all = feed(model, other, segments, fed);
  REQUIRE(rows.size() == 6);
  const auto& free = rows[3].logits;
  const Token better = free[7] >= free[90] ? 7 : 90;
  CHECK((rows[5].best == better && rows[5].second == 97 - better));
  constexpr float kNear = 1e-5f;  // the same row at another place in the product
  CHECK(std::abs(rows[5].best_logit - free[static_cast<size_t>(better)]) <= kNear);
  CHECK(rows[5].probabilities[7] + rows[5].probabilities[90] == Approx(1.0).epsilon(1e-12));
  Tokens outrank;
  for (Token id = 0; id < 97; ++id) {
    const float logit = free[static_cast<size_t>(id)],
                got = rows[5].logits[static_cast<size_t>(id)];
    if (id == 7 || id == 90) {
      CHECK(std::abs(got - logit) <= kNear);
      continue;
    }
    CHECK(got == -std::numeric_limits<float>::infinity());
    CHECK(std::abs(logit - rows[5].best_logit) > kNear);
    if (logit > rows[5].best_logit) outrank.push_back(id);
  }
  CHECK(!outrank.empty());
  CHECK(rows[5].outrank == outrank);
  CHECK(rows[4].outrank.empty());
  CHECK(rows[4].confidence ==
        Approx(rows[4].probabilities[static_cast<size_t>(rows[4].best)]).epsilon(1e-12));
  CHECK(rows[0].logits[3] == -std::numeric_limits<float>::infinity());
  CHECK(difference(rows[3], all[4]) <= 1e-4f);
  CHECK((rows[1].logits.empty() && rows[1].probabilities.empty() && rows[1].best == all[1].best));
  CHECK((rows[2].logits.empty() && rows[2].probabilities.size() == 97));
  CHECK(rows[2].confidence == 0);
  CHECK(std::accumulate(rows[2].probabilities.begin(), rows[2].probabilities.end(), 0.0) ==
        Approx(1.0).epsilon(1e-12));
  CHECK(std::count_if(rows[2].probabilities.begin(), rows[2].probabilities.end(),
                      [](double p) { return p > 0; }) <= 5);
  CHECK(model.forward({}).empty());
  const SequenceStep nothing{&cache, &segments, {}, {}, {}};
  CHECK(model.forward({&nothing, 1}).front().empty());
  const Fed more = causal(6, 2);
  const SequenceStep silent{&cache, &segments, more.tokens, more.labels, {}};
  CHECK(model.forward({&silent, 1}).front().empty());
  CHECK(cache.rows_alive() == 8);
}

TEST_CASE("a skipped sublayer is one that adds nothing") {
  const Checkpointed files;
  Model model = files.load(Dtype::fp64), without = files.load(Dtype::fp64);
  const SkippedSublayers skipped{{true, false, false}, {false, false, true}};
  {
    const c10::NoGradGuard no_grad;
    auto& layers = without.network().layers;
    layers[0].o.weight = at::zeros_like(layers[0].o.weight);
    layers[2].down.weight = at::zeros_like(layers[2].down.weight);
  }
  const Segments segments;
  KvCache cache(model), other(without);
  for (int at = 0; at < 9; at += 3) {
    const Fed fed = causal(at, 3);
    const auto outputs = all_rows(3);
    const SequenceStep step{&cache, &segments, fed.tokens, fed.labels, outputs};
    const auto got = model.forward({&step, 1}, skipped).front();
    const auto want = feed(without, other, segments, fed);
    const auto whole = [&] {
      KvCache fresh(model);
      return feed(model, fresh, segments, fed);
    }();
    for (size_t row = 0; row < 3; ++row) {
      CHECK(difference(got[row], want[row]) == 0);
      CHECK(difference(got[row], whole[row]) > 0.1f);
    }
  }
  const Fed fed = causal(9, 1);
  const SequenceStep step{&cache, &segments, fed.tokens, fed.labels, {}};
  const SkippedSublayers wrong{{true}, {true}};
  CHECK_THROWS_AS(model.forward({&step, 1}, wrong), std::logic_error);
}

TEST_CASE("retract: rows count as never fed, and their numbers are used again") {
  const Checkpointed files;
  Model model = files.load(Dtype::fp64);
  const Segments segments;
  KvCache cache(model), plain(model);
  feed(model, cache, segments, causal(0, 5));
  feed(model, cache, segments, causal(5, 3, 1));
  const std::vector<int> gone{6};
  cache.drop(gone);
  cache.retract(5);
  CHECK(cache.rows_fed() == 5);
  CHECK(cache.rows_alive() == 5);
  feed(model, plain, segments, causal(0, 5));
  const auto got = feed(model, cache, segments, causal(5, 2)),
             want = feed(model, plain, segments, causal(5, 2));
  for (size_t row = 0; row < 2; ++row) CHECK(difference(got[row], want[row]) == 0);
  CHECK(cache.slots().back().row == 6);
  CHECK_THROWS_AS(cache.retract(8), std::logic_error);
}

TEST_CASE(
    "ids and positions that the network does not have are errors before anything is computed") {
  const Checkpointed files;
  Model model = files.load(Dtype::fp32);
  const Segments segments;
  KvCache cache(model);
  const auto error = [&](Token token, RowLabel label) {
    try {
      feed(model, cache, segments, {{1, token}, {{}, label}});
    } catch (const ModelError& e) {
      return std::string(e.what());
    }
    return std::string("no error");
  };
  CHECK_THAT(error(97, {1, 1, 0, 0}),
             Catch::Contains("token 97 is not in the vocabulary, which has ids 0 to 96"));
  CHECK_THAT(error(-1, {1, 1, 0, 0}), Catch::Contains("token -1 is not in the vocabulary"));
  CHECK_THAT(error(1, {256, 1, 0, 0}),
             Catch::Contains("position 256 is not valid, the model has positions 0 to 255"));
  CHECK_THAT(error(1, {-1, 1, 0, 0}), Catch::Contains("position -1 is not valid"));
  CHECK_THROWS_AS(error(1, {1, 1, 1, 0}), std::logic_error);  // no such segment
  CHECK(cache.rows_fed() == 0);
  CHECK(error(96, {255, 1, 0, 0}) == "no error");
  const Fed fed = causal(0, 1);
  const std::vector<SequenceStep> twice(2, {&cache, &segments, fed.tokens, fed.labels, {}});
  CHECK_THROWS_AS(model.forward(twice), std::logic_error);
}

TEST_CASE("gaps that push a visible row out of a sliding window are an error before any forward") {
  Json config = small_config();
  config.update({{"use_sliding_window", true}, {"sliding_window", 8}, {"max_window_layers", 1}});
  const Checkpointed files(config);
  Model model = files.load(Dtype::fp32);
  Segments segments;
  segments.add({});
  const auto error = [&](const std::vector<RowLabel>& labels) {
    KvCache cache(model);
    const Fed fed{std::vector<Token>(labels.size(), 1), labels};
    std::string cached = "no error", whole = "no error";
    try {
      feed(model, cache, segments, fed);
    } catch (const ModelError& e) {
      cached = e.what();
    }
    CHECK((cached == "no error") == (cache.rows_fed() > 0));
    try {
      logits(model.network(), fed.tokens, fed.labels, segments);
    } catch (const ModelError& e) {
      whole = e.what();
    }
    CHECK(cached == whole);
    return cached;
  };
  CHECK(error(causal(0, 30).labels) == "no error");  // what a window is for
  CHECK(error(causal(50, 30).labels) == "no error");
  std::vector<RowLabel> gap = causal(0, 4).labels;
  gap.push_back({7, 7, 0, 0});
  CHECK(error(gap) == "no error");  // 7 positions back, the window contains all
  gap.push_back({8, 8, 0, 0});
  CHECK_THAT(error(gap), Catch::Contains("the sliding window of 8 positions would hide a row 8 "
                                         "positions back that position 8 is to see, though only 5 "
                                         "rows lie nearer") &&
                             Catch::Contains("use a smaller K_max"));
  gap.back().segment = 1;  // sees only itself: nothing is cut off
  CHECK(error(gap) == "no error");
  std::vector<RowLabel> behind = causal(20, 8).labels;  // a gap out of the window's reach
  behind.insert(behind.begin(), {0, 0, 0, 0});
  CHECK_THAT(error(behind), Catch::Contains("a row 20 positions back that position 20"));
  behind.erase(behind.begin());
  CHECK(error(behind) == "no error");

  KvCache cache(model);  // dropped rows also leave a gap
  feed(model, cache, segments, causal(0, 10));
  cache.drop(std::vector<int>{5});
  CHECK_THROWS_AS(feed(model, cache, segments, causal(10, 1)), ModelError);
  CHECK(cache.rows_fed() == 10);
  cache.drop(std::vector<int>{6, 7, 8, 9});
  CHECK_NOTHROW(feed(model, cache, segments, causal(5, 10)));
}

TEST_CASE("longrope and dynamic end where their frequencies would change") {
  Json config = small_config("llama");
  config["rope_scaling"] = {{"rope_type", "longrope"},
                            {"short_factor", std::vector<double>(8, 1.25)},
                            {"long_factor", std::vector<double>(8, 3.0)},
                            {"original_max_position_embeddings", 64}};
  const auto error_at = [&](int position) {
    const Checkpointed files(config);
    Model model = files.load(Dtype::fp32);
    KvCache cache(model);
    try {
      feed(model, cache, Segments(), {{1}, {{position, 0, 0, 0}}});
    } catch (const ModelError& e) {
      return std::string(e.what());
    }
    return std::string("no error");
  };
  CHECK(error_at(63) == "no error");
  CHECK_THAT(error_at(64),
             Catch::Contains("position 64 is not valid, the model has positions 0 to 63 "
                             "(original_max_position_embeddings, beyond which rope_type longrope "
                             "is not supported)"));
  config["rope_scaling"] = {{"rope_type", "dynamic"}, {"factor", 4}};
  CHECK(error_at(255) == "no error");
  CHECK_THAT(error_at(256), Catch::Contains("positions 0 to 255 (max_position_embeddings)"));
}

TEST_CASE("checkpoints that do not fit their config are errors") {
  const Checkpointed files;
  const auto file = files.folder.path() / "config.json";
  const Json config = read_json(file);
  const auto error = [&](const Json& changes) {
    Json changed = config;
    changed.update(changes);
    write_file(file, changed.dump());
    try {
      files.load(Dtype::fp32);
    } catch (const ModelError& e) {
      const std::string what = e.what();
      CHECK(what.find('\n') == std::string::npos);
      return what;
    }
    return std::string("no error");
  };
  CHECK(error(Json::object()) == "no error");
  CHECK_THAT(error({{"vocab_size", 98}}),
             Catch::Contains("tensor 'model.embed_tokens.weight' has shape [97, 32], expected [98, "
                             "32] from the config"));
  CHECK_THAT(error({{"num_hidden_layers", 4}}),
             Catch::Contains("has no tensor 'model.layers.3.input_layernorm.weight' of shape [32], "
                             "which the config asks for"));
  CHECK(error({{"num_hidden_layers", 2}}) == "no error");  // as in transformers; it is named
  CHECK_THAT(error({{"attention_bias", true}}), Catch::Contains("self_attn.q_proj.bias"));
  CHECK(error({{"tie_word_embeddings", true}}) == "no error");  // it keeps its own head
  synthesise_checkpoint(
      [&] {
        Json tied = config;
        tied["tie_word_embeddings"] = true;
        return tied;
      }(),
      3, files.folder.path());
  CHECK_THAT(
      error({{"tie_word_embeddings", false}}),
      Catch::Contains("has no tensor 'lm_head.weight'") && Catch::Contains("tie_word_embeddings"));
  const auto weights = files.folder.path() / "model.safetensors";
  const auto size = std::filesystem::file_size(weights);
  for (const auto cut : {size - 1, size / 2, std::uintmax_t{300}, std::uintmax_t{8},
                         std::uintmax_t{3}, std::uintmax_t{0}}) {
    std::filesystem::resize_file(weights, cut);
    CHECK(error({{"tie_word_embeddings", true}}) != "no error");
  }
  std::filesystem::remove(weights);
  CHECK_THAT(error(Json::object()), Catch::Contains("has no weights"));
}

TEST_CASE("weights of the file's own type are used in place") {
  const Checkpointed files;
  const Model model = files.load(Dtype::bf16);
  CHECK(model.weight_bytes() == 2 * parameter_count(model.config()));
  CHECK_FALSE(model.network().embedding.storage().resizable());  // borrowed memory
  CHECK(files.load(Dtype::fp32).network().embedding.scalar_type() == at::kFloat);
}

TEST_CASE("options are names") {
  CHECK(parse_dtype("bf16") == Dtype::bf16);
  CHECK(name(Dtype::fp64) == "fp64");
  CHECK_THROWS_WITH(parse_dtype("fp16"), Catch::Contains("dtype 'fp16' is unknown"));
  const Checkpointed files;
  const auto load = [&](const char* device) {
    return Model::load(files.folder.path(), {.device = device});
  };
  CHECK_THROWS_WITH(load("tpu"),
                    Catch::Contains("device 'tpu': is unknown; expected cpu, cuda or cuda:i"));
  CHECK_THROWS_WITH(load("cuda:"), Catch::Contains("is unknown"));
  if (!at::hasCUDA()) CHECK_THROWS_WITH(load("cuda"), Catch::Contains("this libtorch is CPU-only"));
}
