#pragma once

namespace CLI {
class Option;
}

namespace pardec {

/// Adds a check to an option: while the command line is parsed, the numbers given for the option
/// must fit its type name (N: a whole number; X, S or MS: a finite number). For --seed, they must
/// be whole numbers from 0 to 2^64 - 1. Options with other type names get no check. Without
/// this check, CLI11 reads 010 as 8, replaces a number that is too large by the largest possible
/// one, and accepts nan.
void check_numbers(CLI::Option& option);

}  // namespace pardec
