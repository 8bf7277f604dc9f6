#pragma once
#include <optional>
#include <string>
#include <string_view>

/// Short answers to problems in mathematics, as MATH500, AIME and AMC have them. Pure functions.
namespace pardec {

/// The content of the last \boxed{...} (or \fbox{...}) of a text; none: there is none, or it has no
/// end.
std::optional<std::string> boxed(std::string_view text);

/// Whether two answers in LaTeX or plain text are equal. After the normalisation of Hendrycks et
/// al. 2021 (arXiv:2103.03874: fractions, roots, units, degrees, money, percent signs, `x=`), they
/// are compared as texts; as numbers, if both are expressions of numbers (1/2, 0.5, \frac12); as
/// expressions in variables, by values at several points; as lists, if both have the same brackets:
/// in order in ( ) and [ ], in any order in { } and without brackets.
///
/// Differs from that source in counting more answers as equal: values, orders of sets, thousands
/// separators and words in any case. Numbers are equal to nine digits.
bool same_maths_answer(std::string_view a, std::string_view b);

}  // namespace pardec
