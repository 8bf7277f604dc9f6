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

/// Whether a checkpoint is what a decoder and its prompts ask of it.
namespace pardec {

/// Whether one of these training formats is the decoder's.
bool learned(const DecoderEntry& decoder, const std::vector<std::string>& formats);

/// Whether a decoder's answers on it are noise: random weights, or a network that pardec trained,
/// but not in this decoder's format.
bool untrained_for(const Checkpoint& checkpoint, std::string_view decoder);

/// What a decoder needs besides the network's weights.
struct Needs {
  std::string text;      ///< with what was found of it; "-": nothing
  bool lacking = false;  ///< the checkpoint has it not, as `text` says
};
/// As far as can be said without weights. `face` null: the network is not known.
Needs needs_of(const Decoder& decoder, const CheckpointFace* face, const std::string& draft_model);

/// ConfigError where --draft-model was given and no decoder drafts with a network, or the other way
/// round.
void check_draft_flag(const ModelOptions& options, bool needed);

/// The template that --chat-template and --chat-set name; `auto` is the checkpoint's own, else what
/// `train` taught the network (its record), else `plain`. Thinking `off` adds the template's own
/// variable to the settings. ConfigError; ModelError: the record.
ChatTemplate template_for(const std::string& name, const std::filesystem::path& model,
                          const std::vector<std::string>& settings,
                          Thinking thinking = Thinking::strip);

/// Where a prompt's markup, or the wording of a task that was taught (`wording` not null), is not
/// what `train` taught the network: what the two are. Empty: they agree, or nothing is known.
std::string taught_otherwise(const std::filesystem::path& model, const ChatTemplate& chat,
                             const PromptFile* wording);

}  // namespace pardec
