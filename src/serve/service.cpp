#include "src/serve/service.hpp"

#include <algorithm>
#include <chrono>
#include <iomanip>
#include <optional>
#include <random>
#include <sstream>
#include <utility>

#include "src/serve/api_error.hpp"
#include "src/serve/ask.hpp"
#include "src/serve/page.hpp"
#include "src/serve/prepare.hpp"
#include "src/serve/replies.hpp"
#include "src/serve/texts.hpp"
#include "src/serve/thought_split.hpp"
#include "src/support/error.hpp"
#include "src/support/rng.hpp"
#include "src/support/text.hpp"

namespace pardec::serve {

namespace {

constexpr const char* kFull = "too many requests are waiting; try again later";

std::int64_t seconds_since_1970() {
  return std::chrono::duration_cast<std::chrono::seconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

std::uint64_t random_number() {
  std::random_device device;
  return static_cast<std::uint64_t>(device()) << 32 | device();
}

std::string new_id(Endpoint endpoint) {
  std::ostringstream id;
  id << (endpoint == Endpoint::chat ? "chatcmpl-" : "cmpl-") << std::hex << std::setfill('0');
  for (int i = 0; i < 2; ++i) id << std::setw(16) << random_number();
  return id.str();
}

/// Why an answer of fields ended: at a limit if one of its values ended there.
Stop stop_of_fields(const std::vector<std::vector<FieldResult>>& contexts) {
  for (const std::vector<FieldResult>& fields : contexts)
    for (const FieldResult& field : fields)
      if (field.stop == Stop::limit || field.stop == Stop::context) return field.stop;
  return Stop::terminator;
}

/// Converts a job's error to an error of the client (400) or of the server (500).
ApiError api_error(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const ApiError& known) {
    return known;
  } catch (const ConfigError& known) {
    return {400, known.what()};
  } catch (const std::exception& other) {
    return {500, reason_of(other)};
  }
}

}  // namespace

/// A running request: collects the output of its jobs, and sends it.
class Completion : public std::enable_shared_from_this<Completion> {
 public:
  Completion(Service& service, std::shared_ptr<HttpAnswer> answer, Ask ask, ReplyHead head,
             Decoding decoding)
      : service_(service),
        answer_(std::move(answer)),
        ask_(std::move(ask)),
        head_(std::move(head)),
        decoding_(std::move(decoding)) {}

  /// Hands the jobs to the engine. ApiError 503.
  void start(const std::vector<Prepared>& prompts, const ServedModel& model) {
    std::vector<Work> works;
    for (const Prepared& prompt : prompts) {
      usage_.prompt += prompt.prompt_tokens;
      for (int k = 0; k < ask_.n; ++k) {
        works.push_back(work(prompt, model));
        prompts_.push_back(prompt);
      }
    }
    choices_.resize(works.size(), {thoughts()});
    open_choices_ = works.size();
    numbers_ = service_.worker_.submit(std::move(works));
    if (numbers_.empty()) throw ApiError(503, kFull);
    service_.open_.insert(shared_from_this());
    answer_->on_gone([self = weak_from_this()] {
      if (const auto completion = self.lock()) completion->cancel();
    });
  }

  /// Cancels the running jobs.
  void cancel(std::string_view finish = "abort") {
    over_ = true;
    for (std::size_t i = 0; i < open_choices_; ++i) service_.metrics_.add_failed(finish);
    service_.worker_.cancel(numbers_);
    service_.open_.erase(shared_from_this());
  }

  /// Tells the client why the answer is missing or incomplete.
  void fail(const ApiError& error) {
    if (over_) return;
    if (begun_) {
      answer_->event(error_body(error));
      answer_->end_events(/*whole=*/false);
    } else {
      answer_->send(error_reply(error));
    }
    if (!over_) cancel("error");  // a client that does not read was cancelled while sending
  }

 private:
  using Clock = std::chrono::steady_clock;
  struct Choice {
    ThoughtSplit split;
    bool begun = false;  // a chunk was sent
    ChoiceText whole = {};
  };

