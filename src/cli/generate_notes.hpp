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

/// Prints how `wall_ns` was spent, in one line.
void print_profile(const Profile& profile, std::int64_t wall_ns);

/// Prints the speed of the answers (none: failed), in one line of text or json.
void print_speed(const std::vector<std::optional<Answers>>& answers, std::int64_t wall_ns,
                 int in_flight, AnswerFormat format);

/// The effects of a stop, in one line: answers that were cut, and prompts without an answer.
std::string describe_stop(const std::vector<std::optional<Answers>>& answers,
                          const std::vector<std::string>& errors);

/// Prints the number of answers that ended because the network has no further position, in one
/// line; nothing if there are none.
void print_positions_end(const std::vector<std::optional<Answers>>& answers,
                         const ModelConfig& config);

/// Prints the options that were set to the values of the network's training. Options that the user
/// set are left out, and so is the stack, because the user gives the jobs.
void print_taught_options(const Arm& arm);

}  // namespace pardec
