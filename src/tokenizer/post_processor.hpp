#pragma once
#include <string>

#include "src/support/json.hpp"
#include "src/support/types.hpp"
#include "src/tokenizer/vocabulary.hpp"

namespace pardec {

/// The ids that a post-processor adds before and after a text if special tokens are requested.
struct PostProcessor {
  Tokens leading, trailing;
};

/// Reads TemplateProcessing (the template for a single text), ByteLevel (which has no effect on
/// ids), or a Sequence of these with at most one template. A JSON null gives no ids. ConfigError,
/// which starts with `where`: the JSON is invalid, describes any other component, or has an id that
/// is not below `vocabulary_size`.
PostProcessor read_post_processor(const Json& json, const std::string& where,
                                  Token vocabulary_size);

}  // namespace pardec
