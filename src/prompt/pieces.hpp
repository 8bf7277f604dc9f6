#pragma once
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/prompt/chat_template.hpp"
#include "src/prompt/prompt_file.hpp"
#include "src/tokenizer/tokenizer.hpp"

namespace pardec {

/// The ids of a job's prompt, cut at the slot borders and tokenized piece by piece. Decoders only
/// concatenate pieces and never tokenize again, so all of them see the same ids.
struct Pieces {
  Tokens prefix;  ///< chat start, system, instruction, shots
  std::vector<Tokens> contexts;
  std::vector<std::vector<Tokens>>
      fields;  ///< [context][field], value and free form: question, end of turn, assistant header;
               ///< of a conversation's later turns all that stands between two answers
  Tokens closing;  ///< json form: end of turn, assistant header, `<result>`
  std::vector<Tokens>
      segments;  ///< json form: the answer's skeleton, context-major, one before each value

  /// Free form: the chat's markup before and behind what the user says, as texts, for decoders that
  /// word requests of their own.
  std::string turn_opening, turn_closing;
  std::string
      next_turn;  ///< free form and conversations: between an answer and what the user says next

  /// prefix, all contexts, closing: what stands before a json answer.
  Tokens whole_prompt() const;
  /// prefix, one context, one of its fields: what stands before one value.
  Tokens field_prompt(size_t context, size_t field) const;
};

/// ConfigError: json form over contexts whose fields differ, a slot that is not known, or a
/// conversation that the chat template refuses.
Pieces make_pieces(const Job& job, Form form, const PromptFile& prompt, const ChatTemplate& chat,
                   const Tokenizer& tokenizer);

/// The texts that `make_pieces` tokenizes, joined: what a reader sees of a job's prompt.
std::string prompt_text(const Job& job, Form form, const PromptFile& prompt,
                        const ChatTemplate& chat);

}  // namespace pardec
