#include "src/model/network.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <stdexcept>

#include <c10/core/GradMode.h>

#include "src/model/plain/attention.hpp"
#include "src/model/plain/layers.hpp"
#include "src/model/profile.hpp"
#include "src/model/ranks/ranks.hpp"
#include "src/model/ranks/split.hpp"
#include "src/support/error.hpp"
#include "src/support/text.hpp"

namespace pardec {

// From the outside in: the public passes, then the parts of a pass, then the checks.

namespace {

/// Rows after the last layer whose logits were requested.
struct WantedRows {
  at::Tensor x;            // [m, hidden]; undefined if there are none
  std::vector<int> heads;  // the head of each row
};

/// The pass up to the logits. Adds the new rows to the caches.
WantedRows feed(const Model::Network& network, std::span<const SequenceStep> steps,
                const SkippedSublayers& skipped);

/// The requested outputs of rows, computed for some rows at a time: the logits of all rows together
/// would need more memory than anything else in a pass.
std::vector<RowLogits> reduced(const Model::Network& network, const WantedRows& rows,
                               std::span<const OutputRequest* const> requests);

/// The logits of row i from head heads[i], numbered as in OutputRequest; [m, vocab]. Heads with the
/// same matrix share one product, so that the matrix is read once.
at::Tensor output(const Model::Network& network, const at::Tensor& x,
                  const std::vector<int>& heads);

/// Distributes consecutive results to the parts that requested them.
template <typename Part>
std::vector<std::vector<RowLogits>> by_part(std::vector<RowLogits> results,
                                            std::span<const Part> parts);

void check_head(const Model::Network& network, const OutputRequest& output);
/// std::logic_error: this process has only a part of the network.
void check_whole(const Model::Network& network);

}  // namespace

std::vector<std::vector<RowLogits>> Model::forward(std::span<const SequenceStep> steps,
                                                   const SkippedSublayers& skipped) {
  if (!network_->options.weights) throw std::logic_error("Model::forward: it has no weights");
  // Avoids building a graph and dispatching through autograd. (Inference mode cannot be used: its
  // tensors could never be trained.)
  const c10::NoGradGuard no_grad;
  const at::AutoDispatchBelowADInplaceOrView below_autograd;
  const WantedRows rows = feed(*network_, steps, skipped);
  std::vector<const OutputRequest*> requests;
  for (const SequenceStep& step : steps)
    for (const OutputRequest& output : step.outputs) requests.push_back(&output);
  std::vector<RowLogits> results = reduced(*network_, rows, requests);
  if (network_->remote) network_->split->ranks.end_pass();
  // Waits for the device. With outputs, copying the results has already done so.
  if (requests.empty() && !network_->device.is_cpu())
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
  if (network_->remote)
    network_->split->ranks.begin_heads(*network_->remote, wanted.x, wanted.heads, requests);
  std::vector<RowLogits> results = reduced(*network_, wanted, requests);
  if (network_->remote) network_->split->ranks.end_pass();
  return by_part(std::move(results), rows);
}

void reduce_rows(const Model::Network& network, const at::Tensor& rows,
                 const std::vector<int>& heads, std::span<const OutputRequest* const> requests) {
  const c10::NoGradGuard no_grad;
  const at::AutoDispatchBelowADInplaceOrView below_autograd;
  reduced(network, {rows, heads}, requests);
}

at::Tensor forward_rows(const Model::Network& network, std::span<const SequenceStep> steps) {
  check_whole(network);
  const c10::NoGradGuard no_grad;
  const at::AutoDispatchBelowADInplaceOrView below_autograd;
  const WantedRows rows = feed(network, steps, {});
  if (!rows.x.defined())
    return at::empty({0, network.config.vocab_size},
                     at::TensorOptions().dtype(network.type).device(network.device));
  return output(network, rows.x, rows.heads);
}

at::Tensor logits(const Model::Network& network, std::span<const Token> tokens,
                  std::span<const RowLabel> labels, const Segments& segments) {
  check_whole(network);
  const c10::NoGradGuard no_grad;
  check_rows(network, tokens, labels, segments);
  check_window(network.path, network.config.sliding_window, {}, labels, segments);
  KvCache::Storage cache(network);
  cache.reserve(static_cast<int>(tokens.size()));
  const NewRows all{&cache, tokens, labels, &segments};
  return output(network, network.backend->layers(network, {&all, 1}, {}),
                std::vector<int>(tokens.size()));
}

namespace {

// --- The parts of a pass ---

void check_steps(const Model::Network& network, std::span<const SequenceStep> steps);
std::vector<NewRows> new_rows(std::span<const SequenceStep> steps);
int matrix_of(const Model::Network& network, int head);

WantedRows feed(const Model::Network& network, std::span<const SequenceStep> steps,
                const SkippedSublayers& skipped) {
  check_steps(network, steps);
  for (const std::vector<bool>* sublayers : {&skipped.attention, &skipped.mlp})
    if (!sublayers->empty() && sublayers->size() != network.layers.size())
      throw std::logic_error(str("sublayers of ", sublayers->size(), " layers are skipped in ",
                                 network.layers.size()));
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

  if (network.remote) network.split->ranks.begin_pass(*network.remote, steps, skipped);
  const at::Tensor x = network.backend->layers(network, new_rows(steps), skipped);
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

/// The steps with at least one row.
std::vector<NewRows> new_rows(std::span<const SequenceStep> steps) {
  std::vector<NewRows> rows;
  for (const SequenceStep& step : steps)
    if (!step.tokens.empty())
      rows.push_back({&step.cache->storage(), step.tokens, step.labels, step.segments});
  return rows;
}

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
    const auto asked = requests.subspan(begin, count);
    for (RowLogits& row : network.split ? reduce_split_logits(*network.split, logits, asked)
                                        : reduce_logits(logits, asked))
      results.push_back(std::move(row));
    laps.add_to(&Profile::logits_ns);
  }
  return results;
}

at::Tensor output(const Model::Network& network, const at::Tensor& x,
                  const std::vector<int>& heads) {
  const Backend& backend = *network.backend;
  const std::set<int> used(heads.begin(), heads.end());
  const at::Tensor z = backend.final_norm(network, x);
  const auto logits_of = [&](const at::Tensor& rows, int matrix) {
    return as_logits(backend.logits(network, rows, matrix), network.config.block);
  };
  if (used.size() == 1)
    return logits_of(backend.residual(network, z, *used.begin()),
                     matrix_of(network, *used.begin()));
  struct Rows {
    std::vector<std::int64_t> members;
    std::vector<at::Tensor> parts;  // by head
  };
  std::map<int, Rows> by_matrix;
  for (const int head : used) {
    std::vector<std::int64_t> members;
    for (size_t i = 0; i < heads.size(); ++i)
      if (heads[i] == head) members.push_back(static_cast<std::int64_t>(i));
    Rows& rows = by_matrix[matrix_of(network, head)];
    rows.parts.push_back(
        backend.residual(network, z.index_select(0, on_device(network, members)), head));
    rows.members.insert(rows.members.end(), members.begin(), members.end());
  }
  at::Tensor result = at::empty({z.size(0), network.own_ids()}, x.options());
  for (const auto& [matrix, rows] : by_matrix) {
    const at::Tensor logits = logits_of(at::cat(rows.parts), matrix);
    result.index_copy_(0, on_device(network, rows.members), logits.to(result.scalar_type()));
  }
  return result;
}

/// The head whose matrix a head's logits are computed with, numbered as in OutputRequest.
int matrix_of(const Model::Network& network, int head) {
  const bool shares = head > 0 && network.extra_heads[static_cast<size_t>(head) - 1].shares_head;
  return shares ? 0 : head;
}

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

// --- Checks of requests ---

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

void check_head(const Model::Network& network, const OutputRequest& output) {
  if (output.head < 0 || output.head > std::ssize(network.extra_heads))
    throw std::logic_error(
        str("an output is wanted of extra head ", output.head, " of ", network.extra_heads.size()));
}

void check_whole(const Model::Network& network) {
  if (network.split) throw std::logic_error("this process has only a part of the network");
}

}  // namespace

void check_rows(const Model::Network& network, std::span<const Token> tokens,
                std::span<const RowLabel> labels, const Segments& segments) {
  if (tokens.size() != labels.size())
    throw std::logic_error(
        str("a step has ", tokens.size(), " tokens and ", labels.size(), " labels"));
  for (const Token token : tokens)
    if (token < 0 || token >= network.config.vocab_size)
      throw ModelError(
          network.path,
          str("token ", token, " is not in the vocabulary, which has ids 0 to ",
              network.config.vocab_size - 1, " (does the tokenizer belong to this model?)"));
  for (const RowLabel& label : labels) {
    if (label.position < 0 || label.position >= network.config.positions())
      throw ModelError(
          network.path,
          str("position ", label.position, " is not valid, the model has positions 0 to ",
              network.config.positions() - 1, " (", network.config.positions_key(), ")"));
    if (label.segment < 0 || label.segment >= segments.count())
      throw std::logic_error(str("a row is in segment ", label.segment, " of ", segments.count()));
  }
}

}  // namespace pardec
