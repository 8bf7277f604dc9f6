#include "src/model/plain/attention.hpp"

#include <limits>
#include <numeric>

#include "src/model/pieces.hpp"
#include "src/model/plain/layers.hpp"

namespace pardec {

namespace {

// scores of one chunk of queries
constexpr std::int64_t kScratchBytes = std::int64_t{32} << 20;
// masks of one sequence that are kept from layer to layer
constexpr std::int64_t kMaskBytes = std::int64_t{32} << 20;
constexpr std::int64_t kTrainingQueries = 256;       // queries per chunk
constexpr std::int64_t kProductsOfAPiece = 200'000;  // multiplications per piece of work

/// Turns queries that share a key head into rows of one product, so that keys are never repeated. x
/// [n, heads, head_dim] -> [kv_heads, n * group, head_dim].
at::Tensor grouped(const at::Tensor& x, std::int64_t kv) {
  const std::int64_t n = x.size(0), group = x.size(1) / kv, dim = x.size(2);
  return x.reshape({n, kv, group, dim}).permute({1, 0, 2, 3}).reshape({kv, n * group, dim});
}

/// The inverse of `grouped`: x [kv_heads, n * group, head_dim] -> [n, heads * head_dim].
at::Tensor by_row(const at::Tensor& x, std::int64_t n) {
  const std::int64_t kv = x.size(0), group = x.size(1) / n, dim = x.size(2);
  return x.view({kv, n, group, dim}).permute({1, 0, 2, 3}).reshape({n, kv * group * dim});
}

/// Calls work(first, count) for ranges of the heads of `queries` [kv_heads, rows, head_dim], each
/// with `keys` keys.
template <typename Work>
void by_head(const at::Tensor& queries, std::int64_t keys, const Work& work) {
  const std::int64_t heads = queries.size(0);
  if (!can_be_cut(queries)) return work(std::int64_t{0}, heads);
  const std::int64_t of_a_head = queries.size(1) * keys * queries.size(2);
  in_pieces(heads, kProductsOfAPiece / std::max<std::int64_t>(of_a_head, 1) + 1,
            [&](std::int64_t first, std::int64_t last) { work(first, last - first); });
}

/// a [kv_heads, rows, k] times b [kv_heads, k, columns].
at::Tensor product_by_head(const at::Tensor& a, const at::Tensor& b) {
  at::Tensor result = at::empty({a.size(0), a.size(1), b.size(2)}, a.options());
  by_head(a, b.size(2), [&](std::int64_t first, std::int64_t heads) {
    at::Tensor out = result.narrow(0, first, heads);
    at::bmm_out(out, a.narrow(0, first, heads), b.narrow(0, first, heads));
  });
  return result;
}

/// Attention weights of scores [kv_heads, n, group, keys], in `type`. `sinks` [kv_heads * group],
/// or undefined: scores that count in each row's sum.
at::Tensor weights_of(const at::Tensor& scores, const at::Tensor& sinks, at::ScalarType type) {
  if (!sinks.defined()) return at::softmax(scores, -1, type);
  const at::Tensor sink =
      sinks.view({scores.size(0), 1, scores.size(2), 1}).expand({-1, scores.size(1), -1, -1});
  return at::softmax(at::cat({scores, sink}, -1), -1, type).narrow(-1, 0, scores.size(-1));
}

/// As soft_capped, in place.
void cap_scores(at::Tensor scores, double cap) {
  if (cap > 0) scores.div_(cap).tanh_().mul_(cap);
}

}  // namespace

// ---- one sequence ----

AttentionPlan::AttentionPlan(const Model::Network& network, std::span<const KvCache::Slot> slots,
                             std::span<const RowLabel> labels, const Segments& segments, int window)
    : network_(network), rows_(slots, labels, segments, window) {
  const std::int64_t count = std::ssize(labels);
  const std::int64_t query_bytes = std::int64_t{3} * 4 * network.config.heads * rows_.keys();
  const std::int64_t step =
      std::max<std::int64_t>(1, kScratchBytes / std::max<std::int64_t>(1, query_bytes));
  std::int64_t mask_bytes = 0;
  for (std::int64_t begin = 0; begin < count; begin += step) {
    Chunk chunk{.begin = begin, .count = std::min(step, count - begin)};
    at::Tensor mask = build(chunk);
    mask_bytes += static_cast<std::int64_t>(mask.nbytes());
    if (chunk.masked && mask_bytes <= kMaskBytes) chunk.mask = std::move(mask);
    chunks_.push_back(std::move(chunk));
  }
}

at::Tensor AttentionPlan::attend(const at::Tensor& q, const at::Tensor& keys,
                                 const at::Tensor& values, const at::Tensor& sinks) {
  std::vector<at::Tensor> outputs;
  for (Chunk& chunk : chunks_) outputs.push_back(attend(chunk, q, keys, values, sinks));
  return outputs.size() == 1 ? outputs.front() : at::cat(outputs, 0);
}

at::Tensor AttentionPlan::weights(const at::Tensor& scores, const at::Tensor& sinks) {
  Chunk& chunk = chunks_.front();
  const std::int64_t kv = scores.size(0), rows = scores.size(1), n = chunk.count;
  const at::Tensor seen = scores.narrow(2, 0, chunk.end);
  cap_scores(seen, network_.config.block.attention_cap);
  const at::Tensor by_query = seen.unflatten(1, {n, rows / n});
  if (chunk.masked) by_query.add_(chunk.mask.defined() ? chunk.mask : build(chunk));
  at::Tensor weights = at::zeros({kv, rows, scores.size(2)}, scores.options());
  weights.narrow(2, 0, chunk.end)
      .copy_(weights_of(by_query, sinks, wide(network_.type)).flatten(1, 2));
  return weights;
}

/// Evaluates visibility, sets the chunk's `end` and `masked`, and returns its mask.
at::Tensor AttentionPlan::build(Chunk& chunk) {
  const std::int64_t keys = rows_.keys();
  at::Tensor mask = at::empty({chunk.count, keys}, at::kFloat);
  float* out = mask.data_ptr<float>();
  std::int64_t visible = 0;
  chunk.end = 0;
  for (std::int64_t i = 0; i < chunk.count; ++i) {
    const auto [seen, end] = rows_.write(static_cast<int>(chunk.begin + i), out + i * keys);
    visible += seen;
    chunk.end = std::max<std::int64_t>(chunk.end, end);
  }
  chunk.masked = visible < chunk.count * chunk.end;
  if (!chunk.masked) return mask.narrow(1, 0, 0);
  return mask.narrow(1, 0, chunk.end)
      .unsqueeze(1)
      .to(at::TensorOptions().device(network_.device).dtype(network_.type));
}

at::Tensor AttentionPlan::attend(Chunk& chunk, const at::Tensor& q, const at::Tensor& keys,
                                 const at::Tensor& values, const at::Tensor& sinks) {
  const std::int64_t n = chunk.count;
  const std::int64_t group = network_.config.heads / network_.config.kv_heads;
  const at::Tensor queries = grouped(q.narrow(0, chunk.begin, n), network_.config.kv_heads);
  const at::Tensor seen = keys.narrow(1, 0, chunk.end), read = values.narrow(1, 0, chunk.end);
  const at::Tensor mask = !chunk.masked          ? at::Tensor()
                          : chunk.mask.defined() ? chunk.mask
                                                 : build(chunk);
  at::Tensor mixed = at::empty(queries.sizes(), queries.options());
  by_head(queries, chunk.end, [&](std::int64_t first, std::int64_t heads) {
    const auto of = [&](const at::Tensor& x) { return x.narrow(0, first, heads); };
    const at::Tensor scores = at::bmm(of(queries), of(seen).transpose(1, 2));
    cap_scores(scores, network_.config.block.attention_cap);
    const at::Tensor by_query = scores.unflatten(1, {n, -1});
    if (mask.defined()) by_query.add_(mask);
    const at::Tensor own =
        sinks.defined() ? sinks.narrow(0, first * group, heads * group) : at::Tensor();
    const at::Tensor weights = weights_of(by_query, own, wide(network_.type)).to(network_.type);
    at::Tensor out = of(mixed);
    at::bmm_out(out, weights.flatten(1, 2), of(read));
  });
  return by_row(mixed, n);
}

// ---- the sequences of a pass ----

CachedAttention::CachedAttention(const Model::Network& network, std::span<const NewRows> sequences)
    : network_(network) {
  std::int64_t begin = 0;
  for (const NewRows& rows : sequences) {
    KvCache::Storage& cache = *rows.cache;
    bool whole = true;
    auto plans = std::make_unique<PerLayer<AttentionPlan>>(network.config, [&](int window) {
      AttentionPlan plan(network, cache.slots, rows.labels, *rows.segments, window);
      whole = whole && plan.whole();
      return plan;
    });
    // With many queries, separate products are efficient enough.
    const bool cascades = whole && !cache.shared.empty();
    if (cascades)
      for (const KvCache::Storage::Part& shared : cache.shared) {
        auto group = std::find_if(groups_.begin(), groups_.end(), [&](const Group& g) {
          return g.rows == shared.rows.get() && g.slots == shared.slots;
        });
        if (group == groups_.end())
          group = groups_.insert(groups_.end(), {shared.rows.get(), shared.slots, {}});
        group->parts.push_back(parts_.size());
      }
    parts_.push_back({&cache, begin, std::ssize(rows.tokens), std::move(plans), cascades});
    begin += std::ssize(rows.tokens);
  }
}

at::Tensor CachedAttention::attend(size_t layer, const at::Tensor& q, const at::Tensor& k,
                                   const at::Tensor& v) {
  std::vector<at::Tensor> outputs(parts_.size());
  each_part([&](size_t i) {
    Part& part = parts_[i];
    write_new_rows(*part.cache, part.cache->keys[layer], k, part.begin, part.count);
    write_new_rows(*part.cache, part.cache->values[layer], v, part.begin, part.count);
    if (!part.cascades) outputs[i] = alone(part, layer, q);
  });
  if (!groups_.empty()) together(layer, q, outputs);
  return outputs.size() == 1 ? outputs.front() : at::cat(outputs, 0);
}

template <typename Work>
void CachedAttention::each_part(const Work& work) {
  const std::int64_t parts = std::ssize(parts_);
  const auto all = [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t i = first; i < last; ++i) work(static_cast<size_t>(i));
  };
  if (network_.device.is_cpu())
    in_pieces(parts, 1, all);
  else
    all(0, parts);
}