  static double seconds(std::int64_t ns) { return static_cast<double>(ns) * 1e-9; }

  Work work(const Prepared& prompt, const ServedModel& model) {
    const auto index = next_index_++;
    // Weak, because a Completion must be destroyed on the server's thread, not on the engine's.
    const auto on_thread = [&service = service_, self = weak_from_this(), index](auto does) {
      service.post_([self, index, does = std::move(does)]() mutable {
        if (const auto completion = self.lock()) does(*completion, index);
      });
    };
    Work work{
        .decoder = model.algorithm,
        .given = prompt.given,
        .seed = index == 0 ? decoding_.seed : derive_seed(decoding_.seed, str("choice ", index)),
        .stops = ask_.stops,
        .ignore_eos = ask_.ignore_eos};
    work.decodes = ask_.max_tokens != 0;
    work.min_tokens = ask_.min_tokens;
    work.rows = prompt.rows;
    work.logprobs = ask_.logprobs;
    work.prompt_logprobs = ask_.prompt_logprobs;
    if (ask_.echo && ask_.logprobs)
      work.prompt_logprobs = std::max(ask_.prompt_logprobs.value_or(0), *ask_.logprobs);
    if (ask_.fields)
      work.written = [format = *ask_.fields](const Answers& answers) {
        std::vector<std::optional<std::string>> texts;
        for (const FieldResult& field : answers.fields.at(0)) texts.push_back(field.text);
        return response_object(format, texts);
      };
    if (ask_.job)
      work.written = [job = prompt.given->requests.front().job](const Answers& answers) {
        return job_values(job, answers);
      };
    if (ask_.events)
      work.pass = [on_thread](PassTokens pass) {
        on_thread([pass = std::move(pass)](Completion& self, std::size_t choice) {
          self.take_pass(choice, pass);
        });
      };
    if (ask_.stream)
      work.text = [on_thread](std::string text) {
        on_thread([text = std::move(text)](Completion& self, std::size_t choice) {
          self.take_text(choice, text);
        });
      };
    work.ended = [on_thread](WorkResult result) {
      on_thread([result = std::move(result)](Completion& self, std::size_t choice) mutable {
        self.take_end(choice, std::move(result));
      });
    };
    return work;
  }

  /// How the answers of this request are separated from their reasoning.
  ThoughtSplit thoughts() const {
    ThoughtReading reading = service_.session_.thinking;
    reading.keep |= ask_.endpoint != Endpoint::chat || ask_.fields || ask_.job;
    return ThoughtSplit(std::move(reading));
  }
  static void add(ChoiceText& choice, const ThoughtSplit::Parts& parts) {
    choice.reasoning += parts.reasoning;
    choice.text += parts.content;
  }

  void take_text(std::size_t index, const std::string& text) {
    if (over_) return;
    ChoiceText part{.index = static_cast<int>(index)};
    add(part, choices_[index].split.add(text));
    if (!part.text.empty() || !part.reasoning.empty()) send_chunk(index, std::move(part));
  }

  void take_pass(std::size_t index, const PassTokens& pass) {
    if (over_) return;
    begun_ = true;
    answer_->event(dump(pass_chunk(head_, static_cast<int>(index), pass)));
  }

