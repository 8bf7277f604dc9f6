// A network that several processes compute together, beside the same network in rank 0 alone.
#include "src/model/ranks/ranks.hpp"

#include <algorithm>
#include <cmath>

#include "src/model/files/families.hpp"
#include "src/model/files/parameters.hpp"
#include "src/support/error.hpp"
#include "src/support/rng.hpp"
#include "src/support/text.hpp"
#include "tests/model/varied.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/data.hpp"
#include "tests/support/ranks.hpp"

using namespace pardec;

namespace {

constexpr int kIds = 97;

/// Sizes that no number of processes divides. Options of each family are those of its defaults.
Json family_config(const std::string& type) {
  Json config{
      {"model_type", type},       {"vocab_size", kIds},     {"hidden_size", 48},
      {"intermediate_size", 70},  {"num_hidden_layers", 3}, {"num_attention_heads", 6},
      {"num_key_value_heads", 3}, {"head_dim", 8},          {"max_position_embeddings", 256}};
  if (type == "phi3") config.erase("head_dim");
  if (type == "llama") config.update({{"attention_bias", true}, {"mlp_bias", true}});
  if (type == "gemma2" || type == "gemma3_text") config["query_pre_attn_scalar"] = 24;
  if (type == "mixtral" || type == "gpt_oss")
    config.update({{"num_local_experts", 5}, {"num_experts_per_tok", 2}});
  if (type == "olmoe" || type == "qwen3_moe" || type == "qwen2_moe")
    config.update({{"num_experts", 5}, {"num_experts_per_tok", 2}, {"moe_intermediate_size", 34}});
  if (type == "qwen2_moe") config["shared_expert_intermediate_size"] = 38;
  if (type == "granite")
    config.update(
        {{"embedding_multiplier", 3.0}, {"residual_multiplier", 0.5}, {"logits_scaling", 2.0}});
  if (type == "phi" || type == "stablelm") config["partial_rotary_factor"] = 0.5;
  return config;
}

struct Files {
  test::TemporaryFolder folder;
  explicit Files(const Json& config, int heads = 0, bool share_head = false) {
    synthesise_checkpoint(config, 3, folder.path());
    test::vary_vectors(folder.path() / "model.safetensors");
    if (heads > 0)
      synthesise_extra_heads({.heads = heads, .blocks = 1, .shares_head = share_head}, 5,
                             folder.path());
  }
  Model alone(Dtype dtype) const { return Model::load(folder.path(), {.dtype = dtype}); }
  Model together(Dtype dtype) const {
    return Model::load(folder.path(), {.dtype = dtype, .ranks = test::ranks()});
  }
};

/// Whether mpirun started this test as several processes.
bool several() {
  if (test::ranks()) return true;
  SUCCEED("needs several processes (ranks_test_2)");
  return false;
}

/// One sequence in several networks at once.
class Branch {
 public:
  explicit Branch(const std::vector<Model*>& models) : models_(models) {
    for (Model* model : models) caches_.emplace_back(*model);
  }
  Branch(std::vector<Model*> models, std::vector<KvCache> caches, Segments segments_)
      : segments(std::move(segments_)), models_(std::move(models)), caches_(std::move(caches)) {}

  /// Computes new rows in all networks. `hidden`: receives the hidden rows of each.
  std::vector<std::vector<RowLogits>> feed(const Tokens& tokens,
                                           const std::vector<RowLabel>& labels,
                                           const std::vector<OutputRequest>& outputs,
                                           const SkippedSublayers& skipped = {},
                                           std::vector<HiddenRows>* hidden = nullptr) {
    std::vector<std::vector<RowLogits>> results;
    for (size_t i = 0; i < models_.size(); ++i) {
      HiddenRows kept;
      const SequenceStep step{&caches_[i], &segments, tokens,
                              labels,      outputs,   hidden ? &kept : nullptr};
      results.push_back(models_[i]->forward({&step, 1}, skipped).front());
      if (hidden) hidden->push_back(kept);
    }
    return results;
  }
  template <typename Change>
  void each(const Change& change) {
    for (KvCache& cache : caches_) change(cache);
  }
  Branch copied(bool shares) {
    std::vector<KvCache> caches;
    for (KvCache& cache : caches_) caches.push_back(shares ? cache.share() : cache.fork());
    return {models_, std::move(caches), segments};
  }
  std::span<const KvCache::Slot> slots() const { return caches_.front().slots(); }

  Segments segments;

