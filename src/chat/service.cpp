#include "src/chat/service.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <list>

#include "src/chat/adapter.hpp"
#include "src/chat/event_stream.hpp"
#include "src/chat/key.hpp"
#include "src/chat/outcome.hpp"
#include "src/http/client.hpp"
#include "src/support/number_text.hpp"
#include "src/support/rng.hpp"
#include "src/support/text.hpp"

namespace pardec::chat {

namespace {

using Instant = std::chrono::steady_clock::time_point;

constexpr double kLongestWait = 120;  // maximum seconds that a service may request
constexpr double kFirstBackOff = 0.5, kLongestBackOff = 8;
constexpr int kMostPerhapsPaid = 2;          // attempts; after one more, a call is given up
constexpr int kMostFailuresInARow = 20;      // calls
constexpr std::size_t kKeptBody = 64 << 10;  // bytes
constexpr double kGlance = 0.2;              // seconds between checks for a stop request

Instant in_seconds(double seconds) {
  return std::chrono::steady_clock::now() +
         std::chrono::duration_cast<Instant::duration>(std::chrono::duration<double>(seconds));
}

std::string utc_now() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const auto milliseconds = std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
  const time_t seconds = milliseconds / 1000;
  tm date = {};
  gmtime_r(&seconds, &date);
  std::array<char, 80> text{};
  std::snprintf(text.data(), text.size(), "%04d-%02d-%02dT%02d:%02d:%02d.%03dZ",
                date.tm_year + 1900, date.tm_mon + 1, date.tm_mday, date.tm_hour, date.tm_min,
                date.tm_sec, static_cast<int>(milliseconds % 1000));
  return text.data();
}

std::vector<std::string> head_of(const ServiceSpec& spec, const Key& key) {
  std::vector<std::string> head = {"Content-Type: application/json", "Accept: application/json",
                                   "Expect:", "User-Agent: pardec"};
  if (!spec.version.empty()) head.push_back("anthropic-version: " + spec.version);
  if (!key.empty())
    head.push_back(spec.auth == "bearer" ? "Authorization: Bearer " + key.value()
                                         : spec.auth + ": " + key.value());
  return head;
}

HttpDeadlines deadlines_of(const ServiceSpec& spec) {
  const Deadlines& d = spec.deadlines;
  return {d.connect, d.first_byte, d.stalled, d.total};
}

/// An unfinished call.
struct Task {
  Call call;
  Rng chance;
  WorstCase most;
  Attempt attempt = {};  ///< the last attempt
  double cost = 0;       ///< of all attempts with a known outcome
  std::size_t format = 0;
  int faults = 0, limits = 0, perhaps_paid = 0;
  bool sent = false;  ///< running; otherwise waits until `due`
  Instant due = {};
  std::int64_t order = 0;                         ///< order of sending
  std::shared_ptr<EventStream> stream = nullptr;  ///< of the last attempt, if it is streamed
};

}  // namespace

class Service::Impl {
 public:
  Impl(ServiceSpec spec, Budget budget, Spending spent, Pace pace)
      : spec_(std::move(spec)),
        adapter_(adapter_of(spec_.interface)),
        key_(spec_.key_env),
        budget_(budget),
        spent_(spent),
        pace_(pace),
        limit_(spec_.concurrency) {
    if (budget_.money && !spec_.prices)
      throw ConfigError(str(where("model"),
                            ": a budget of money needs 'prices' of the service, and it has none"));
  }

  const Spending& spending() const { return spent_; }

  void ask(const NextCall& next, Events& events, const std::stop_token& stop) {
    const Forget forget{*this};  // also after an exception
    client_ = std::make_unique<HttpClient>();
    stopped_.clear(), dry_ = false, failures_in_a_row_ = 0;
    const auto send_more = [&] {
      if (stopped_.empty() && !stop.stop_requested()) send(next, events);
    };
    for (;;) {
      send_more();
      const bool ended = !stopped_.empty() || stop.stop_requested() || (dry_ && tasks_.empty());
      if (under_way_ == 0 && ended) break;
      for (HttpResult& result : client_->wait(idle())) {
        settle(result, events);
        send_more();
      }
    }
    if (!stopped_.empty()) throw StopRun(stopped_);
  }

 private:
  using Tasks = std::list<Task>;

  /// Counts requests that are still running at the end as possibly paid.
  struct Forget {
    Impl& self;
    ~Forget() {
      self.client_.reset();
      for (const Task& task : self.tasks_)
        if (task.sent) self.spend_perhaps(task.most);
      self.tasks_.clear();
      self.reserved_ = {}, self.under_way_ = 0;
    }
  };

