#include "src/model/transformer.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <set>
#include <stdexcept>

#include <c10/core/GradMode.h>

#include "src/model/attention.hpp"
#include "src/model/packed_network.hpp"
#include "src/model/parameters.hpp"
#include "src/model/profile.hpp"
#include "src/model/step_graphs.hpp"
#include "src/support/error.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

/// In float32, as transformers does; `x` itself where the network has no norm in that place.
at::Tensor rms_norm(const at::Tensor& x, const at::Tensor& weight, double eps) {
  if (!weight.defined()) return x;
  const at::Tensor w = x.to(wide(x.scalar_type()));
  return weight * (w * at::rsqrt(w.square().mean(-1, /*keepdim=*/true) + eps)).to(x.scalar_type());
}

// ---- rotary embedding ----

/// Cosines and sines of the rows' positions, [n, 1, rope.dims / 2]. The queries' carry the 1 /
/// sqrt(head_dim) of attention, which so costs nothing; dimensions that do not turn take it apart.
struct Rotation {
  at::Tensor q_cos, q_sin, k_cos, k_sin;
  double q_scale = 1;
};

Rotation rotation(const Model::Network& network, const at::Tensor& positions) {
  const at::Tensor angles = positions.to(at::kFloat).unsqueeze(1) * network.inverse_frequencies;
  const double turned = network.config.rope.attention_factor;
  const at::Tensor cos = (at::cos(angles) * turned).unsqueeze(1);
  const at::Tensor sin = (at::sin(angles) * turned).unsqueeze(1);
  const at::ScalarType accurate = wide(network.type);
  const double scale = 1.0 / std::sqrt(static_cast<double>(network.config.head_dim));
  const auto scaled = [&](const at::Tensor& t) {
    return (t.to(accurate) * scale).to(network.type);
  };
  return {scaled(cos), scaled(sin), cos.to(network.type), sin.to(network.type), scale};
}

/// x: [n, heads, head_dim]; the pairs that turn together are half of what turns apart. `scale`: of
/// the dimensions behind that.
at::Tensor rotate(const at::Tensor& x, const at::Tensor& cos, const at::Tensor& sin,
                  double scale = 1) {
  const std::int64_t half = cos.size(-1), rest = x.size(-1) - 2 * half;
  const at::Tensor a = x.narrow(-1, 0, half), b = x.narrow(-1, half, half);
  const at::Tensor turned_a = a * cos - b * sin, turned_b = b * cos + a * sin;
  if (rest == 0) return at::cat({turned_a, turned_b}, -1);
  return at::cat({turned_a, turned_b, x.narrow(-1, 2 * half, rest) * scale}, -1);
}

// ---- layers ----

/// x [n, hidden] -> [n, hidden]. `attend(q, k, v)`, each [n, heads of it, head_dim] -> [n, heads *
/// head_dim].
template <typename Attend>
at::Tensor apply_attention(const Layer& layer, const ModelConfig& config, const at::Tensor& x,
                           const Rotation& turn, Attend&& attend) {
  const std::int64_t n = x.size(0), dim = config.head_dim;
  const at::Tensor h = rms_norm(x, layer.input_norm, config.rms_norm_eps);
  const bool whole = config.qk_norm_whole;
  const auto normed = [&](const at::Tensor& rows, const at::Tensor& norm, int heads) {
    const at::Tensor by_head =
        (whole ? rms_norm(rows, norm, config.rms_norm_eps) : rows).view({n, heads, dim});
    return whole ? by_head : rms_norm(by_head, norm, config.rms_norm_eps);
  };
  const at::Tensor q = normed(layer.q(h), layer.q_norm, config.heads);
  const at::Tensor k = normed(layer.k(h), layer.k_norm, config.kv_heads);
  const at::Tensor v = layer.v(h).view({n, config.kv_heads, dim});
  const at::Tensor mixed =
      attend(rotate(q, turn.q_cos, turn.q_sin, turn.q_scale), rotate(k, turn.k_cos, turn.k_sin), v);
  return x + rms_norm(layer.o(mixed), layer.after_attention, config.rms_norm_eps);
}

