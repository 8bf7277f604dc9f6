#pragma once
// A random sequence of forward passes, computed in three ways: with recordings, without recordings,
// and with libtorch's operations only.
#include <functional>
#include <memory>
#include <vector>

#include "src/model/cuda/cuda_backend.hpp"
#include "src/model/plain/plain_backend.hpp"
#include "src/support/rng.hpp"
#include "tests/support/catch.hpp"

namespace pardec::test {

constexpr int kVocabulary = 97;

/// The config of a small network. If `window` > 0, its second layer has a sliding window of this
/// size.
inline Json history_config(int window) {
  Json config{{"model_type", "qwen3"},
              {"vocab_size", kVocabulary},
              {"hidden_size", 32},
              {"intermediate_size", 48},
              {"num_hidden_layers", 2},
              {"num_attention_heads", 6},
              {"num_key_value_heads", 2},
              {"head_dim", 16},
              {"max_position_embeddings", 4096}};
  if (window > 0)
    config.update({{"use_sliding_window", true},
                   {"sliding_window", window},
                   {"layer_types", {"full_attention", "sliding_attention"}}});
  return config;
}

/// The three ways: with recordings, without recordings, and with libtorch's operations only.
enum Way { replayed, launched, torch_alone, kWays };

/// One sequence, with one cache per way.
struct Branch {
  std::vector<KvCache> caches;
  Segments segments;
};

/// The rows that one step computes for a branch.
struct FedBranch {
  Branch* branch;
  Tokens tokens;
  std::vector<RowLabel> labels;
  std::vector<OutputRequest> outputs;
  std::vector<HiddenRows> hidden{kWays};  ///< results, by way
};

/// The largest difference between the logits of two results. A NaN counts as a difference of 1e9.
inline double difference(const std::vector<std::vector<RowLogits>>& a,
                         const std::vector<std::vector<RowLogits>>& b) {
  double largest = 0;
  REQUIRE(a.size() == b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    REQUIRE(a[i].size() == b[i].size());
    for (size_t j = 0; j < a[i].size(); ++j)
      for (size_t id = 0; id < kVocabulary; ++id) {
        const double apart = std::abs(double{a[i][j].logits[id]} - b[i][j].logits[id]);
        largest = std::max(largest, std::isnan(apart) ? 1e9 : apart);
      }
  }
  return largest;
}

/// Runs the random sequence of passes. Requires that the results with and without recordings are
/// equal, and that they differ from those of libtorch's operations only by rounding.
class History {
 public:
  /// `model`: loads the network of history_config(window) in bf16. `gpu`: creates the GPU that
  /// computes attention. `shapes`: number of recordings that are kept.
  History(std::uint64_t seed, int window, size_t shapes, const std::function<Model()>& model,
          const std::function<std::unique_ptr<Gpu>()>& gpu)
      : rng_(seed), branched_(window == 0) {
    for (int way = 0; way < kWays; ++way) models_.push_back(model());
    for (const Way way : {replayed, launched}) {
      backends_.push_back(std::make_shared<CudaBackend>(gpu(), way == replayed, shapes));
      models_[way].network().backend = backends_.back();
    }
    models_[torch_alone].network().backend = std::make_shared<PlainBackend>();
  }

  /// Runs this number of passes. Before each, it may add, copy, change or remove a sequence.
  void go(int rounds) {
    add();
    for (int round = 0; round < rounds; ++round) {
      const std::uint64_t what = rng_.below(12);
      if (what == 0 && branches_.size() < 5) add();
      if (what == 1 && branches_.size() < 5) share();
      // dropped rows leave gaps, which a window does not support
      if (what == 2 && branched_) drop(any());
      if (what == 3) retract(any());
      if (what == 4 && branches_.size() > 1)
        branches_.erase(branches_.begin() +
                        static_cast<std::ptrdiff_t>(rng_.below(branches_.size())));
      INFO("round " << round);
      step(what == 5 ? 80 : what < 9 ? 1 : 7);
    }
  }

  const CudaBackend& backend(Way way) const { return *backends_[way]; }
  double farthest() const { return farthest_; }  ///< largest difference from libtorch's operations
  double largest() const { return largest_; }    ///< largest logit of all passes

 private:
  Branch& any() { return *branches_[rng_.below(branches_.size())]; }

