// On a GPU: the kernels, their recordings, and the best ids, against libtorch's operations and the
// CPU. Skipped where there is no GPU.
#include <iostream>

#include "src/model/cuda/cuda_runner.hpp"
#include "src/model/device.hpp"
#include "tests/model/pass_history.hpp"
#include "tests/support/data.hpp"

using namespace pardec;
using namespace pardec::test;

namespace {

bool no_gpu() {
  if (cuda_available()) return false;
  std::cout << "[skipped] not done here: no CUDA\n";
  return true;
}

/// The random network of `config` on a device.
Model load(const Json& config, Dtype dtype, const std::string& device) {
  TemporaryFolder folder;
  synthesise_checkpoint(config, 3, folder.path());
  return Model::load(folder.path(), {.dtype = dtype, .device = device});
}

}  // namespace

#ifdef PARDEC_CUDA
TEST_CASE("on a GPU, replayed, launched and libtorch's passes agree") {
  if (no_gpu()) return;
  for (const auto& [window, shapes] :
       {std::pair(0, size_t{32}), std::pair(0, size_t{2}), std::pair(20, size_t{32})}) {
    History history(
        static_cast<std::uint64_t>(11 + window), window, shapes,
        [&] { return load(history_config(window), Dtype::bf16, "cuda"); },
        [] { return cuda_gpu(at::Device(at::kCUDA, 0)); });
    history.go(150);
    const CudaBackend& graphs = history.backend(replayed);
    INFO("window " << window << ", " << shapes << " shapes: " << graphs.recorded() << " recorded, "
                   << graphs.replayed() << " replayed; " << history.farthest() << " of "
                   << history.largest());
    CHECK(graphs.replayed() > graphs.recorded() + 5);
    CHECK(history.backend(launched).recorded() == 0);
    CHECK(history.largest() > 2);
  }
}

TEST_CASE("a GPU's best ids are the CPU's, with ties and NaN") {
  if (no_gpu()) return;
  const c10::NoGradGuard no_grad;
  Rng rng(5);
  for (const std::int64_t vocab : {2, 97, 49152, 151936}) {
    at::Tensor logits = at::empty({7, vocab}, at::kFloat);
    for (std::int64_t i = 0; i < logits.numel(); ++i)
      logits.mutable_data_ptr<float>()[i] = static_cast<float>(rng.below(50));  // many ties
    if (vocab > 2) logits[3][vocab / 2] = std::nanf("");
    const std::int32_t count = 2;
    const auto [ids, values] = cuda_best_ids(logits.to(at::kCUDA), count);
    const at::Tensor found = ids.cpu();
    for (std::int64_t row = 0; row < 7; ++row) {
      std::vector<std::int64_t> order(static_cast<size_t>(vocab));
      for (std::int64_t id = 0; id < vocab; ++id) order[static_cast<size_t>(id)] = id;
      const float* of = logits.const_data_ptr<float>() + row * vocab;
      const auto better = [&](std::int64_t a, std::int64_t b) {
        const float x = std::isnan(of[a]) ? 1e30f : of[a], y = std::isnan(of[b]) ? 1e30f : of[b];
        return x != y ? x > y : a < b;
      };
      std::partial_sort(order.begin(), order.begin() + count, order.end(), better);
      for (std::int32_t i = 0; i < count; ++i)
        CHECK(found[row][i].item<std::int64_t>() == order[static_cast<size_t>(i)]);
    }
  }
}
#endif

TEST_CASE("in fp32 a GPU computes the CPU's logits") {
  if (no_gpu()) return;
  const Json config = history_config(0);
  Model on_cpu = load(config, Dtype::fp32, "cpu"), on_gpu = load(config, Dtype::fp32, "cuda");
  Rng rng(6);
  Segments segments;
  for (int i = 0; i < 3; ++i) segments.add({0});
  std::vector<KvCache> caches;
  for (Model* model : {&on_cpu, &on_gpu}) caches.emplace_back(*model);
  for (const int count : {90, 1, 8, 3, 70}) {
    Tokens tokens;
    std::vector<RowLabel> labels;
    std::vector<OutputRequest> outputs;
    for (int i = 0; i < count; ++i) {
      const int at = caches[0].rows_fed() + i;
      tokens.push_back(static_cast<Token>(rng.below(kVocabulary)));
      labels.push_back({at, at, static_cast<int>(rng.below(4)), 0});
      outputs.push_back({.index = i, .logits = true});
    }
    std::vector<std::vector<std::vector<RowLogits>>> results;
    for (Model* model : {&on_cpu, &on_gpu}) {
      const SequenceStep step{&caches[model == &on_gpu], &segments, tokens, labels, outputs};
      results.push_back(model->forward({&step, 1}));
    }
    CHECK(difference(results[0], results[1]) < 1e-4);  // logits up to about ten
    for (size_t i = 0; i < outputs.size(); ++i)
      CHECK(results[0][0][i].best == results[1][0][i].best);
  }
}
