#pragma once
#include <span>

#include "src/model/files/generation_rules.hpp"
#include "src/model/model.hpp"

namespace pardec {

/// Where a choice stands.
struct ChoicePlace {
  std::span<const Token>
      before;         ///< ids that the choosing row sees, in reading order, its own last
  int generated = 0;  ///< of them, those that are not of the prompt
  int limit = 0;      ///< ids that the answer may have at most; 0: not known
};

/// Adds what the rules make of the logits at this place to what is asked of them. Source:
/// transformers, generation/logits_process.py. `eos` are the network's ends; ids from `vocab` on
/// are left out (a draft network may have fewer).
void apply(const GenerationRules& rules, const ChoicePlace& place, std::span<const Token> eos,
           int vocab, OutputRequest& request);

}  // namespace pardec
