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

/// The streamed ones continue a prompt, as arms of a run do; descriptions of judges do not name
/// them.
enum class Interface {
  kOpenAiChat,
  kAnthropicMessages,
  kOpenAiResponses,
  kStreamedCompletions,
  kStreamedChat
};
/// The format requested for a reply, strictest first. kSchemaInObject: type json_object with the
/// schema inside, as accepted by llama-cpp-python and some services (openai-chat only).
enum class Format { kJsonSchema, kSchemaInObject, kJsonObject, kText };

/// Prices per million tokens, in any single currency.
struct Prices {
  double input = 0, cached_input = 0, output = 0;
};

/// Time limits in seconds.
struct Deadlines {
  double connect = 10;
  /// from the request's last byte to the first byte of the body, i.e. while the reply is generated
  double first_byte = 300;
  double stalled = 30;  ///< between two bytes of the body
  double total = 600;
};

/// A service as described by its user.
struct ServiceSpec {
  Interface interface = Interface::kOpenAiChat;
  std::string base_url;  ///< e.g. https://host/v1; without '/' at the end
  std::string model;
  std::string key_env;          ///< environment variable with the key; empty: no key
  std::string auth = "bearer";  ///< bearer | api-key | x-api-key
  std::string version;          ///< header anthropic-version
  std::string token_limit;      ///< name of the token limit (openai-chat)
  nlohmann::json parameters = nlohmann::json::object();  ///< additional keys of each request
  std::optional<Prices> prices;
  int concurrency = 8;  ///< maximum number of concurrent requests
  int retries = 5;      ///< after temporary faults
  Deadlines deadlines;
  std::vector<Format> formats = {Format::kJsonSchema};  ///< if one is refused, the next is used
  std::int64_t body_cap = 4 << 20;                      ///< limit of an answer in bytes

  /// what to do after a run of calls was stopped, for errors
  std::string go_on = "the same command asks for the rest";
  std::string file;                   ///< file that it was read from, for errors
  std::map<std::string, long> lines;  ///< lines of its keys; inner keys as "parameters.temperature"
};

/// Reads a service from a JSON file: the object at `pointer` (RFC 6901; empty: the whole file).
///   {"interface": "openai-chat", "base_url": "http://127.0.0.1:8080/v1", "model": "NAME",
///    "key_env": "OPENAI_API_KEY", "auth": "api-key", "token_limit": "max_tokens",
///    "version": "2023-06-01", "parameters": {"temperature": 0},
///    "prices": {"input": 2.5, "cached_input": 1.25, "output": 10}, "concurrency": 8, "retries": 5,
///    "deadlines": {"connect": 10, "first_byte": 300, "stalled": 30, "total": 600},
///    "formats": ["json_schema", "json_object+schema", "json_object", "text"],
///    "body_cap": 4194304}
/// The first three are required. ConfigError "FILE:LINE: what".
ServiceSpec read_service(const std::filesystem::path& file, const std::string& pointer = "");

/// `base_url` as read_service accepts it, without '/' at the end. ConfigError.
std::string checked_url(std::string url);
/// The name of an environment variable. ConfigError, which does not quote it: it may be the key.
std::string checked_variable(const std::string& name);

/// Checks that the key is available, before long work begins. From then on, the process writes no
/// core file. ConfigError: the variable is not set, or its value is not a valid key.
void check_key(const ServiceSpec& spec);

/// A warning about data sent unencrypted to another machine, which anybody on the way (including
/// proxies) can read. Empty: nothing is sent unencrypted.
std::string clear_text_warning(const ServiceSpec& spec);

/// Everything about a service that may affect its replies, including the version of the request
/// format. Used in cache keys.
nlohmann::json identity(const ServiceSpec& spec);

/// The answer to a single request.
struct SingleAnswer {
  int status = 0;       ///< 0: none was received
  std::string text;     ///< the body, without the key
  nlohmann::json body;  ///< null: the body is no JSON
  bool good() const { return status >= 200 && status < 300; }
};
/// POSTs JSON, or sends a GET request without `body`, without retries and outside of any budget:
/// for questions that cost nothing. RunError: the service cannot be reached.
SingleAnswer ask_once(const ServiceSpec& spec, const std::string& url,
                      const std::optional<nlohmann::json>& body);

/// The maximum usage of a call, based on the fact that a prompt has fewer tokens than bytes.
struct WorstCase {
  std::int64_t tokens = 0;
  double cost = 0;
};
WorstCase worst_case(const ServiceSpec& spec, const Call& call);

/// The spending limit over consecutive runs; none: no limit.
struct Budget {
  std::optional<double> money;
  std::optional<std::int64_t> tokens;
};

/// The spending so far, and possible spending by attempts whose outcome is unknown.
struct Spending {
  double money = 0, possible_money = 0;
  std::int64_t tokens = 0, possible_tokens = 0;
};

/// The remaining calls were not asked, but can be asked later: the quota is used up, a parameter or
/// the key is refused, the service is unreachable, the requested wait is too long, or the budget is
/// reached. Earlier replies were delivered.
struct StopRun : RunError {
  using RunError::RunError;
};

/// Receives events, on the thread that calls `ask`.
class Events {
 public:
  virtual ~Events() = default;
  /// An attempt is about to be sent; its cost is reserved. Record it now, so that no attempt is
  /// lost.
  virtual void sending(const Call& call, const Attempt& attempt) = 0;
  /// The same attempt with its result.
  virtual void settled(const Call& call, const Attempt& attempt) = 0;
  virtual void replied(const Call& call, const Reply& reply) = 0;
};

/// Returns the next call, or nothing if there is none at the moment. It is called again after each
/// reply, so that a reply can lead to another call. The work ends when there is no next call and no
/// running request.
using NextCall = std::function<std::optional<Call>()>;

/// For tests.
struct Pace {
  double wait_scale = 1;  ///< factor of the waits between attempts
};

class Service {
 public:
  /// Reads the key from the environment; from then on, the process writes no core file. `spent`: by
  /// earlier runs under the same budget. ConfigError: the variable is not set, or a budget in money
  /// is given without prices.
  Service(ServiceSpec spec, Budget budget, Spending spent = {}, Pace pace = {});
  ~Service();

  /// Asks all calls. After a stop request, or before throwing, it sends no more requests and waits
  /// for running ones. StopRun. Exceptions from events are passed on, and abort running requests.
  void ask(const NextCall& next, Events& events, std::stop_token stop = {});

  /// Includes earlier spending.
  Spending spending() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace pardec::chat
