#pragma once
#include <optional>
#include <string>
#include <string_view>

/// Short answers to mathematical problems, as in MATH500, AIME and AMC. Pure functions.
namespace pardec {

/// The content of the last \boxed{...} or \fbox{...} in a text. None: the text has neither, or the
/// bracket is not closed.
std::optional<std::string> boxed(std::string_view text);

/// Whether two answers in LaTeX or plain text are equal. Both are normalised as in Hendrycks et al.
/// 2021 (arXiv:2103.03874: fractions, roots, units, degrees, money, percent signs, `x=`). They are
/// equal if one of these comparisons says so:
///  - as texts;
///  - as numbers, if both are numeric expressions (1/2, 0.5, \frac12);
///  - as expressions in variables, by their values at several points;
///  - as lists, if both have the same brackets. Lists in ( ) and [ ] are compared in order; sets in
///    { } and lists without brackets in any order.
///
/// Differs from Hendrycks et al.: more answers are equal, because values are compared, sets have no
/// order, and thousands separators and upper or lower case do not matter. Numbers are equal if
/// they differ by at most 1e-9, or by at most 1e-9 of the larger number. An empty text is not equal
/// to any text. Answers of more than 4096 bytes are compared only as texts, without normalisation.
bool same_maths_answer(std::string_view a, std::string_view b);

}  // namespace pardec
