#pragma once

namespace CLI {
class Option;
}

namespace pardec {

/// Adds a check to an option. Parsing the command line then fails (CLI::ValidationError) if the
/// value does not fit the option's type name. For the type name N, the value must be a whole number
/// of 64 bits without leading zeros; for X, S and MS, a finite number. Exception: the value of
/// --seed must be a whole number from 0 to 2^64 - 1. No check is added for other type names.
/// Without this check, CLI11 reads 010 as 8, replaces a number that is too large by the largest
/// possible number, and accepts nan.
void check_numbers(CLI::Option& option);

}  // namespace pardec
