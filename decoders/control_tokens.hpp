#pragma once
#include <string>
#include <vector>

#include "src/tokenizer/tokenizer.hpp"

namespace pardec {

/// A token that controls a decoder (apar: [Fork], [Child]; aspd: <Branch> and others).
struct ControlToken {
  /// name of its option, for messages: "apar.fork_token", or a setting of training
  std::string option;
  std::string given;               ///< the option's value: an id, or the token's text; may be empty
  std::vector<std::string> names;  ///< spellings in checkpoints; the first one found is used
  std::string setting = "`set=" + option + "=ID`";  ///< how a user sets it; messages quote this
  bool to_train = false;  ///< training begins with it, so the weights need not know it
};

/// For messages in training: replaces the decoder's option with a setting of training and its
/// value.
void name_by_setting(ControlToken& token, const std::string& name,
                     const std::string& value = "TOKEN");

/// The id of a control token: the one given by the option, otherwise the first of `names` in the
/// tokenizer.
///   tokenizer   null: only ids can be given
///   vocab_size  of the network
/// ConfigError, which names the option: no value is given and no name is found; the text is not a
/// token; the id is not in the network's vocabulary.
Token find_control_token(const ControlToken& token, const Tokenizer* tokenizer, int vocab_size);

/// A description of the tokens, e.g. "[Fork] is 4089, [Child] 4090".
std::string told(const std::vector<std::string>& names, const Tokens& ids);

/// ConfigError: two tokens have the same id. `ids[i]` belongs to `tokens[i]`.
void check_different(const std::vector<ControlToken>& tokens, const Tokens& ids);

}  // namespace pardec
