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

/// Whether a checkpoint satisfies the requirements of a decoder and its prompts.
namespace pardec {

/// Whether the decoder's format is one of these training formats.
bool learned(const DecoderEntry& decoder, const std::vector<std::string>& formats);

/// Whether a decoder's answers with this checkpoint are noise: its weights are random, or pardec
/// trained it, but not on this decoder's format.
bool untrained_for(const Checkpoint& checkpoint, std::string_view decoder);

/// The requirements of a decoder besides the network's weights.
struct Needs {
  std::string text;      ///< the requirements and how they are met; "-": none
  bool lacking = false;  ///< the checkpoint does not meet them, as `text` says
};
/// The requirements as far as they are known without weights. `face` null: the network is not
/// known.
Needs needs_of(const Decoder& decoder, const CheckpointFace* face, const std::string& draft_model);

/// ConfigError: --draft-model was given, but no decoder drafts with a network, or the reverse.
void check_draft_flag(const ModelOptions& options, bool needed);

/// The template selected by --chat-template and --chat-set. `auto`: the checkpoint's own, otherwise
/// the one that `train` used (from its record), otherwise `plain`. Thinking `off` adds the
/// template's own variable to the settings. ConfigError. ModelError: invalid record.
ChatTemplate template_for(const std::string& name, const std::filesystem::path& model,
                          const std::vector<std::string>& settings,
                          Thinking thinking = Thinking::strip);

/// Describes how a prompt's markup, or the wording of a trained task (if `wording` is not null),
/// differs from that in training. Empty: they agree, or nothing is known.
std::string taught_otherwise(const std::filesystem::path& model, const ChatTemplate& chat,
                             const PromptFile* wording);

}  // namespace pardec
