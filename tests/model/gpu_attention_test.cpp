// What the GPU's kernels are told about a pass. They run on the host and are compared with
// attention by libtorch.
#include "src/model/cuda/gpu_attention.hpp"

#include <c10/core/GradMode.h>

#include "src/support/rng.hpp"
#include "tests/model/gpu_on_host.hpp"
#include "tests/support/catch.hpp"

using namespace pardec;

namespace {

struct Fed {
  Tokens tokens;
  std::vector<RowLabel> labels;
};

/// softmax(q k) v of one sequence in float64, row by row; its new keys and values are written.
at::Tensor slow(const SequenceStep& step, size_t layer, int window, const at::Tensor& q) {
  const KvCache::Storage& cache = step.cache->storage();
  const auto all = [&](const std::vector<at::Tensor>& own, auto shared_ones) {
    std::vector<at::Tensor> pieces;
    for (const auto& part : cache.shared)
      pieces.push_back(((*part.rows).*shared_ones)[layer].narrow(1, 0, part.slots));
    pieces.push_back(own[layer].narrow(1, 0, cache.own() + std::ssize(step.tokens)));
    return at::cat(pieces, 1).to(at::kDouble);
  };
  const at::Tensor keys = all(cache.keys, &SharedRows::keys),
                   values = all(cache.values, &SharedRows::values);
  std::vector<RowLabel> labels;
  std::vector<bool> alive;
  for (const KvCache::Slot& slot : cache.slots)
    labels.push_back(slot.label), alive.push_back(slot.alive);
  for (const RowLabel& label : step.labels) labels.push_back(label), alive.push_back(true);
  at::Tensor out = at::zeros(q.sizes(), at::kDouble);
  for (std::int64_t row = 0; row < q.size(0); ++row) {
    const RowLabel& mine = step.labels[static_cast<size_t>(row)];
    std::vector<std::int64_t> seen;
    for (size_t key = 0; key < labels.size(); ++key)
      if (alive[key] && visible(mine, labels[key], *step.segments) &&
          (window == 0 || mine.position - labels[key].position < window))
        seen.push_back(static_cast<std::int64_t>(key));
    const at::Tensor index = at::tensor(seen, at::kLong);
    for (std::int64_t head = 0; head < q.size(1); ++head) {
      const std::int64_t kv = head * keys.size(0) / q.size(1);
      const at::Tensor scores = keys[kv].index_select(0, index).mv(q[row][head].to(at::kDouble));
      out[row][head] = at::softmax(scores, 0).matmul(values[kv].index_select(0, index));
    }
  }
  return out.flatten(1);
}

}  // namespace

TEST_CASE("a network with capped scores is not for the GPU's kernels") {
  for (const Json& cap : {Json(50), Json()}) {
    const Model model = test::bf16_model({{"model_type", "gemma2"},
                                          {"vocab_size", 97},
                                          {"hidden_size", 32},
                                          {"intermediate_size", 48},
                                          {"num_hidden_layers", 2},
                                          {"num_attention_heads", 4},
                                          {"num_key_value_heads", 2},
                                          {"head_dim", 16},
                                          {"attn_logit_softcapping", cap}});
    CHECK(GpuAttention::fits(model.network()) == cap.is_null());
  }
}

