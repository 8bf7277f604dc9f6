#include "src/tasks/session.hpp"

#include "src/tasks/checkpoint_fit.hpp"

namespace pardec {

Session::Session(const ModelOptions& model, const DecodeOptions& decode, const Parts& parts,
                 Checkpoints& loaded)
    : chat(parts.tokenizer
               ? template_for(decode.chat_template, tokenizer_folder(model), decode.chat_set)
               : find_chat_template("plain")),
      network(loaded.get(model, parts.tokenizer)),
      checkpoint(*network),
      draft(parts.draft ? load_draft(model, checkpoint, loaded) : nullptr),
      note(checkpoint.note),
      engine(checkpoint.model, clock),
      context{engine, checkpoint.tokenizer ? &*checkpoint.tokenizer : nullptr, decode.ignore_eos,
              draft ? &draft->model : nullptr} {
  engine.set_cache_budget(parts.cache);
  const GenerationRules& rules = checkpoint.model.config().generation;
  if (!decode.no_generation_config) engine.set_rules(rules);
  if (const std::string said = generation_note(rules, decode.no_generation_config); !said.empty())
    note += (note.empty() ? "" : "; ") + said;
}

std::vector<std::string> Session::file_notes() const {
  std::vector<std::string> notes = checkpoint.file_notes;
  if (draft)
    for (const std::string& note : draft->file_notes) notes.push_back("draft: " + note);
  return notes;
}

}  // namespace pardec
