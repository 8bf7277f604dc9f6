#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "src/chat/call.hpp"
#include "src/support/error.hpp"

namespace pardec::chat {

/// The HTTP interface of a service. Arms of a run use the two interfaces whose names begin with
/// kStreamed; judges and teachers use the other interfaces.
enum class Interface {
  kOpenAiChat,           ///< POST /chat/completions
  kAnthropicMessages,    ///< POST /v1/messages
  kOpenAiResponses,      ///< POST /responses
  kStreamedCompletions,  ///< POST /completions; the answer is a stream of events
  kStreamedChat          ///< POST /chat/completions; the answer is a stream of events
};
/// The format that a request asks for, if the call has a schema; from the strictest to the least
/// strict. kSchemaInObject (openai-chat only) is type json_object with the schema inside, as
/// llama-cpp-python and some services accept it. With kJsonObject and kText, only the text of the
/// last message contains the schema.
enum class Format { kJsonSchema, kSchemaInObject, kJsonObject, kText };

/// Prices for a million tokens, all in one currency.
struct Prices {
  double input = 0, cached_input = 0, output = 0;
};

/// Time limits in seconds.
struct Deadlines {
  double connect = 10;
  /// from the last byte of the request to the first byte of the answer's body: the time for
  /// generating the reply
  double first_byte = 300;
  double stalled = 30;  ///< between two bytes of the body
  double total = 600;   ///< for the whole request
};

/// A service as described by its user.
struct ServiceSpec {
  Interface interface = Interface::kOpenAiChat;
  std::string base_url;  ///< e.g. https://host/v1, without a final '/'
  std::string model;
  std::string key_env;  ///< environment variable with the API key; empty: no key
  /// the request header with the key. bearer: "Authorization: Bearer KEY"; api-key (Azure):
  /// "api-key: KEY"; x-api-key (Anthropic): "x-api-key: KEY"
  std::string auth = "bearer";
  std::string version;  ///< value of the header anthropic-version; empty: no such header
  /// the key in a request's body with the maximum number of tokens of the reply, e.g. max_tokens;
  /// for openai-chat and for the streamed interfaces
  std::string token_limit;
  nlohmann::json parameters = nlohmann::json::object();  ///< additional keys of each request
  std::optional<Prices> prices;
  int concurrency = 8;  ///< maximum number of requests at a time
  /// Maximum number of further attempts of a call after rate limits, and also after other temporary
  /// faults. The two are counted separately.
  int retries = 5;
  Deadlines deadlines;
  /// Requests ask for the first format. If the service refuses a format, all later requests ask for
  /// the next format.
  std::vector<Format> formats = {Format::kJsonSchema};
  std::int64_t body_cap = 4 << 20;  ///< maximum size of an answer's body in bytes

