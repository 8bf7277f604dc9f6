#pragma once
#include <string>
#include <string_view>

namespace pardec {

/// Unbiased estimate of the chance that one of k samples passes, from n samples of which c passed:
/// 1 - binomial(n - c, k) / binomial(n, k), as a product, which cannot overflow (Chen et al. 2021,
/// section 2.1). The score of a set of problems is the mean over them. ConfigError unless
/// 0 <= c <= n and 1 <= k <= n.
double pass_at_k(long n, long c, long k);

/// What the text of a task of HumanEval-X (Python) defines by itself: the modules that its
/// evaluation imports, as far as they come with Python; the prompt (a function's head with its
/// docstring, and functions before it that it may need).
std::string task_head(std::string_view prompt);

/// The program that an answer makes of it: the head and the answer, which goes on from there or
/// says the function once more. Of an answer with a fenced block (```) the first block alone
/// counts.
std::string task_program(std::string_view prompt, std::string_view answer);

}  // namespace pardec
