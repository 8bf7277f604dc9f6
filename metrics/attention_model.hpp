#pragma once
#include <cstdint>
#include <span>
#include <vector>

/// Computation and memory reads of attention when many questions share a context, as counted in the
/// IPPD paper (appendix A.2, Table 3): per head, in tokens, without constants. The letters are the
/// paper's: p the instruction, c a context, x a question, y the tokens of the answer so far (y_<t),
/// M the number of questions. All are lengths, which may be means. PC+PA is prefix caching with
/// PagedAttention; IPPD has one context per prompt. Pure functions.
namespace pardec {

/// One attention operation: dim(q) queries over dim(K, V) keys and values.
struct AttentionSize {
  double q = 0, kv = 0;
  double accesses() const { return q + kv; }
  double flops() const { return q * kv; }
  /// Arithmetic intensity: FLOPs per memory access.
  double intensity() const { return flops() / accesses(); }
};

/// Table 3, row PC+PA: the prefill of a context's first question, the prefill of each later
/// question, and a decoding step of one answer.
AttentionSize pcpa_first_prefill(double p, double c, double x);
AttentionSize pcpa_subsequent_prefill(double p, double c, double x);
AttentionSize pcpa_decode(double p, double c, double x, double y);

/// Table 3, row IPPD: the single prefill of a context, and a decoding step of its M* unfinished
/// answers.
AttentionSize ippd_prefill(double p, double c, double sum_x);
AttentionSize ippd_decode(double p, double c, double sum_x, double sum_y, double open);

/// A.2.1: FLOPs of IPPD relative to PC+PA's first prefill, (p+c+sum x)^2 / (p+c+x)^2. This leaves
/// out PC+PA's M - 1 later prefills; pcpa_cost includes them.
double prefill_flop_factor(double p, double c, double x, double sum_x);
/// A.2.1: memory accesses of PC+PA relative to IPPD, M (p+c+x) / (p+c+sum x), which the paper
/// rounds to M.
double prefill_access_ratio(double p, double c, double x, double sum_x, double m);
/// A.2.2: FLOPs per token of IPPD relative to PC+PA, (p+c+sum(x+y)) / (p+c+x+y).
double decode_flop_factor(double p, double c, double x, double y, double sum_x, double sum_y);

/// One context with the lengths of its questions, and the number of ids chosen for each answer (at
/// least 1; the last id is not computed as an input).
struct CommonContext {
  std::int64_t c = 0;
  std::vector<std::int64_t> x, y;
};

/// Sums over operations.
struct AttentionCost {
  double flops = 0, accesses = 0;
  void add(const AttentionSize& one) { flops += one.flops(), accesses += one.accesses(); }
  double intensity() const { return flops / accesses; }
};
struct StagedCost {
  AttentionCost prefill, decode;
};

/// Exact sums over all operations of Table 3 for one context: PC+PA processes each question
/// separately, with one decoding operation per answer and step.
StagedCost pcpa_cost(std::int64_t p, const CommonContext& context);
/// The same for one IPPD prompt, which may stack several contexts (the paper's C/P). In an engine
/// without padding, accesses = new rows + cached rows, summed over its forward passes.
StagedCost ippd_cost(std::int64_t p, std::span<const CommonContext> stack);

}  // namespace pardec