at::Tensor apply_mlp(const Layer& layer, const ModelConfig& config, const at::Tensor& y) {
  const at::Tensor g = rms_norm(y, layer.post_norm, config.rms_norm_eps);
  const at::Tensor out = layer.down(at::silu(layer.gate(g)) * layer.up(g));
  return y + rms_norm(out, layer.after_mlp, config.rms_norm_eps);
}

template <typename Attend>
at::Tensor apply(const Layer& layer, const ModelConfig& config, const at::Tensor& x,
                 const Rotation& turn, Attend&& attend) {
  return apply_mlp(layer, config, apply_attention(layer, config, x, turn, attend));
}

/// What the heads read of x.
at::Tensor final_norm(const Model::Network& network, const at::Tensor& x) {
  return network.packed ? network.packed->normed(network, x)
                        : rms_norm(x, network.final_norm, network.config.rms_norm_eps);
}
/// Logits by head `head`, as OutputRequest counts them.
at::Tensor head_of(const Model::Network& network, int head, const at::Tensor& z) {
  if (network.packed) return network.packed->head(network, z, head);
  return head == 0 ? network.head(z) : network.extra_heads[static_cast<size_t>(head) - 1](z);
}
at::Tensor output(const Model::Network& network, const at::Tensor& x) {
  return head_of(network, 0, final_norm(network, x));
}

void check_head(const Model::Network& network, const OutputRequest& output) {
  if (output.head < 0 || output.head > std::ssize(network.extra_heads))
    throw std::logic_error(
        str("an output is wanted of extra head ", output.head, " of ", network.extra_heads.size()));
}

/// Row i by head heads[i], as OutputRequest counts them; [m, vocab].
at::Tensor output(const Model::Network& network, const at::Tensor& x,
                  const std::vector<int>& heads) {
  const std::set<int> used(heads.begin(), heads.end());
  if (used == std::set<int>{0}) return output(network, x);
  const at::Tensor z = final_norm(network, x);
  at::Tensor result = at::empty({z.size(0), network.config.vocab_size}, x.options());
  for (const int head : used) {
    std::vector<std::int64_t> members;
    for (size_t i = 0; i < heads.size(); ++i)
      if (heads[i] == head) members.push_back(static_cast<std::int64_t>(i));
    const at::Tensor index = at::tensor(members, at::kLong).to(z.device());
    const at::Tensor rows = z.index_select(0, index);
    const at::Tensor logits = head_of(network, head, rows);
    result.index_copy_(0, index, logits.to(result.scalar_type()));
  }
  return result;
}

// ---- input ----

void check_rows(const Model::Network& network, std::span<const Token> tokens,
                std::span<const RowLabel> labels, const Segments& segments) {
  if (tokens.size() != labels.size())
    throw std::logic_error(
        str("a step has ", tokens.size(), " tokens and ", labels.size(), " labels"));
  for (const Token token : tokens)
    if (token < 0 || token >= network.config.vocab_size)
      throw ModelError(
          network.path,
          str("token ", token, " is fed, but the vocabulary has ids 0 to ",
              network.config.vocab_size - 1, " (does the tokenizer belong to this model?)"));
  for (const RowLabel& label : labels) {
    if (label.position < 0 || label.position >= network.config.positions())
      throw ModelError(
          network.path,
          str("position ", label.position, " is fed, but the model has positions 0 to ",
              network.config.positions() - 1, " (", network.config.positions_key(), ")"));
    if (label.segment < 0 || label.segment >= segments.count())
      throw std::logic_error(str("a row is in segment ", label.segment, " of ", segments.count()));
  }
}

void check_steps(const Model::Network& network, std::span<const SequenceStep> steps) {
  std::set<const KvCache*> caches;
  for (const SequenceStep& step : steps) {
    if (!step.cache || !step.segments || !caches.insert(step.cache).second)
      throw std::logic_error("a step needs segments, and a cache of its own");
    check_rows(network, step.tokens, step.labels, *step.segments);
    for (const OutputRequest& output : step.outputs) {
      if (output.index < 0 || output.index >= std::ssize(step.tokens))
        throw std::logic_error(
            str("an output is wanted of token ", output.index, " of ", step.tokens.size()));
      check_head(network, output);
    }
    check_window(network.path, network.config.sliding_window, step.cache->slots(), step.labels,
                 *step.segments);
  }
}

