#pragma once
#include <string>

#include "src/support/json.hpp"
#include "src/support/types.hpp"
#include "src/tokenizer/vocabulary.hpp"

namespace pardec {

/// What a post-processor puts around the ids of one text when special tokens are asked for.
struct PostProcessor {
  Tokens leading, trailing;
};

/// Reads TemplateProcessing (its form for one text), ByteLevel (which is about offsets only) and a
/// Sequence of these with at most one template. Ids must be below `vocabulary_size`. ConfigErrors
/// start with `where`.
PostProcessor read_post_processor(const Json& json, const std::string& where,
                                  Token vocabulary_size);

}  // namespace pardec
