// Caches that share rows, compared with twins that copy them. After any operation they give the
// same logits, bit by bit if the network is packed.
#include <algorithm>
#include <set>

#include "src/model/network.hpp"
#include "src/support/rng.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/data.hpp"

using namespace pardec;

namespace {

Json config_of(const char* type, int window = 0) {
  Json config{
      {"model_type", type},       {"vocab_size", 97},       {"hidden_size", 32},
      {"intermediate_size", 48},  {"num_hidden_layers", 3}, {"num_attention_heads", 4},
      {"num_key_value_heads", 2}, {"head_dim", 16},         {"max_position_embeddings", 4096}};
  if (window > 0) {
    config["use_sliding_window"] = true;
    config["sliding_window"] = window;
    config["layer_types"] = {"full_attention", "sliding_attention", "full_attention"};
  }
  return config;
}

struct Rows {
  Tokens tokens;
  std::vector<RowLabel> labels;
  std::vector<OutputRequest> outputs;
};

struct Twin {
  KvCache shared, copied;
  Segments segments;
  int next = 0;  // position
};

bool same_rows(const Twin& twin) {
  const auto alive = [](const KvCache& cache) {
    std::vector<KvCache::Slot> rows;
    for (const KvCache::Slot& slot : cache.slots())
      if (slot.alive) rows.push_back(slot);
    return rows;
  };
  const auto a = alive(twin.shared), b = alive(twin.copied);
  return twin.shared.rows_fed() == twin.copied.rows_fed() &&
         std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& x, const auto& y) {
           return x.row == y.row && x.label == y.label;
         });
}

/// The same row in each slot, since caches pack their living rows at different times.
bool same_places(const Twin& twin) {
  const auto a = twin.shared.slots(), b = twin.copied.slots();
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const auto& x, const auto& y) { return x.row == y.row; });
}

class Twins {
 public:
  Twins(const Json& config, Dtype dtype, std::uint64_t seed) : rng_(seed) {
    synthesise_checkpoint(config, 3, folder_.path());
    model_.emplace(Model::load(folder_.path(), {.dtype = dtype}));
    exact_ = dtype == Dtype::bf16;
    slides_ = model_->config().sliding_window > 0;
    twins_.push_back({KvCache(*model_), KvCache(*model_), {}, 0});
  }

  void run(int rounds) {
    for (int round = 0; round < rounds; ++round) {
      feed();
      change(twins_[rng_.below(twins_.size())]);
      if (twins_.size() < 6) {
        Twin& from = twins_[rng_.below(twins_.size())];
        Twin fork{from.shared.share(), from.copied.fork(), from.segments, from.next};
        twins_.push_back(std::move(fork));
      } else if (rng_.below(3) == 0) {
        twins_.erase(twins_.begin() + static_cast<std::ptrdiff_t>(rng_.below(twins_.size())));
      }
      for (const Twin& twin : twins_) {
        REQUIRE(same_rows(twin));
        seen_shared += !twin.shared.shared().empty();
        deepest = std::max(deepest, twin.shared.shared().size());
      }
    }
  }

  int compared = 0, seen_shared = 0;
  size_t deepest = 0;

 private:
  Rows new_rows(Twin& twin) {
    Rows rows;
    const auto count = rng_.below(5) == 0 ? rng_.below(70) : rng_.below(4);
    // A window must not meet gaps, so there is only one thread.
    const int segment = slides_ || rng_.below(3) > 0 ? 0 : twin.segments.add({0});
    for (std::uint64_t i = 0; i < count; ++i) {
      rows.tokens.push_back(static_cast<Token>(rng_.below(97)));
      rows.labels.push_back({twin.next, twin.next, segment, 0});
      rows.outputs.push_back({.index = static_cast<int>(i), .logits = true});
      ++twin.next;
    }
    return rows;
  }

  /// New rows for most of them in one pass.
  void feed() {
    std::vector<Rows> rows;
    std::vector<SequenceStep> shared, copied;
    for (Twin& twin : twins_) rows.push_back(new_rows(twin));
    for (size_t i = 0; i < twins_.size(); ++i) {
      Twin& twin = twins_[i];
      shared.push_back(
          {&twin.shared, &twin.segments, rows[i].tokens, rows[i].labels, rows[i].outputs});
      copied.push_back(
          {&twin.copied, &twin.segments, rows[i].tokens, rows[i].labels, rows[i].outputs});
    }
    // Sums over keys in other blocks have other bits; in bf16 the difference is small.
    std::vector<bool> comparable;
    for (const Twin& twin : twins_) comparable.push_back(!exact_ || same_places(twin));
    const auto got = model_->forward(shared), want = model_->forward(copied);
    for (size_t i = 0; i < got.size(); ++i)
      for (size_t row = 0; comparable[i] && row < got[i].size(); ++row, ++compared) {
        float largest = 0;
        for (size_t j = 0; j < 97; ++j)
          largest = std::max(largest, std::abs(got[i][row].logits[j] - want[i][row].logits[j]));
        // One rounding of values below 16 to float32, where the network is in float64.
        REQUIRE(largest <= (exact_ ? 0.0f : 16 * 0x1p-24f));
      }
  }

