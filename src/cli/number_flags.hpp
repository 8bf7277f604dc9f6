#pragma once

namespace CLI {
class Option;
}

namespace pardec {

/// Adds a check of the value to an option with a numeric type name. If a value fails the check,
/// parsing the command line throws CLI::ValidationError. The check depends on the type name:
/// - N: the value must be a whole number of 64 bits without leading zeros. Exception: for --seed, a
///   whole number from 0 to 2^64 - 1 without leading zeros.
/// - X, S and MS: the value must be a finite number.
/// No check is added for other type names. Without this check, CLI11 reads 010 as 8, replaces a
/// number that is too large by the largest possible number, and accepts nan.
void check_numbers(CLI::Option& option);

}  // namespace pardec