 private:
  std::vector<Model*> models_;
  std::vector<KvCache> caches_;
};

std::vector<OutputRequest> whole_rows(int count, int head = 0) {
  std::vector<OutputRequest> outputs;
  for (int i = 0; i < count; ++i) outputs.push_back({.index = i, .logits = true, .head = head});
  return outputs;
}

/// Root of the mean square of the differences between logits.
double distance(const std::vector<RowLogits>& a, const std::vector<RowLogits>& b) {
  REQUIRE(a.size() == b.size());
  double sum = 0;
  std::int64_t count = 0;
  for (size_t row = 0; row < a.size(); ++row) {
    REQUIRE(a[row].logits.size() == kIds);
    REQUIRE(b[row].logits.size() == kIds);
    for (size_t i = 0; i < a[row].logits.size(); ++i, ++count)
      sum += std::pow(double{a[row].logits[i]} - double{b[row].logits[i]}, 2);
  }
  return std::sqrt(sum / static_cast<double>(count));
}

/// A trunk, then two branches after it that do not see one another.
std::vector<std::vector<RowLogits>> logits_of_branches(const std::vector<Model*>& models) {
  Branch text(models);
  const int first = text.segments.add({0}), second = text.segments.add({0});
  std::vector<std::vector<RowLogits>> all(models.size());
  for (const auto& [segment, begin, count] :
       {std::tuple{0, 0, 20}, {first, 20, 1}, {second, 20, 7}, {first, 21, 5}}) {
    Tokens tokens;
    std::vector<RowLabel> labels;
    for (int i = begin; i < begin + count; ++i) {
      tokens.push_back((i * 31 + 7 * segment + 5) % kIds);
      labels.push_back({i, i, segment, 0});
    }
    const auto rows = text.feed(tokens, labels, whole_rows(count));
    for (size_t i = 0; i < models.size(); ++i)
      all[i].insert(all[i].end(), rows[i].begin(), rows[i].end());
  }
  return all;
}

}  // namespace

TEST_CASE("in every family, the error of several processes is at most three times that of one") {
  if (!several()) return;
  for (const Family& family : families()) {
    const Files files(family_config(family.model_type));
    Model exact = files.alone(Dtype::fp64);
    for (const Dtype dtype : {Dtype::fp32, Dtype::bf16}) {
      Model alone = files.alone(dtype), together = files.together(dtype);
      CHECK(together.config().heads == 6);
      CHECK(together.weight_bytes() == alone.weight_bytes());
      const auto logits = logits_of_branches({&exact, &alone, &together});
      const double one = distance(logits[1], logits[0]), several = distance(logits[2], logits[0]);
      INFO(family.model_type << " " << name(dtype) << ": one " << one << ", several " << several);
      CHECK(several <= 3 * one);
      CHECK(several > 0);
    }
  }
}

TEST_CASE("networks that are quantised in parts are as near to the exact one") {
  if (!several()) return;
  const Files files(family_config("qwen3"));
  Model exact = files.alone(Dtype::fp64);
  for (const Dtype dtype : {Dtype::int8, Dtype::nf4}) {
    Model alone = files.alone(dtype), together = files.together(dtype);
    const auto logits = logits_of_branches({&exact, &alone, &together});
    CHECK(distance(logits[2], logits[0]) <= 1.5 * distance(logits[1], logits[0]));
  }
}

TEST_CASE("what is not divided is refused, and the processes go on") {
  if (!several()) return;
  Json config = family_config("llama");
  const Files files(config);
  config.update({{"num_attention_heads", 1}, {"num_key_value_heads", 1}});
  const Files one_head(config);
  CHECK_THROWS_WITH(one_head.together(Dtype::fp32),
                    Catch::Matchers::Contains("this network has 1 query heads"));
  CHECK_THROWS_AS(Model::load("/nowhere", {.ranks = test::ranks()}), ModelError);
  CHECK_THROWS_AS(files.together(Dtype::gguf), ModelError);
  Model together = files.together(Dtype::fp32);
  Branch text({&together});
  CHECK_THROWS_AS(text.feed({kIds}, {{}}, {}), ModelError);
  CHECK(text.feed({1}, {{}}, whole_rows(1))[0][0].finite());
}

