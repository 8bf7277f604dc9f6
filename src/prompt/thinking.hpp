#pragma once
#include <string>
#include <vector>

#include "src/prompt/chat_template.hpp"
#include "src/support/thought.hpp"
#include "src/tokenizer/tokenizer.hpp"

/// How a network writes its thinking, as its chat template and tokenizer show.
namespace pardec {

/// How to treat thinking (--thinking).
enum class Thinking {
  keep,   ///< thinking is a part of the answer
  strip,  ///< the answer is the text after the thinking
  /// the chat template asks the network not to think; otherwise like `strip`
  off,
};
/// Parses `keep`, `strip` or `off`. ConfigError: the text is none of these.
Thinking parse_thinking(const std::string& text);

/// Returns how to find thinking in answers. The marks around thinking are known_thought_marks();
/// marks at which the template splits earlier answers (`content.split('</reflect>')`); and pairs of
/// the tokenizer's tokens whose text names thinking ("<reflect>", "</reflect>"; see names_thought).
/// ThoughtReading::opened is true if the template's header of an answer already has an opening
/// mark. ThoughtReading::keep is true if `thinking` is Thinking::keep. `tokenizer`: null if there
/// is none.
ThoughtReading thought_reading(const ChatTemplate& chat, const Tokenizer* tokenizer,
                               Thinking thinking);

/// The setting KEY=VALUE (see choose_chat_template) with which a checkpoint's own template asks for
/// an answer without thinking, e.g. enable_thinking=false. Empty: the template is built-in, does
/// not support thinking, or `settings` already set the variable. ConfigError: the template supports
/// thinking, but has no such variable.
std::string setting_without_thought(const ChatTemplate& chat,
                                    const std::vector<std::string>& settings);

}  // namespace pardec
