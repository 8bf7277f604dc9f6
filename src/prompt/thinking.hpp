#pragma once
#include <string>
#include <vector>

#include "src/prompt/chat_template.hpp"
#include "src/support/thought.hpp"
#include "src/tokenizer/tokenizer.hpp"

/// What a checkpoint's template and tokenizer say of the reasoning that the network writes.
namespace pardec {

/// What becomes of it (--thinking).
enum class Thinking {
  keep,   ///< it is a part of the answer
  strip,  ///< the answer is what stands after it
  off,    ///< the template is asked for none; what there is all the same is no part of the answer
};
/// ConfigError.
Thinking parse_thinking(const std::string& text);

/// The marks of published families, and those that the template splits earlier answers at
/// (`content.split('</reflect>')`) or that the tokenizer has a pair of ("<reflect>", "</reflect>");
/// `opened` where a prompt of the template ends inside a thought. `tokenizer` may be null.
ThoughtReading thought_reading(const ChatTemplate& chat, const Tokenizer* tokenizer,
                               Thinking thinking);

/// The setting (KEY=VALUE) by which a checkpoint's own template asks for no thought: the variable
/// that it reads for that, e.g. enable_thinking=false. Empty: the template knows no thought, or
/// `settings` have the variable. ConfigError: it knows thought and has no such variable.
std::string setting_without_thought(const ChatTemplate& chat,
                                    const std::vector<std::string>& settings);

}  // namespace pardec
