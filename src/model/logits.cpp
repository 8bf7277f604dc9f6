#include <algorithm>
#include <cstring>
#include <limits>

#include "src/kernels/kernels.hpp"
#include "src/model/cuda/cuda_runner.hpp"
#include "src/model/network.hpp"
#include "src/model/pieces.hpp"

namespace pardec {

namespace {

constexpr double kStruck = -std::numeric_limits<double>::infinity();

at::Tensor index_tensor(const std::vector<std::int64_t>& values, const at::Tensor& like) {
  return at::tensor(values, at::kLong).to(like.device());
}

/// Indices [row, id] into a matrix of logits.
class Places {
 public:
  void add(size_t row, const std::vector<Token>& ids, std::int64_t vocab) {
    for (const Token id : ids) add(row, id, vocab);
  }
  void add(size_t row, Token id, std::int64_t vocab) {
    TORCH_CHECK(id >= 0 && id < vocab, "id ", id, " is not in the vocabulary");
    rows_.push_back(static_cast<std::int64_t>(row));
    ids_.push_back(id);
  }
  bool empty() const { return rows_.empty(); }
  c10::List<std::optional<at::Tensor>> index(const at::Tensor& like) const {
    c10::List<std::optional<at::Tensor>> both;
    both.push_back(index_tensor(rows_, like));
    both.push_back(index_tensor(ids_, like));
    return both;
  }

