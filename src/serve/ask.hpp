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

/// Limits of one request. parse_ask throws an ApiError if a request exceeds a limit.
struct AskBounds {
  int choices = 128;              ///< maximum number of choices: number of prompts times Ask::n
  int stops = 16;                 ///< maximum number of stop strings
  std::size_t stop_bytes = 1024;  ///< maximum length of one stop string, in bytes
};

/// The path of a request: /v1/completions or /v1/chat/completions.
enum class Endpoint { completions, chat };

/// The content of a request for completions or chat completions. If the client did not send a
/// field, its member is empty or has the default below. A member without a comment has the meaning
/// of the field with the same name in the APIs of OpenAI and vLLM. "completions:" or "chat:" in a
/// comment means that only this endpoint has the member.
struct Ask {
  Endpoint endpoint = Endpoint::completions;
  std::string model;  ///< model id; empty: the default model
  /// completions: at least one prompt, each as text or as token ids
  std::vector<std::variant<std::string, Tokens>> prompts;
  std::vector<ChatMessage> messages;  ///< chat: at least one, unless `job` is set
  int n = 1;                          ///< number of answers to each prompt
  /// maximum number of generated tokens: the request's field `max_completion_tokens`, or, if this
  /// field is missing, the field `max_tokens`. 0 (only with `echo`): nothing is decoded.
  std::optional<int> max_tokens;
  std::optional<int> top_k;  ///< 0: all tokens; -1 in a request is read as 0
  std::optional<double> temperature, top_p;
  std::optional<std::uint64_t> seed;
  std::vector<std::string> stops;  ///< stop strings; the answer ends before the first one found
  /// None: the reply has no log-probabilities. A number K from 0 to 20: for each generated token,
  /// the reply has the token's log-probability, and the K most probable ids at the token's place
  /// with their log-probabilities.
  std::optional<int> logprobs;
  std::optional<int> prompt_logprobs;  ///< as `logprobs`, but for the prompt's tokens
  bool echo = false;  ///< completions: text and scores of the reply include the prompt
  /// chat: the fields that the request's `response_format` asks for; none: the answer is free text
  std::optional<ResponseFields> fields;
  bool ignore_eos = false;  ///< an end-of-sequence token does not end the answer
  int min_tokens = 0;       ///< minimum number of generated tokens before an end-of-sequence token
  bool stream = false;
  bool include_usage = false;  ///< the stream's last chunk has the usage of the whole request
  /// Each chunk has the usage so far: the number of tokens of all prompts, and the number of tokens
  /// of the choices that have ended.
  bool continuous_usage = false;
  bool return_token_ids = false;
  // The next four members are from the request's field `pardec`:
  std::string decoder;  ///< name of a decoder; empty: the decoder of the requested model
  /// a JSON object that maps names of decoder options to values; these values replace the values of
  /// the requested model
  Json options = Json::object();
  /// chat: instead of messages, a Job in the form of src/prompt/job.schema.json
  std::optional<Json> job;
  bool events = false;  ///< a streamed reply also reports the tokens of each pass

  std::vector<std::string> ignored;  ///< names of unknown fields of the request; without effect
};

/// Reads the body of a request for completions or chat completions. A field for an unsupported
/// feature is accepted if its value does not use the feature, for example `best_of` 1. ApiError
/// 400: the body is not a JSON object; a required field is missing; a value has the wrong type, is
/// out of range, or uses an unsupported feature; or two fields exclude each other.
Ask parse_ask(std::string_view body, Endpoint endpoint, const AskBounds& bounds = {});

/// Parses the body of a request. ApiError 400: the body is not a JSON object.
Json parse_body(std::string_view body);
/// Reads the field `messages`: at least one object {role, content}. The role is system, developer
/// (read as system), user or assistant. The content is a text, a list of parts of type text, or
/// null (read as an empty text). ApiError 400: `given` has another form.
std::vector<ChatMessage> read_messages(const Json& given);
/// Reads a list of token ids. The ids are not compared with a vocabulary. `param`: name of the
/// request's field with this list, for ApiError::param. ApiError 400: `list` is not a list of whole
/// numbers from 0 to the largest value of the type Token.
Tokens read_ids(const Json& list, const std::string& param);

/// Reads the fields of a request's body, and checks their types.
class BodyReader {
 public:
  /// REQUIRES: `body` is a JSON object, and outlives this object.
  explicit BodyReader(const Json& body) : body_(body) {}

  /// The value of a field, of any type; JSON null if the field is missing. This function and the
  /// next four functions mark the field as known (see unknown()). `key`: name of the field.
  const Json& any(const char* key);
  // Each of the next four functions returns the value of a field, or none if the field is missing
  // or null. ApiError 400: the value has the wrong type, or is below `least` or above `most`.
  std::optional<std::string> text(const char* key);
  std::optional<bool> flag(const char* key);
  std::optional<double> number(const char* key, double least, double most);
  std::optional<std::int64_t> whole(const char* key, std::int64_t least, std::int64_t most);

  /// The names of the body's fields that are not marked as known.
  std::vector<std::string> unknown() const;

 private:
  const Json& body_;
  std::vector<std::string> known_;
};

}  // namespace pardec::serve
