#include "decoders/control_tokens.hpp"

#include <algorithm>

#include "src/support/error.hpp"
#include "src/support/number_text.hpp"
#include "src/support/text.hpp"

namespace pardec {

void name_by_setting(ControlToken& token, const std::string& name, const std::string& value) {
  token.option = str("`", name, "`");
  token.setting = str("`", name, "=", value, "`");
  token.to_train = true;
}

Token find_control_token(const ControlToken& token, const Tokenizer* tokenizer, int vocab_size) {
  const auto in_vocabulary = [&](long id) {
    if (id < 0 || id >= vocab_size)
      throw ConfigError(str(token.option, " is id ", id,
                            ", the network's vocabulary goes from 0 to ", vocab_size - 1));
    return static_cast<Token>(id);
  };
  if (const auto id = number_in<long>(token.given)) return in_vocabulary(*id);
  if (!tokenizer)
    throw ConfigError(str(token.option,
                          token.given.empty() ? " is not given" : str(" is '", token.given, "'"),
                          " and no tokenizer is read, expected an id: ", token.setting));
  if (!token.given.empty()) {
    if (const auto id = tokenizer->id(token.given)) return in_vocabulary(*id);
    throw ConfigError(
        str(token.option, " is '", token.given,
            "', which is no token of tokenizer.json; expected one of its tokens, or an "
            "id"));
  }
  for (const std::string& name : token.names)
    if (const auto id = tokenizer->id(name)) return in_vocabulary(*id);
  throw ConfigError(str("tokenizer.json has no token ", join(token.names, " or "), "; ",
                        token.to_train
                            ? "'pardec model add-tokens' adds one"
                            : "weights that were trained with it (`adapter=DIR`) bring it",
                        ", else name one by id or text: ", token.setting));
}

std::string names_with_ids(const std::vector<std::string>& names, const Tokens& ids) {
  std::string text;
  for (size_t i = 0; i < ids.size(); ++i)
    text += str(i ? ", " : "", names[i], i ? " " : " is ", ids[i]);
  return text;
}

void check_different(const std::vector<ControlToken>& tokens, const Tokens& ids) {
  for (size_t i = 0; i < ids.size(); ++i)
    for (size_t j = 0; j < i; ++j)
      if (ids[i] == ids[j])
        throw ConfigError(str(tokens[j].option, " and ", tokens[i].option, " are both id ", ids[i],
                              ", expected two different tokens"));
}

}  // namespace pardec
