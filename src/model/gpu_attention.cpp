#include "src/model/gpu_attention.hpp"

#include <algorithm>
#include <cstring>

#include "src/model/attention.hpp"
#include "src/support/error.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

constexpr std::int64_t kTileRows = 16;
constexpr std::int64_t kBlockKeys = 32;
constexpr std::int64_t kMostSplits = 32;

/// Arrays one behind another, so that one copy takes them all to the device.
class Blob {
 public:
  template <typename T>
  size_t add(const std::vector<T>& values) {
    bytes_.resize((bytes_.size() + 15) / 16 * 16);
    const size_t offset = bytes_.size();
    bytes_.resize(offset + values.size() * sizeof(T));
    if (!values.empty())
      std::memcpy(bytes_.data() + offset, values.data(), values.size() * sizeof(T));
    return offset;
  }
  at::Tensor on(at::Device device) const {
    at::Tensor all = at::empty({static_cast<std::int64_t>(bytes_.size())}, at::kByte);
    std::memcpy(all.mutable_data_ptr(), bytes_.data(), bytes_.size());
    return all.to(device);
  }

 private:
  std::vector<char> bytes_;
};

std::uint16_t* bits(const at::Tensor& tensor) {
  return static_cast<std::uint16_t*>(tensor.data_ptr());
}

}  // namespace

bool GpuAttention::fits(const Model::Network& network) {
  const int dim = network.config.head_dim;
  return network.type == at::kBFloat16 && dim % 16 == 0 && dim <= 256;
}

/// What the kernels read of a pass, on the host.
struct GpuAttention::Description {
  std::vector<cuda::Sequence> sequences;
  std::vector<cuda::Tile> tiles;
  std::vector<cuda::KeyLabel> labels;
  std::vector<std::uint32_t> sees;
  std::vector<std::int32_t> piece_ends;
  std::vector<cuda::Piece> pieces;  // of all layers, one after another
};

GpuAttention::GpuAttention(const Model::Network& network, std::span<const SequenceStep> steps,
                           Runner runner)
    : network_(network), runner_(runner) {
  const ModelConfig& config = network.config;
  Description d;
  for (const SequenceStep& step : steps)
    if (!step.tokens.empty()) describe(step, d);
  const std::int64_t rows = parts_.back().begin + parts_.back().count;
  std::int64_t longest = 0;
  for (const cuda::Sequence& s : d.sequences) longest = std::max<std::int64_t>(longest, s.keys);
  const std::int64_t units = std::ssize(d.tiles) * config.kv_heads;
  const std::int64_t splits =
      std::clamp<std::int64_t>(8 * runner.multiprocessors / units, 1,
                               std::min(kMostSplits, (longest + kBlockKeys - 1) / kBlockKeys));
  if (splits > 1)
    partial_ = at::empty({rows, config.heads, splits, config.head_dim + 2},
                         at::TensorOptions().dtype(at::kFloat).device(network.device));

  for (size_t layer = 0; layer < parts_.front().cache->keys.size(); ++layer)
    for (const Part& part : parts_) {
      const auto add = [&](const at::Tensor& keys, const at::Tensor& values) {
        d.pieces.push_back({bits(keys), bits(values), keys.stride(0)});
      };
      for (const KvCache::Storage::Part& shared : part.cache->shared)
        add(shared.rows->keys[layer], shared.rows->values[layer]);
      add(part.cache->keys[layer], part.cache->values[layer]);
    }

  pieces_ = d.piece_ends.size();
  Blob blob;
  const size_t sequences = blob.add(d.sequences), tiles = blob.add(d.tiles),
               labels = blob.add(d.labels), sees = blob.add(d.sees), ends = blob.add(d.piece_ends),
               pieces = blob.add(d.pieces);
  described_ = blob.on(network.device);
  const char* at = static_cast<const char*>(described_.data_ptr());
  attention_ = {.sequences = reinterpret_cast<const cuda::Sequence*>(at + sequences),
                .pieces = reinterpret_cast<const cuda::Piece*>(at + pieces),
                .piece_ends = reinterpret_cast<const std::int32_t*>(at + ends),
                .labels = reinterpret_cast<const cuda::KeyLabel*>(at + labels),
                .sees = reinterpret_cast<const std::uint32_t*>(at + sees),
                .tiles = reinterpret_cast<const cuda::Tile*>(at + tiles),
                .tile_count = static_cast<std::int32_t>(d.tiles.size()),
                .rows = static_cast<std::int32_t>(rows),
                .heads = config.heads,
                .kv_heads = config.kv_heads,
                .dim = config.head_dim,
                .scale = 1,
                .splits = static_cast<std::int32_t>(splits),
                .partial = splits > 1 ? partial_.data_ptr<float>() : nullptr};
}

/// Labels, tiles and pieces of one sequence.
void GpuAttention::describe(const SequenceStep& step, Description& d) {
  KvCache::Storage& cache = step.cache->storage();
  const std::int64_t begin = parts_.empty() ? 0 : parts_.back().begin + parts_.back().count;
  const auto count = std::ssize(step.tokens);
  const auto number = [](auto value) { return static_cast<std::int32_t>(value); };
  const int segments = step.segments->count(), words = (segments + 31) / 32;
  d.sequences.push_back({number(begin), number(count), number(d.labels.size()),
                         number(std::ssize(cache.slots) + count), number(d.piece_ends.size()),
                         number(cache.shared.size() + 1), number(d.sees.size()), words});
  const auto add = [&](const RowLabel& label, bool alive) {
    d.labels.push_back({label.order, label.rank, alive ? label.segment : -1, label.position});
  };
  for (const KvCache::Slot& slot : cache.slots) add(slot.label, slot.alive);
  for (const RowLabel& label : step.labels) add(label, true);
  for (int q = 0; q < segments; ++q)
    for (int word = 0; word < words; ++word) {
      std::uint32_t seen = 0;
      for (int k = 32 * word; k < std::min(segments, 32 * (word + 1)); ++k)
        seen |= static_cast<std::uint32_t>(step.segments->sees(q, k)) << k % 32;
      d.sees.push_back(seen);
    }
  std::int64_t end = 0;
  for (const KvCache::Storage::Part& shared : cache.shared)
    d.piece_ends.push_back(number(end += shared.slots));
  d.piece_ends.push_back(number(std::ssize(cache.slots) + count));
  const std::int64_t pairs = count * (network_.config.heads / network_.config.kv_heads);
  for (std::int64_t row = 0; row < pairs; row += kTileRows)
    d.tiles.push_back({number(parts_.size()), number(row)});
  parts_.push_back({&cache, begin, count});
}

at::Tensor GpuAttention::attend(size_t layer, const at::Tensor& q, const at::Tensor& k,
                                const at::Tensor& v) {
  for (const Part& part : parts_) {
    write_behind(*part.cache, part.cache->keys[layer], k, part.begin, part.count);
    write_behind(*part.cache, part.cache->values[layer], v, part.begin, part.count);
  }
  const ModelConfig& config = network_.config;
  const at::Tensor queries = q.contiguous();
  at::Tensor out = at::empty_like(queries);
  cuda::Attention attention = attention_;
  attention.queries = bits(queries);
  attention.out = bits(out);
  attention.pieces += layer * pieces_;
  attention.window = !config.slides.empty() && config.slides[layer] ? config.sliding_window : 0;
  if (const char* error = runner_.attend(attention, runner_.stream))
    throw RunError(str("the GPU refuses an attention of ", attention.rows, " rows: ", error));
  return out.view({q.size(0), q.size(1) * q.size(2)});
}

}  // namespace pardec
