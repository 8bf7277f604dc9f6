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
  int choices = 128;              ///< maximum of number of prompts * `n`
  int stops = 16;                 ///< maximum number of stop strings
  std::size_t stop_bytes = 1024;  ///< maximum length of one stop string
};

enum class Endpoint { completions, chat };

/// The content of a request. Fields that the client did not send are empty or have their default.
struct Ask {
  Endpoint endpoint = Endpoint::completions;
  std::string model;
  std::vector<std::variant<std::string, Tokens>> prompts;  ///< completions: at least one
  std::vector<ChatMessage> messages;                       ///< chat: at least one, or a job
  int n = 1;                                               ///< number of answers to each prompt
  std::optional<int> max_tokens, top_k;
  std::optional<double> temperature, top_p;
  std::optional<std::uint64_t> seed;
  std::vector<std::string> stops;
  /// number of most probable ids to report for each generated token
  std::optional<int> logprobs;
  std::optional<int> prompt_logprobs;  ///< the same for the prompt's tokens
  bool echo = false;  ///< completions: text and scores of the reply include the prompt
  std::optional<ResponseFields> fields;  ///< chat: `response_format`
  bool ignore_eos = false;
  int min_tokens = 0;
  bool stream = false, include_usage = false, continuous_usage = false;
  bool return_token_ids = false;
  /// From the member `pardec`: the name of a decoder, and options that replace those of the model
  /// id.
  std::string decoder;
  Json options = Json::object();
  std::optional<Json> job;  ///< chat: instead of messages, a Job in the form of job.schema.json
  bool events = false;      ///< a streamed reply also reports the tokens of each pass
  std::vector<std::string> ignored;  ///< names of unknown fields
};

/// Reads the body of a request. ApiError 400, which names the field: a value has the wrong type or
/// is out of range, or asks for an unsupported feature. Fields for unsupported features are
/// accepted with values that do not use them.
Ask parse_ask(std::string_view body, Endpoint endpoint, const AskBounds& bounds = {});

/// Parses the body of a request. ApiError 400: the body is not a JSON object.
Json parse_body(std::string_view body);
/// Reads the field `messages`. The content of a message is a text or a list of parts of type text.
/// ApiError 400: it has another form.
std::vector<ChatMessage> read_messages(const Json& given);
/// Reads a list of token ids. ApiError 400, which names `param`: it has another form.
Tokens read_ids(const Json& list, const std::string& param);

/// Reads the fields of a body with type checks.
class BodyReader {
 public:
  /// REQUIRES: `body` is a JSON object, and outlives this object.
  explicit BodyReader(const Json& body) : body_(body) {}

  /// The value of a field; null if the field is missing. Marks the field as known.
  const Json& any(const char* key);
  /// The value of a field; none if it is missing or null. ApiError 400: it has the wrong type, or
  /// is below `least` or above `most`.
  std::optional<std::string> text(const char* key);
  std::optional<bool> flag(const char* key);
  std::optional<double> number(const char* key, double least, double most);
  std::optional<std::int64_t> whole(const char* key, std::int64_t least, std::int64_t most);
  /// The names of fields that were not read.
  std::vector<std::string> unknown() const;

 private:
  const Json& body_;
  std::vector<std::string> known_;
};

}  // namespace pardec::serve
