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

enum class Interface { kOpenAiChat, kAnthropicMessages, kOpenAiResponses };
/// The form that a reply is asked for, the strictest first. kSchemaInObject: of type json_object,
/// with the schema in it, as llama-cpp-python and some services take it (openai-chat alone).
enum class Format { kJsonSchema, kSchemaInObject, kJsonObject, kText };

/// Money for a million tokens, in any one currency.
struct Prices {
  double input = 0, cached_input = 0, output = 0;
};

/// Seconds.
struct Deadlines {
  double connect = 10;
  double first_byte = 300;  ///< of the body, from the request's last byte: the reply's whole time
  double stalled = 30;      ///< between two bytes of the body
  double total = 600;
};

/// A service as its user describes it.
struct ServiceSpec {
  Interface interface = Interface::kOpenAiChat;
  std::string base_url;  ///< e.g. https://host/v1; no '/' at its end
  std::string model;
  std::string key_env;                                   ///< variable with the key; empty: no key
  std::string auth = "bearer";                           ///< bearer | api-key | x-api-key
  std::string version;                                   ///< anthropic-version
  std::string token_limit;                               ///< openai-chat's name of it
  nlohmann::json parameters = nlohmann::json::object();  ///< further keys of each request
  std::optional<Prices> prices;
  int concurrency = 8;  ///< requests at a time, at most
  int retries = 5;      ///< after faults that may pass
  Deadlines deadlines;
  std::vector<Format> formats = {Format::kJsonSchema};  ///< the next where one is refused
  std::int64_t body_cap = 4 << 20;                      ///< bytes of an answer

  std::string file;                   ///< where it was read, for errors
  std::map<std::string, long> lines;  ///< of its keys, inner ones as "parameters.temperature"
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

/// That its key is there, before anything long begins; from then on a crash of the process leaves
/// no core file. ConfigError: the variable is not set, or holds what no key is.
void check_key(const ServiceSpec& spec);

/// What is sent in clear, where anybody on the way (a proxy, too) can read it: to another machine
/// without TLS. Empty: nothing is.
std::string clear_text_warning(const ServiceSpec& spec);

/// All of a service that may change what it replies, with the version of how it is asked: for the
/// keys of caches.
nlohmann::json identity(const ServiceSpec& spec);

/// The most that a call can take: tokens of the prompt are fewer than its bytes.
struct WorstCase {
  std::int64_t tokens = 0;
  double cost = 0;
};
WorstCase worst_case(const ServiceSpec& spec, const Call& call);

/// What may be spent, over runs that follow each other; none: no limit.
struct Budget {
  std::optional<double> money;
  std::optional<std::int64_t> tokens;
};

/// What was spent, and what perhaps was: attempts whose outcome is unknown.
struct Spending {
  double money = 0, possible_money = 0;
  std::int64_t tokens = 0, possible_tokens = 0;
};

/// The rest was not asked, and can be later: quota gone, a parameter or the key refused, not
/// reached, a wait that is too long, the budget reached. What came before was delivered.
struct StopRun : RunError {
  using RunError::RunError;
};

/// Hears what happens, in the thread that asks.
class Events {
 public:
  virtual ~Events() = default;
  /// An attempt is sent next; its cost is reserved. Recorded before it goes, none is forgotten.
  virtual void sending(const Call& call, const Attempt& attempt) = 0;
  /// The same attempt, settled.
  virtual void settled(const Call& call, const Attempt& attempt) = 0;
  virtual void replied(const Call& call, const Reply& reply) = 0;
};

/// The next call; none: none now. It is asked again after each reply, so that a reply can bring
/// another call; the end is where nothing is under way either.
using NextCall = std::function<std::optional<Call>()>;

/// For tests.
struct Pace {
  double wait_scale = 1;  ///< waits between attempts are so many times as long
};

class Service {
 public:
  /// Takes the key from the environment; from then on a crash of the process leaves no core file.
  /// `spent`: by earlier runs under the same budget. ConfigError: the variable is not set, a budget
  /// of money without prices.
  Service(ServiceSpec spec, Budget budget, Spending spent = {}, Pace pace = {});
  ~Service();

  /// Asks all calls. After a stop, and before it throws, it sends nothing more and waits for what
  /// is under way. StopRun; what events throw goes through, and ends what is under way.
  void ask(const NextCall& next, Events& events, std::stop_token stop = {});

  /// With what was spent before.
  Spending spending() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace pardec::chat