 private:
  std::vector<std::int64_t> rows_, ids_;
};

/// Applies the biases and the repetition penalties of the requests. Returns `logits` itself if
/// there are none.
at::Tensor adjust(const at::Tensor& logits, std::span<const OutputRequest* const> requests) {
  Places biased, repeated;
  std::vector<double> biases, penalties;
  for (size_t i = 0; i < requests.size(); ++i) {
    for (const auto& [id, bias] : requests[i]->biased) {
      biased.add(i, id, logits.size(1));
      biases.push_back(bias);
    }
    repeated.add(i, requests[i]->repeated, logits.size(1));
    penalties.insert(penalties.end(), requests[i]->repeated.size(),
                     requests[i]->repetition_penalty);
  }
  if (biased.empty() && repeated.empty()) return logits;
  const auto on_device = [&](const std::vector<double>& values) {
    return at::tensor(values, at::kFloat).to(logits.device());
  };
  at::Tensor adjusted = logits.to(at::kFloat).clone();
  if (!biased.empty())
    adjusted.index_put_(biased.index(logits), on_device(biases), /*accumulate=*/true);
  if (!repeated.empty()) {
    const at::Tensor scores = adjusted.index(repeated.index(logits)), by = on_device(penalties);
    adjusted.index_put_(repeated.index(logits), at::where(scores < 0, scores * by, scores / by));
  }
  return adjusted;
}

/// Applies the bans and the lists of allowed ids. Returns `logits` itself if there are none.
at::Tensor strike(const at::Tensor& logits, std::span<const OutputRequest* const> requests) {
  Places banned, allowed;
  std::vector<std::int64_t> few;  // rows with a list of allowed ids
  for (size_t i = 0; i < requests.size(); ++i) {
    banned.add(i, requests[i]->banned, logits.size(1));
    allowed.add(i, requests[i]->allowed, logits.size(1));
    if (!requests[i]->allowed.empty()) few.push_back(static_cast<std::int64_t>(i));
  }
  if (banned.empty() && allowed.empty()) return logits;
  at::Tensor struck = logits.clone();
  const at::Tensor nothing = at::scalar_tensor(kStruck, logits.options());
  if (!few.empty()) {
    struck.index_fill_(0, index_tensor(few, logits), nothing);
    struck.index_put_(allowed.index(logits), logits.index(allowed.index(logits)));
  }
  if (!banned.empty()) struck.index_put_(banned.index(logits), nothing);
  return struck;
}

/// Ids that rank before `best` in a row [vocab], ascending; the lower id wins a tie.
Tokens before(const at::Tensor& row, Token best) {
  const at::Tensor more = at::nonzero(row > row[best]).view({-1}).cpu();
  const at::Tensor same = at::nonzero(row.narrow(0, 0, best) == row[best]).view({-1}).cpu();
  const at::Tensor all = std::get<0>(at::sort(at::cat({more, same}))).contiguous();
  const std::int64_t* ids = all.const_data_ptr<std::int64_t>();
  return Tokens(ids, ids + all.numel());
}

/// The same as top_two for float32 on the CPU, in one pass over the logits.
at::Tensor top_two_floats(const at::Tensor& logits) {
  const Kernels& k = kernels(widest_instruction_set());
  const std::int64_t vocab = logits.size(1);
  const at::Tensor result = at::empty({logits.size(0), 4}, at::kDouble);
  const float* from = logits.const_data_ptr<float>();
  double* out = result.mutable_data_ptr<double>();
  team().run(logits.size(0), 2, [&](int, std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) {
      const TopTwo top = k.top_two(from + row * vocab, vocab);
      const double values[] = {static_cast<double>(top.best), static_cast<double>(top.second),
                               top.best_value, top.second_value};
      std::copy(values, values + 4, out + row * 4);
    }
  });
  return result;
}

/// [m, 4] float64: best id, second id, best logit, second logit. Uses `max`, which returns the
/// first of equal values on every device; `topk` does not guarantee that. If a logit is NaN, the
/// best logit is NaN.
at::Tensor top_two(const at::Tensor& logits) {
  if (logits.is_cpu() && logits.scalar_type() == at::kFloat && logits.size(1) >= 2)
    return top_two_floats(logits.contiguous());
#ifdef PARDEC_CUDA
  if (logits.is_cuda() && logits.size(1) >= 2) {
    const auto [ids, values] = cuda_best_ids(logits.to(at::kFloat), 2);
    return at::cat({ids.to(at::kDouble), values.to(at::kDouble)}, 1);
  }
#endif
  const auto [best_logit, best] = at::max(logits, 1, /*keepdim=*/true);
  const auto [second_logit, second] =
      at::max(logits.scatter(1, best, kStruck), 1, /*keepdim=*/true);
  return at::cat({best.to(at::kDouble), second.to(at::kDouble), best_logit.to(at::kDouble),
                  second_logit.to(at::kDouble)},
                 1);
}

/// [m, vocab] float64 probabilities, with the semantics of transformers' warpers: temperature, then
/// top-k (values equal to the k-th stay), then top-p (the fewest ids that reach p stay, at least
/// one). transformers leaves the order of equal values open; here the lower id stays.
at::Tensor warp(const at::Tensor& logits, const Sampling& sampling) {
  const std::int64_t vocab = logits.size(1);
  at::Tensor scores = logits.to(at::kDouble) / sampling.temperature;
  if (sampling.top_k > 0 && sampling.top_k < vocab) {
    const at::Tensor border =
        std::get<0>(at::topk(scores, sampling.top_k, 1)).narrow(1, sampling.top_k - 1, 1);
    scores = scores.masked_fill(scores < border, kStruck);
  }
  if (sampling.top_p < 1.0) {
    // Ascending, with the lower id last among equals, so that the lower id stays, as in the top-2.
    const auto [sorted, order] =
        at::sort(scores.flip(1), /*stable=*/true, /*dim=*/1, /*descending=*/false);
    at::Tensor removed = at::softmax(sorted, 1).cumsum(1) <= 1.0 - sampling.top_p;
    removed.narrow(1, vocab - 1, 1).fill_(false);
    scores = scores.masked_fill(removed.scatter(1, order, removed).flip(1), kStruck);
  }
  return at::softmax(scores, 1);
}

/// The `count` best ids of each row, best first. Takes all ids with at least the count-th logit and
/// sorts them, because `topk` may drop any of several equal ids. Here the highest ids are dropped.
std::vector<Tokens> best_ids(const at::Tensor& logits, std::int64_t count) {
  const at::Tensor scores = logits.to(at::kDouble);
  const std::int64_t most = std::min(count, scores.size(1));
  const at::Tensor border = std::get<0>(at::topk(scores, most, 1)).narrow(1, most - 1, 1);
  const at::Tensor found = at::nonzero(scores >= border);  // sorted by row, then by id
  const at::Tensor values = scores.index({found.select(1, 0), found.select(1, 1)}).cpu();
  const at::Tensor places = found.cpu().contiguous();
  const std::int64_t* place = places.data_ptr<std::int64_t>();
  const double* value = values.data_ptr<double>();
  std::vector<std::vector<std::pair<double, Token>>> rows(static_cast<size_t>(scores.size(0)));
  for (std::int64_t i = 0; i < places.size(0); ++i)
    rows[static_cast<size_t>(place[2 * i])].emplace_back(value[i],
                                                         static_cast<Token>(place[2 * i + 1]));
  std::vector<Tokens> best;
  for (auto& row : rows) {
    std::stable_sort(row.begin(), row.end(),
                     [](const auto& a, const auto& b) { return a.first > b.first; });
    Tokens& ids = best.emplace_back();
    for (const auto& [score, id] : row)
      if (std::ssize(ids) < most) ids.push_back(id);
  }
  return best;
}

/// `values` [m, vocab] on the host, in `type`.
at::Tensor rows_on_host(const at::Tensor& values, at::ScalarType type) {
  return values.to(at::TensorOptions().device(at::kCPU).dtype(type)).contiguous();
}

}  // namespace

