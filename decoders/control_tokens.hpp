#pragma once
#include <string>
#include <vector>

#include "src/tokenizer/tokenizer.hpp"

namespace pardec {

/// A token that steers a decoder (apar: [Fork], [Child]; aspd: <Branch> and others).
struct ControlToken {
  std::string option;  ///< that names it, for messages: "apar.fork_token", or a flag of training
  std::string given;   ///< the option's value: an id, or the token's text; may be empty
  std::vector<std::string> names;  ///< how checkpoints spell it; the first that is found counts
  std::string setting = "--set " + option + "=ID";  ///< what a user writes to name it
};

/// In messages a flag of training and its value stand for the option of a decoder.
void name_by_flag(ControlToken& token, const std::string& flag, const std::string& value = "TOKEN");

/// Its id: what the option names, else the first of `names` in the tokenizer.
///   tokenizer   null: ids alone can be given
///   vocab_size  of the network
/// ConfigError, which names the option: nothing is given and no name is found; the text is no
/// token; the id is not in the network's vocabulary.
Token find_control_token(const ControlToken& token, const Tokenizer* tokenizer, int vocab_size);

/// What was found, for a reader: "[Fork] is 4089, [Child] 4090".
std::string told(const std::vector<std::string>& names, const Tokens& ids);

/// Throws ConfigError where two of them have one id. `ids[i]` belongs to `tokens[i]`.
void check_different(const std::vector<ControlToken>& tokens, const Tokens& ids);

}  // namespace pardec
