#pragma once
#include <string>
#include <vector>

#include "src/tokenizer/tokenizer.hpp"

namespace pardec {

/// A token that controls a decoder (apar: [Fork], [Child]; aspd: <Branch> and others).
struct ControlToken {
  /// for messages: name of the decoder's option, e.g. "apar.fork_token", or of a setting of
  /// training
  std::string option;
  std::string given;               ///< the option's value: an id or a token's text; may be empty
  std::vector<std::string> names;  ///< names in checkpoints; the first that exists is used
  std::string setting = "`set=" + option + "=ID`";  ///< for messages: how the user sets the option
  /// Whether a network is being trained to use the token. Messages then suggest adding it to the
  /// tokenizer.
  bool to_train = false;
};

/// Prepares a token for training: sets to_train, and lets messages name the setting of training
/// `name` (with `value` as the placeholder of its value) instead of the decoder's option.
void name_by_setting(ControlToken& token, const std::string& name,
                     const std::string& value = "TOKEN");

/// Finds the id of a control token: the option's value, or, if it is empty, the first of `names`
/// that is in the tokenizer.
///   tokenizer   null: the option must be an id
///   vocab_size  vocabulary size of the network
/// ConfigError, which names the option: no value is given and no name is found; the given text is
/// not a token; there is no tokenizer and no id is given; or the id is not in the network's
/// vocabulary.
Token find_control_token(const ControlToken& token, const Tokenizer* tokenizer, int vocab_size);

/// Describes the tokens as text, e.g. "[Fork] is 4089, [Child] 4090". `ids[i]` is the id of
/// `names[i]`.
std::string names_with_ids(const std::vector<std::string>& names, const Tokens& ids);

/// ConfigError: two tokens have the same id. `ids[i]` is the id of `tokens[i]`.
void check_different(const std::vector<ControlToken>& tokens, const Tokens& ids);

}  // namespace pardec