at::Tensor CachedAttention::alone(Part& part, size_t layer, const at::Tensor& q) const {
  const auto all = [&](const std::vector<at::Tensor>& own, auto member) {
    if (part.cache->shared.empty()) return own[layer];
    std::vector<at::Tensor> pieces;
    for (const KvCache::Storage::Part& shared : part.cache->shared)
      pieces.push_back(((*shared.rows).*member)[layer].narrow(1, 0, shared.slots));
    pieces.push_back(own[layer].narrow(1, 0, part.cache->own() + part.count));
    return at::cat(pieces, 1);
  };
  return part.plans->of(layer).attend(
      q.narrow(0, part.begin, part.count), all(part.cache->keys, &SharedRows::keys),
      all(part.cache->values, &SharedRows::values), network_.layers[layer].sinks);
}

void CachedAttention::together(size_t layer, const at::Tensor& q,
                               std::vector<at::Tensor>& outputs) {
  std::vector<at::Tensor> queries(parts_.size());
  // per part: scores, later weights, split by key ranges
  std::vector<std::vector<at::Tensor>> pieces(parts_.size());
  for (size_t i = 0; i < parts_.size(); ++i)
    if (parts_[i].cascades)
      queries[i] = grouped(q.narrow(0, parts_[i].begin, parts_[i].count), network_.config.kv_heads);

  const auto rows_of = [&](const Group& group) {
    std::vector<std::int64_t> rows;
    for (const size_t part : group.parts) rows.push_back(queries[part].size(1));
    return rows;
  };
  for (const Group& group : groups_) {
    std::vector<at::Tensor> all;
    for (const size_t part : group.parts) all.push_back(queries[part]);
    const at::Tensor keys = group.rows->keys[layer].narrow(1, 0, group.slots);
    const auto scores =
        product_by_head(at::cat(all, 1), keys.transpose(1, 2)).split_with_sizes(rows_of(group), 1);
    for (size_t m = 0; m < group.parts.size(); ++m) pieces[group.parts[m]].push_back(scores[m]);
  }

  each_part([&](size_t i) {
    Part& part = parts_[i];
    if (!part.cascades) return;
    const std::int64_t own = part.cache->own() + part.count;
    const at::Tensor keys = part.cache->keys[layer].narrow(1, 0, own);
    pieces[i].push_back(at::bmm(queries[i], keys.transpose(1, 2)));
    std::vector<std::int64_t> widths;
    for (const at::Tensor& piece : pieces[i]) widths.push_back(piece.size(2));
    pieces[i] = part.plans->of(layer)
                    .weights(at::cat(pieces[i], 2), network_.layers[layer].sinks)
                    .split_with_sizes(widths, 2);
    outputs[i] = at::bmm(pieces[i].back(), part.cache->values[layer].narrow(1, 0, own));
  });

  std::vector<size_t> next(parts_.size());  // a part's groups are in the order of its shared rows
  for (const Group& group : groups_) {
    std::vector<at::Tensor> all;
    for (const size_t part : group.parts) all.push_back(pieces[part][next[part]++]);
    const at::Tensor values = group.rows->values[layer].narrow(1, 0, group.slots);
    const auto mixed = product_by_head(at::cat(all, 1), values).split_with_sizes(rows_of(group), 1);
    for (size_t m = 0; m < group.parts.size(); ++m) outputs[group.parts[m]].add_(mixed[m]);
  }
  for (size_t i = 0; i < parts_.size(); ++i)
    if (parts_[i].cascades) outputs[i] = by_row(outputs[i], parts_[i].count);
}

