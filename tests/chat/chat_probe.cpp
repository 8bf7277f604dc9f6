// Asks a service: {"service": FILE, "money"?, "tokens"?, "spent"?, "wait_scale"?, "stop_after"?} as
// its argument, calls {"key", "messages": [[role, text]], "schema"?, "max_tokens"} as lines on its
// stdin. Each event is a line on its stdout, the last one says how it ended.
#include <cstdlib>
#include <iostream>
#include <string>

#include "src/chat/service.hpp"
#include "src/support/json.hpp"
#include "src/support/processor.hpp"

namespace {

using namespace pardec;
using namespace pardec::chat;

Json written(const Usage& usage) {
  return {usage.prompt_tokens, usage.completion_tokens, usage.reasoning_tokens,
          usage.cached_tokens};
}

Json written(const char* event, const Call& call, const Attempt& attempt) {
  return {{"event", event},
          {"key", call.key},
          {"number", attempt.number},
          {"started", attempt.started},
          {"waited", attempt.waited},
          {"seconds", attempt.seconds},
          {"status", attempt.http_status},
          {"request_id", attempt.request_id},
          {"format", attempt.format},
          {"usage", written(attempt.usage)},
          {"cost", attempt.cost},
          {"unknown", attempt.outcome_unknown},
          {"error", attempt.error},
          {"body", attempt.body}};
}

struct Printed : Events {
  explicit Printed(int last) : stop_after(last) {}
  void sending(const Call& call, const Attempt& attempt) override {
    std::cout << dump(written("sending", call, attempt)) << "\n";
  }
  void settled(const Call& call, const Attempt& attempt) override {
    std::cout << dump(written("settled", call, attempt)) << "\n";
  }
  void replied(const Call& call, const Reply& reply) override {
    constexpr const char* kStates[] = {"answered", "refused", "cut short", "failed"};
    std::cout << dump(Json{{"event", "replied"},
                           {"key", call.key},
                           {"state", kStates[static_cast<int>(reply.state)]},
                           {"text", reply.text},
                           {"reason", reply.reason},
                           {"model", reply.model},
                           {"format", reply.format},
                           {"usage", written(reply.usage)},
                           {"cost", reply.cost},
                           {"attempts", reply.attempts}})
              << std::endl;
    if (--stop_after == 0) stop.request_stop();
  }
  int stop_after;
  std::stop_source stop;
};

std::optional<Call> next_call() {
  std::string line;
  if (!std::getline(std::cin, line)) return std::nullopt;
  const Json told = Json::parse(line);
  Call call{told["key"], {}, told.value("schema", Json()), "verdict", told["max_tokens"]};
  for (const Json& message : told["messages"]) call.messages.push_back({message[0], message[1]});
  return call;
}

}  // namespace

int main(int, char** argv) try {
  const Json options = Json::parse(argv[1]);
  Budget budget;
  if (options.contains("money")) budget.money = options["money"].get<double>();
  if (options.contains("tokens")) budget.tokens = options["tokens"].get<std::int64_t>();
  Spending spent;
  spent.money = options.value("spent", 0.0);
  Service service(read_service(options["service"].get<std::string>()), budget, spent,
                  {options.value("wait_scale", 1.0)});
  if (options.value("crash", false)) std::abort();
  Printed events(options.value("stop_after", 0));
  std::string stopped;
  try {
    service.ask(next_call, events, events.stop.get_token());
  } catch (const StopRun& why) {
    stopped = why.what();
  }
  const Spending all = service.spending();
  std::cout << dump(Json{{"event", "end"},
                         {"stopped", stopped},
                         {"money", all.money},
                         {"possible_money", all.possible_money},
                         {"tokens", all.tokens},
                         {"possible_tokens", all.possible_tokens},
                         {"peak", line_of("/proc/self/status", "VmHWM")}})
            << std::endl;
} catch (const Error& error) {
  std::cerr << error.what() << "\n";
  return error.exit_code();
}
