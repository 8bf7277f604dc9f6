#pragma once
#include <string_view>
#include <vector>

#include "src/findings/comparison.hpp"

namespace pardec {

/// From this share of the answers on, how they ended is said.
inline constexpr double kWorthSaying = 0.1;

/// What a warning is of.
struct WarningKind {
  std::string_view code, meaning;
};
inline constexpr WarningKind kWarningKinds[] = {
    {"broken", "most answers are none, so that neither speed nor scores say anything"},
    {"failed", "answers have an error in their place"},
    {"unparsed", "answers could not be read as what was asked for"},
    {"empty", "answers are empty"},
    {"hit_limit", "answers were cut at their limit"},
    {"untrained", "random weights, or never taught what the decoder needs"},
    {"untaught", "options or prompts are not those that the network was taught with"},
    {"short_batch", "fewer jobs were in flight than asked for"},
    {"short_stack", "fewer examples were in a job than asked for"},
    {"few_blocks", "a speedup over too few different blocks for an interval"},
    {"disturbed", "others had a share of the machine"},
    {"unsteady", "repeats contradict each other"},
    {"oversubscribed", "more threads than cores"},
    {"traced", "a trace was written meanwhile, which takes time"},
    {"unmeasured", "blocks without a time"},
    {"unfinished", "the run goes on, or was killed"},
    {"not_release", "measured with a build that is not for measuring"},
    {"lengths", "open answers are longer or shorter than the baseline's"},
    {"departs", "a decoder that gives the baseline's ids in fp32 did not"},
};

/// What says that a number of the comparison should not be believed as it stands.
std::vector<Warning> warnings_of(const Comparison& comparison);

}  // namespace pardec