// ---- training ----

TrainingAttention::TrainingAttention(const Model::Network& network,
                                     std::span<const PackedSequence> sequences, bool joined)
    : layers_(network.layers),
      kv_(network.config.kv_heads),
      group_(network.config.heads / network.config.kv_heads),
      cap_(network.config.block.attention_cap),
      chunks_(network.config, [&](int window) {
        return joined ? join(network, sequences, window) : cut(network, sequences, window);
      }) {
  for (const PackedSequence& sequence : sequences) counts_.push_back(std::ssize(sequence.tokens));
  if (joined) counts_ = {std::accumulate(counts_.begin(), counts_.end(), std::int64_t{0})};
  for (const std::int64_t count : counts_) grouped_counts_.push_back(count * group_);
}

TrainingAttention::Chunks TrainingAttention::cut(const Model::Network& network,
                                                 std::span<const PackedSequence> sequences,
                                                 int window) {
  Chunks all;
  for (const PackedSequence& sequence : sequences) {
    const std::int64_t count = std::ssize(sequence.tokens);
    MaskRows rows({}, sequence.labels, *sequence.segments, window);
    at::Tensor mask = at::empty({count, count}, at::kFloat);
    std::vector<std::int64_t> ends;
    for (std::int64_t i = 0; i < count; ++i)
      ends.push_back(rows.write(static_cast<int>(i), mask.data_ptr<float>() + i * count).end);
    std::vector<Chunk>& chunks = all.emplace_back();
    for (std::int64_t at = 0; at < count; at += kTrainingQueries) {
      Chunk chunk{.begin = at, .count = std::min(kTrainingQueries, count - at)};
      chunk.end = *std::max_element(ends.begin() + at, ends.begin() + at + chunk.count);
      chunk.mask = mask.narrow(0, at, chunk.count)
                       .narrow(1, 0, chunk.end)
                       .to(network.device, network.type)
                       .contiguous()
                       .unsqueeze(1);
      chunks.push_back(std::move(chunk));
    }
  }
  return all;
}

