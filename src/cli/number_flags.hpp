#pragma once

namespace CLI {
class Option;
}

namespace pardec {

/// Checks the numbers of an option, by the kind of value that it says it has. A number as it is
/// written is the number that is taken: CLI11 alone reads 010 as 8, what is too large as the
/// largest there is, and nan.
void check_numbers(CLI::Option& option);

}  // namespace pardec
