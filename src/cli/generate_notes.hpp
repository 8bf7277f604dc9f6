#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "decoders/decoder.hpp"
#include "src/cli/generate_output.hpp"
#include "src/model/profile.hpp"
#include "src/runs/arms.hpp"

/// Messages of `generate` on stderr.
namespace pardec {

/// Prints, in one line, the shares of the kinds of work in the wall time. `wall_ns`: the wall time
/// in nanoseconds, above 0.
void print_profile(const Profile& profile, std::int64_t wall_ns);

/// Prints the speed in one line of text or JSON. An entry of `answers` is none if the request
/// failed; if all failed, prints nothing. `wall_ns`: wall time of all requests, in nanoseconds.
/// `in_flight`: the largest number of requests that ran at the same time.
void print_speed(const std::vector<std::optional<Answers>>& answers, std::int64_t wall_ns,
                 int in_flight, AnswerFormat format);

/// Returns (does not print) one line about the effects of a stop: how many answers were cut, and
/// how many prompts were not begun. `errors`: one for each entry of `answers`; empty: the request
/// did not fail.
std::string describe_stop(const std::vector<std::optional<Answers>>& answers,
                          const std::vector<std::string>& errors);

/// Prints, in one line, how many answers ended at the network's last position. Prints nothing if no
/// answer did.
void print_positions_end(const std::vector<std::optional<Answers>>& answers,
                         const ModelConfig& config);

/// Prints the options that were set to the values from the network's training. Options that the
/// user set are left out. The stack is left out too, because `generate` gets its prompts from the
/// user.
void print_trained_options(const Arm& arm);

}  // namespace pardec