/// Token ids and positions of packed rows, on the device.
struct Rows {
  std::vector<std::int64_t> ids, positions;
  void add(std::span<const Token> tokens, std::span<const RowLabel> labels) {
    ids.insert(ids.end(), tokens.begin(), tokens.end());
    for (const RowLabel& label : labels) positions.push_back(label.position);
  }
};
at::Tensor on_device(const Model::Network& network, const std::vector<std::int64_t>& values) {
  return at::tensor(values, at::kLong).to(network.device);
}

}  // namespace

at::Tensor logits(const Model::Network& network, std::span<const Token> tokens,
                  std::span<const RowLabel> labels, const Segments& segments) {
  check_rows(network, tokens, labels, segments);
  Rows rows;
  rows.add(tokens, labels);
  check_window(network.path, network.config.sliding_window, {}, labels, segments);
  if (network.packed) {
    KvCache::Storage cache(network);
    cache.reserve(static_cast<int>(tokens.size()));
    const NewRows all{&cache, tokens, labels, &segments};
    return output(network, network.packed->layers(network, {&all, 1}, nullptr));
  }
  PerLayer<AttentionPlan> plans(network.config, [&](int window) {
    return AttentionPlan(network, {}, labels, segments, window);
  });
  const Rotation turn = rotation(network, on_device(network, rows.positions));
  at::Tensor x = at::embedding(network.embedding, on_device(network, rows.ids));
  for (size_t i = 0; i < network.layers.size(); ++i)
    x = apply(network.layers[i], network.config, x, turn,
              [&](const at::Tensor& q, const at::Tensor& k, const at::Tensor& v) {
                return plans.of(i).attend(q, k.transpose(0, 1), v.transpose(0, 1));
              });
  return output(network, x);
}

at::Tensor head_inputs(const Model::Network& network, std::span<const PackedSequence> sequences,
                       const std::vector<std::int64_t>& wanted) {
  if (network.packed) throw std::logic_error("a packed network cannot be trained");
  Rows rows;
  for (const PackedSequence& sequence : sequences) {
    check_rows(network, sequence.tokens, sequence.labels, *sequence.segments);
    rows.add(sequence.tokens, sequence.labels);
  }
  PerLayer<PackedAttention> attention(
      network.config, [&](int window) { return PackedAttention(network, sequences, window); });
  const Rotation turn = rotation(network, on_device(network, rows.positions));
  at::Tensor x = at::embedding(network.embedding, on_device(network, rows.ids));
  for (size_t i = 0; i < network.layers.size(); ++i)
    x = apply(network.layers[i], network.config, x, turn,
              [&](const at::Tensor& q, const at::Tensor& k, const at::Tensor& v) {
                return attention.of(i).attend(q, k, v);
              });
  return rms_norm(x.index_select(0, on_device(network, wanted)), network.final_norm,
                  network.config.rms_norm_eps);
}

at::Tensor logits(const Model::Network& network, std::span<const PackedSequence> sequences,
                  const std::vector<std::int64_t>& rows) {
  return network.head(head_inputs(network, sequences, rows));
}

