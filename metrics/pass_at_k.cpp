#include "metrics/pass_at_k.hpp"

#include "src/support/error.hpp"
#include "src/support/text.hpp"

namespace pardec {

double pass_at_k(long n, long c, long k) {
  if (c < 0 || c > n || k < 1 || k > n)
    throw ConfigError(str("pass@", k, " of ", n, " samples, ", c,
                          " of them good: expected 1 <= k <= samples and no more good ones than "
                          "samples; draw more samples or lower k"));
  if (n - c < k) return 1;
  double all_fail = 1;
  for (long i = n - c + 1; i <= n; ++i)
    all_fail *= 1 - static_cast<double>(k) / static_cast<double>(i);
  return 1 - all_fail;
}

}  // namespace pardec
