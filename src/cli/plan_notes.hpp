#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "src/prompt/chat_template.hpp"
#include "src/report/table.hpp"
#include "src/runs/prompt_sizes.hpp"
#include "src/tasks/checkpoint_fit.hpp"

/// What run --dry-run says below its plan.
namespace pardec {

/// Adds which jobs will fail for their prompts alone.
void add_size_notes(Table& table, const std::string& who, const PromptSizes& sizes,
                    std::int64_t jobs, const ModelConfig& config);

/// Says where an arm's batch is not full for most of a block.
void add_fill_note(Table& table, const std::string& who, double full, std::int64_t jobs,
                   std::int64_t blocks, int batch_size);

/// How long blocks are, and why.
std::string block_note(const RunSpec& spec, const Workload& work);

/// What the dataset's protocol says of fields that are asked one by one.
std::string protocol_note(const RunSpec& spec, const Workload& work);

/// What is to be seen of an arm's network without its weights.
struct ArmFace {
  std::optional<CheckpointFace> face;
  std::optional<ChatTemplate> chat;  ///< where there is a tokenizer
  Needs needs;
};
ArmFace look_at(const RunSpec& spec, const Arm& arm);

/// Which arms run on which networks.
std::string networks_note(const RunSpec& spec);

/// What the networks' files say otherwise than they are computed.
void add_file_notes(Table& table, const RunSpec& spec, const std::vector<ArmFace>& seen);

}  // namespace pardec