namespace {

/// What the last layer makes of rows, [n, hidden].
template <typename Attention>
at::Tensor apply_layers(const Model::Network& network, const at::Tensor& ids,
                        const at::Tensor& positions, Attention& attention,
                        const SkippedSublayers* skipped) {
  const Rotation turn = rotation(network, positions);
  at::Tensor x = network.embedding.index_select(0, ids);
  for (size_t i = 0; i < network.layers.size(); ++i) {
    const auto attend = [&](const at::Tensor& q, const at::Tensor& k, const at::Tensor& v) {
      return attention.attend(i, q, k, v);
    };
    const Layer& layer = network.layers[i];
    if (!skipped || !skipped->attention[i])
      x = apply_attention(layer, network.config, x, turn, attend);
    if (!skipped || !skipped->mlp[i]) x = apply_mlp(layer, network.config, x);
  }
  return x;
}

/// The same of the rows of all steps; the caches have room for them.
at::Tensor run_layers(const Model::Network& network, std::span<const SequenceStep> steps,
                      const SkippedSublayers* skipped) {
  if (network.packed) {
    std::vector<NewRows> sequences;
    for (const SequenceStep& step : steps)
      if (!step.tokens.empty())
        sequences.push_back({&step.cache->storage(), step.tokens, step.labels, step.segments});
    return network.packed->layers(network, sequences, skipped);
  }
  if (network.graphs)
    return network.graphs->run(
        network, steps,
        [&network, skipped](const GpuAttention& attention) {
          return apply_layers(network, attention.ids(), attention.positions(), attention, skipped);
        },
        /*repeats=*/skipped == nullptr);
  Rows rows;
  for (const SequenceStep& step : steps) rows.add(step.tokens, step.labels);
  CachedAttention attention(network, steps);
  return apply_layers(network, on_device(network, rows.ids), on_device(network, rows.positions),
                      attention, skipped);
}

/// Rows behind the last layer of which logits are wanted.
struct WantedRows {
  at::Tensor x;            // [m, hidden]; undefined where there are none
  std::vector<int> heads;  // of each
};

/// The pass up to its logits; the caches have the new rows afterwards.
WantedRows feed(const Model::Network& network, std::span<const SequenceStep> steps,
                const SkippedSublayers* skipped) {
  check_steps(network, steps);
  if (skipped && (skipped->attention.size() != network.layers.size() ||
                  skipped->mlp.size() != network.layers.size()))
    throw std::logic_error(str("sublayers of ", skipped->attention.size(),
                               " layers are skipped in ", network.layers.size()));
  std::int64_t fed = 0;
  std::vector<std::int64_t> wanted;  // rows with an output
  WantedRows result;
  for (const SequenceStep& step : steps) {
    for (const OutputRequest& output : step.outputs) {
      wanted.push_back(fed + output.index);
      result.heads.push_back(output.head);
    }
    fed += std::ssize(step.tokens);
    if (!step.tokens.empty()) step.cache->storage().reserve(static_cast<int>(step.tokens.size()));
  }
  if (fed == 0) return result;

  const at::Tensor x = run_layers(network, steps, skipped);
  std::int64_t begin = 0;
  for (const SequenceStep& step : steps) {
    const auto count = std::ssize(step.tokens);
    if (step.hidden)
      *step.hidden = HiddenRows(
          std::make_shared<HiddenRows::Storage>(HiddenRows::Storage{x.narrow(0, begin, count)}));
    begin += count;
  }
  if (std::ssize(wanted) == fed && std::is_sorted(wanted.begin(), wanted.end(), std::less_equal()))
    result.x = x;
  else if (!wanted.empty())
    result.x = x.index_select(0, on_device(network, wanted));
  for (const SequenceStep& step : steps) step.cache->storage().append(step.labels);
  return result;
}

/// What is wanted of rows, some of them at a time: the logits of all at once would be the largest
/// piece of memory of a pass.
std::vector<RowLogits> reduced(const Model::Network& network, const WantedRows& rows,
                               std::span<const OutputRequest* const> requests) {
  const size_t most = network.device.is_cpu() ? 128 : 1024;
  std::vector<RowLogits> results;
  results.reserve(requests.size());
  for (size_t begin = 0; begin < requests.size(); begin += most) {
    const size_t count = std::min(most, requests.size() - begin);
    const auto first = rows.heads.begin() + static_cast<std::ptrdiff_t>(begin);
    const at::Tensor logits =
        output(network,
               rows.x.narrow(0, static_cast<std::int64_t>(begin), static_cast<std::int64_t>(count)),
               {first, first + static_cast<std::ptrdiff_t>(count)});
    Laps laps(network.profile);
    for (RowLogits& row : reduce_logits(logits, requests.subspan(begin, count)))
      results.push_back(std::move(row));
    laps.add_to(&Profile::logits_ns);
  }
  return results;
}

}  // namespace

at::Tensor forward_rows(const Model::Network& network, std::span<const SequenceStep> steps) {
  const c10::NoGradGuard no_grad;
  const at::AutoDispatchBelowADInplaceOrView below_autograd;
  const WantedRows rows = feed(network, steps, nullptr);
  if (!rows.x.defined())
    return at::empty({0, network.config.vocab_size},
                     at::TensorOptions().dtype(network.type).device(network.device));
  return output(network, rows.x, rows.heads);
}

namespace {

/// Results in a row, dealt out to the parts whose outputs they are.
template <typename Part>
std::vector<std::vector<RowLogits>> by_part(std::vector<RowLogits> results,
                                            std::span<const Part> parts) {
  std::vector<std::vector<RowLogits>> dealt;
  auto next = results.begin();
  for (const Part& part : parts) {
    const auto end = next + std::ssize(part.outputs);
    dealt.emplace_back(std::make_move_iterator(next), std::make_move_iterator(end));
    next = end;
  }
  return dealt;
}

}  // namespace

