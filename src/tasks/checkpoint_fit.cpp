#include "src/tasks/checkpoint_fit.hpp"

#include <algorithm>

#include "src/support/error.hpp"
#include "src/support/hashing.hpp"
#include "src/support/text.hpp"

namespace pardec {

ChatTemplate template_for(const std::string& name, const std::filesystem::path& model,
                          const std::vector<std::string>& settings, Thinking thinking) {
  ChatTemplate chat = choose_chat_template(name, model, settings);
  if (thinking == Thinking::off)
    if (std::string setting = setting_without_thought(chat, settings); !setting.empty()) {
      std::vector<std::string> all = settings;
      all.push_back(std::move(setting));
      chat = choose_chat_template(name, model, all);
    }
  if (name == "auto" && chat.name() != "checkpoint") {
    const std::string taught = read_training_record(model).chat_template;
    const std::vector<std::string> known = chat_template_names();
    if (std::find(known.begin(), known.end(), taught) != known.end())
      return find_chat_template(taught);
  }
  return chat;
}

std::string taught_otherwise(const std::filesystem::path& model, const ChatTemplate& chat,
                             const PromptFile* wording) {
  const TrainingRecord taught = read_training_record(model);
  const std::string& text = taught.chat_template_sha256;
  std::vector<std::string> parts;
  if (!taught.chat_template.empty() && taught.chat_template != chat.name())
    parts.push_back(str("chat template ", taught.chat_template, ", prompts are in ", chat.name()));
  else if (!text.empty() && text != sha256(chat.text()))
    parts.push_back(
        str("chat template ", taught.chat_template, " of another text than the one here"));
  if (wording && !taught.prompt_sha256.empty() && taught.prompt_sha256 != sha256(wording->content))
    parts.push_back(str("another wording than ", wording->name));
  return parts.empty() ? "" : "the network was trained with " + join(parts, ", and ");
}

bool learned(const DecoderEntry& decoder, const std::vector<std::string>& formats) {
  return std::any_of(decoder.formats.begin(), decoder.formats.end(), [&](const FormatEntry& own) {
    return std::find(formats.begin(), formats.end(), own.name) != formats.end();
  });
}

bool untrained_for(const Checkpoint& checkpoint, std::string_view decoder) {
  if (checkpoint.untrained) return true;
  const DecoderEntry& entry = find_decoder(decoder);
  return entry.trained && checkpoint.formats && !learned(entry, *checkpoint.formats);
}

Needs needs_of(const Decoder& decoder, const CheckpointFace* face, const std::string& draft_model) {
  std::vector<std::string> parts;
  if (decoder.drafts_with_model())
    parts.push_back(draft_model.empty() ? "a draft model (`draft_model`)"
                                        : "draft model " + draft_model);
  if (face) try {
      const std::string found =
          decoder.needs(face->tokenizer ? &*face->tokenizer : nullptr, face->config);
      if (!found.empty()) parts.push_back(found);
    } catch (const ConfigError& error) {
      return {error.what(), true};
    }
  return {parts.empty() ? "-" : join(parts, ", "), false};
}

void check_draft_flag(const ModelOptions& options, bool needed) {
  if (needed && options.draft_model.empty())
    throw ConfigError(str("decoder ", decoders_that(&DecoderEntry::drafts_with_model),
                          " needs a draft network; give `draft_model=DIR` with a smaller network "
                          "of the same tokenizer"));
  if (!needed && !options.draft_model.empty())
    throw ConfigError(str("`draft_model` is '", options.draft_model,
                          "', but no decoder drafts with a network; expected decoder ",
                          decoders_that(&DecoderEntry::drafts_with_model)));
}

}  // namespace pardec
