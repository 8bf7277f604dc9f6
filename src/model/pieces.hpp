#pragma once
// libtorch's operations, which compute on the thread that calls them, shared out over the team.
#include <cstdint>

#include "src/kernels/team.hpp"
#include "src/model/device.hpp"
#include "src/model/network.hpp"
#include "src/model/torch.hpp"

namespace pardec {

/// Numbers of a tensor that are worth a piece of their own, where few operations touch each.
constexpr std::int64_t kNumbersOfAPiece = 32 * 1024;

/// Whether operations on it can be cut up and stay the same, bit by bit: float32 on the CPU (pieces
/// of products of float64 are rounded otherwise), and no gradient is wanted.
inline bool can_be_cut(const at::Tensor& x) {
  return x.is_cpu() && x.scalar_type() == at::kFloat && !at::GradMode::is_enabled();
}

/// work(first, last) on pieces of [0, count), as Team::run. REQUIRES: no gradient is wanted.
template <typename Work>
void in_pieces(std::int64_t count, std::int64_t grain, const Work& work) {
  team().run(count, grain, [&](int, std::int64_t first, std::int64_t last) {
    const c10::NoGradGuard no_grad;  // of each thread
    const at::AutoDispatchBelowADInplaceOrView below_autograd;
    work(first, last);
  });
}

/// f(x), [n, ...] in `type`, of a function of each row; many rows are computed in pieces.
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
