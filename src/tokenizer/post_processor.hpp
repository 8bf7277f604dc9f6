#pragma once
#include <string>

#include "src/support/json.hpp"
#include "src/support/types.hpp"
#include "src/tokenizer/vocabulary.hpp"

namespace pardec {

/// Ids that a post-processor adds around a single text when special tokens are requested.
struct PostProcessor {
  Tokens leading, trailing;
};

/// Reads TemplateProcessing (its form for a single text), ByteLevel (which only concerns offsets),
/// and a Sequence of these with at most one template. Ids must be below `vocabulary_size`.
/// ConfigErrors start with `where`.
PostProcessor read_post_processor(const Json& json, const std::string& where,
                                  Token vocabulary_size);

}  // namespace pardec