  void change(Twin& twin) {
    const auto both = [&](auto&& change) { change(twin.shared), change(twin.copied); };
    std::vector<int> some;
    for (const KvCache::Slot& slot : twin.copied.slots())
      if (slot.alive && rng_.below(3) == 0) some.push_back(slot.row);
    const int from =
        static_cast<int>(rng_.below(static_cast<std::uint64_t>(twin.copied.rows_fed()) + 1));
    switch (slides_ ? 3 + rng_.below(3) : rng_.below(8)) {
      case 0:
        return both([&](KvCache& cache) { cache.drop(some); });
      case 1: {  // like a step that keeps some of its rows
        std::vector<int> others;
        for (const KvCache::Slot& slot : twin.copied.slots())
          if (slot.alive && slot.row >= from &&
              !std::binary_search(some.begin(), some.end(), slot.row))
            others.push_back(slot.row);
        return both([&](KvCache& cache) { cache.drop(others); });
      }
      case 2:
        if (rng_.below(4) == 0) both([&](KvCache& cache) { cache.evict(); });
        return;
      case 3:
        if (twin.next != twin.copied.rows_fed()) return;  // some rows have returned
        twin.next = from;
        return both([&](KvCache& cache) { cache.retract(from); });
      default:
        return;
    }
  }

  test::TemporaryFolder folder_;
  std::optional<Model> model_;
  bool exact_ = false, slides_ = false;
  Rng rng_;
  std::vector<Twin> twins_;
};

}  // namespace

TEST_CASE("caches that share rows have the logits of caches that copy them") {
  for (const Dtype dtype : {Dtype::fp64, Dtype::bf16})
    for (const Json& config : {config_of("llama"), config_of("qwen3", 40)})
      for (std::uint64_t seed = 1; seed <= 6; ++seed) {
        INFO(name(dtype) << ", seed " << seed);
        Twins twins(config, dtype, seed);
        twins.run(40);
        CHECK(twins.compared > 500);
        CHECK(twins.seen_shared > 20);
        CHECK(twins.deepest >= 2);
      }
}

TEST_CASE("many new rows after shared ones, too many for one product") {
  test::TemporaryFolder folder;
  synthesise_checkpoint(config_of("llama"), 3, folder.path());
  for (const Dtype dtype : {Dtype::fp64, Dtype::bf16}) {
    Model model = Model::load(folder.path(), {.dtype = dtype});
    const Segments segments;
    const auto rows = [](int first, int count) {
      Rows fed;
      for (int i = first; i < first + count; ++i) {
        fed.tokens.push_back((i * 31 + 5) % 97);
        fed.labels.push_back({i, i, 0, 0});
      }
      fed.outputs.push_back({.index = count - 1, .logits = true});
      return fed;
    };
    const auto feed = [&](KvCache& cache, const Rows& fed) {
      const SequenceStep step{&cache, &segments, fed.tokens, fed.labels, fed.outputs};
      return model.forward({&step, 1}).front().front().logits;
    };
    KvCache base(model);
    feed(base, rows(0, 2010));
    KvCache copied = base.fork(), shared = base.share();
    REQUIRE(shared.shared().size() == 1);
    CHECK(shared.shared().front().slots == 2010 / 32 * 32);
    CHECK(shared.shared().front().memory == base.shared().front().memory);
    const auto got = feed(shared, rows(2010, 400)), want = feed(copied, rows(2010, 400));
    for (size_t i = 0; i < got.size(); ++i)
      CHECK(std::abs(got[i] - want[i]) <= (dtype == Dtype::bf16 ? 0.0f : 16 * 0x1p-24f));
  }
}

TEST_CASE("shared rows are stored once") {
  test::TemporaryFolder folder;
  synthesise_checkpoint(config_of("llama"), 3, folder.path());
  Model model = Model::load(folder.path(), {.dtype = Dtype::fp32});
  const Segments segments;
  KvCache base(model);
  Rows fed;
  for (int i = 0; i < 100; ++i) {
    fed.tokens.push_back(i % 97);
    fed.labels.push_back({i, i, 0, 0});
  }
  const SequenceStep step{&base, &segments, fed.tokens, fed.labels, {}};
  model.forward({&step, 1});
  std::vector<KvCache> forks;
  for (int i = 0; i < 5; ++i) forks.push_back(base.share());
  std::set<const void*> memory;
  for (const KvCache& fork : forks)
    for (const KvCache::Shared& shared : fork.shared()) memory.insert(shared.memory);
  CHECK(memory.size() == 1);
  // 96 rows are shared, in the 128 slots in which they were written; 4 of 64 slots belong to each
  // one.
  const std::int64_t row = 3 * 2 * 2 * 16 * 4;  // layers, keys and values, heads, floats
  CHECK(forks.front().bytes() == (128 + 64) * row);
}
