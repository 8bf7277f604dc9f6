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

/// Prints one line with the share of the wall time that each kind of work in `profile` took, in
/// percent. `wall_ns`: the wall time in nanoseconds, above 0.
void print_profile(const Profile& profile, std::int64_t wall_ns);

/// Prints the speed in one line of text or JSON. Prints nothing if there is no answer. `answers`:
/// one entry for each request; none: the request failed or was not begun. `wall_ns`: wall time of
/// all requests together, in nanoseconds, without the time for printing answers. `in_flight`: the
/// largest number of requests that may run at the same time.
void print_speed(const std::vector<std::optional<Answers>>& answers, std::int64_t wall_ns,
                 int in_flight, AnswerFormat format);

/// Returns (does not print) one line about the effects of a stop that a signal requested: how many
/// answers were cut (Stop::interrupted), and how many prompts were not begun. `answers`: as for
/// print_speed. `errors`: one entry for each request; empty: the request did not fail. REQUIRES:
/// both lists have the same length.
std::string describe_stop(const std::vector<std::optional<Answers>>& answers,
                          const std::vector<std::string>& errors);

/// Prints, in one line, how many answers ended at the network's last position (Stop::context).
/// Prints nothing if there is no such answer. `answers`: as for print_speed. `config`: the
/// network's config.
void print_positions_end(const std::vector<std::optional<Answers>>& answers,
                         const ModelConfig& config);

/// Prints, in one line, the options of the arm whose values come from the network's training record
/// (Arm::trained_options). Prints nothing if there are no such options. The option for the number
/// of examples in a stack (DecoderEntry::stack_option) is left out, because `generate` does not put
/// several of the user's prompts into one stack.
void print_trained_options(const Arm& arm);

}  // namespace pardec
