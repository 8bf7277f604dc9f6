#include "src/runs/service_arm.hpp"

#include <algorithm>
#include <chrono>
#include <limits>
#include <thread>
#include <utility>

#include "src/asking/paid_service.hpp"
#include "src/prompt/json_answer.hpp"
#include "src/runs/record.hpp"
#include "src/support/error.hpp"
#include "src/support/hashing.hpp"
#include "src/support/number_text.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

constexpr int kMostTries = 120;                      // one a second, while a server loads
constexpr std::size_t kMostPlaces = 32;              // of guesses in a pass
constexpr std::size_t kMostGuesses = 4096;           // in a pass; a server that says more is wrong
constexpr int kMostAtOnce = 512;                     // streams; jobs are limited by the batch
constexpr std::int64_t kMostAnswerBytes = 64 << 20;  // a stream has some 300 bytes a token
/// Different tokenizers give different ids for this text.
constexpr std::string_view kProbe =
    "The 3 quick foxes jumped over 12.50 naïve cafés in 東京:\n\n  {\"key\": [1, 2]} don't stop";

std::int64_t now_ns() { return SteadyClock().now_ns(); }

chat::ServiceSpec spec_of(const Arm& arm, const ServiceOptions& options) {
  chat::ServiceSpec spec;
  if (!options.file.empty()) {
    spec = chat::read_service(options.file);
    if (spec.interface != chat::Interface::kOpenAiChat)
      throw ConfigError(
          str(options.file, ": 'interface' is none that answers an arm, expected ", "openai-chat"));
    if (options.budget > 0 && !spec.prices)
      throw ConfigError(str(options.file, ": has no 'prices', which a budget needs"));
  } else {
    spec.file = "arm " + arm.label;
    try {
      spec.base_url = chat::checked_url(options.url);
      spec.key_env = chat::checked_variable(options.key);
    } catch (const ConfigError& error) {
      throw ConfigError(
          str("arm ", arm.label, ": ",
              replace_all(replace_all(error.what(), "'base_url'", "url"), "'key_env'", "key")));
    }
    spec.model = options.model;
    spec.token_limit = "max_tokens";
    spec.concurrency = kMostAtOnce;
  }
  spec.body_cap = std::max(spec.body_cap, kMostAnswerBytes);
  spec.go_on = "`resume` goes on with the rest";
  return spec;
}

/// The ids in a list, or of the objects in it (TGI); none: it is no such list.
std::optional<Tokens> ids_in(const Json& list) {
  if (!list.is_array()) return std::nullopt;
  Tokens ids;
  for (const Json& one : list) {
    const Json& id = one.is_object() && one.contains("id") ? one.at("id") : one;
    if (!id.is_number_integer() || id < 0 || id > std::numeric_limits<Token>::max())
      return std::nullopt;
    ids.push_back(id.get<Token>());
  }
  return ids;
}

/// The address of what a server has beside its /v1.
std::string root_of(const chat::ServiceSpec& spec) {
  constexpr std::string_view kVersion = "/v1";
  std::string root = spec.base_url;
  if (root.ends_with(kVersion)) root.resize(root.size() - kVersion.size());
  return root;
}

/// Whether the service's tokenizer gives these ids for the probe; none: it does not tell.
std::optional<bool> gives_same_ids(const chat::ServiceSpec& spec, const Tokenizer& tokenizer) {
  // the text under the names of vLLM, llama.cpp and TGI
  const Json asked{{"model", spec.model},
                   {"prompt", kProbe},
                   {"content", kProbe},
                   {"inputs", kProbe},
                   {"add_special_tokens", false}};
  chat::SingleAnswer told = chat::ask_once(spec, root_of(spec) + "/tokenize", asked);
  constexpr int kNotReady = 503;
  for (int tries = 0; told.status == kNotReady && tries < kMostTries; ++tries) {
    std::this_thread::sleep_for(std::chrono::seconds(1));
    told = chat::ask_once(spec, root_of(spec) + "/tokenize", asked);
  }
  if (!told.good()) return std::nullopt;
  const auto ids = ids_in(told.body.is_object() ? told.body.value("tokens", Json()) : told.body);
  if (!ids) return std::nullopt;
  return *ids == tokenizer.encode_piece(kProbe, true, false);
}

/// The ids of a reply's choice; none: it has none.
std::optional<Tokens> ids_of_reply(const Json& body) {
  if (!body.is_object() || !body.contains("choices") || !body.at("choices").is_array() ||
      body.at("choices").empty() || !body.at("choices").front().is_object())
    return std::nullopt;
  const Json& choice = body.at("choices").front();
  return choice.contains("token_ids") ? ids_in(choice.at("token_ids")) : std::nullopt;
}

