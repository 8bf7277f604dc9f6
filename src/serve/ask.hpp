#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "src/prompt/chat_template.hpp"
#include "src/serve/response_fields.hpp"
#include "src/support/json.hpp"
#include "src/support/types.hpp"

namespace pardec::serve {

/// Limits of one request.
struct AskBounds {
  int choices = 128;              ///< prompts times `n`
  int stops = 16;                 ///< stop strings
  std::size_t stop_bytes = 1024;  ///< of one stop string
};

enum class Endpoint { completions, chat };

/// The content of a request as it was sent. Fields that were not sent are empty.
struct Ask {
  Endpoint endpoint = Endpoint::completions;
  std::string model;
  std::vector<std::variant<std::string, Tokens>> prompts;  ///< completions: at least one
  std::vector<ChatMessage> messages;                       ///< chat: at least one, or a job
  int n = 1;                                               ///< answers to each prompt
  std::optional<int> max_tokens, top_k;
  std::optional<double> temperature, top_p;
  std::optional<std::uint64_t> seed;
  std::vector<std::string> stops;
  /// number of likeliest ids to report for each generated token
  std::optional<int> logprobs;
  std::optional<int> prompt_logprobs;  ///< same, for the prompt's tokens
  bool echo = false;  ///< completions: the prompt is part of the text and its scores
  std::optional<ResponseFields> fields;  ///< chat: `response_format`
  bool ignore_eos = false;
  int min_tokens = 0;
  bool stream = false, include_usage = false, continuous_usage = false;
  bool return_token_ids = false;
  /// `pardec`: the decoder by its name, and options that replace those of the model id.
  std::string decoder;
  Json options = Json::object();
  std::optional<Json> job;  ///< chat: instead of messages, a Job in the form of job.schema.json
  bool events = false;      ///< a streamed reply also reports the tokens of each forward pass
  std::vector<std::string> ignored;  ///< names of fields that are not known
};

/// Reads the body of a request. ApiError 400, which names the field: a wrong type, a value out of
/// range, or a field that asks for an unsupported feature. Values that leave such a feature unused
/// are accepted.
Ask parse_ask(std::string_view body, Endpoint endpoint, const AskBounds& bounds = {});

/// The body of a request as a JSON object. ApiError 400.
Json parse_body(std::string_view body);
/// `messages`: texts, or lists of parts of type text. ApiError 400.
std::vector<ChatMessage> read_messages(const Json& given);
/// A list of ids. ApiError 400, which names `param`.
Tokens read_ids(const Json& list, const std::string& param);

/// Reads the fields of a body with type checks.
class BodyReader {
 public:
  /// `body` must be an object and outlive this object.
  explicit BodyReader(const Json& body) : body_(body) {}

  /// The value; null if it is missing. Marks the field as known.
  const Json& any(const char* key);
  /// Empty: missing, or null. ApiError 400.
  std::optional<std::string> text(const char* key);
  std::optional<bool> flag(const char* key);
  std::optional<double> number(const char* key, double least, double most);
  std::optional<std::int64_t> whole(const char* key, std::int64_t least, std::int64_t most);
  /// Fields that were not read.
  std::vector<std::string> unknown() const;

 private:
  const Json& body_;
  std::vector<std::string> known_;
};

}  // namespace pardec::serve
