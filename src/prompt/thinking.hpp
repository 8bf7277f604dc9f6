#pragma once
#include <string>
#include <vector>

#include "src/prompt/chat_template.hpp"
#include "src/support/thought.hpp"
#include "src/tokenizer/tokenizer.hpp"

/// Finds out from a checkpoint's template and tokenizer how the network writes its reasoning.
namespace pardec {

/// How to treat reasoning (--thinking).
enum class Thinking {
  keep,   ///< it is part of the answer
  strip,  ///< the answer is the text after it
  /// the template asks the network not to reason; reasoning is not part of the answer
  off,
};
/// ConfigError: none of these names.
Thinking parse_thinking(const std::string& text);

/// How to find reasoning. The marks are those of published families, those where the template
/// splits earlier answers (`content.split('</reflect>')`), and pairs of the tokenizer's tokens
/// ("<reflect>", "</reflect>"). `opened` is set if a prompt of the template ends inside reasoning.
/// `tokenizer` may be null.
ThoughtReading thought_reading(const ChatTemplate& chat, const Tokenizer* tokenizer,
                               Thinking thinking);

/// The setting (KEY=VALUE) that asks a checkpoint's own template to avoid reasoning, e.g.
/// enable_thinking=false. Empty: the template does not support reasoning, or `settings` already
/// contain the variable. ConfigError: the template supports reasoning, but has no such variable.
std::string setting_without_thought(const ChatTemplate& chat,
                                    const std::vector<std::string>& settings);

}  // namespace pardec
