#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "src/prompt/chat_template.hpp"
#include "src/report/table.hpp"
#include "src/runs/prompt_sizes.hpp"
#include "src/tasks/checkpoint_fit.hpp"

/// Notes below the table of `run --dry-run`.
namespace pardec {

/// Adds notes about jobs that will fail because their prompts are too long, or cannot be made.
/// `who`: dataset and arm, for the note. `jobs`: number of all jobs. `config`: config of the arm's
/// network.
void add_size_notes(Table& table, const std::string& who, const PromptSizes& sizes,
                    std::int64_t jobs, const ModelConfig& config);

/// Adds a note if an arm's batch is full during less than half of the arm's jobs. `who`: dataset
/// and arm, for the note. `full`: the result of full_share, from 0 to 1. `jobs`, `blocks`: number
/// of jobs of the arm, and number of blocks.
void add_fill_note(Table& table, const std::string& who, double full, std::int64_t jobs,
                   std::int64_t blocks, int batch_size);

/// A note about the number of examples in a block, and the reason for this number.
std::string block_note(const RunSpec& spec, const Workload& work);

/// A note about fields that are asked one by one: the limit of tokens for a value, and the number
/// of few-shot examples in the prompt. Call this only if an arm asks in this way.
std::string protocol_note(const RunSpec& spec, const Workload& work);

/// The properties of an arm's network that can be read without its weights.
struct ArmFace {
  std::optional<CheckpointFace> face;  ///< none: there is no checkpoint at the network's path
  std::optional<ChatTemplate> chat;    ///< none: there is no tokenizer, or the arm is a service
  Needs needs;                         ///< requirements of the arm's decoder
};
/// Reads these properties from the files of the arm's network. Errors: see read_face, template_for
/// and parse_thinking.
ArmFace look_at(const RunSpec& spec, const Arm& arm);

/// A note with the paths of the network that all arms share, its adapter and its draft network. If
/// the arms have different networks, the note has these paths for each arm.
std::string networks_note(const RunSpec& spec);

/// Adds notes about the files of the arms' networks, e.g. about settings in these files that are
/// not applied. `seen`: the result of look_at for each arm.
void add_file_notes(Table& table, const RunSpec& spec, const std::vector<ArmFace>& seen);

}  // namespace pardec
