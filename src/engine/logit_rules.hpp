#pragma once
#include <span>

#include "src/model/files/generation_rules.hpp"
#include "src/model/model.hpp"

namespace pardec {

/// What the rules need to know about one choice: the visible tokens, and the limits.
struct ChoicePlace {
  /// ids visible to the row whose logits choose the token, in reading order; the last is the row's
  /// own id
  std::span<const Token> before;
  int generated = 0;  ///< how many of the ids in `before` come after the prompt
  int limit = 0;      ///< maximum number of ids after the prompt; 0: unknown
  int least = 0;      ///< minimum number of ids after the prompt (LeastLength)
  /// ids that cannot be chosen while `generated` is less than `least`
  std::span<const Token> banned_early = {};
};

/// Adds to `request` the biases, penalties and bans that the rules imply at this place. If the
/// rules force an id (forced_bos, forced_eos), sets OutputRequest::allowed to this id, unless the
/// decoder has already set `allowed`. A forced id is not banned, except by
/// GenerationRules::suppress. Source: transformers, generation/logits_process.py. `eos`: the ids
/// that end an answer. `vocab`: the size of the network's vocabulary. Ids that are not less than
/// `vocab` are left out, since a draft network may have a smaller vocabulary.
void apply(const GenerationRules& rules, const ChoicePlace& place, std::span<const Token> eos,
           int vocab, OutputRequest& request);

}  // namespace pardec