  void take_end(std::size_t index, WorkResult result) {
    if (over_) return;
    if (result.error) return fail(api_error(result.error));
    const Answers& answers = result.answers;
    ChoiceText& choice = choices_[index].whole;
    choice.index = static_cast<int>(index);
    if (ask_.endpoint == Endpoint::chat && !ask_.stream) {
      ThoughtSplit split = thoughts();
      add(choice, split.add(result.text));
      add(choice, split.finish());
    } else {
      choice.text = prompts_[index].text + result.text;
    }
    const Stop stop = ask_.fields || ask_.job ? stop_of_fields(answers.fields) : answers.stop;
    choice.finish = finish_reason(stop, result.at_stop);
    choice.logprobs = logprobs(index, result);
    if (ask_.prompt_logprobs)
      choice.prompt_logprobs =
          prompt_logprobs(result.prompt_scores, *service_.session_.tokenizer());
    if (ask_.return_token_ids) choice.tokens = answers.tokens;
    usage_.completion += answers.counters.chosen;
    service_.metrics_.add(
        {.finish = choice.finish,
         .prompt_tokens = prompts_.at(index).prompt_tokens,
         .counters = answers.counters,
         .queued = seconds(result.queued_ns),
         .first_token = seconds(result.queued_ns + answers.counters.first_token_ns),
         .whole = std::chrono::duration<double>(Clock::now() - begin_).count()});
    decoding_.counters.add_after(answers.counters);
    --open_choices_;
    if (ask_.stream) {
      ChoiceText end = choice;
      end.text.clear();
      add(end, choices_[index].split.finish());
      send_chunk(index, std::move(end));
    }
    if (open_choices_ == 0) finish();
  }

  OrderedJson logprobs(std::size_t index, const WorkResult& result) const {
    if (!ask_.logprobs) return nullptr;
    const Tokenizer& tokenizer = *service_.session_.tokenizer();
    if (ask_.endpoint == Endpoint::chat) return chat_logprobs(result.scores, tokenizer);
    if (!ask_.echo) return completion_logprobs({}, result.scores, tokenizer);
    std::vector<TokenScore> scores = result.prompt_scores;
    for (TokenScore& score : scores)
      if (std::ssize(score.top) > *ask_.logprobs)
        score.top.resize(static_cast<std::size_t>(*ask_.logprobs));
    scores.insert(scores.end(), result.scores.begin(), result.scores.end());
    const Tokens& prompt = prompts_[index].given->requests.front().pieces.prefix;
    return completion_logprobs(prompt, scores, tokenizer);
  }

  void send_chunk(std::size_t index, ChoiceText choice) {
    const bool first = !std::exchange(choices_[index].begun, true);
    if (first) choice.text.insert(0, prompts_[index].text);
    OrderedJson json = chunk(head_, choice, first);
    if (ask_.continuous_usage)
      json["usage"] = to_json(usage_);
    else if (ask_.include_usage)
      json["usage"] = nullptr;
    if (open_choices_ == 0 && !ask_.include_usage) end(json, decoding_, choices_.size());
    begun_ = true;
    answer_->event(dump(json));
  }

  void finish() {
    over_ = true;
    if (ask_.stream) {
      if (ask_.include_usage) {
        OrderedJson json = usage_chunk(head_, usage_);
        end(json, decoding_, choices_.size());
        answer_->event(dump(json));
      }
      answer_->event("[DONE]");
      answer_->end_events(/*whole=*/true);
    } else {
      std::vector<ChoiceText> choices;
      for (Choice& choice : choices_) choices.push_back(std::move(choice.whole));
      answer_->send({.body = dump(whole_reply(head_, choices, usage_, decoding_))});
    }
    service_.open_.erase(shared_from_this());
  }

