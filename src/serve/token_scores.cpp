#include "src/serve/token_scores.hpp"

#include <algorithm>
#include <iomanip>
#include <sstream>
#include <string>
#include <string_view>

#include "src/engine/log_probability.hpp"
#include "src/support/text.hpp"
#include "src/support/utf8.hpp"

namespace pardec::serve {

namespace {

/// Number of rows whose logits are in memory at once.
constexpr int kScoredRows = 64;

/// A token's own text: its bytes, or the name of a special token.
std::string_view own_bytes(Token token, const Tokenizer& tokenizer) {
  const std::string_view bytes = tokenizer.bytes(token);
  return bytes.empty() ? tokenizer.token(token) : bytes;
}

/// A token's text in JSON. Parts of characters are spelled as OpenAI's service spells them, so that
/// different tokens have different texts.
std::string shown_token(Token token, const Tokenizer& tokenizer) {
  const std::string bytes(own_bytes(token, tokenizer));
  if (repair_utf8(bytes) == bytes) return bytes;
  std::ostringstream spelled;
  spelled << "bytes:" << std::hex << std::setfill('0');
  for (const char byte : bytes)
    spelled << "\\x" << std::setw(2) << static_cast<int>(static_cast<unsigned char>(byte));
  return spelled.str();
}

OrderedJson token_entry(Token token, double logprob, const Tokenizer& tokenizer) {
  OrderedJson bytes = OrderedJson::array();
  for (const char byte : own_bytes(token, tokenizer))
    bytes.push_back(static_cast<unsigned char>(byte));
  return {{"token", shown_token(token, tokenizer)}, {"logprob", logprob}, {"bytes", bytes}};
}

}  // namespace

Task<std::vector<TokenScore>> score_tokens(Engine& engine, Tokens ids, int first, int top) {
  std::vector<TokenScore> scores;
  const int count = static_cast<int>(ids.size());
  if (first == count) co_return scores;
  Sequence sequence = engine.open({"logprobs", ""}, "logprobs");
  Step step = prompt_step(Tokens(ids.begin(), ids.end() - 1), 0);
  step.later = true;
  const StepResult seen = co_await sequence.forward(std::move(step));
  for (int begin = first; begin < count; begin += kScoredRows) {
    const int end = std::min(begin + kScoredRows, count);
    std::vector<OutputRequest> outputs;
    for (int i = begin; i < end; ++i)  // row i - 1 predicts token i
      outputs.push_back({.index = i - 1, .logits = true, .top = top});
    const StepResult rows = co_await sequence.later(seen, std::move(outputs));
    for (int i = begin; i < end; ++i) {
      const RowLogits& row = rows.outputs[static_cast<std::size_t>(i - begin)];
      Tokens asked = row.top;
      asked.push_back(ids[static_cast<std::size_t>(i)]);
      const std::vector<double> logs = log_probabilities(row, asked);
      TokenScore& score = scores.emplace_back();
      score.token = asked.back();
      score.logprob = logs.back();
      const float own = row.logits[static_cast<std::size_t>(score.token)];
      score.rank = 1 + static_cast<int>(std::count_if(row.logits.begin(), row.logits.end(),
                                                      [own](float other) { return other > own; }));
      for (std::size_t k = 0; k < row.top.size(); ++k) score.top.emplace_back(asked[k], logs[k]);
    }
  }
  sequence.finish();
  co_return scores;
}

OrderedJson completion_logprobs(const Tokens& echoed, const std::vector<TokenScore>& scores,
                                const Tokenizer& tokenizer) {
  OrderedJson tokens = OrderedJson::array(), logs = OrderedJson::array();
  OrderedJson tops = OrderedJson::array(), offsets = OrderedJson::array();
  std::int64_t offset = 0;
  const auto add = [&](Token token) {
    tokens.push_back(shown_token(token, tokenizer));
    offsets.push_back(offset);
    offset += code_points(tokenizer.bytes(token));
  };
  if (!echoed.empty()) {
    add(echoed.front());
    logs.push_back(nullptr);
    tops.push_back(nullptr);
  }
  for (const TokenScore& score : scores) {
    add(score.token);
    logs.push_back(score.logprob);
    OrderedJson top = OrderedJson::object();
    for (const auto& [token, logprob] : score.top) top[shown_token(token, tokenizer)] = logprob;
    top[shown_token(score.token, tokenizer)] = score.logprob;
    tops.push_back(std::move(top));
  }
  return {{"tokens", tokens},
          {"token_logprobs", logs},
          {"top_logprobs", tops},
          {"text_offset", offsets}};
}

OrderedJson prompt_logprobs(const std::vector<TokenScore>& scores, const Tokenizer& tokenizer) {
  OrderedJson all = OrderedJson::array({nullptr});
  for (const TokenScore& score : scores) {
    OrderedJson& one = all.emplace_back(OrderedJson::object());
    const auto add = [&](Token token, double logprob, int rank) {
      one[std::to_string(token)] = {
          {"logprob", logprob}, {"rank", rank}, {"decoded_token", shown_token(token, tokenizer)}};
    };
    add(score.token, score.logprob, score.rank);
    int rank = 0;
    for (const auto& [token, logprob] : score.top)
      if (++rank; token != score.token) add(token, logprob, rank);
  }
  return all;
}

OrderedJson chat_logprobs(const std::vector<TokenScore>& scores, const Tokenizer& tokenizer) {
  OrderedJson content = OrderedJson::array();
  for (const TokenScore& score : scores) {
    OrderedJson entry = token_entry(score.token, score.logprob, tokenizer);
    OrderedJson& top = entry["top_logprobs"] = OrderedJson::array();
    for (const auto& [token, logprob] : score.top)
      top.push_back(token_entry(token, logprob, tokenizer));
    content.push_back(std::move(entry));
  }
  return {{"content", content}};
}

}  // namespace pardec::serve