  /// FILE:LINE of a key of the description.
  std::string where(const std::string& key) const {
    const auto line = spec_.lines.find(key);
    return line == spec_.lines.end() ? spec_.file : str(spec_.file, ":", line->second);
  }
  void stop_run(const std::string& where, const std::string& what) {
    if (stopped_.empty())
      stopped_ =
          key_.redact(str(where, where.empty() ? "" : ": ", spec_.model, " at ", spec_.base_url,
                          ": ", what, "; the replies so far are kept, and ", spec_.go_on));
  }

  /// Seconds until a request that must wait may be sent, unless another one ends before.
  double idle() const {
    const Instant now = in_seconds(0);
    Instant first = std::max(now, pause_);
    for (const Task& task : tasks_)
      if (!task.sent && task.due > now) first = first > now ? std::min(first, task.due) : task.due;
    const double seconds = std::chrono::duration<double>(first - now).count();
    return seconds > 0 ? std::min(seconds, kGlance) : kGlance;
  }

  /// Sends all requests that may be sent now.
  void send(const NextCall& next, Events& events) {
    while (under_way_ < limit_ && in_seconds(0) >= pause_) {
      auto task = std::find_if(tasks_.begin(), tasks_.end(), [now = in_seconds(0)](const Task& t) {
        return !t.sent && t.due <= now;
      });
      if (task == tasks_.end()) {
        if (dry_ || static_cast<int>(tasks_.size()) >= spec_.concurrency) return;
        std::optional<Call> call = next();
        if (!call) {
          dry_ = true;
          return;
        }
        task = take(std::move(*call));
      }
      if (!fits(task->most)) {
        if (under_way_ == 0) budget_reached(*task);
        return;
      }
      send(*task, events);
    }
  }

  Tasks::iterator take(Call call) {
    if (call.max_tokens < 1 || call.max_tokens > kMostTokens ||
        (call.messages.empty() && !call.parameters.contains("prompt")))
      throw ConfigError(str("call '", call.key,
                            "' has no messages and no prompt, or max_tokens is not from 1 to ",
                            kMostTokens));
    const std::uint64_t seed = derive_seed(0, call.key);
    WorstCase most = worst_case(spec_, call);
    most.tokens = static_cast<std::int64_t>(
        std::min(1e15, std::ceil(static_cast<double>(most.tokens) * excess_)));
    most.cost *= excess_;
    return tasks_.insert(tasks_.end(), Task{std::move(call), Rng(seed), most});
  }

  bool fits(const WorstCase& most) const {
    return (!budget_.money ||
            spent_.money + spent_.possible_money + reserved_.cost + most.cost <= *budget_.money) &&
           (!budget_.tokens ||
            spent_.tokens + spent_.possible_tokens + reserved_.tokens + most.tokens <=
                *budget_.tokens);
  }
  void budget_reached(const Task& task) {
    std::string what = "the budget is reached: ";
    if (budget_.money)
      what += str(spent_.money, " and perhaps ", spent_.possible_money, " more of ", *budget_.money,
                  " are spent, and the next call may cost ", task.most.cost);
    else
      what +=
          str(spent_.tokens, " and perhaps ", spent_.possible_tokens, " more of ", *budget_.tokens,
              " tokens are used, and the next call may take ", task.most.tokens);
    if (excess_ > 1)
      what += str("; the service counted up to ", fixed(excess_, 1),
                  " times as many tokens as a call can have");
    stop_run(spec_.file, what);
  }

  Format format(const Task& task) const {
    return task.call.schema.is_null() ? Format::kText : spec_.formats[task.format];
  }

  void send(Task& task, Events& events) {
    task.format = std::max(task.format, format_);
    HttpRequest request;
    request.url = spec_.base_url + adapter_.path(spec_);
    request.headers = head_of(spec_, key_);
    request.body = dump(adapter_.body(spec_, task.call, format(task)));
    request.deadlines = deadlines_of(spec_);
    request.body_cap = static_cast<std::size_t>(spec_.body_cap);
    if (adapter_.streams()) {
      task.stream = std::make_shared<EventStream>(task.call.until);
      request.more = [stream = task.stream](std::string_view piece) { return stream->take(piece); };
    }

    Attempt& attempt = task.attempt;
    const double waited = attempt.waited;
    attempt = {attempt.number + 1, utc_now(), waited};
    attempt.format = name_of(format(task));
    attempt.cost = task.most.cost, attempt.outcome_unknown = true;
    attempt.usage = {task.most.tokens - task.call.max_tokens, task.call.max_tokens};
    events.sending(task.call, attempt);
    task.sent = true, task.order = ++sent_, ++under_way_;
    reserved_.cost += task.most.cost, reserved_.tokens += task.most.tokens;
    client_->start(static_cast<std::uint64_t>(task.order), std::move(request));
  }

