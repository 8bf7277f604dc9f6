#pragma once
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/prompt/chat_template.hpp"
#include "src/prompt/prompt_file.hpp"
#include "src/tokenizer/tokenizer.hpp"

namespace pardec {

/// The token ids of a job's prompts. Each prompt is tokenized as one text, as transformers'
/// `apply_chat_template` does, and its ids are then divided into pieces. A token that crosses a
/// border belongs to the later piece. Decoders concatenate pieces and never tokenize again, so that
/// all decoders see the same ids.
struct Pieces {
  Tokens prefix;  ///< common to all prompts: chat start, system, instruction, shots
  /// value and free form: the part of a context common to all its prompts
  std::vector<Tokens> contexts;
  /// whether the fields' prompts show their choices after letters (shows_choices)
  bool lettered = true;
  /// [context][field], value and free form: question, end of turn, assistant header. For later
  /// turns of a conversation: the whole text between two answers
  std::vector<std::vector<Tokens>> fields;
  Tokens rest;  ///< json form: contexts, end of turn, assistant header, `<result>`
  /// json form: the answer's skeleton, context-major, one segment before each value
  std::vector<Tokens> segments;

  /// For decoders that write their own requests (free form only). `turn_opening` and
  /// `turn_closing`: the text of the chat markup before and after the user's content. `said`: in a
  /// later turn of a conversation, the ids before that markup.
  Tokens said;
  std::string turn_opening, turn_closing;
  /// whether a prompt begins with the tokenizer's special ids (Tokenizer::encode_piece)
  bool adds_special = true;

  std::string next_turn;  ///< conversations: the text between an answer and the user's next content
  std::vector<std::string> turns;  ///< conversations: the text of each turn's ids

  /// prefix and rest: the prompt of a json answer.
  Tokens whole_prompt() const;
  /// prefix, one context, and one of its fields: the prompt of one value.
  Tokens field_prompt(size_t context, size_t field) const;
};

/// A prompt for services that do not accept token ids.
struct PromptWords {
  std::vector<ChatMessage> messages;
  std::string text;  ///< the same with the chat template's markup, as it is tokenized
};

/// A job's prompts in the order in which a plain decoder asks: one in json form, otherwise one for
/// each field of each context. For a later turn of a conversation, what follows the last answer:
/// the user's message, and the whole text. ConfigError as make_pieces.
std::vector<PromptWords> make_words(const Job& job, Form form, const PromptFile& prompt,
                                    const ChatTemplate& chat);

/// The user's content of the prompt of a json answer. ConfigError as make_pieces.
std::string user_content(const Job& job, const PromptFile& prompt);

/// Length of the common prefix of two lists.
size_t common(const Tokens& a, const Tokens& b);

/// ConfigError: json form with contexts whose fields differ, an unknown slot, or a conversation
/// that the chat template refuses.
Pieces make_pieces(const Job& job, Form form, const PromptFile& prompt, const ChatTemplate& chat,
                   const Tokenizer& tokenizer);

/// An answer within a conversation.
struct Spoken {
  Tokens ids;
  std::string text;
};
/// Counts the later turns of a conversation whose prompt ids differ from the tokenization of the
/// whole text so far. An answer keeps its generated ids, but tokenizing the text anew may give a
/// token across its end. REQUIRES: an answer to every turn except the last.
int turns_off_text(const Pieces& pieces, const std::vector<Spoken>& answers,
                   const Tokenizer& tokenizer);

/// The texts that `make_pieces` tokenizes, joined: a job's prompt as text.
std::string prompt_text(const Job& job, Form form, const PromptFile& prompt,
                        const ChatTemplate& chat);

}  // namespace pardec
