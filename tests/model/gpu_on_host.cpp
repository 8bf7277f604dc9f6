#include "tests/model/gpu_on_host.hpp"

#include <stdexcept>
#include <tuple>

#include "src/model/network.hpp"
#include "tests/support/data.hpp"

#include "tests/kernels/cuda_on_host.hpp"

#include "src/kernels/cuda/kernels.cu"

namespace pardec::test {

namespace {

/// Everything except what is in a recording's own memory.
auto lasting(const cuda::Attention& a) {
  return std::tuple(a.sequences, a.row_sequences, a.pieces, a.piece_ends, a.labels, a.sees, a.tiles,
                    a.tile_count, a.rows, a.heads, a.kv_heads, a.dim, a.window, a.scale, a.splits);
}

}  // namespace

struct GpuOnHost::Work : Gpu::Recording {
  Work(GpuOnHost& on, std::function<void()> what) : gpu(on), work(std::move(what)) {}
  void replay() override {
    next = 0;
    gpu.replaying_ = this;
    work();
    gpu.replaying_ = nullptr;
    if (next != told.size()) throw std::logic_error("a replay launches fewer kernels");
  }
  GpuOnHost& gpu;
  std::function<void()> work;
  std::vector<decltype(lasting({}))> told;
  size_t next = 0;
};

bool GpuOnHost::note(const cuda::Attention& attention) {
  if (recording_) recording_->told.push_back(lasting(attention));
  if (replaying_ && (replaying_->next >= replaying_->told.size() ||
                     replaying_->told[replaying_->next++] != lasting(attention)))
    throw std::logic_error("a replay tells a kernel what was not recorded");
  return !recording_;
}

void GpuOnHost::store(const cuda::Attention& attention, const std::uint16_t* keys,
                      const std::uint16_t* values) {
  on_host::Order order{backwards_};
  if (note(attention)) cuda::store(attention, keys, values, &order);
}

void GpuOnHost::attend(const cuda::Attention& attention) {
  on_host::Order order{backwards_};
  if (note(attention)) cuda::attend(attention, &order);
}

std::unique_ptr<Gpu::Recording> GpuOnHost::record(const std::function<void()>& work) {
  auto recorded = std::make_unique<Work>(*this, work);
  recording_ = recorded.get();
  work();
  recording_ = nullptr;
  return recorded;
}

Model bf16_model(const Json& config) {
  TemporaryFolder folder;
  synthesise_checkpoint(config, 3, folder.path());
  Model model = Model::load(folder.path(), {.dtype = Dtype::fp32});
  std::map<std::string, at::Tensor> weights;
  for (const auto& [name, tensor] : model.network().named_parameters())
    weights.emplace(name, tensor.to(at::kBFloat16));
  model.network() = *Model::Network::over(model.config(), weights);
  return model;
}

}  // namespace pardec::test
