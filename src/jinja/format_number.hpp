#pragma once
#include <string>

#include "src/jinja/value.hpp"

namespace pardec::jinja {

// Functions that percent_format and brace_format (format.hpp) share.

/// A real number as text, with a `-` if it is negative. `kind`: e, f, g, E, F or G, as in C's
/// printf. `precision`: printf's precision, at least 0. `alternate`: printf's #, so that the point
/// is always written. A number that is not finite becomes nan, inf or -inf, in capital letters if
/// `kind` is a capital letter. Before the function formats a finite number, it takes steps from
/// `budget`, in proportion to the largest possible number of digits. Fault: `precision` is above
/// 2^31 - 1, or the budget is used up.
std::string real_digits(double value, char kind, std::int64_t precision, bool alternate,
                        Budget& budget);
/// The digits of an integer's absolute value in base 2, 8, 10 or 16, without sign and prefix.
/// `upper`: capital letters for base 16.
std::string whole_digits(std::int64_t value, int base, bool upper);

/// A text with one character. Fault: `code` is not a code point, or is a surrogate.
std::string character_of(std::int64_t code);

/// The first `most` characters of a text; all of them if `most` is negative.
std::string first_characters(const std::string& text, std::int64_t most);

}  // namespace pardec::jinja
