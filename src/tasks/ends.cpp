#include "src/tasks/ends.hpp"

#include <algorithm>

#include "src/model/files/json_file.hpp"
#include "src/support/error.hpp"
#include "src/support/number_text.hpp"
#include "src/support/text.hpp"
#include "src/tokenizer/tokens_beside.hpp"

namespace pardec {

namespace {

/// An end of sequence that does not end answers.
struct UnusedEnd {
  std::string named_by;  ///< "the tokenizer's eos_token"
  Token id = 0;
  std::string text;  ///< of the token; may be empty
};

/// The text of a template between an answer and the next turn; if the template cannot render that,
/// the text after a final answer.
std::string after_answer(const ChatTemplate& chat) {
  try {
    return chat.between_turns({});
  } catch (const Error&) {
    const std::string answer = "an answer of two turns";
    const std::string all = chat.render({{"user", "?"}, {"assistant", answer}}, false);
    const auto at = all.rfind(answer);
    return at == std::string::npos ? "" : all.substr(at + answer.size());
  }
}

/// The special token that a checkpoint's own template writes after an answer, possibly after white
/// space; none: it writes other text, or the token is not known.
std::optional<Token> end_of_turn(const ChatTemplate& chat, const Tokenizer& tokenizer) {
  if (!chat.has_special_tokens()) return std::nullopt;
  try {
    const std::string after = after_answer(chat), text(strip(after));
    // After white space, the text may be only the head of the next turn, which is not an end.
    if (!after.starts_with(text) && strip(chat.open_turn({}).before).ends_with(text))
      return std::nullopt;
    const Tokens ids = tokenizer.encode(text, /*add_special=*/false);
    if (!ids.empty() && tokenizer.is_special(ids.front())) return ids.front();
  } catch (const Error&) {
  }
  return std::nullopt;
}

std::vector<UnusedEnd> unused_ends(const ModelOptions& options, const ModelConfig& config,
                                   const Tokenizer* tokenizer, const ChatTemplate* chat,
                                   const std::vector<Token>& given) {
  std::vector<UnusedEnd> all;
  const auto add = [&](const char* named_by, Token id) {
    const auto in = [&](const std::vector<Token>& ids) {
      return std::find(ids.begin(), ids.end(), id) != ids.end();
    };
    if (in(config.eos) || in(given) || id < 0) return;
    for (UnusedEnd& end : all)
      if (end.id == id) {
        end.named_by += str(" and ", named_by);
        return;
      }
    all.push_back({named_by, id, tokenizer ? std::string(tokenizer->token(id)) : ""});
  };
  try {
    const std::filesystem::path folder = tokenizer_folder(options);
    if (tokenizer) {
      const TokensBeside beside = read_tokens_beside(folder);
      if (const std::string* eos = beside.find("eos_token"))
        if (const auto id = tokenizer->id(*eos)) add("the tokenizer's eos_token", *id);
      if (chat)
        if (const auto id = end_of_turn(*chat, *tokenizer)) add("the chat template's turns", *id);
    }
    for (const Token id : parse_model_config(read_config_json(options.model), options.model).eos)
      add("config.json's eos_token_id", id);
  } catch (const Error&) {
  }
  return all;
}

std::string describe(const UnusedEnd& end, const ModelConfig& config) {
  std::vector<std::string> ids;
  for (const Token id : config.eos) ids.push_back(std::to_string(id));
  const std::string what =
      str(end.named_by, ": ", end.text.empty() ? "id " : str("'", end.text, "', id "), end.id,
          ", ends no answer");
  if (end.id >= config.vocab_size)
    return str(what, ": it lies beyond the vocabulary of ", config.vocab_size);
  return str(what, ", as the configs name ", ids.empty() ? "no end" : join(ids, ", ") + " alone",
             "; `eos` ", end.id, " adds it");
}

}  // namespace

std::vector<std::string> end_notes(const ModelOptions& options, const ModelConfig& config,
                                   const Tokenizer* tokenizer, const ChatTemplate* chat,
                                   const std::vector<Token>& given) {
  std::vector<std::string> notes;
  for (const UnusedEnd& end : unused_ends(options, config, tokenizer, chat, given))
    notes.push_back(describe(end, config));
  return notes;
}

std::vector<Token> given_ends(const std::vector<std::string>& texts, const ModelConfig& config,
                              const Tokenizer* tokenizer) {
  std::vector<Token> ids;
  for (const std::string& text : texts) {
    std::optional<Token> id = number_in<Token>(text);
    if (!id && tokenizer) id = tokenizer->id(text);
    if (!id)
      throw ConfigError(str("`eos` is '", text, "', which is no token of ",
                            tokenizer ? "the tokenizer" : "a tokenizer (none is read)",
                            "; expected a token's text, or its id"));
    if (*id < 0 || *id >= config.vocab_size)
      throw ConfigError(str("`eos` is ", text, ", id ", *id, ", expected one of the vocabulary of ",
                            config.vocab_size));
    ids.push_back(*id);
  }
  return ids;
}

}  // namespace pardec