TEST_CASE("the best ids that processes find together are those of the whole row") {
  if (!several()) return;
  const Files files(family_config("qwen3"), 2);
  Rng rng(6);
  for (const Dtype dtype : {Dtype::fp32, Dtype::fp64, Dtype::bf16}) {
    Model together = files.together(dtype);
    Branch text({&together});
    for (int at = 0; at < 40; ++at) {
      OutputRequest whole{.index = 0, .logits = true, .head = at % 3};
      if (at % 2 == 0)
        for (int i = 0; i < 30; ++i) whole.banned.push_back(static_cast<Token>(rng.below(kIds)));
      if (at % 4 < 2)
        for (int i = 0; i < 9; ++i)
          whole.biased.emplace_back(static_cast<Token>(rng.below(kIds)), 4 * rng.normal());
      if (at % 5 < 2) {
        for (int i = 0; i < 20; ++i) whole.repeated.push_back(static_cast<Token>(i * 4 % kIds));
        whole.repetition_penalty = 1.7;
      }
      OutputRequest best = whole;
      best.logits = false;
      const auto rows = text.feed({static_cast<Token>(rng.below(kIds))}, {{at, at, 0, 0}},
                                  {best, whole, best})[0];
      for (const size_t i : {size_t{0}, size_t{2}}) {
        CHECK(rows[i].logits.empty());
        CHECK(rows[i].best == rows[1].best);
        CHECK(rows[i].second == rows[1].second);
        CHECK(rows[i].best_logit == rows[1].best_logit);
        CHECK(rows[i].second_logit == rows[1].second_logit);
      }
      CHECK(rows[1].logits[static_cast<size_t>(rows[1].best)] == rows[1].best_logit);
    }
    OutputRequest none{.index = 0};
    for (Token id = 0; id < kIds; ++id) none.banned.push_back(id);
    CHECK(!text.feed({1}, {{40, 40, 0, 0}}, {none})[0][0].finite());
  }
}

TEST_CASE("caches of several processes follow each change of one process's cache") {
  if (!several()) return;
  for (const std::string type : {"qwen3", "olmo2", "olmoe"}) {
    const Files files(family_config(type), 2, type == "olmo2");
    Model alone = files.alone(Dtype::fp64), together = files.together(Dtype::fp64);
    Rng rng(11);
    std::vector<Branch> branches;
    branches.emplace_back(std::vector<Model*>{&alone, &together});
    double largest = 0;
    int changes[7] = {};
    for (int step = 0; step < 120; ++step) {
      Branch& branch = branches[rng.below(branches.size())];
      std::vector<KvCache::Slot> living;
      for (const auto& slot : branch.slots())
        if (slot.alive) living.push_back(slot);
      const auto what = living.size() < 4 ? 6 : rng.below(7);
      ++changes[what];
      if (what == 0) {  // also so many that the cache is compacted
        std::vector<int> rows;
        for (const auto& slot : living)
          if (rng.below(3) > 0) rows.push_back(slot.row);
        branch.each([&](KvCache& cache) { cache.drop(rows); });
      } else if (what == 1) {
        branch.each([&](KvCache& cache) { cache.retract(living[living.size() / 2].row); });
      } else if (what == 2) {
        const auto& slot = living[rng.below(living.size())];
        RowLabel label = slot.label;
        label.order += 2;
        label.segment = branch.segments.add({0});
        branch.each([&](KvCache& cache) { cache.relabel(slot.row, label); });
      } else if (what == 3 && branches.size() < 5) {
        Branch copy = branch.copied(step % 2 == 0);
        branches.push_back(std::move(copy));
      } else if (what == 4) {
        branches.erase(branches.begin() + static_cast<std::ptrdiff_t>(&branch - branches.data()));
        if (branches.empty()) branches.emplace_back(std::vector<Model*>{&alone, &together});
      } else {
        if (what == 5) branch.each([](KvCache& cache) { cache.evict(); });
        const int count = what == 5       ? static_cast<int>(living.size())
                          : step % 3 == 0 ? 40
                                          : 1 + static_cast<int>(rng.below(4));
        const int segment = rng.below(3) == 0 ? branch.segments.add({0}) : 0;
        Tokens tokens;
        std::vector<RowLabel> labels;
        for (int i = 0; i < count; ++i) {
          const int place = static_cast<int>(rng.below(200));
          tokens.push_back(static_cast<Token>(rng.below(kIds)));
          labels.push_back({place, place, segment, static_cast<int>(rng.below(2))});
        }
        SkippedSublayers skipped;
        if (rng.below(4) == 0) skipped = {{false, false, false}, {true, false, true}};
        std::vector<HiddenRows> hidden;
        const auto rows =
            branch.feed(tokens, labels, whole_rows(count, step % 3), skipped, &hidden);
        largest = std::max(largest, distance(rows[0], rows[1]));
        const auto asked = whole_rows(count, (step + 1) % 3);
        std::vector<std::vector<RowLogits>> later;
        for (size_t i = 0; i < 2; ++i) {
          const FurtherRows further{hidden[i], asked};
          later.push_back((i == 0 ? alone : together).further({&further, 1}).front());
        }
        largest = std::max(largest, distance(later[0], later[1]));
      }
    }
    for (const int count : changes) CHECK(count > 5);
    INFO(type);
    CHECK(largest < 32 * 0x1p-24);  // float32 logits of float64 networks
  }
}