TEST_CASE("the GPU's kernels are told which rows are visible, and where the keys are") {
  const c10::NoGradGuard no_grad;
  Rng rng(4);
  for (const int window : {0, 25}) {
    Json config{
        {"model_type", "qwen3"},    {"vocab_size", 97},       {"hidden_size", 32},
        {"intermediate_size", 48},  {"num_hidden_layers", 2}, {"num_attention_heads", 6},
        {"num_key_value_heads", 2}, {"head_dim", 16},         {"max_position_embeddings", 512}};
    if (window > 0)
      config.update({{"use_sliding_window", true},
                     {"sliding_window", window},
                     {"layer_types", {"full_attention", "sliding_attention"}}});
    Model model = test::bf16_model(config);
    REQUIRE(GpuAttention::fits(model.network()));
    Segments segments;
    for (int i = 0; i < 40; ++i) segments.add({0, i});
    const auto rows = [&](const KvCache& cache, int count, bool branches) {
      Fed fed;
      for (int i = 0; i < count; ++i) {
        const int at = cache.rows_fed() + i;
        fed.tokens.push_back(at % 97);
        fed.labels.push_back({at, at, branches ? static_cast<int>(rng.below(41)) : 0, 0});
      }
      return fed;
    };
    // A prompt that three sequences share, one of them twice, and a separate sequence.
    std::vector<KvCache> caches;
    caches.emplace_back(model);
    const auto feed = [&](KvCache& cache, int count) {
      const Fed fed = rows(cache, count, window == 0);
      const SequenceStep step{&cache, &segments, fed.tokens, fed.labels, {}};
      model.forward({&step, 1});
    };
    feed(caches[0], 70);
    caches.push_back(caches[0].share());
    feed(caches[1], 50);
    caches.push_back(caches[1].share());
    caches.emplace_back(model);
    feed(caches[3], 40);
    caches[3].drop(std::vector<int>{1, 5, 33});
    CHECK(caches[2].shared().size() == 2);

    std::vector<Fed> fed;
    std::vector<SequenceStep> steps;
    std::vector<NewRows> new_rows;
    std::int64_t n = 0;
    for (const int count : {1, 9, 4, 23})
      fed.push_back(rows(caches[fed.size()], count, window == 0));
    for (size_t i = 0; i < 4; ++i) {
      steps.push_back({&caches[i], &segments, fed[i].tokens, fed[i].labels, {}});
      KvCache::Storage& storage = caches[i].storage();
      storage.reserve(static_cast<int>(fed[i].tokens.size()));
      new_rows.push_back({&storage, fed[i].tokens, fed[i].labels, &segments});
      const std::int64_t own = storage.own();
      for (auto* tensors : {&storage.keys, &storage.values})  // as on a GPU
        for (at::Tensor& tensor : *tensors) tensor.narrow(1, own, tensor.size(1) - own).zero_();
      n += std::ssize(fed[i].tokens);
    }
    const auto random = [&](std::int64_t count, int heads) {
      at::Tensor x = at::empty({count, heads, 16}, at::kFloat);
      for (std::int64_t i = 0; i < x.numel(); ++i)
        x.mutable_data_ptr<float>()[i] = static_cast<float>(2 * rng.uniform() - 1);
      return x.to(at::kBFloat16);
    };
    for (const int multiprocessors : {1, 8})  // keys in one piece, or cut into parts
      for (const int padding : {0, 3}) {
        test::GpuOnHost gpu(multiprocessors);
        const GpuPass pass(model.network(), new_rows);
        PassShape shape = pass.shape();
        REQUIRE(shape.rows == n);
        for (std::int64_t* size : {&shape.rows, &shape.sequences, &shape.tiles, &shape.pieces,
                                   &shape.words, &shape.labels})
          *size += padding;
        GpuAttention attention(model.network(), shape, gpu);
        attention.set_pass(pass);
        for (size_t layer = 0; layer < 2; ++layer) {
          const at::Tensor q = random(shape.rows, 6), k = random(shape.rows, 2),
                           v = random(shape.rows, 2);
          const at::Tensor got = attention.attend(layer, q, k, v).narrow(0, 0, n).to(at::kDouble);
          std::vector<at::Tensor> parts;
          std::int64_t begin = 0;
          for (size_t i = 0; i < 4; begin += std::ssize(fed[i++].tokens)) {
            const std::int64_t count = std::ssize(fed[i].tokens);
            const KvCache::Storage& storage = caches[i].storage();
            const auto written = [&](const std::vector<at::Tensor>& own) {
              return own[layer].narrow(1, storage.own(), count).transpose(0, 1);
            };
            CHECK(written(storage.keys).equal(k.narrow(0, begin, count)));
            CHECK(written(storage.values).equal(v.narrow(0, begin, count)));
            const std::int64_t end = storage.own() + count;
            CHECK(storage.keys[layer]
                      .narrow(1, end, storage.capacity - end)
                      .count_nonzero()
                      .item<std::int64_t>() == 0);
            parts.push_back(
                slow(steps[i], layer, layer == 1 ? window : 0, q.narrow(0, begin, count)));
          }
          const at::Tensor want = at::cat(parts, 0);
          REQUIRE(got.sizes() == want.sizes());
          INFO("window " << window << ", layer " << layer << ", " << multiprocessors << ", "
                         << padding);
          // Values below 1; bf16 rounds weights, and then results, by at most 2^-8 of them.
          CHECK((got - want).abs().max().item<double>() < 0x1p-7);
          CHECK(want.abs().max().item<double>() > 0.1);
        }
      }
  }
}
