#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "src/prompt/chat_template.hpp"
#include "src/report/table.hpp"
#include "src/runs/prompt_sizes.hpp"
#include "src/tasks/checkpoint_fit.hpp"

/// Notes below the plan of run --dry-run.
namespace pardec {

/// Notes the jobs that will fail because of their prompts.
void add_size_notes(Table& table, const std::string& who, const PromptSizes& sizes,
                    std::int64_t jobs, const ModelConfig& config);

/// Notes an arm whose batch is not full for most of a block.
void add_fill_note(Table& table, const std::string& who, double full, std::int64_t jobs,
                   std::int64_t blocks, int batch_size);

/// The length of blocks, and the reason for it.
std::string block_note(const RunSpec& spec, const Workload& work);

/// The dataset's protocol for fields that are asked one by one.
std::string protocol_note(const RunSpec& spec, const Workload& work);

/// The properties of an arm's network that are known without its weights.
struct ArmFace {
  std::optional<CheckpointFace> face;
  std::optional<ChatTemplate> chat;  ///< set if there is a tokenizer
  Needs needs;
};
ArmFace look_at(const RunSpec& spec, const Arm& arm);

/// Which arms run on which networks.
std::string networks_note(const RunSpec& spec);

/// Notes differences between the networks' files and how the networks are computed.
void add_file_notes(Table& table, const RunSpec& spec, const std::vector<ArmFace>& seen);

}  // namespace pardec
