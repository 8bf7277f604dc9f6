#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "decoders/decoder.hpp"
#include "src/cli/generate_output.hpp"
#include "src/model/profile.hpp"
#include "src/runs/arms.hpp"

/// What `generate` says on stderr beside its answers.
namespace pardec {

/// Where the time of `wall_ns` went, in one line.
void print_profile(const Profile& profile, std::int64_t wall_ns);

/// How fast the answers came (none: it failed), in one line of text or json.
void print_speed(const std::vector<std::optional<Answers>>& answers, std::int64_t wall_ns,
                 int in_flight, AnswerFormat format);

/// What a stop left undone, in one line: answers that were cut, and prompts without one.
std::string describe_stop(const std::vector<std::optional<Answers>>& answers,
                          const std::vector<std::string>& errors);

/// How many answers end as the network has no further position, in one line; none: nothing.
void print_positions_end(const std::vector<std::optional<Answers>>& answers,
                         const ModelConfig& config);

/// What the network was taught, and nobody asked otherwise; not its stack, since jobs are given.
void print_taught_options(const Arm& arm);

}  // namespace pardec
