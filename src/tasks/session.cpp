#include "src/tasks/session.hpp"

#include "src/tasks/checkpoint_fit.hpp"

namespace pardec {

Session::Session(const ModelOptions& model, const DecodeOptions& decode, const Parts& parts)
    : chat(parts.tokenizer ? template_for(decode.chat_template, model.model, decode.chat_set)
                           : find_chat_template("plain")),
      checkpoint(load_checkpoint(model, parts.tokenizer)),
      draft(load_draft(model, checkpoint, parts.draft)),
      engine(checkpoint.model, clock),
      context{engine, checkpoint.tokenizer ? &*checkpoint.tokenizer : nullptr, decode.ignore_eos,
              draft ? &draft->model : nullptr} {
  engine.set_cache_budget(parts.cache);
}

}  // namespace pardec
