#pragma once
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "decoders/decoder.hpp"
#include "src/checkpoint/checkpoint.hpp"
#include "src/prompt/chat_template.hpp"
#include "src/prompt/prompt_file.hpp"
#include "src/prompt/thinking.hpp"

/// Checks whether a checkpoint meets the requirements of a decoder and its prompts.
namespace pardec {

/// Whether a network trained on these formats is trained for the decoder.
bool learned(const DecoderEntry& decoder, const std::vector<std::string>& formats);

/// Whether a decoder's answers with this checkpoint are noise: the weights are random, or the
/// decoder needs training on its own format and pardec trained the network on other formats only.
/// `decoder`: its name. Errors: see find_decoder.
bool untrained_for(const Checkpoint& checkpoint, std::string_view decoder);

/// The requirements of a decoder other than the network's weights.
struct Needs {
  /// If the requirements are met, names them and says how they are met. If they are not met, the
  /// error. "-" if the decoder has no requirements.
  std::string text;
  /// whether the checkpoint does not meet the requirements; a missing draft network does not count
  bool lacking = false;
};
/// Finds the needs of a decoder as far as possible without weights. `face`: null if the network is
/// not known. `draft_model`: folder of the draft network; empty: none was given.
Needs needs_of(const Decoder& decoder, const CheckpointFace* face, const std::string& draft_model);

/// Checks --draft-model. `needed`: whether some decoder of this call drafts with a draft network.
/// ConfigError: --draft-model was given but is not needed, or is needed but was not given.
void check_draft_flag(const ModelOptions& options, bool needed);

/// The chat template for --chat-template and --chat-set. Here, `auto` is the checkpoint's own
/// template, or else the template that `train` used (according to its record), or else `plain`. If
/// `thinking` is off, the setting of setting_without_thought is added. ConfigError: see
/// choose_chat_template and setting_without_thought. DataError: see choose_chat_template and
/// read_training_record. ModelError: see read_training_record.
ChatTemplate template_for(const std::string& name, const std::filesystem::path& model,
                          const std::vector<std::string>& settings,
                          Thinking thinking = Thinking::strip);

/// Describes how the chat template or the prompt file differs from those in training. `wording`:
/// the prompt file in use; null: it is not compared, e.g. because training does not cover the task.
/// Empty: there is no difference, or the record does not say. ModelError, DataError: see
/// read_training_record.
std::string taught_otherwise(const std::filesystem::path& model, const ChatTemplate& chat,
                             const PromptFile* wording);

}  // namespace pardec