  void spend_perhaps(const WorstCase& most) {
    spent_.possible_money += most.cost, spent_.possible_tokens += most.tokens;
  }

  double price(const Usage& usage) const {
    if (!spec_.prices) return 0;
    const std::int64_t cached =
        std::clamp<std::int64_t>(usage.cached_tokens, 0, usage.prompt_tokens);
    return (static_cast<double>(usage.prompt_tokens - cached) * spec_.prices->input +
            static_cast<double>(cached) * spec_.prices->cached_input +
            static_cast<double>(usage.completion_tokens) * spec_.prices->output) /
           1e6;
  }

  /// Counts the cost of an attempt.
  void account(Task& task, const Outcome& outcome) {
    reserved_.cost -= task.most.cost, reserved_.tokens -= task.most.tokens;
    Attempt& attempt = task.attempt;
    attempt.outcome_unknown = outcome.outcome_unknown;
    if (outcome.outcome_unknown) {
      spend_perhaps(task.most);  // cost and tokens stay as reserved
      return;
    }
    if (outcome.usage.prompt_tokens >= 0 && outcome.usage.completion_tokens >= 0) {
      attempt.usage = outcome.usage;
      attempt.cost = price(outcome.usage);
      excess_ = std::max(excess_, static_cast<double>(outcome.usage.prompt_tokens +
                                                      outcome.usage.completion_tokens) /
                                      static_cast<double>(worst_case(spec_, task.call).tokens));
      spent_.tokens += outcome.usage.prompt_tokens + outcome.usage.completion_tokens;
    } else if (attempt.error.empty()) {
      // An answer without token counts: the attempt keeps the reserved maximum, for later
      // processes.
      spent_.tokens += task.most.tokens;
    } else {
      attempt.usage = outcome.usage;
      attempt.cost = 0;
    }
    spent_.money += attempt.cost, task.cost += attempt.cost;
  }

  void settle(HttpResult& result, Events& events) {
    const auto task = std::find_if(tasks_.begin(), tasks_.end(), [&](const Task& t) {
      return t.sent && t.order == static_cast<std::int64_t>(result.id);
    });
    task->sent = false, --under_way_;
    if (task->stream && task->stream->any() && !task->stream->broken() &&
        result.fault == HttpFault::none)
      result.body = dump(task->stream->body());
    // Before any text is truncated, which could leave part of the key.
    result.body = key_.redact(std::move(result.body));
    for (auto& [name, value] : result.headers) value = key_.redact(std::move(value));
    Outcome outcome = read_outcome(spec_, task->call, format(*task), result);
    Attempt& attempt = task->attempt;
    attempt.seconds = result.seconds, attempt.http_status = result.status;
    for (const char* name : {"x-request-id", "request-id", "apim-request-id"})
      if (attempt.request_id.empty())
        attempt.request_id = visible_text(header(result.headers, name));
    const bool answered =
        outcome.next == Next::kDone && outcome.answer.state != ReplyState::kFailed;
    attempt.error = key_.redact(outcome.next == Next::kDone
                                    ? (answered && result.status < 300 ? "" : outcome.answer.reason)
                                    : outcome.what);
    if (!attempt.error.empty())
      attempt.body = repair_utf8(repair_utf8(result.body).substr(0, kKeptBody));
    account(*task, outcome);
    events.settled(task->call, attempt);
    adapt(*task, outcome);
    go_on(task, outcome, events);
  }

  /// Halves the number of concurrent requests after a rate limit, then raises it slowly.
  void adapt(const Task& task, const Outcome& outcome) {
    if (outcome.limited) {
      if (task.order > lowered_) limit_ = std::max(1, limit_ / 2), lowered_ = sent_;
      good_ = 0;
      if (outcome.wait && *outcome.wait <= kLongestWait)
        pause_ = std::max(pause_, in_seconds(*outcome.wait * pace_.wait_scale));
    } else if (outcome.next == Next::kDone && ++good_ >= limit_) {
      limit_ = std::min(limit_ + 1, spec_.concurrency), good_ = 0;
    }
  }