  /// the end of StopRun's message, which says how the user gets the missing replies
  std::string go_on = "the same command asks for the rest";
  std::string file;  ///< for errors: file with the description
  /// for errors: the line in `file` of each key, e.g. of "parameters.temperature"
  std::map<std::string, long> lines;
};

/// Reads the description of a judge's or teacher's service from a JSON file: the object at
/// `pointer` (a JSON pointer, RFC 6901; empty: the whole file). The object has this form:
///   {"interface": "openai-chat", "base_url": "http://127.0.0.1:8080/v1", "model": "NAME",
///    "key_env": "OPENAI_API_KEY", "auth": "api-key", "token_limit": "max_tokens",
///    "version": "2023-06-01", "parameters": {"temperature": 0},
///    "prices": {"input": 2.5, "cached_input": 1.25, "output": 10}, "concurrency": 8, "retries": 5,
///    "deadlines": {"connect": 10, "first_byte": 300, "stalled": 30, "total": 600},
///    "formats": ["json_schema", "json_object+schema", "json_object", "text"],
///    "body_cap": 4194304}
/// The keys interface, base_url and model are required. The default of auth is x-api-key for
/// anthropic-messages, otherwise bearer. Only openai-chat has token_limit, with the default
/// max_completion_tokens, and only anthropic-messages has version, with the default 2023-06-01. The
/// default of cached_input is the value of input. Formats are in the order above;
/// json_object+schema is only for openai-chat, and json_object is not for anthropic-messages.
/// ServiceSpec has the defaults of the other keys.
///
/// ConfigError "FILE:LINE: what": the description is invalid, or seems to contain an API key.
/// ConfigError "FILE: what": a key occurs twice in one object, or the file has nothing at
/// `pointer`. DataError: the file cannot be read or is not JSON.
ServiceSpec read_service(const std::filesystem::path& file, const std::string& pointer = "");

/// Checks a base URL, and returns it without '/' at its end. ConfigError: the URL does not begin
/// with http:// or https://, has no host, or has a password, query, fragment or invalid character.
std::string checked_url(std::string url);
/// Checks that `name` is empty or can be the name of an environment variable, and returns `name`.
/// ConfigError: `name` cannot be such a name. The message does not quote `name`, since `name` may
/// be the API key itself.
std::string checked_variable(const std::string& name);

/// Checks that the API key is available; call this before long work begins. Disables core files for
/// this process. ConfigError: the variable is not set, or is empty, or its value is not valid in a
/// header.
void check_key(const ServiceSpec& spec);

/// A warning if data would be sent unencrypted to another machine; otherwise empty.
std::string clear_text_warning(const ServiceSpec& spec);

/// A JSON object with everything about a service that may affect its replies. Its key `asked` is
/// a version number, which changes if this program makes requests in another way. Call::key of a
/// call from Questioning depends on this object, so that a stored reply is used again only if the
/// object is unchanged.
nlohmann::json identity(const ServiceSpec& spec);

/// The HTTP answer that ask_once received.
struct SingleAnswer {
  /// HTTP status, which may be an error. 0: there is no complete answer, because the connection was
  /// lost, a deadline passed, or the body has more than 1 MiB.
  int status = 0;
  std::string text;     ///< the body as valid UTF-8, with the API key replaced (Key::redact)
  nlohmann::json body;  ///< `text` as JSON; null: the text is not JSON
  bool good() const { return status >= 200 && status < 300; }
};
/// Sends one HTTP request, and waits for the answer. The request is not repeated, and counts in no
/// Budget, so it must cost nothing: for example, a question about tokenization. `spec`: for the API
/// key, headers and deadlines. `url`: the whole URL. `body`: the JSON to POST; none: a GET request.
/// RunError: the service cannot be reached, or libcurl fails. ConfigError: see check_key.
SingleAnswer ask_once(const ServiceSpec& spec, const std::string& url,
                      const std::optional<nlohmann::json>& body);

/// The largest possible usage of one attempt of a call. Assumptions: each token of a text has at
/// least one byte; a chat template adds at most 32 tokens for each message, and 32 further tokens.
struct WorstCase {
  std::int64_t tokens = 0;  ///< tokens of prompt and reply together
  double cost = 0;          ///< in the currency of the prices; 0 without prices
};
WorstCase worst_case(const ServiceSpec& spec, const Call& call);

/// Limits on all spending, including the spending of earlier runs (the argument `spent` of
/// Service). A member that is none sets no limit.
struct Budget {
  std::optional<double> money;  ///< in the currency of the prices
  std::optional<std::int64_t> tokens;
};

/// Spending so far. The members `possible_*` are upper limits for attempts with an unknown outcome;
/// `money` and `tokens` do not include these attempts.
struct Spending {
  double money = 0, possible_money = 0;
  std::int64_t tokens = 0, possible_tokens = 0;
};

/// No more calls can be sent now: the quota is used up; the service refused a parameter, the key or
/// the URL; the service is unreachable; the service asks to wait for more than 120 s, or still
/// limits the rate after all retries; 20 calls in a row failed; or the budget is reached. Earlier
/// replies were delivered; the other calls can be made later.
struct StopRun : RunError {
  using RunError::RunError;
};

/// Receives the events of calls, in the thread that calls Service::ask. `sending` is called before
/// each attempt, `settled` after each attempt, and `replied` at the end of each call.
class Events {
 public:
  virtual ~Events() = default;
  /// An attempt is about to be sent; `attempt` has its maximum cost. Store the attempt now, so that
  /// it is known even if the process is killed.
  virtual void sending(const Call& call, const Attempt& attempt) = 0;
  /// The attempt has ended; `attempt` has its result.
  virtual void settled(const Call& call, const Attempt& attempt) = 0;
  /// The call has ended with this reply.
  virtual void replied(const Call& call, const Reply& reply) = 0;
};

/// Returns the next call, or none if there is no call at the moment. This function is called again
/// after each reply, so that a reply can lead to more calls. The work is complete when the function
/// returns none and no call is unfinished.
using NextCall = std::function<std::optional<Call>()>;

/// Speeds up tests.
struct Pace {
  double wait_scale = 1;  ///< factor of the waits between attempts
};

/// Sends calls to a service, several at a time. Repeats a request after a temporary fault, and
/// keeps within a budget. A call fails (kFailed) after ServiceSpec::retries further attempts, or at
/// its third attempt with an unknown outcome. Rate limits reduce the number of requests at a time.
class Service {
 public:
  /// Reads the API key from the environment, as check_key does. `spent`: spending of earlier runs
  /// under the same budget. ConfigError: see check_key; or a budget in money is given without
  /// prices.
  Service(ServiceSpec spec, Budget budget, Spending spent = {}, Pace pace = {});
  ~Service();

  /// Sends the calls that `next` returns, and returns when all calls have a reply. After a stop
  /// request, no more requests are sent: the function waits for the running requests, and returns,
  /// although some calls may have no reply.
  ///
  /// StopRun: no more calls can be sent. The function waits for the running requests before it
  /// throws. ConfigError: a call has no messages and no prompt, or its max_tokens is out of range.
  /// RunError: libcurl fails. Exceptions of `next` and `events` pass through. After all exceptions
  /// except StopRun, running requests are aborted, and count as possible spending.
  void ask(const NextCall& next, Events& events, std::stop_token stop = {});

  /// All spending so far, including `spent` of the constructor.
  Spending spending() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace pardec::chat