std::int64_t number_at(const Json& value, const char* key) {
  const auto found = value.is_object() ? value.find(key) : value.end();
  return found != value.end() && found->is_number_integer() && *found >= 0
             ? found->get<std::int64_t>()
             : -1;
}

/// Adds guesses of which only the numbers in each place that were accepted are known: as many as
/// were drafted in each pass from the first place on.
void add_guesses(Counters& counters, std::int64_t passes, std::int64_t drafted,
                 std::vector<std::int64_t> accepted) {
  for (std::int64_t left = drafted; left > 0 && counters.drafted.size() < kMostGuesses;
       left -= passes)
    counters.drafted.push_back(std::min(left, passes));
  accepted.resize(counters.drafted.size());
  counters.accepted = std::move(accepted);
}

/// Adds the passes and guesses that a reply tells of (`metrics.speculative_decoding`, as vLLM has
/// it; `pardec.passes`).
void add_passes(Counters& counters, const Json& body) {
  const auto inner = [](const Json& value, const char* key) {
    return value.is_object() && value.contains(key) ? value.at(key) : Json();
  };
  const Json guesses = inner(inner(body, "metrics"), "speculative_decoding");
  const std::int64_t passes = number_at(inner(body, "pardec"), "passes");
  const std::int64_t steps = number_at(guesses, "num_spec_steps");
  const std::int64_t drafted = number_at(guesses, "num_draft_tokens");
  const std::int64_t accepted = number_at(guesses, "num_accepted_draft_tokens");
  if (passes < 0 && (steps <= 0 || accepted < 0)) return;
  // each pass adds one token of its own to the accepted ones
  counters.forwards =
      passes >= 0 ? passes : std::max<std::int64_t>(steps, counters.chosen - accepted);
  if (steps <= 0 || drafted < 0 || accepted < 0 || accepted > drafted) return;
  const Json histogram = inner(guesses, "acceptance_histogram");
  std::int64_t emitted = 0;
  std::vector<std::int64_t> by_place;
  if (histogram.is_array())
    for (std::size_t kept = 0; kept < histogram.size(); ++kept) {
      if (!histogram[kept].is_number_integer() || histogram[kept] < 0) return;
      const auto times = histogram[kept].get<std::int64_t>();
      if (times > 0) counters.emitted[static_cast<std::int64_t>(kept) + 1] += times;
      emitted += times;
      if (kept > by_place.size()) by_place.resize(kept);
      for (std::size_t place = 0; place < kept; ++place) by_place[place] += times;
    }
  if (counters.forwards > emitted) counters.emitted[1] += counters.forwards - emitted;
  add_guesses(counters, steps, drafted, std::move(by_place));
}

/// The value of a Prometheus line `name{labels} value`, if its name and a label are these; none: it
/// is another line.
std::optional<std::int64_t> sample_in(std::string_view line, std::string_view name,
                                      std::string_view label = "") {
  if (!line.starts_with(name)) return std::nullopt;
  const std::string_view rest = line.substr(name.size());
  if (rest.empty() || (rest[0] != '{' && rest[0] != ' ')) return std::nullopt;
  if (!label.empty() && rest.find(label) == std::string_view::npos) return std::nullopt;
  const std::size_t space = rest.rfind(' ');
  char* end = nullptr;
  const std::string value(rest.substr(space + 1));
  const double number = std::strtod(value.c_str(), &end);
  if (end == value.c_str() || !(number >= 0 && number < 1e15)) return std::nullopt;
  return static_cast<std::int64_t>(number);
}

}  // namespace

std::optional<ServiceArm::GuessCounters> ServiceArm::read_guesses() const try {
  constexpr const char* kName = "vllm:spec_decode_num_";
  const chat::SingleAnswer answer =
      chat::ask_once(spec_, root_of(spec_) + "/metrics", std::nullopt);
  if (!answer.good()) return std::nullopt;
  GuessCounters counters;
  bool any = false;
  for (const std::string& line : split(answer.text, '\n')) {
    const auto add = [&](const char* what, std::int64_t& to) {
      if (const auto value = sample_in(line, str(kName, what, "_total"))) to += *value, any = true;
    };
    add("drafts", counters.drafts);
    add("draft_tokens", counters.drafted);
    for (std::size_t place = 0; place < kMostPlaces; ++place)
      if (const auto value = sample_in(line, str(kName, "accepted_tokens_per_pos_total"),
                                       str("position=\"", place, "\""))) {
        if (counters.accepted.size() <= place) counters.accepted.resize(place + 1);
        counters.accepted[place] += *value;
      }
  }
  return any ? std::optional(counters) : std::nullopt;
} catch (const RunError&) {  // the next request tells
  return std::nullopt;
}

