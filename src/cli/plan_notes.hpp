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

/// Adds notes about the jobs of an arm that will fail because their prompts are too long, or cannot
/// be made. Adds nothing if there are no such jobs. `who`: dataset and arm, for the notes. `sizes`:
/// the result of prompt_sizes. `jobs`: number of all jobs of the arm on the dataset. `config`:
/// config of the arm's network.
void add_size_notes(Table& table, const std::string& who, const PromptSizes& sizes,
                    std::int64_t jobs, const ModelConfig& config);

/// Adds a note if an arm's batch is full during less than half of the arm's jobs. Otherwise adds
/// nothing. `who`: dataset and arm, for the note. `full`: the result of full_share, from 0 to 1.
/// `jobs`: number of jobs of the arm on the dataset. `blocks`: number of blocks.
void add_fill_note(Table& table, const std::string& who, double full, std::int64_t jobs,
                   std::int64_t blocks, int batch_size);

/// A note about the blocks of a dataset: their number, the number of examples in each block, and
/// the reason for these numbers.
std::string block_note(const RunSpec& spec, const Workload& work);

/// A note for datasets whose fields are asked one by one: the maximum number of tokens of a value,
/// and the number of few-shot examples in the prompt. Call this only if an arm asks in this way
/// (asks_alone).
std::string protocol_note(const RunSpec& spec, const Workload& work);

/// The properties of an arm's network that can be read without its weights.
struct ArmFace {
  std::optional<CheckpointFace> face;  ///< none: there is no checkpoint at the network's path
  std::optional<ChatTemplate> chat;    ///< none: there is no tokenizer, or the arm is a service
  Needs needs;  ///< requirements of the arm's decoder, and whether the network meets them
};
/// Reads these properties from the files of the arm's network. Errors: see read_face, template_for
/// and parse_thinking.
ArmFace look_at(const RunSpec& spec, const Arm& arm);

/// A note with the paths of the network, its adapter and its draft network. If all arms share the
/// network, the note has these paths once; otherwise, for each arm.
std::string networks_note(const RunSpec& spec);

/// Adds notes about the files of the arms' networks, e.g. about settings in these files that are
/// not applied. `seen[a]`: the result of look_at for arm `a` of `spec`.
void add_file_notes(Table& table, const RunSpec& spec, const std::vector<ArmFace>& seen);

}  // namespace pardec
