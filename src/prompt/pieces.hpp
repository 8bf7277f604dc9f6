#pragma once
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/prompt/chat_template.hpp"
#include "src/prompt/prompt_file.hpp"
#include "src/tokenizer/tokenizer.hpp"

namespace pardec {

/// The token ids of a job's prompts, in pieces. Each prompt is tokenized as one text, as
/// transformers' `apply_chat_template` does. Its ids are then divided into pieces. A token that
/// crosses a border belongs to the later piece. Texts that follow generated tokens are tokenized
/// separately: the segments of a JSON answer, and the later turns of a conversation. Decoders
/// concatenate pieces and do not tokenize, so that all decoders see the same ids.
struct Pieces {
  Tokens prefix;  ///< beginning of all prompts: markup, system message, instruction, shots
  /// value and free form: for each context, the part that all of its prompts contain
  std::vector<Tokens> contexts;
  /// whether the prompts of single fields show the choices with letters (shows_choices)
  bool lettered = true;
  /// value and free form, [context][field]: the question, the end of the turn, and the header of
  /// the assistant's answer. For a later turn of a conversation: everything between the previous
  /// turn's answer and the answer of this turn
  std::vector<std::vector<Tokens>> fields;
  Tokens rest;  ///< json form: contexts, end of the turn, header of the answer, <result>
  /// json form: the segment before each value (JsonSkeleton::segments)
  std::vector<Tokens> segments;

  /// For decoders that make their own requests (free form only). The prompt of such a request is
  /// `said`, `turn_opening`, the user's content, `turn_closing`. `turn_opening`: earlier messages
  /// and markup; in a later turn of a conversation, only the markup after the previous answer.
  /// `turn_closing`: the markup after the user's content. `said`: in a later turn, the ids of the
  /// conversation up to the previous answer; otherwise empty. make_pieces leaves `said` empty.
  Tokens said;
  std::string turn_opening, turn_closing;
  /// whether prompts begin with the tokenizer's special tokens (Tokenizer::encode_piece)
  bool adds_special = true;

  /// conversations: the markup between an answer and the content of the user's next turn
  /// (ChatTemplate::between_turns)
  std::string next_turn;
  /// conversations, one text for each turn. turns[0] is the text of the whole first prompt. For a
  /// later turn t, turns[t] is the text whose ids are fields[0][t]
  std::vector<std::string> turns;

  /// The prompt in json form: prefix and rest.
  Tokens whole_prompt() const;
  /// The prompt of one field in value or free form: `prefix`, contexts[context], and
  /// fields[context][field]. (For a later turn of a conversation, this is not the whole prompt.)
  Tokens field_prompt(size_t context, size_t field) const;
};

/// A prompt as text, for services that do not accept token ids.
struct PromptWords {
  std::vector<ChatMessage> messages;
  std::string text;  ///< the messages with the chat template's markup
};

/// The prompts of a job as text: one prompt in json form, otherwise one prompt for each field, in
/// the order of the contexts and of their fields. For a later turn of a conversation, the prompt is
/// only the part after the previous answer. ConfigError: see make_pieces, except that contexts may
/// have different fields.
std::vector<PromptWords> make_words(const Job& job, Form form, const PromptFile& prompt,
                                    const ChatTemplate& chat);

/// The content of the user's turn in the prompt of a JSON answer. ConfigError: see make_words.
std::string user_content(const Job& job, const PromptFile& prompt);

/// The length of the common prefix of two lists.
size_t common(const Tokens& a, const Tokens& b);

/// Tokenizes the prompts of a job. REQUIRES: the job has a context with a field. ConfigError: in
/// json form, contexts have different fields; in json and value form, the job has shots, but the
/// prompt file has no [shot] section; a slot of the prompt file is unknown; or the chat template
/// refuses the conversation (see ChatTemplate).
Pieces make_pieces(const Job& job, Form form, const PromptFile& prompt, const ChatTemplate& chat,
                   const Tokenizer& tokenizer);

/// An answer within a conversation: the generated ids, and their text.
struct Spoken {
  Tokens ids;
  std::string text;
};
/// Returns how many later turns of a conversation have a prompt whose ids differ from the ids of
/// the same text, tokenized as a whole. The ids can differ, because earlier answers keep their
/// generated ids, while a tokenizer may join the end of an answer with the text after it.
/// `answers`: the answers so far, one for each turn from the first turn on. Turns whose previous
/// turn has no answer are not counted. Returns 0 for a job that is not a conversation.
int turns_off_text(const Pieces& pieces, const std::vector<Spoken>& answers,
                   const Tokenizer& tokenizer);

/// The first prompt of a job as one text, as make_pieces tokenizes it: in json form the job's only
/// prompt, otherwise the prompt of the first field of the first context. ConfigError: see
/// make_words.
std::string prompt_text(const Job& job, Form form, const PromptFile& prompt,
                        const ChatTemplate& chat);

}  // namespace pardec
