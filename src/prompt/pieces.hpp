#pragma once
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/prompt/chat_template.hpp"
#include "src/prompt/prompt_file.hpp"
#include "src/tokenizer/tokenizer.hpp"

namespace pardec {

/// The ids of a job's prompts. Each prompt is tokenized as one text, as transformers'
/// `apply_chat_template` does, and its ids are cut where no token reaches over a border: one that
/// does stands in the later piece. Decoders only concatenate pieces and never tokenize again, so
/// all of them see the same ids.
struct Pieces {
  Tokens prefix;  ///< what all prompts share of chat start, system, instruction, shots
  std::vector<Tokens> contexts;  ///< value and free form: what all prompts of a context share of it
  std::vector<std::vector<Tokens>>
      fields;   ///< [context][field], value and free form: question, end of turn, assistant header;
                ///< of a conversation's later turns all that stands between two answers
  Tokens rest;  ///< json form: contexts, end of turn, assistant header, `<result>`
  std::vector<Tokens>
      segments;  ///< json form: the answer's skeleton, context-major, one before each value

  /// Free form, for decoders that word requests of their own: the chat's markup before and behind
  /// what the user says, as texts, and in a conversation's later turn the ids before that markup.
  Tokens said;
  std::string turn_opening, turn_closing;
  bool adds_special = true;  ///< the tokenizer's own ids begin a prompt (Tokenizer::encode_piece)

  std::string next_turn;           ///< conversations: between an answer and what the user says next
  std::vector<std::string> turns;  ///< conversations: the text of each turn's ids

  /// prefix and rest: what stands before a json answer.
  Tokens whole_prompt() const;
  /// prefix, one context, one of its fields: what stands before one value.
  Tokens field_prompt(size_t context, size_t field) const;
};

/// How many ids two lists begin with together.
size_t common(const Tokens& a, const Tokens& b);

/// ConfigError: json form over contexts whose fields differ, a slot that is not known, or a
/// conversation that the chat template refuses.
Pieces make_pieces(const Job& job, Form form, const PromptFile& prompt, const ChatTemplate& chat,
                   const Tokenizer& tokenizer);

/// An answer as a conversation goes on behind it.
struct Spoken {
  Tokens ids;
  std::string text;
};
/// How many later turns of a conversation are asked behind other ids than those of the text so far
/// as a whole: an answer keeps its own ids, and in the text a token may reach over its end.
/// REQUIRES: an answer to every turn but the last.
int turns_off_text(const Pieces& pieces, const std::vector<Spoken>& answers,
                   const Tokenizer& tokenizer);

/// The texts that `make_pieces` tokenizes, joined: what a reader sees of a job's prompt.
std::string prompt_text(const Job& job, Form form, const PromptFile& prompt,
                        const ChatTemplate& chat);

}  // namespace pardec
