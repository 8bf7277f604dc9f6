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

/// The interface of a service. Arms of a run use the two interfaces whose names begin with
/// kStreamed; judges and teachers use the other interfaces.
enum class Interface {
  kOpenAiChat,
  kAnthropicMessages,
  kOpenAiResponses,
  kStreamedCompletions,
  kStreamedChat
};
/// The format requested for a reply, from the strictest to the least strict. kSchemaInObject
/// (openai-chat only) is type json_object with the schema inside; llama-cpp-python and some
/// services accept it.
enum class Format { kJsonSchema, kSchemaInObject, kJsonObject, kText };

/// Prices per million tokens, all in one currency.
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
  std::string key_env;          ///< environment variable with the API key; empty: no key
  std::string auth = "bearer";  ///< bearer | api-key | x-api-key
  std::string version;          ///< value of the header anthropic-version; empty: no such header
  /// name of the request's token limit; for openai-chat and for the streamed interfaces
  std::string token_limit;
  nlohmann::json parameters = nlohmann::json::object();  ///< additional keys of each request
  std::optional<Prices> prices;
  int concurrency = 8;  ///< maximum number of requests at a time
  int retries = 5;      ///< maximum number of further attempts of a call after temporary faults
  Deadlines deadlines;
  std::vector<Format> formats = {Format::kJsonSchema};  ///< if one is refused, the next is used
  std::int64_t body_cap = 4 << 20;                      ///< maximum size of an answer in bytes

  /// for errors: what the user can do after the calls were stopped
  std::string go_on = "the same command asks for the rest";
  std::string file;                   ///< for errors: file with the description
  std::map<std::string, long> lines;  ///< for errors: key ("parameters.temperature") -> line
};

/// Reads the description of a service from a JSON file: the object at `pointer` (RFC 6901; empty:
/// the whole file). It has this form:
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
/// default of cached_input is the value of input. ServiceSpec has the defaults of the other keys.
/// ConfigError "FILE:LINE: what": the description is invalid. ConfigError "FILE: what": a key
/// occurs twice in one object, or the file has nothing at `pointer`. DataError: the file cannot be
/// read or is not JSON.
ServiceSpec read_service(const std::filesystem::path& file, const std::string& pointer = "");

/// Checks a base URL. Returns it without '/' at its end. ConfigError: the URL is invalid.
std::string checked_url(std::string url);
/// Checks that `name`, which it returns, is empty or can be the name of an environment variable.
/// ConfigError: it cannot. The message does not quote `name`, since it may be the key itself.
std::string checked_variable(const std::string& name);

/// Checks that the API key is available; call this before long work begins. Disables core files for
/// this process. ConfigError: the variable is not set or empty, or its value is not valid in a
/// header.
void check_key(const ServiceSpec& spec);

/// A warning if data would be sent unencrypted to another machine; otherwise empty.
std::string clear_text_warning(const ServiceSpec& spec);

/// Everything about a service that may affect its replies, including the version of the request
/// format. It is part of the keys of calls.
nlohmann::json identity(const ServiceSpec& spec);

/// The answer to ask_once.
struct SingleAnswer {
  int status = 0;       ///< HTTP status; 0: no complete answer was received
  std::string text;     ///< the body, with the API key replaced (Key::redact)
  nlohmann::json body;  ///< null: the body is no JSON
  bool good() const { return status >= 200 && status < 300; }
};
/// Sends one request without retries and outside of any budget, for questions that cost nothing.
/// POSTs `body` to `url`, or, without `body`, sends a GET request. RunError: the service cannot be
/// reached. ConfigError: see check_key.
SingleAnswer ask_once(const ServiceSpec& spec, const std::string& url,
                      const std::optional<nlohmann::json>& body);

/// The largest possible usage of one attempt of a call. A prompt is assumed to have at most as many
/// tokens as bytes, and at most 32 tokens of a chat template around each message.
struct WorstCase {
  std::int64_t tokens = 0;  ///< of prompt and reply
  double cost = 0;          ///< in the currency of the prices; 0 without prices
};
WorstCase worst_case(const ServiceSpec& spec, const Call& call);

/// Limits on spending, over all runs; none: no limit.
struct Budget {
  std::optional<double> money;  ///< in the currency of the prices
  std::optional<std::int64_t> tokens;
};

/// Spending so far. The members `possible_*` are for attempts with an unknown outcome.
struct Spending {
  double money = 0, possible_money = 0;
  std::int64_t tokens = 0, possible_tokens = 0;
};

/// No more calls can be sent now: the quota is used up, a parameter or the key is refused, the
/// service is unreachable, it asks for too long a wait, too many calls in a row failed, or the
/// budget is reached. Earlier replies were delivered; the other calls can be made later.
struct StopRun : RunError {
  using RunError::RunError;
};

/// Receives events on the thread that calls Service::ask.
class Events {
 public:
  virtual ~Events() = default;
  /// An attempt is about to be sent, and its maximum cost is reserved. Store it now, so that it is
  /// known even if the process is killed.
  virtual void sending(const Call& call, const Attempt& attempt) = 0;
  /// The attempt has ended; it now has its result.
  virtual void settled(const Call& call, const Attempt& attempt) = 0;
  /// The call has ended with this reply.
  virtual void replied(const Call& call, const Reply& reply) = 0;
};

/// Returns the next call, or none if there is none at the moment. It is called again after each
/// reply, so that a reply can lead to more calls. The work is complete when there is no next call
/// and no request is running.
using NextCall = std::function<std::optional<Call>()>;

/// Speeds up tests.
struct Pace {
  double wait_scale = 1;  ///< factor of the waits between attempts
};

/// Sends calls to a service, several at a time, repeats attempts after temporary faults, and keeps
/// to a budget.
class Service {
 public:
  /// Reads the API key from the environment, and disables core files for this process. `spent`:
  /// spending of earlier runs under the same budget. ConfigError: see check_key; or a budget in
  /// money is given without prices.
  Service(ServiceSpec spec, Budget budget, Spending spent = {}, Pace pace = {});
  ~Service();

  /// Sends all calls from `next`. After a stop request or a StopRun condition, no more requests are
  /// sent, and the function waits for running requests. StopRun: no more calls can be sent.
  /// ConfigError: a call has no messages and no prompt, or its max_tokens is out of range.
  /// RunError: libcurl fails. After every exception except StopRun, also one from `events`, running
  /// requests are aborted.
  void ask(const NextCall& next, Events& events, std::stop_token stop = {});

  /// All spending so far, including that of earlier runs.
  Spending spending() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace pardec::chat
