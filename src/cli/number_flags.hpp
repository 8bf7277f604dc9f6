#pragma once

namespace CLI {
class Option;
}

namespace pardec {

/// Checks the numbers given for an option against the option's declared type. Without this check,
/// CLI11 reads 010 as 8, replaces a number that is too large by the largest possible one, and
/// accepts nan.
void check_numbers(CLI::Option& option);

}  // namespace pardec
