#include "src/tasks/session.hpp"

#include "src/tasks/checkpoint_fit.hpp"

namespace pardec {

Session::Session(const ModelOptions& model, const DecodeOptions& decode, const Parts& parts,
                 Checkpoints& loaded)
    : chat(parts.tokenizer ? template_for(decode.chat_template, tokenizer_folder(model),
                                          decode.chat_set, parse_thinking(decode.thinking))
                           : find_chat_template("plain")),
      network(loaded.get(model, parts.tokenizer)),
      checkpoint(*network),
      draft(parts.draft ? load_draft(model, checkpoint, loaded) : nullptr),
      note(generation_note(checkpoint.model.config().generation, decode.no_generation_config)),
      engine(checkpoint.model, clock),
      context{engine, checkpoint.tokenizer ? &*checkpoint.tokenizer : nullptr, decode.ignore_eos,
              draft ? &draft->model : nullptr},
      thinking(thought_reading(chat, context.tokenizer, parse_thinking(decode.thinking))) {
  context.more_eos = given_ends(decode.eos, checkpoint.model.config(), tokenizer());
  end_notes_ = pardec::end_notes(model, checkpoint.model.config(), tokenizer(),
                                 parts.tokenizer ? &chat : nullptr, context.more_eos);
  engine.set_cache_budget(parts.cache);
  if (!decode.no_generation_config)
    engine.set_rules(checkpoint.model.config().generation, context.more_eos);
}

std::vector<std::string> Session::file_notes() const {
  std::vector<std::string> notes = checkpoint.file_notes;
  notes.insert(notes.end(), end_notes_.begin(), end_notes_.end());
  if (draft)
    for (const std::string& text : draft->file_notes) notes.push_back("draft: " + text);
  return notes;
}

}  // namespace pardec