  void go_on(Tasks::iterator task, Outcome& outcome, Events& events) {
    switch (outcome.next) {
      case Next::kDone:
        return reply(task, outcome, events);
      case Next::kStop:
        return stop_run(where(outcome.parameter.empty() ? "base_url" : outcome.parameter),
                        outcome.what);
      case Next::kFallBack:
        format_ = std::max(format_, task->format + 1);
        task->due = in_seconds(0);
        task->attempt.waited = 0;
        return;
      case Next::kAgain:
        break;
    }
    int& count = outcome.limited ? task->limits : task->faults;
    ++count;
    if (outcome.outcome_unknown) ++task->perhaps_paid;
    if (outcome.wait && *outcome.wait > kLongestWait)
      return stop_run(where("base_url"), str("the service asks to wait ", std::ceil(*outcome.wait),
                                             " s, more than ", kLongestWait, "; ", outcome.what));
    if (count > spec_.retries && outcome.unreachable)
      return stop_run(where("base_url"), str("cannot be reached: ", outcome.what));
    if (count > spec_.retries && outcome.limited)
      return stop_run(where("base_url"), str("too many requests, still after ",
                                             counted(count, "attempt"), "; ", outcome.what));
    if (count > spec_.retries || task->perhaps_paid > kMostPerhapsPaid) {
      outcome.answer = {
          ReplyState::kFailed, "",
          str(outcome.what, "; given up after ", counted(task->attempt.number, "attempt"))};
      return reply(task, outcome, events);
    }
    const double back_off = std::min(kFirstBackOff * std::exp2(count - 1), kLongestBackOff) *
                            (1 - 0.25 * task->chance.uniform());
    task->attempt.waited = outcome.wait.value_or(back_off);
    task->due = in_seconds(task->attempt.waited * pace_.wait_scale);
  }

  void reply(Tasks::iterator task, Outcome& outcome, Events& events) {
    const Answer& answer = outcome.answer;
    Reply reply{.state = answer.state,
                .text = key_.redact(answer.text),
                .reason = key_.redact(answer.reason),
                .model = key_.redact(visible_text(answer.model)),
                .format = task->attempt.format,
                .usage = outcome.usage,
                .body = std::move(outcome.body),
                .first_seconds = task->stream ? task->stream->first_seconds() : -1,
                .seconds = task->attempt.seconds,
                .cost = task->cost,
                .attempts = task->attempt.number};
    constexpr std::size_t kMostWords = 300;
    if (reply.state == ReplyState::kRefused && !reply.text.empty())
      reply.reason += str(": ", visible_text(shortened(reply.text, kMostWords)));
    const Call call = std::move(task->call);
    tasks_.erase(task);
    dry_ = false;
    failures_in_a_row_ = reply.state == ReplyState::kFailed ? failures_in_a_row_ + 1 : 0;
    if (failures_in_a_row_ >= kMostFailuresInARow)
      stop_run(where("base_url"),
               str("the last ", failures_in_a_row_, " calls all failed; ", reply.reason));
    events.replied(call, reply);
  }

  ServiceSpec spec_;
  const Adapter& adapter_;
  Key key_;
  Budget budget_;
  Spending spent_;
  double excess_ = 1;  ///< maximum ratio of reported to possible tokens of a call
  Pace pace_;
  WorstCase reserved_;  ///< reserved for running requests

  std::unique_ptr<HttpClient> client_;
  Tasks tasks_;
  std::string stopped_;     ///< the reason; empty: not stopped
  bool dry_ = false;        ///< there is no next call at the moment
  std::size_t format_ = 0;  ///< index of the format that all calls now use
  int limit_, good_ = 0;    ///< concurrent requests; good answers since the last change
  int under_way_ = 0;       ///< sent and not settled
  std::int64_t sent_ = 0, lowered_ = 0;
  Instant pause_ = {};  ///< no request is sent before
  int failures_in_a_row_ = 0;
};

Service::Service(ServiceSpec spec, Budget budget, Spending spent, Pace pace)
    : impl_(std::make_unique<Impl>(std::move(spec), budget, spent, pace)) {}
Service::~Service() = default;

void Service::ask(const NextCall& next, Events& events, std::stop_token stop) {
  impl_->ask(next, events, stop);
}

SingleAnswer ask_once(const ServiceSpec& spec, const std::string& url,
                      const std::optional<Json>& body) {
  const Key key(spec.key_env);
  HttpRequest request;
  request.url = url;
  request.method = body ? HttpMethod::post : HttpMethod::get;
  request.headers = head_of(spec, key);
  if (body) request.body = dump(*body);
  request.deadlines = deadlines_of(spec);
  HttpClient client;
  client.start(1, std::move(request));
  std::vector<HttpResult> ended;
  while (ended.empty()) ended = client.wait(1);
  const HttpResult& result = ended.front();
  if (result.fault == HttpFault::unreachable)
    throw RunError(str(spec.file, ": ", url, " cannot be reached: ", visible_text(result.what)));
  SingleAnswer answer;
  answer.status = result.fault == HttpFault::none ? result.status : 0;
  answer.text = key.redact(repair_utf8(result.body));
  answer.body = Json::parse(answer.text, nullptr, false);
  if (answer.body.is_discarded()) answer.body = nullptr;
  return answer;
}

Spending Service::spending() const { return impl_->spending(); }

}  // namespace pardec::chat
