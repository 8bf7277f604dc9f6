#include "src/serve/texts.hpp"

#include "src/serve/api_error.hpp"
#include "src/serve/ask.hpp"
#include "src/support/error.hpp"
#include "src/support/text.hpp"

namespace pardec::serve {

namespace {

Tokens tokens_of(BodyReader& read, const Session& session) {
  const Json& messages = read.any("messages");
  const std::optional<std::string> prompt = read.text("prompt");
  const std::optional<bool> special = read.flag("add_special_tokens");
  const bool opened = read.flag("add_generation_prompt").value_or(true);
  if (prompt) return session.tokenizer()->encode_piece(*prompt, true, special.value_or(true));
  if (messages.is_null())
    throw ApiError(400, "neither 'prompt' nor 'messages' was sent, expected one", "prompt");
  try {
    return session.tokenizer()->encode_piece(session.chat.render(read_messages(messages), opened),
                                             true,
                                             special.value_or(!session.chat.has_special_tokens()));
  } catch (const ConfigError& error) {
    throw ApiError(400, error.what(), "messages");
  }
}

}  // namespace

HttpReply tokenize(std::string_view body, const Session& session) {
  const Json json = parse_body(body);
  BodyReader read(json);
  const Tokens tokens = tokens_of(read, session);
  OrderedJson reply{{"count", tokens.size()},
                    {"max_model_len", session.checkpoint.model.config().positions()},
                    {"tokens", tokens},
                    {"token_strs", nullptr}};
  if (read.flag("return_token_strs").value_or(false)) {
    reply["token_strs"] = OrderedJson::array();
    for (const Token token : tokens)
      reply["token_strs"].push_back(session.tokenizer()->token(token));
  }
  return {.body = dump(reply)};
}

HttpReply detokenize(std::string_view body, const Session& session) {
  const Json json = parse_body(body);
  BodyReader read(json);
  const Tokens tokens = read_ids(read.any("tokens"), "tokens");
  return {.body = dump(OrderedJson{{"prompt", session.tokenizer()->decode(tokens, false)}})};
}

HttpReply tokenizer_info(const Session& session) {
  const ModelConfig& config = session.checkpoint.model.config();
  const auto text = [&](std::optional<Token> id) {
    return id ? OrderedJson(session.tokenizer()->token(*id)) : OrderedJson();
  };
  const std::vector<Token> ends = session.context.eos();
  return {.body = dump(OrderedJson{
              {"eos_token", text(ends.empty() ? std::nullopt : std::optional(ends.front()))},
              {"eos_token_ids", ends},
              {"vocab_size", session.tokenizer()->vocab_size()},
              {"model_max_length", config.positions()},
              {"chat_template", session.chat.text()}})};
}

}  // namespace pardec::serve
