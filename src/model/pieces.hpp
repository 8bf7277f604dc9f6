#pragma once
// Divides tensor operations among the threads of the team (src/kernels/team.hpp). libtorch itself
// runs an operation on the thread that calls it.
#include <cstdint>

#include "src/kernels/team.hpp"
#include "src/model/device.hpp"
#include "src/model/network.hpp"
#include "src/model/torch.hpp"

namespace pardec {

/// Size of one piece of work, in tensor elements, for operations that do little work per element.
constexpr std::int64_t kNumbersOfAPiece = 32 * 1024;

/// Whether an operation on `x` can be computed in pieces with the same bits as in one call. This is
/// the case for float32 tensors on the CPU without gradients. (In float64, split products round
/// differently.)
inline bool can_be_cut(const at::Tensor& x) {
  return x.is_cpu() && x.scalar_type() == at::kFloat && !at::GradMode::is_enabled();
}

/// Calls work(first, last) for pieces [first, last) of [0, count) on the threads of the team.
/// `grain`: minimum number of items in a piece (Team::run). REQUIRES: the work needs no gradients.
template <typename Work>
void in_pieces(std::int64_t count, std::int64_t grain, const Work& work) {
  team().run(count, grain, [&](int, std::int64_t first, std::int64_t last) {
    const c10::NoGradGuard no_grad;  // a setting of each thread
    const at::AutoDispatchBelowADInplaceOrView below_autograd;
    work(first, last);
  });
}

/// Computes f(x), a tensor with the shape of x and the element type `type`. If x is large, f is
/// called for pieces of x, on the threads of the team. REQUIRES: f computes each row [i, ...] of
/// its result only from row [i, ...] of x.
template <typename F>
at::Tensor by_rows(const at::Tensor& x, at::ScalarType type, const F& f) {
  const std::int64_t rows = x.size(0);
  if (!can_be_cut(x) || x.numel() < 2 * kNumbersOfAPiece) return f(x);
  at::Tensor out = at::empty(x.sizes(), x.options().dtype(type));
  in_pieces(rows, rows * kNumbersOfAPiece / x.numel() + 1,
            [&](std::int64_t first, std::int64_t last) {
              out.narrow(0, first, last - first).copy_(f(x.narrow(0, first, last - first)));
            });
  return out;
}

}  // namespace pardec