void ServiceArm::add_block_guesses(Counters& counters) {
  if (!block_guesses_) return;
  const GuessCounters guesses = *std::exchange(block_guesses_, std::nullopt);
  std::int64_t accepted = 0;
  for (const std::int64_t count : guesses.accepted) accepted += count;
  // Each pass adds one token of its own to the accepted ones.
  counters.forwards += std::max<std::int64_t>(0, block_chosen_ - accepted);
  if (guesses.drafts > 0) add_guesses(counters, guesses.drafts, guesses.drafted, guesses.accepted);
}

/// Awaits the reply to a call. Lives in the frame of the waiting coroutine; destroying the frame
/// withdraws it.
class ServiceArm::Reply {
 public:
  Reply(ServiceArm& arm, chat::Call call) : arm_(arm), call_(std::move(call)) {}
  Reply(const Reply&) = delete;
  Reply& operator=(const Reply&) = delete;
  ~Reply() {
    std::erase(arm_.queue_, this);
    arm_.waiting_.erase(call_.key);
  }

  bool await_ready() const { return false; }
  void await_suspend(std::coroutine_handle<> awaiting) {
    awaiting_ = awaiting;
    arm_.queue_.push_back(this);
  }
  chat::Reply await_resume() { return std::move(reply_); }

  const chat::Call& call() const { return call_; }
  void resume(const chat::Reply& reply) {
    reply_ = reply;
    awaiting_.resume();
  }

 private:
  ServiceArm& arm_;
  const chat::Call call_;
  chat::Reply reply_;
  std::coroutine_handle<> awaiting_;
};

ServiceArm::ServiceArm(const Arm& arm, const Session& session)
    : label_(arm.label),
      options_(service_options(arm.algorithm->options())),
      spec_(spec_of(arm, options_)),
      mode_(options_.mode),
      tokenizer_hash_(hash_of_ids(*session.tokenizer())),
      process_(make_uuid()) {
  chat::check_key(spec_);
  find_mode(session);
  spec_.interface = mode_ == PromptMode::chat ? chat::Interface::kStreamedChat
                                              : chat::Interface::kStreamedCompletions;
  description_ = {{"url", spec_.base_url},
                  {"model", spec_.model},
                  {"prompts", name(mode_)},
                  {"ids", gives_ids_},
                  {"parameters", spec_.parameters}};
}

ServiceArm::~ServiceArm() = default;

void ServiceArm::find_mode(const Session& session) {
  if (mode_ == PromptMode::automatic)
    mode_ = gives_same_ids(spec_, *session.tokenizer()).value_or(false) ? PromptMode::ids
                                                                        : PromptMode::chat;
  if (mode_ == PromptMode::chat) return;
  const Tokens prompt = session.tokenizer()->encode_piece(kProbe, true);
  const auto asked = [&](const Json& with) {
    return chat::ask_once(spec_, spec_.base_url + "/completions",
                          Json{{"model", spec_.model},
                               {"prompt", with},
                               {spec_.token_limit, 1},
                               {"temperature", 0},
                               {"return_token_ids", true}});
  };
  chat::SingleAnswer answer;
  if (mode_ == PromptMode::ids) {
    answer = asked(prompt);
    if (!answer.good() && options_.mode == PromptMode::automatic) mode_ = PromptMode::text;
  }
  if (mode_ == PromptMode::text) answer = asked(kProbe);
  if (!answer.good() && options_.mode == PromptMode::automatic) {
    mode_ = PromptMode::chat;
    return;
  }
  if (!answer.good())
    throw RunError(str("arm ", label_, ": ", spec_.base_url, "/completions answers a prompt as ",
                       name(mode_), " with status ", answer.status, ": ",
                       visible_text(shortened(answer.text, 300)),
                       "; expected an answer, or another mode (chat)"));
  gives_ids_ = ids_of_reply(answer.body).has_value();
}

ModelRow ServiceArm::model_row() const {
  ModelRow row;
  row.path = str(spec_.base_url, "/", spec_.model);
  row.hash = sha256(str("service\n", spec_.base_url, "\n", spec_.model));
  row.shape = {{kTokenizerHash, tokenizer_hash_}};
  return row;
}

