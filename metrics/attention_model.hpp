#pragma once
#include <cstdint>
#include <span>
#include <vector>

/// The cost of attention when many questions share a context, as the IPPD paper counts it (appendix
/// A.2, Table 3): FLOPs and memory accesses per head, in units of tokens, without constant factors.
/// The letters are the paper's. p, c, x and y are the lengths in tokens of the instruction, a
/// context, a question, and the answer so far (y_<t); they may be means. M is the number of
/// questions. PC+PA is prefix caching with PagedAttention. IPPD has one context per prompt, except
/// in ippd_cost. Pure functions.
namespace pardec {

/// One attention operation: `q` queries over `kv` keys and values.
struct AttentionSize {
  double q = 0, kv = 0;
  double accesses() const { return q + kv; }
  double flops() const { return q * kv; }
  /// Arithmetic intensity: FLOPs per memory access.
  double intensity() const { return flops() / accesses(); }
};

/// Table 3, row PC+PA: the prefill with the first question of a context, the prefill with each
/// later question, and one decoding step of one answer.
AttentionSize pcpa_first_prefill(double p, double c, double x);
AttentionSize pcpa_subsequent_prefill(double p, double c, double x);
AttentionSize pcpa_decode(double p, double c, double x, double y);

/// Table 3, row IPPD: the prefill of a context with all questions, and one decoding step of its
/// unfinished answers. sum_x, sum_y: sums over all questions, including those with finished
/// answers. open: number of unfinished answers (M*).
AttentionSize ippd_prefill(double p, double c, double sum_x);
AttentionSize ippd_decode(double p, double c, double sum_x, double sum_y, double open);

/// A.2.1: FLOPs of IPPD's prefill divided by FLOPs of PC+PA's first prefill, (p+c+sum x)^2 /
/// (p+c+x)^2. PC+PA's M - 1 later prefills are not included; pcpa_cost includes them.
double prefill_flop_factor(double p, double c, double x, double sum_x);
/// A.2.1: memory accesses of all M prefills of PC+PA divided by the accesses of IPPD's prefill,
/// M (p+c+x) / (p+c+sum x). The paper rounds this to M.
double prefill_access_ratio(double p, double c, double x, double sum_x, double m);
/// A.2.2: IPPD's FLOPs per decoded token divided by PC+PA's, (p+c+sum(x+y)) / (p+c+x+y).
double decode_flop_factor(double p, double c, double x, double y, double sum_x, double sum_y);

/// A context of length c, the lengths x of its questions, and the lengths y of their answers. y[k]
/// belongs to the question with length x[k]. An answer has at least one token; its last token is
/// never an input. REQUIRES: x and y have the same length.
struct CommonContext {
  std::int64_t c = 0;
  std::vector<std::int64_t> x, y;
};

/// FLOPs and memory accesses, summed over attention operations. The intensity of no operations is
/// NaN.
struct AttentionCost {
  double flops = 0, accesses = 0;
  void add(const AttentionSize& one) { flops += one.flops(), accesses += one.accesses(); }
  double intensity() const { return flops / accesses; }
};
/// The costs of the prefill and of decoding.
struct StagedCost {
  AttentionCost prefill, decode;
};

/// The exact sums over all operations of PC+PA for one context (Table 3). PC+PA processes each
/// question separately, with one decoding operation per answer and step. `p`: length of the
/// instruction.
StagedCost pcpa_cost(std::int64_t p, const CommonContext& context);
/// The exact sums over all operations of IPPD for one prompt, which may contain several contexts
/// (the paper's C/P is their number). All unfinished answers share one decoding operation per step,
/// in an engine without padding. `p`: length of the instruction. `stack`: the prompt's contexts.
StagedCost ippd_cost(std::int64_t p, std::span<const CommonContext> stack);

}  // namespace pardec