std::vector<std::vector<RowLogits>> Model::forward(std::span<const SequenceStep> steps,
                                                   const SkippedSublayers* skipped) {
  // No graph, and no dispatch through autograd. (Not inference mode: its tensors could never be
  // trained.)
  const c10::NoGradGuard no_grad;
  const at::AutoDispatchBelowADInplaceOrView below_autograd;
  const WantedRows rows = feed(*network_, steps, skipped);
  std::vector<const OutputRequest*> requests;
  for (const SequenceStep& step : steps)
    for (const OutputRequest& output : step.outputs) requests.push_back(&output);
  std::vector<RowLogits> results = reduced(*network_, rows, requests);
  if (requests.empty() &&
      !network_->device.is_cpu())  // else the copy of the results has waited for the device
    for (const SequenceStep& step : steps)
      if (!step.tokens.empty()) step.cache->storage().keys.back().narrow(1, 0, 1).cpu();
  return by_part(std::move(results), steps);
}

std::vector<std::vector<RowLogits>> Model::further(std::span<const FurtherRows> rows) {
  const c10::NoGradGuard no_grad;
  const at::AutoDispatchBelowADInplaceOrView below_autograd;
  std::vector<at::Tensor> hidden;
  WantedRows wanted;
  std::vector<const OutputRequest*> requests;
  for (const FurtherRows& part : rows) {
    std::vector<std::int64_t> indices;
    for (const OutputRequest& output : part.outputs) {
      const std::int64_t row = part.hidden.first() + output.index;
      if (!part.hidden.storage() || row < 0 || row >= part.hidden.storage()->rows.size(0))
        throw std::logic_error(str("Model::further: row ", row, " was not kept"));
      check_head(*network_, output);
      indices.push_back(row);
      wanted.heads.push_back(output.head);
      requests.push_back(&output);
    }
    if (!indices.empty())
      hidden.push_back(part.hidden.storage()->rows.index_select(0, on_device(*network_, indices)));
  }
  if (requests.empty()) return std::vector<std::vector<RowLogits>>(rows.size());
  wanted.x = at::cat(hidden, 0);
  return by_part(reduced(*network_, wanted, requests), rows);
}

std::vector<std::pair<std::string, at::Tensor>> Model::Network::named_parameters() const {
  std::vector<std::pair<std::string, at::Tensor>> all{{"model.embed_tokens.weight", embedding}};
  for (size_t i = 0; i < layers.size(); ++i) {
    const Layer& layer = layers[i];
    const std::string prefix = str("model.layers.", i, ".");
    const auto add = [&](const char* name, const at::Tensor& tensor) {
      if (tensor.defined()) all.emplace_back(prefix + name, tensor);
    };
    const auto add_linear = [&](const std::string& name, const Linear& linear) {
      add((name + ".weight").c_str(), linear.weight);
      add((name + ".bias").c_str(), linear.bias);
    };
    add("input_layernorm.weight", layer.input_norm);
    add("self_attn.qkv_proj.weight", layer.qkv);
    if (!config.fused) {
      add_linear("self_attn.q_proj", layer.q);
      add_linear("self_attn.k_proj", layer.k);
      add_linear("self_attn.v_proj", layer.v);
    }
    add_linear("self_attn.o_proj", layer.o);
    add("self_attn.q_norm.weight", layer.q_norm);
    add("self_attn.k_norm.weight", layer.k_norm);
    add("post_attention_layernorm.weight",
        config.post_norms ? layer.after_attention : layer.post_norm);
    add("mlp.gate_up_proj.weight", layer.gate_up);
    if (!config.fused) {
      add_linear("mlp.gate_proj", layer.gate);
      add_linear("mlp.up_proj", layer.up);
    }
    add_linear("mlp.down_proj", layer.down);
    add("post_feedforward_layernorm.weight", layer.after_mlp);
  }
  all.emplace_back("model.norm.weight", final_norm);
  if (!config.tied_head) all.emplace_back("lm_head.weight", head.weight);
  return all;
}

}  // namespace pardec
