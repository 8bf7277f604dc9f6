#pragma once
#include <string>

#include "src/jinja/value.hpp"

namespace pardec::jinja {

// Functions common to both ways of formatting.

/// The digits of a real number, with a `-` if it is negative. `kind`: C's e, f, g (or E, F, G);
/// `precision`: digits after the point; `alternate` keeps the point.
std::string real_digits(double value, char kind, std::int64_t precision, bool alternate,
                        Budget& budget);
/// The digits of an integer in base 2, 8, 10 or 16, without a sign.
std::string whole_digits(std::int64_t value, int base, bool upper);

/// A text of one character. Fault: `code` is not a character.
std::string character_of(std::int64_t code);

/// The first characters, at most `most`; negative: all.
std::string first_characters(const std::string& text, std::int64_t most);

}  // namespace pardec::jinja
