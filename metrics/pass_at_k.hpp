#pragma once
namespace pardec {

/// Unbiased estimate of the probability that at least one of k samples passes, given that c of n
/// samples passed: 1 - binomial(n - c, k) / binomial(n, k), computed as a product, which cannot
/// overflow (Chen et al. 2021, section 2.1). The score of a set of problems is the mean over them.
/// ConfigError unless 0 <= c <= n and 1 <= k <= n.
double pass_at_k(long n, long c, long k);

}  // namespace pardec