at::Tensor best_two(const at::Tensor& logits, std::span<const OutputRequest* const> requests) {
  return rows_on_host(top_two(strike(adjust(logits, requests), requests)), at::kDouble);
}

std::vector<RowLogits> reduce_logits(const at::Tensor& of_network,
                                     std::span<const OutputRequest* const> requests) {
  std::vector<RowLogits> results(requests.size());
  if (requests.empty()) return results;
  const at::Tensor logits = adjust(of_network, requests);
  const at::Tensor struck = strike(logits, requests);
  const at::Tensor top = rows_on_host(top_two(struck), at::kDouble);
  const double* value = top.data_ptr<double>();
  for (RowLogits& row : results) {
    row.best = static_cast<Token>(value[0]);
    row.second = static_cast<Token>(value[1]);
    row.best_logit = static_cast<float>(value[2]);
    row.second_logit = static_cast<float>(value[3]);
    value += 4;
  }

  for (size_t i = 0; i < requests.size(); ++i)
    if (!requests[i]->allowed.empty())
      results[i].outrank = before(logits[static_cast<std::int64_t>(i)], results[i].best);

  std::vector<std::int64_t> whole;  // rows whose full logits are wanted
  std::vector<std::int64_t> confident, ranked;
  std::int64_t most = 0;  // the largest number of ids wanted of any row
  std::vector<std::pair<Sampling, std::vector<std::int64_t>>> warped;
  for (size_t i = 0; i < requests.size(); ++i) {
    if (requests[i]->confidence) confident.push_back(static_cast<std::int64_t>(i));
    if (requests[i]->logits) whole.push_back(static_cast<std::int64_t>(i));
    if (requests[i]->top > 0) ranked.push_back(static_cast<std::int64_t>(i));
    most = std::max<std::int64_t>(most, requests[i]->top);
    const Sampling& sampling = requests[i]->sampling;
    if (sampling.temperature <= 0) continue;
    auto group = std::find_if(warped.begin(), warped.end(),
                              [&](const auto& g) { return g.first == sampling; });
    if (group == warped.end()) group = warped.insert(warped.end(), {sampling, {}});
    group->second.push_back(static_cast<std::int64_t>(i));
  }
  const auto vocab = static_cast<size_t>(logits.size(1));
  if (!confident.empty()) {
    const at::Tensor scores =
        struck.index_select(0, index_tensor(confident, logits)).to(at::kDouble);
    const at::Tensor shares =
        rows_on_host(at::exp(at::amax(scores, 1) - at::logsumexp(scores, 1)), at::kDouble);
    const double* from = shares.data_ptr<double>();
    for (const std::int64_t row : confident) results[static_cast<size_t>(row)].confidence = *from++;
  }
  if (!ranked.empty()) {
    const auto best = best_ids(struck.index_select(0, index_tensor(ranked, logits)), most);
    for (size_t i = 0; i < ranked.size(); ++i) {
      const auto row = static_cast<size_t>(ranked[i]);
      const auto wanted = static_cast<size_t>(requests[row]->top);
      results[row].top = best[i];
      results[row].top.resize(std::min(best[i].size(), wanted));
    }
  }
  if (!whole.empty()) {
    const at::Tensor rows =
        rows_on_host(struck.index_select(0, index_tensor(whole, logits)), at::kFloat);
    const float* from = rows.data_ptr<float>();
    for (const std::int64_t row : whole)
      results[static_cast<size_t>(row)].logits.assign(from, from + vocab), from += vocab;
  }
  for (const auto& [sampling, members] : warped) {
    const at::Tensor rows = rows_on_host(
        by_rows(struck.index_select(0, index_tensor(members, logits)), at::kDouble,
                [&, &how = sampling](const at::Tensor& some) { return warp(some, how); }),
        at::kDouble);
    const double* from = rows.data_ptr<double>();
    for (const std::int64_t row : members)
      results[static_cast<size_t>(row)].probabilities.assign(from, from + vocab), from += vocab;
  }
  return results;
}

}  // namespace pardec
