#include "src/model/ranks/split.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>

#include "src/group/group.hpp"

namespace pardec {

at::Tensor part_of(const Parameter& parameter, const at::Tensor& whole, const ModelConfig& config,
                   const Share& share) {
  const auto of_heads = [&](const ItemRange& heads) {
    return ItemRange{heads.first * config.head_dim, heads.count * config.head_dim};
  };
  const ItemRange queries = of_heads(share.heads), keys = of_heads(share.kv_heads);
  const auto rows = [&](const ItemRange& range, std::int64_t before = 0) {
    return whole.narrow(0, before + range.first, range.count);
  };
  // A copy, so that the pages of the whole weight can be released.
  const auto columns = [&](const ItemRange& range) {
    if (parameter.bias) return share.adds_bias ? whole : at::zeros_like(whole);
    return whole.narrow(1, range.first, range.count).contiguous();
  };
  const std::int64_t all_queries = std::int64_t{config.heads} * config.head_dim;
  const std::int64_t all_keys = std::int64_t{config.kv_heads} * config.head_dim;
  const bool norms_all = config.block.qk_norm == QkNorm::whole;
  switch (parameter.role) {
    case Role::embedding:
    case Role::head:
    case Role::extra_out:
      return rows(share.vocab);
    case Role::qkv:
      if (config.block.qkv == Qkv::by_key_head) {
        // Each key-value head has the rows of its queries, of its key and of its value. The share
        // has whole groups, or a part of one group.
        const std::int64_t group = config.heads / config.kv_heads;
        const std::int64_t begin = share.kv_heads.first * (group + 2) * config.head_dim;
        if (share.heads.count == share.kv_heads.count * group)
          return rows({begin, share.kv_heads.count * (group + 2) * config.head_dim});
        const std::int64_t skipped = share.heads.first - share.kv_heads.first * group;
        return at::cat(
            {rows({begin + skipped * config.head_dim, share.heads.count * config.head_dim}),
             rows({begin + group * config.head_dim, 2 * config.head_dim})});
      }
      return at::cat({rows(queries), rows(keys, all_queries), rows(keys, all_queries + all_keys)});
    case Role::sinks:
      return rows(share.heads);
    case Role::q:
      return rows(queries);
    case Role::k:
    case Role::v:
      return rows(keys);
    case Role::o:
      return columns(queries);
    case Role::q_norm:
      return norms_all ? rows(queries) : whole;
    case Role::k_norm:
      return norms_all ? rows(keys) : whole;
    case Role::gate_up:
      return at::cat({rows(share.inner), rows(share.inner, config.intermediate_size)});
    case Role::gate:
    case Role::up:
      return rows(share.inner);
    case Role::down:
      return columns(share.inner);
    case Role::expert_gate:
    case Role::expert_up:
      return rows(share.expert_inner);
    case Role::expert_down:
      return columns(share.expert_inner);
    case Role::shared_gate:
    case Role::shared_up:
      return rows(share.shared_inner);
    case Role::shared_down:
      return columns(share.shared_inner);
    default:
      return whole;
  }
}

at::Tensor sum_over(Group& group, at::Tensor x) {
  const at::ScalarType type = x.scalar_type();
  const bool wide = type == at::kDouble;
  at::Tensor sums = x.to(wide ? at::kDouble : at::kFloat).contiguous();
  const auto count = static_cast<size_t>(sums.numel());
  if (wide)
    group.sum(std::span(sums.mutable_data_ptr<double>(), count));
  else
    group.sum(std::span(sums.mutable_data_ptr<float>(), count));
  return sums.to(type);
}

namespace {

/// Whether the request needs more of its row than the two best ids.
bool needs_row(const OutputRequest& request) {
  return request.logits || request.confidence || request.top > 0 ||
         request.sampling.temperature > 0 || !request.allowed.empty();
}

/// The request for a row that has only the ids of `vocab`, numbered from 0.
OutputRequest on_own_ids(const OutputRequest& request, const ItemRange& vocab) {
  const auto place = [&](Token id) { return id - static_cast<Token>(vocab.first); };
  const auto own = [&](Token id) { return place(id) >= 0 && place(id) < vocab.count; };
  OutputRequest here;
  for (const auto& [id, bias] : request.biased)
    if (own(id)) here.biased.emplace_back(place(id), bias);
  const auto keep = [&](const Tokens& ids, Tokens& to) {
    for (const Token id : ids)
      if (own(id)) to.push_back(place(id));
  };
  keep(request.repeated, here.repeated);
  keep(request.banned, here.banned);
  here.repetition_penalty = request.repetition_penalty;
  return here;
}

std::vector<at::Tensor> gathered(Group& group, const at::Tensor& mine,
                                 const std::function<std::int64_t(int rank)>& columns) {
  const at::Tensor bytes = mine.contiguous();
  const std::vector<std::string> texts =
      group.gather(std::string(static_cast<const char*>(bytes.const_data_ptr()), bytes.nbytes()));
  std::vector<at::Tensor> all;
  for (size_t rank = 0; rank < texts.size(); ++rank) {
    at::Tensor& tensor = all.emplace_back(
        at::empty({mine.size(0), columns(static_cast<int>(rank))}, mine.options()));
    if (texts[rank].size() != tensor.nbytes())
      throw std::logic_error("a process sent logits of another size");
    std::memcpy(tensor.mutable_data_ptr(), texts[rank].data(), texts[rank].size());
  }
  return all;
}

/// The two best ids of one row from the two best of each process.
RowLogits merged(const std::vector<at::Tensor>& best, std::int64_t row) {
  struct Choice {
    double id, logit;
  };
  std::vector<Choice> choices;
  for (const at::Tensor& of_rank : best) {
    const double* top = of_rank.const_data_ptr<double>() + row * 4;
    choices.push_back({top[0], top[2]});
    choices.push_back({top[1], top[3]});
  }
  RowLogits row_best;
  if (std::any_of(choices.begin(), choices.end(),
                  [](const Choice& c) { return std::isnan(c.logit); })) {
    row_best.best_logit = row_best.second_logit = std::numeric_limits<float>::quiet_NaN();
    return row_best;
  }
  std::partial_sort(choices.begin(), choices.begin() + 2, choices.end(),
                    [](const Choice& a, const Choice& b) {
                      return a.logit > b.logit || (a.logit == b.logit && a.id < b.id);
                    });
  row_best.best = static_cast<Token>(choices[0].id);
  row_best.second = static_cast<Token>(choices[1].id);
  row_best.best_logit = static_cast<float>(choices[0].logit);
  row_best.second_logit = static_cast<float>(choices[1].logit);
  return row_best;
}

}  // namespace

std::vector<RowLogits> reduce_split_logits(const NetworkSplit& split, const at::Tensor& logits,
                                           std::span<const OutputRequest* const> requests) {
  const ItemRange& vocab = split.share.vocab;
  std::vector<std::int64_t> few, whole;  // rows of which the two best ids are wanted, or more
  for (size_t i = 0; i < requests.size(); ++i)
    (needs_row(*requests[i]) ? whole : few).push_back(static_cast<std::int64_t>(i));
  std::vector<RowLogits> results(requests.size());
  const auto select = [&](const std::vector<std::int64_t>& rows) {
    return logits.index_select(0, at::tensor(rows, at::kLong));
  };
  if (!few.empty()) {
    std::vector<OutputRequest> here;
    for (const std::int64_t row : few)
      here.push_back(on_own_ids(*requests[static_cast<size_t>(row)], vocab));
    std::vector<const OutputRequest*> asked;
    for (const OutputRequest& request : here) asked.push_back(&request);
    const at::Tensor best = best_two(select(few), asked);
    best.narrow(1, 0, 2).add_(vocab.first);
    const auto all = gathered(split.group, best, [](int) { return 4; });
    if (!all.empty())
      for (size_t i = 0; i < few.size(); ++i)
        results[static_cast<size_t>(few[i])] = merged(all, static_cast<std::int64_t>(i));
  }
  if (!whole.empty()) {
    const auto all = gathered(split.group, select(whole), [&](int rank) {
      return share_of(split.whole, rank, split.group.size()).vocab.count;
    });
    if (!all.empty()) {
      std::vector<const OutputRequest*> asked;
      for (const std::int64_t row : whole) asked.push_back(requests[static_cast<size_t>(row)]);
      std::vector<RowLogits> reduced = reduce_logits(at::cat(all, 1), asked);
      for (size_t i = 0; i < whole.size(); ++i)
        results[static_cast<size_t>(whole[i])] = std::move(reduced[i]);
    }
  }
  return results;
}

}  // namespace pardec
