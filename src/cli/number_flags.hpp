#pragma once

namespace CLI {
class Option;
}

namespace pardec {

/// Checks the numbers given for an option, based on its declared type. Numbers must be read exactly
/// as written: CLI11 alone reads 010 as 8, replaces numbers that are too large by the largest
/// possible one, and accepts nan.
void check_numbers(CLI::Option& option);

}  // namespace pardec
