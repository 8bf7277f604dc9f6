#include "src/model/cuda/cuda_backend.hpp"

#include <algorithm>
#include <bit>

#include "src/model/plain/layers.hpp"

namespace pardec {

namespace {

constexpr std::int64_t kMostRows = 64;  // with more rows, kernels take longer than their launches

std::int64_t power_of_two(std::int64_t least, std::int64_t value) {
  return std::max(least,
                  static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(value))));
}

/// The padded shape that a pass of this shape is computed in, so that few shapes need recordings.
PassShape rounded_up(const PassShape& shape) {
  PassShape up;
  up.rows = shape.rows <= 8 ? power_of_two(1, shape.rows) : (shape.rows + 7) / 8 * 8;
  up.sequences = up.rows;  // each sequence has at least one row
  up.tiles = power_of_two(1, shape.tiles);
  up.pieces = power_of_two(1, shape.pieces);
  up.words = power_of_two(64, shape.words);
  up.labels = power_of_two(1024, shape.labels);
  // the number of splits follows from it
  up.longest = std::min<std::int64_t>(1024, power_of_two(256, shape.longest));
  return up;
}

}  // namespace

CudaBackend::CudaBackend(std::unique_ptr<Gpu> gpu, bool record, size_t shapes)
    : gpu_(std::move(gpu)), record_(record), shapes_(shapes) {}

at::Tensor CudaBackend::layers(const Model::Network& network, std::span<const NewRows> sequences,
                               const SkippedSublayers& skipped) {
  // All inputs that differ between passes come from the attention object.
  const auto run = [&network](const GpuAttention& attention, const SkippedSublayers& without) {
    return apply_layers(network, attention.ids(), attention.positions(), attention, without);
  };
  GpuPass pass(network, sequences);
  PassShape shape = pass.shape();
  const std::int64_t rows = shape.rows;
  if (rows <= kMostRows) shape = rounded_up(shape);
  if (rows > kMostRows || !record_ || skipped.any()) {
    GpuAttention attention(network, shape, *gpu_);
    attention.set_pass(std::move(pass));
    return run(attention, skipped).narrow(0, 0, rows);
  }
  const auto found =
      std::find_if(held_.begin(), held_.end(), [&](const Held& h) { return h.shape == shape; });
  if (found == held_.end())
    held_.push_front({shape, GpuAttention(network, shape, *gpu_)});
  else
    held_.splice(held_.begin(), held_, found);
  if (held_.size() > shapes_) held_.pop_back();
  Held& held = held_.front();
  held.attention.set_pass(std::move(pass));
  if (!held.result.defined()) {  // a recording must follow a computed pass
    held.result = run(held.attention, {});
  } else {
    if (!held.recording) {
      held.recording = gpu_->record([&held, run] { held.result.copy_(run(held.attention, {})); });
      ++recorded_;
    }
    held.recording->replay();
    ++replayed_;
  }
  // the next pass of this shape overwrites the result
  return held.result.narrow(0, 0, rows).clone();
}

}  // namespace pardec
