#pragma once
#include <string>
#include <vector>

#include "src/tokenizer/tokenizer.hpp"

namespace pardec {

/// A token that controls a decoder (apar: [Fork], [Child]; aspd: <Branch> and others).
struct ControlToken {
  /// The name that messages use for the token: the decoder's option, e.g. "apar.fork_token", or the
  /// training setting (see name_by_setting).
  std::string option;
  std::string given;               ///< the option's value: an id or a token's text; may be empty
  std::vector<std::string> names;  ///< names in checkpoints; the first that exists is used
  std::string setting = "`set=" + option + "=ID`";  ///< for messages: how the user sets the option
  /// Whether a network is being trained to use the token. Messages then suggest adding it to the
  /// tokenizer.
  bool to_train = false;
};

/// Prepares a token for training: sets to_train, and makes messages name the training setting
/// `name` instead of the decoder's option. `value`: the placeholder for the setting's value in
/// messages.
void name_by_setting(ControlToken& token, const std::string& name,
                     const std::string& value = "TOKEN");

/// Finds the id of a control token: the token in `given`, or, if `given` is empty, the first of
/// `names` that is in the tokenizer.
///   tokenizer   may be null if `given` is an id
///   vocab_size  vocabulary size of the network
/// ConfigError, which names the option: `given` is empty and no name is found; `given` is a text
/// that is not a token; there is no tokenizer and `given` is not an id; or the id is not in the
/// network's vocabulary.
Token find_control_token(const ControlToken& token, const Tokenizer* tokenizer, int vocab_size);

/// Describes the tokens as text, e.g. "[Fork] is 4089, [Child] 4090". `ids[i]` is the id of
/// `names[i]`.
std::string names_with_ids(const std::vector<std::string>& names, const Tokens& ids);

/// Checks that all ids are different. `ids[i]` is the id of `tokens[i]`. ConfigError: two tokens
/// have the same id.
void check_different(const std::vector<ControlToken>& tokens, const Tokens& ids);

}  // namespace pardec
