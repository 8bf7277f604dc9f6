#include "src/model/cuda/gpu_attention.hpp"

#include <algorithm>
#include <cstring>

#include "src/model/packed/bfloat16_bits.hpp"

namespace pardec {

namespace {

constexpr std::int64_t kTileRows = 16;
constexpr std::int64_t kBlockKeys = 32;
constexpr std::int64_t kMostSplits = 32;

std::int32_t number(auto value) { return static_cast<std::int32_t>(value); }

}  // namespace

// ---- on the host ----

GpuPass::GpuPass(const Model::Network& network, std::span<const NewRows> all) {
  for (const NewRows& rows : all) add(network, rows);
  for (size_t layer = 0; layer < network.layers.size(); ++layer)
    for (const NewRows& rows : all) {
      const KvCache::Storage& cache = *rows.cache;
      const auto piece = [&](const at::Tensor& keys, const at::Tensor& values) {
        pieces.push_back({mutable_bits(keys), mutable_bits(values), keys.stride(0)});
      };
      for (const KvCache::Storage::Part& shared : cache.shared)
        piece(shared.rows->keys[layer], shared.rows->values[layer]);
      piece(cache.keys[layer], cache.values[layer]);
    }
}

/// Adds one sequence, except the addresses of its keys and values.
void GpuPass::add(const Model::Network& network, const NewRows& rows) {
  const KvCache::Storage& cache = *rows.cache;
  const std::int64_t count = std::ssize(rows.tokens), keys = std::ssize(cache.slots) + count;
  const int segments = rows.segments->count();
  const int words = (segments + 63) / 64 * 2;
  const std::int64_t pairs = count * (network.config.heads / network.config.kv_heads);
  for (std::int64_t row = 0; row < pairs; row += kTileRows)
    tiles.push_back({number(sequences.size()), number(row)});
  row_sequences.insert(row_sequences.end(), rows.tokens.size(), number(sequences.size()));
  sequences.push_back({number(ids.size()), number(count), number(labels.size()), number(keys),
                       number(piece_ends.size()), number(cache.shared.size() + 1),
                       number(sees.size()), words});
  ids.insert(ids.end(), rows.tokens.begin(), rows.tokens.end());
  const auto add_label = [&](const RowLabel& label, bool alive) {
    labels.push_back({label.order, label.rank, alive ? label.segment : -1, label.position});
  };
  for (const KvCache::Slot& slot : cache.slots) add_label(slot.label, slot.alive);
  for (const RowLabel& label : rows.labels) {
    add_label(label, true);
    positions.push_back(label.position);
  }
  for (int segment = 0; segment < segments; ++segment) {
    const size_t begin = sees.size();
    for (const std::uint64_t word : rows.segments->seen_by(segment)) {
      sees.push_back(static_cast<std::uint32_t>(word));
      sees.push_back(static_cast<std::uint32_t>(word >> 32));
    }
    sees.resize(begin + static_cast<size_t>(words));
  }
  std::int64_t end = 0;
  for (const KvCache::Storage::Part& shared : cache.shared)
    piece_ends.push_back(number(end += shared.slots));
  piece_ends.push_back(number(keys));
}

PassShape GpuPass::shape() const {
  std::int64_t longest = 0;
  for (const cuda::Sequence& s : sequences) longest = std::max<std::int64_t>(longest, s.keys);
  return {std::ssize(ids),
          std::ssize(sequences),
          std::ssize(tiles),
          std::ssize(piece_ends),
          std::ssize(sees),
          std::ssize(labels),
          longest};
}

// ---- on the device ----

bool GpuAttention::fits(const Model::Network& network) {
  const int dim = network.config.head_dim;
  return network.type == at::kBFloat16 && dim % 16 == 0 && dim <= 256 &&
         network.config.block.attention_cap == 0 && !network.config.block.sinks &&
         network.config.experts.count == 0;
}

GpuAttention::GpuAttention(const Model::Network& network, const PassShape& shape, Gpu& gpu)
    : network_(network), gpu_(gpu), shape_(shape), places_{} {
  const ModelConfig& config = network.config;
  const auto place = [&](std::int64_t& here, std::int64_t count, size_t each) {
    here = places_.end;
    places_.end = (here + count * static_cast<std::int64_t>(each) + 15) / 16 * 16;
  };
  place(places_.ids, shape.rows, sizeof(std::int64_t));
  place(places_.positions, shape.rows, sizeof(std::int64_t));
  place(places_.pieces, config.layers * shape.pieces, sizeof(cuda::Piece));
  place(places_.sequences, shape.sequences, sizeof(cuda::Sequence));
  place(places_.tiles, shape.tiles, sizeof(cuda::Tile));
  place(places_.row_sequences, shape.rows, sizeof(std::int32_t));
  place(places_.piece_ends, shape.pieces, sizeof(std::int32_t));
  place(places_.sees, shape.words, sizeof(std::uint32_t));
  // last, because most of its room is unused
  place(places_.labels, shape.labels, sizeof(cuda::KeyLabel));
  host_ = at::empty({places_.end}, at::kByte);
  device_ = at::empty({places_.end}, host_.options().device(network.device));

  const auto point = [&]<typename T>(const T*& member, std::int64_t from) {
    member = reinterpret_cast<const T*>(static_cast<const char*>(device_.data_ptr()) + from);
  };
  point(attention_.sequences, places_.sequences);
  point(attention_.row_sequences, places_.row_sequences);
  point(attention_.pieces, places_.pieces);
  point(attention_.piece_ends, places_.piece_ends);
  point(attention_.labels, places_.labels);
  point(attention_.sees, places_.sees);
  point(attention_.tiles, places_.tiles);
  attention_.tile_count = number(shape.tiles);
  attention_.rows = number(shape.rows);
  attention_.heads = config.heads;
  attention_.kv_heads = config.kv_heads;
  attention_.dim = config.head_dim;
  attention_.scale = 1;
  attention_.splits = number(std::clamp<std::int64_t>(
      8 * gpu.multiprocessors() / (shape.tiles * config.kv_heads), 1,
      std::min(kMostSplits, (shape.longest + kBlockKeys - 1) / kBlockKeys)));
}

void GpuAttention::set_pass(GpuPass pass) {
  const auto rows = static_cast<size_t>(shape_.rows);
  pass.ids.resize(rows), pass.positions.resize(rows);
  pass.row_sequences.resize(rows, -1);
  pass.tiles.resize(static_cast<size_t>(shape_.tiles), {-1, 0});
  std::int64_t end = 0;
  const auto put = [&](std::int64_t place, const auto& values) {
    const auto bytes = std::as_bytes(std::span(values));
    std::memcpy(static_cast<char*>(host_.mutable_data_ptr()) + place, bytes.data(), bytes.size());
    end = place + std::ssize(bytes);
  };
  put(places_.ids, pass.ids);
  put(places_.positions, pass.positions);
  const size_t pieces = pass.piece_ends.size();
  for (size_t layer = 0; layer < network_.layers.size(); ++layer)
    put(places_.pieces + static_cast<std::int64_t>(layer * sizeof(cuda::Piece)) * shape_.pieces,
        std::span(pass.pieces).subspan(layer * pieces, pieces));
  put(places_.sequences, pass.sequences);
  put(places_.tiles, pass.tiles);
  put(places_.row_sequences, pass.row_sequences);
  put(places_.piece_ends, pass.piece_ends);
  put(places_.sees, pass.sees);
  put(places_.labels, pass.labels);
  device_.narrow(0, 0, end).copy_(host_.narrow(0, 0, end));
}

at::Tensor GpuAttention::ids() const {
  return device_.narrow(0, places_.ids, shape_.rows * 8).view(at::kLong);
}

at::Tensor GpuAttention::positions() const {
  return device_.narrow(0, places_.positions, shape_.rows * 8).view(at::kLong);
}

at::Tensor GpuAttention::attend(size_t layer, const at::Tensor& q, const at::Tensor& k,
                                const at::Tensor& v) const {
  const ModelConfig& config = network_.config;
  const at::Tensor queries = q.contiguous(), keys = k.contiguous(), values = v.contiguous();
  at::Tensor out = at::empty_like(queries), partial;
  cuda::Attention attention = attention_;
  attention.queries = mutable_bits(queries);
  attention.out = mutable_bits(out);
  attention.pieces += static_cast<std::int64_t>(layer) * shape_.pieces;
  attention.window = config.window(layer);
  if (attention.splits > 1) {
    partial = at::empty({shape_.rows, config.heads, attention.splits, config.head_dim + 2},
                        q.options().dtype(at::kFloat));
    attention.partial = partial.mutable_data_ptr<float>();
  }
  gpu_.store(attention, mutable_bits(keys), mutable_bits(values));
  gpu_.attend(attention);
  return out.view({q.size(0), q.size(1) * q.size(2)});
}

}  // namespace pardec