  Service& service_;
  const std::shared_ptr<HttpAnswer> answer_;
  const Ask ask_;
  const ReplyHead head_;
  Decoding decoding_;
  Usage usage_;
  std::vector<Choice> choices_;
  std::vector<std::uint64_t> numbers_;  // of the jobs
  std::vector<Prepared> prompts_;       // of each choice
  std::size_t next_index_ = 0, open_choices_ = 0;
  const Clock::time_point begin_ = Clock::now();
  bool begun_ = false;  // a stream
  bool over_ = false;
};

Service::Service(const Session& session, Worker& worker, std::vector<ServedModel> models,
                 DecodeOptions options, Keys keys, Sampling sampling, std::string root, Post post)
    : session_(session),
      worker_(worker),
      models_(std::move(models)),
      options_(std::move(options)),
      keys_(std::move(keys)),
      sampling_(sampling),
      root_(std::move(root)),
      post_(std::move(post)),
      created_(seconds_since_1970()),
      page_(watch_page()) {}

Service::~Service() = default;

void Service::handle(const HttpRequest& request, const std::shared_ptr<HttpAnswer>& answer) {
  try {
    const std::string path = split(request.target, '?').front();
    const bool reads = path == "/" || path == "/health" || path == "/metrics" ||
                       path == "/tokenizer_info" || path.starts_with("/v1/models");
    const bool posts = path == "/v1/completions" || path == "/v1/chat/completions" ||
                       path == "/tokenize" || path == "/detokenize";
    if (path != "/health" && path != "/" && !keys_.accept(request.authorization))
      throw ApiError(401, "the key is missing or wrong, expected 'Authorization: Bearer KEY'", "",
                     "invalid_api_key");
    if (!posts && !reads) throw ApiError(404, "there is no such path");
    if (posts ? request.method != "POST" : request.method != "GET" && request.method != "HEAD")
      throw ApiError(405, str("this path takes ", posts ? "POST" : "GET", " only"));
    if (reads) return answer->send(get(path));
    if (request.content_type != "application/json")
      throw ApiError(415, "the content type is another one, expected application/json");
    if (path == "/tokenize") return answer->send(tokenize(request.body, session_));
    if (path == "/detokenize") return answer->send(detokenize(request.body, session_));
    if (draining_) throw ApiError(503, "the server is about to end");
    // Checked before the texts are parsed and tokenized, which takes time.
    if (!worker_.has_room()) throw ApiError(503, kFull);
    complete(request.body, path == "/v1/chat/completions" ? Endpoint::chat : Endpoint::completions,
             answer);
  } catch (const std::exception&) {
    answer->send(error_reply(api_error(std::current_exception())));
  }
}

HttpReply Service::get(const std::string& path) const {
  if (path == "/") return {.body = page_, .content_type = "text/html; charset=utf-8"};
  if (path == "/tokenizer_info") return tokenizer_info(session_);
  if (path == "/metrics") {
    const Worker::Load load = worker_.load();
    return {.body = metrics_.text(models_.front().id,
                                  {load.running, load.waiting, load.passes, load.job_passes,
                                   load.held_rows, load.held_share}),
            .content_type = "text/plain; version=0.0.4; charset=utf-8"};
  }
  if (path != "/health") return models(path);
  if (draining_) throw ApiError(503, "the server is about to end");
  return {.body = "{}"};
}

HttpReply Service::models(const std::string& path) const {
  const std::string begin = "/v1/models/";
  OrderedJson entries = OrderedJson::array();
  const ModelFacts facts{root_, created_, session_.checkpoint.model.config().positions()};
  for (const ServedModel& model : models_) {
    OrderedJson entry = model_entry(model, facts);
    if (path == begin + model.id) return {.body = dump(entry)};
    entries.push_back(std::move(entry));
  }
  if (path != "/v1/models")
    throw ApiError(404, "there is no such model; GET /v1/models lists them", "model",
                   "model_not_found");
  return {.body = dump(model_list(std::move(entries)))};
}

void Service::complete(const std::string& body, Endpoint endpoint,
                       const std::shared_ptr<HttpAnswer>& answer) {
  Ask ask = parse_ask(body, endpoint);
  const ServedModel model = chosen_model(models_, ask);
  const DecodeOptions options = options_of(ask, options_, sampling_, random_number() >> 12);
  const std::vector<Prepared> prompts = prepare(ask, model, options, session_);
  ReplyHead head{endpoint, new_id(endpoint), model.id, seconds_since_1970()};
  const Job& job = prompts.front().given->requests.front().job;
  Decoding decoding{.decoder = model.decoder,
                    .options = model.algorithm->options(),
                    .sampling = job.sampling,
                    .seed = job.seed,
                    .ignored = ask.ignored};
  std::make_shared<Completion>(*this, answer, std::move(ask), std::move(head), std::move(decoding))
      ->start(prompts, model);
}

void Service::abort() {
  const std::set<std::shared_ptr<Completion>> open = open_;
  for (const auto& completion : open) completion->fail({503, "the server ends"});
}

}  // namespace pardec::serve
