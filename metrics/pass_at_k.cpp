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

namespace {

/// What stands between the first fence's line and the next fence; all where there is no fence.
std::string_view code_of(std::string_view answer) {
  constexpr std::string_view kFence = "```";
  const size_t fence = answer.find(kFence);
  if (fence == std::string_view::npos) return answer;
  const size_t line_end = answer.find('\n', fence);
  if (line_end == std::string_view::npos) return {};
  const std::string_view code = answer.substr(line_end + 1);
  return code.substr(0, code.find(kFence));
}

}  // namespace

std::string task_head(std::string_view prompt) {
  constexpr std::string_view kImports =
      "import math, re, sys, copy, datetime, itertools, collections, heapq, statistics\n"
      "import functools, hashlib, string\nfrom typing import *\nfrom collections import *\n";
  return str(kImports, prompt);
}

std::string task_program(std::string_view prompt, std::string_view answer) {
  return str(task_head(prompt), code_of(answer), "\n");
}

}  // namespace pardec
