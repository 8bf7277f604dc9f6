#include "src/serve/pass_tokens.hpp"

#include <utility>
#include <variant>

#include "decoders/decoder.hpp"
#include "src/support/text.hpp"

namespace pardec::serve {

OrderedJson to_json(const PassTokens& pass) {
  OrderedJson streams = OrderedJson::array(), tokens = OrderedJson::array();
  for (const PassTokens::Began& began : pass.began)
    streams.push_back({{"stream", began.stream}, {"before", began.before}});
  for (const PassTokens::Chosen& token : pass.tokens)
    tokens.push_back({{"stream", token.stream},
                      {"id", token.id},
                      {"text", token.text},
                      {"kind", !token.accepted ? "rejected"
                               : token.guessed ? "guessed"
                                               : "chosen"}});
  return {{"passes", pass.passes}, {"streams", streams}, {"tokens", tokens}};
}

void PassCollector::add(const Event& event, std::int64_t engine_passes) {
  if (std::exchange(last_, engine_passes) != engine_passes) ++now_.passes;
  if (const auto* const began = std::get_if<StreamBegan>(&event)) {
    now_.began.push_back({began->stream, repair_utf8(bytes_of(began->before, tokenizer_))});
  } else if (const auto* const token = std::get_if<TokenEvent>(&event)) {
    const std::string_view bytes = tokenizer_.bytes(token->token);
    now_.tokens.push_back(
        {.stream = token->stream,
         .id = token->token,
         .text = token->final ? texts_[token->stream].add(bytes) : repair_utf8(std::string(bytes)),
         .guessed = token->guessed,
         .accepted = token->final});
  }
}

PassTokens PassCollector::take() {
  PassTokens news = std::exchange(now_, {});
  now_.passes = news.passes;
  return news;
}

}  // namespace pardec::serve