  void add() {
    auto branch = std::make_unique<Branch>();
    for (Model& model : models_) branch->caches.emplace_back(model);
    branches_.push_back(std::move(branch));
  }
  void share() {
    Branch& from = any();
    auto branch = std::make_unique<Branch>();
    for (KvCache& cache : from.caches) branch->caches.push_back(cache.share());
    branch->segments = from.segments;
    branches_.push_back(std::move(branch));
  }
  void drop(Branch& branch) {
    std::vector<int> rows;
    for (const KvCache::Slot& slot : branch.caches[0].slots())
      if (slot.alive && rng_.below(8) == 0) rows.push_back(slot.row);
    for (KvCache& cache : branch.caches) cache.drop(rows);
  }
  void retract(Branch& branch) {
    const int fed = branch.caches[0].rows_fed();
    const int first =
        fed - static_cast<int>(rng_.below(static_cast<std::uint64_t>(std::min(fed, 40)) + 1));
    for (KvCache& cache : branch.caches) cache.retract(first);
  }

  void step(int most) {
    std::vector<FedBranch> fed;
    for (const auto& branch : branches_) {
      if (rng_.below(4) == 0 && !fed.empty()) continue;
      FedBranch& f = fed.emplace_back();
      f.branch = branch.get();
      if (branched_ && rng_.below(6) == 0) branch->segments.add({0});
      const auto count = 1 + static_cast<int>(rng_.below(static_cast<std::uint64_t>(most)));
      for (int i = 0; i < count; ++i) {
        const int at = branch->caches[0].rows_fed() + i;
        f.tokens.push_back(static_cast<Token>(rng_.below(kVocabulary)));
        const auto segments = static_cast<std::uint64_t>(branch->segments.count());
        f.labels.push_back({at, at, static_cast<int>(rng_.below(segments)), 0});
        if (rng_.below(4) > 0) f.outputs.push_back({.index = i, .logits = true});
      }
    }
    SkippedSublayers skipped;
    if (rng_.below(8) == 0) skipped = {{false, false}, {true, false}};
    std::vector<std::vector<std::vector<RowLogits>>> results;
    for (int way = 0; way < kWays; ++way) {
      std::vector<SequenceStep> steps;
      for (FedBranch& f : fed)
        steps.push_back({&f.branch->caches[way], &f.branch->segments, f.tokens, f.labels, f.outputs,
                         &f.hidden[way]});
      results.push_back(models_[way].forward(steps, skipped));
    }
    compare(results);
    for (const FedBranch& f : fed)
      for (const auto what : {&KvCache::Storage::keys, &KvCache::Storage::values})
        check_same(f.branch->caches[replayed].storage(), f.branch->caches[launched].storage(),
                   what);
    // The hidden rows of the previous step are still valid.
    if (!before_.empty()) further(before_);
    further(fed);
    before_ = std::move(fed);
  }

  void check_same(const KvCache::Storage& a, const KvCache::Storage& b,
                  std::vector<at::Tensor> KvCache::Storage::*what) {
    REQUIRE(a.own() == b.own());
    for (size_t layer = 0; layer < a.keys.size(); ++layer)
      REQUIRE((a.*what)[layer].equal((b.*what)[layer]));
  }

  void further(const std::vector<FedBranch>& fed) {
    std::vector<std::vector<std::vector<RowLogits>>> results;
    const std::vector<OutputRequest> outputs{{.index = 0, .logits = true}};
    for (int way = 0; way < kWays; ++way) {
      std::vector<FurtherRows> rows;
      for (const FedBranch& f : fed) rows.push_back({f.hidden[way], outputs});
      results.push_back(models_[way].further(rows));
    }
    compare(results);
  }

  void compare(const std::vector<std::vector<std::vector<RowLogits>>>& results) {
    REQUIRE(difference(results[replayed], results[launched]) == 0);
    const double apart = difference(results[launched], results[torch_alone]);
    // four times the spacing of bf16 between 4 and 8, where the largest logits are
    REQUIRE(apart < 0.125);
    farthest_ = std::max(farthest_, apart);
    for (const auto& step : results[launched])
      for (const RowLogits& row : step) largest_ = std::max(largest_, double{row.best_logit});
  }

  Rng rng_;
  bool branched_;
  std::vector<Model> models_;
  std::vector<std::shared_ptr<CudaBackend>> backends_;
  std::vector<std::unique_ptr<Branch>> branches_;
  std::vector<FedBranch> before_;
  double farthest_ = 0, largest_ = 0;
};

}  // namespace pardec::test