TrainingAttention::Chunks TrainingAttention::join(const Model::Network& network,
                                                  std::span<const PackedSequence> sequences,
                                                  int window) {
  std::int64_t total = 0;
  for (const PackedSequence& sequence : sequences) total += std::ssize(sequence.tokens);
  at::Tensor mask = at::full({total, total}, -std::numeric_limits<float>::infinity(), at::kFloat);
  std::int64_t begin = 0;
  for (const PackedSequence& sequence : sequences) {
    const std::int64_t count = std::ssize(sequence.tokens);
    const MaskRows rows({}, sequence.labels, *sequence.segments, window);
    for (std::int64_t i = 0; i < count; ++i)
      rows.write(static_cast<int>(i), mask.data_ptr<float>() + (begin + i) * total + begin);
    begin += count;
  }
  mask = mask.to(network.device, network.type).unsqueeze(1);
  return {{Chunk{.begin = 0, .count = total, .end = total, .mask = std::move(mask)}}};
}

at::Tensor TrainingAttention::attend(size_t layer, const at::Tensor& q, const at::Tensor& k,
                                     const at::Tensor& v) {
  const Chunks& sequences = chunks_.of(layer);
  const std::int64_t n = q.size(0);
  // Split instead of narrowed: the gradient of a narrowed tensor is as large as the whole tensor.
  const auto queries = grouped(q, kv_).split_with_sizes(grouped_counts_, 1);
  const auto keys = k.transpose(0, 1).split_with_sizes(counts_, 1);
  const auto values = v.transpose(0, 1).split_with_sizes(counts_, 1);
  std::vector<at::Tensor> outputs;
  for (size_t i = 0; i < sequences.size(); ++i)
    for (const Chunk& chunk : sequences[i]) {
      const bool all = chunk.count == counts_[i];
      const at::Tensor rows =
          all ? queries[i] : queries[i].narrow(1, chunk.begin * group_, chunk.count * group_);
      const auto seen = [&](const at::Tensor& x) {
        return chunk.end == counts_[i] ? x : x.narrow(1, 0, chunk.end);
      };
      const at::Tensor scores =
          at::bmm(rows, seen(keys[i]).transpose(1, 2)).view({kv_, chunk.count, group_, chunk.end});
      const at::Tensor weights = weights_of(soft_capped(scores, cap_) + chunk.mask,
                                            layers_[layer].sinks, scores.scalar_type())
                                     .flatten(1, 2);
      outputs.push_back(at::bmm(weights, seen(values[i])));
    }
  return by_row(at::cat(outputs, 1), n);
}

}  // namespace pardec