chat::Service& ServiceArm::service() {
  if (service_) return *service_;
  const chat::Budget budget{options_.budget > 0 ? std::optional(options_.budget) : std::nullopt,
                            std::nullopt};
  if (store_) {
    const NamedRecord record{str("arm:", spec_.model), chat::identity(spec_)};
    ledger_ = put_judge(*store_, record);
    // it cannot be moved, so it is made in place
    service_.reset(new chat::Service(paid_service(*store_, record, spec_, budget)));
  } else {
    service_ = std::make_unique<chat::Service>(spec_, budget);
  }
  return *service_;
}

std::int64_t ServiceArm::run(int count, int live, const std::function<Task<void>(int)>& start,
                             const std::function<void(const Ended&)>& done) {
  struct Cleared {  // also if `start`, `done` or the service throws
    ServiceArm& arm;
    ~Cleared() { arm.jobs_.clear(); }
  } cleared{*this};
  chat::Service& asked = service();
  outside_ns_ = 0;
  int next_job = 0, ended_jobs = 0;
  block_chosen_ = 0;
  block_guesses_.reset();
  replies_tell_ = false;
  const auto before = tells_guesses_ ? read_guesses() : std::nullopt;
  tells_guesses_ = before.has_value();
  const auto take_ended = [&] {
    for (auto job = jobs_.begin(); job != jobs_.end();) {
      if (!job->task.done()) {
        ++job;
        continue;
      }
      Ended end{job->number, nullptr};
      try {
        job->task.result();
      } catch (...) {
        end.error = std::current_exception();
      }
      job = jobs_.erase(job);
      const std::int64_t begin = now_ns();
      if (++ended_jobs == count && before && !replies_tell_)
        if (const auto after = read_guesses()) block_guesses_ = *after - *before;
      done(end);
      outside_ns_ += now_ns() - begin;
    }
  };
  asked.ask(
      [&]() -> std::optional<chat::Call> {
        take_ended();
        while (next_job < count && std::ssize(jobs_) < std::max(live, 1)) {
          jobs_.push_back({next_job, start(next_job)});
          ++next_job;
          jobs_.back().task.start();
          take_ended();
        }
        if (queue_.empty()) return std::nullopt;
        Reply* const next = queue_.front();
        queue_.pop_front();
        waiting_[next->call().key] = next;
        return next->call();
      },
      *this);
  take_ended();
  return outside_ns_;
}

void ServiceArm::record(const chat::Call& call, const chat::Attempt& attempt) {
  if (!store_) return;
  const std::int64_t before = now_ns();
  put_attempt(*store_, *ledger_, attempt_row(process_, call, attempt));
  outside_ns_ += now_ns() - before;
}

void ServiceArm::sending(const chat::Call& call, const chat::Attempt& attempt) {
  record(call, attempt);
}

void ServiceArm::settled(const chat::Call& call, const chat::Attempt& attempt) {
  record(call, attempt);
}

void ServiceArm::replied(const chat::Call& call, const chat::Reply& reply) {
  const auto found = waiting_.find(call.key);
  if (found == waiting_.end()) return;  // its job has ended
  Reply* const waiting = found->second;
  waiting_.erase(found);
  waiting->resume(reply);
}

chat::Call ServiceArm::call_of(const StreamRequest& request, const DecoderContext& context) {
  chat::Call call;
  call.key = sha256(str(label_, "\n", request.name.text, "\n", ++calls_));
  call.max_tokens = request.rule.limit;
  OrderedJson& asked = call.parameters;
  if (mode_ == PromptMode::chat)
    for (const ChatMessage& message : request.words.messages)
      call.messages.push_back({message.role, message.content});
  else
    asked["prompt"] =
        mode_ == PromptMode::ids ? OrderedJson(request.prompt) : OrderedJson(request.words.text);
  const Sampling& sampling = request.sampling;
  asked["temperature"] = sampling.temperature;
  if (sampling.temperature > 0) {
    if (sampling.top_p < 1) asked["top_p"] = sampling.top_p;
    if (sampling.top_k > 0) asked["top_k"] = sampling.top_k;
    asked["seed"] = request.seed & std::numeric_limits<std::int64_t>::max();
  }
  if (context.ignore_eos) asked["ignore_eos"] = true;
  if (mode_ == PromptMode::chat) return call;
  // Without ids, the end of the text tells why it ended, so the service must not leave it out.
  if (gives_ids_) asked["return_token_ids"] = true;
  if (gives_ids_ && !request.rule.until.empty())
    asked["stop"] = OrderedJson::array({std::string(request.rule.until)});
  else
    call.until = request.rule.until;
  return call;
}

