#pragma once
namespace pardec {

/// The unbiased estimate of the probability that at least one of k samples passes, if c of n
/// samples passed (Chen et al. 2021, section 2.1): 1 - binomial(n - c, k) / binomial(n, k). The
/// estimate is computed as a product, which cannot overflow. The score of several problems is the
/// mean of their estimates. ConfigError unless 0 <= c <= n and 1 <= k <= n.
double pass_at_k(long n, long c, long k);

}  // namespace pardec
