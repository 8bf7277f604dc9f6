#pragma once
#include <string>
#include <vector>

#include "src/prompt/chat_template.hpp"
#include "src/support/thought.hpp"
#include "src/tokenizer/tokenizer.hpp"

/// Finds out from a checkpoint's chat template and tokenizer how the network writes its thinking.
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

/// How to find thinking in answers. The marks are those of published model families, marks at which
/// the template splits earlier answers (`content.split('</reflect>')`), and pairs of the
/// tokenizer's tokens ("<reflect>", "</reflect>"). ThoughtReading::opened is set if prompts of the
/// template end after an opening mark. `tokenizer` may be null.
ThoughtReading thought_reading(const ChatTemplate& chat, const Tokenizer* tokenizer,
                               Thinking thinking);

/// The setting KEY=VALUE with which a checkpoint's own default template asks for an answer without
/// thinking, e.g. enable_thinking=false. Empty: it is another template, the template does not
/// support thinking, or `settings` already set the variable. ConfigError: the template supports
/// thinking, but has no such variable.
std::string setting_without_thought(const ChatTemplate& chat,
                                    const std::vector<std::string>& settings);

}  // namespace pardec