Stream ServiceArm::stream_of(const StreamRequest& request, const DecoderContext& context,
                             const chat::Reply& reply) {
  const std::int64_t told = reply.usage.completion_tokens;
  if (told > request.rule.limit + 1)
    throw RunError(str("the service wrote ", counted(told, "token"), ", and ", request.rule.limit,
                       " were asked for; a description (file) names another 'token_limit'"));
  const std::vector<Token> eos = context.eos();
  const auto is_end = [&](Token id) { return std::find(eos.begin(), eos.end(), id) != eos.end(); };
  const std::string ended = reply.body.at("choices").front().value("finish_reason", "");
  Stream stream;
  stream.stop = ended == "length" ? Stop::limit : Stop::eos;
  const auto ids = ids_of_reply(reply.body);
  if (ids) {
    for (const Token id : *ids) {
      if (id >= context.tokenizer->vocab_size())
        throw RunError(str("the service wrote id ", id, ", and the run's tokenizer has ",
                           context.tokenizer->vocab_size(), "; expected its own (tokenizer)"));
      stream.tokens.push_back(id);
      stream.bytes += context.tokenizer->bytes(id);
      if (request.rule.until.empty() || stream.bytes.find(request.rule.until) == std::string::npos)
        continue;
      stream.stop = Stop::terminator;
      break;
    }
  } else {
    stream.bytes = reply.text;
    if (mode_ == PromptMode::chat && !request.rule.until.empty()) {
      // The prompt cannot begin the answer, so the answer may contain its opening.
      if (const std::size_t opening = stream.bytes.find(kAnswerOpening);
          opening != std::string::npos)
        stream.bytes.erase(0, opening + kAnswerOpening.size());
    }
    if (const std::size_t found =
            request.rule.until.empty() ? std::string::npos : stream.bytes.find(request.rule.until);
        found != std::string::npos) {
      stream.bytes.resize(found + request.rule.until.size());
      stream.stop = Stop::terminator;
    }
    stream.tokens = context.tokenizer->encode_piece(stream.bytes, false);
    if (stream.stop == Stop::eos && !eos.empty()) stream.tokens.push_back(eos.front());
  }
  if (stream.stop == Stop::limit && !stream.tokens.empty() && is_end(stream.tokens.back()))
    stream.stop = Stop::eos;
  if (stream.stop == Stop::limit &&
      std::max<std::int64_t>(told, std::ssize(stream.tokens)) < request.rule.limit)
    stream.stop = Stop::context;

  Counters& counters = stream.counters;
  counters.prompt = mode_ == PromptMode::ids || reply.usage.prompt_tokens < 0
                        ? std::ssize(request.prompt)
                        : reply.usage.prompt_tokens;
  counters.chosen =
      ids || told < 0 || stream.stop == Stop::terminator ? std::ssize(stream.tokens) : told;
  const bool ends = !stream.tokens.empty() && is_end(stream.tokens.back());
  counters.text = std::max<std::int64_t>(0, counters.chosen - ends);
  counters.text_attended =
      counters.text * counters.prompt + counters.text * (counters.text - 1) / 2;
  counters.count_branch(counters.chosen);
  add_passes(counters, reply.body);
  replies_tell_ = replies_tell_ || counters.forwards > 0;
  block_chosen_ += counters.chosen;
  return stream;
}

Task<Stream> ServiceArm::stream(StreamRequest request, const DecoderContext& context) {
  const std::int64_t begin = now_ns();
  chat::Call call = call_of(request, context);
  const chat::Reply reply = co_await Reply(*this, std::move(call));
  if (reply.state != chat::ReplyState::kAnswered)
    throw RunError(str("the service gave no answer: ",
                       reply.state == chat::ReplyState::kRefused ? "refused: " : "", reply.reason));
  Stream stream = stream_of(request, context, reply);
  Counters& counters = stream.counters;
  const auto ns = [](double seconds) { return static_cast<std::int64_t>(seconds * 1e9); };
  counters.total_ns = now_ns() - begin;
  if (reply.first_seconds >= 0)
    counters.first_token_ns =
        std::max<std::int64_t>(1, counters.total_ns - ns(reply.seconds - reply.first_seconds));
  counters.prefill_ns = counters.first_token_ns;
  counters.decode_ns = counters.total_ns - counters.prefill_ns;
  co_return stream;
}

}  // namespace pardec
