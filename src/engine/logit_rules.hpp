#pragma once
#include <span>

#include "src/model/files/generation_rules.hpp"
#include "src/model/model.hpp"

namespace pardec {

/// The context of a choice.
struct ChoicePlace {
  /// ids visible to the choosing row, in reading order, ending with its own
  std::span<const Token> before;
  int generated = 0;  ///< how many of them come after the prompt
  int limit = 0;      ///< length limit of the answer in ids; 0: unknown
  /// the ids in `held_back` cannot be chosen while `generated` is less than this
  int least = 0;
  std::span<const Token> held_back = {};
};

/// Adds the effects of the rules at this place to a request. Source: transformers,
/// generation/logits_process.py. `eos`: the network's end-of-sequence ids. Ids from `vocab` on are
/// left out (a draft network may have a smaller vocabulary).
void apply(const GenerationRules& rules, const ChoicePlace& place, std::span<const Token> eos,
           int vocab, OutputRequest& request);

}  // namespace pardec
