#pragma once
#include <string>

#include "src/jinja/value.hpp"

namespace pardec::jinja {

// What both ways of formatting have in common.

/// The digits of a real number, with a `-` where it is negative: kinds e f g (and E F G) of C, at
/// least so many digits behind the point; `alternate` keeps the point.
std::string real_digits(double value, char kind, std::int64_t precision, bool alternate,
                        Budget& budget);
/// The digits of an integer to a base of 2, 8, 10 or 16, without a sign.
std::string whole_digits(std::int64_t value, int base, bool upper);

/// A text of one character. Fault where it is none.
std::string character_of(std::int64_t code);

/// At most so many characters from the beginning; negative: all.
std::string first_characters(const std::string& text, std::int64_t most);

}  // namespace pardec::jinja
