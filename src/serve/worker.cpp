#include "src/serve/worker.hpp"

#include <algorithm>
#include <iterator>
#include <stop_token>
#include <utility>

#include "src/engine/prefix_cache.hpp"
#include "src/tasks/conversation.hpp"

namespace pardec::serve {

namespace {

/// Keeps this number of the likeliest ids of each score.
void keep_top(std::vector<TokenScore>& scores, int most) {
  for (TokenScore& score : scores)
    if (std::ssize(score.top) > most) score.top.resize(static_cast<std::size_t>(most));
}

}  // namespace

struct Worker::Live {
  Live(Queue::Entry entry, const Session& session)
      : number(entry.number),
        work(std::move(entry.job.work)),
        request(work.given->requests.front()),
        context(session.context),
        release(work.stops),
        tokens(*session.tokenizer()) {
    request.job.seed = work.seed;
    context.ignore_eos = work.ignore_eos;
    context.stop = stop.get_token();
    if (work.written) return;
    request.reader = [this](std::string_view bytes) {
      take(bytes.substr(std::min(seen, bytes.size())));
      seen = bytes.size();
    };
  }

  /// Adds these bytes, and passes on the text that can no longer change.
  void take(std::string_view bytes) {
    say(release.add(bytes));
    if (release.stopped()) stop.request_stop();
  }
  void say(std::string more) {
    text += more;
    if (work.text && !more.empty()) work.text(std::move(more));
  }

  void end() {
    result.text = std::move(text);
    result.at_stop = release.stopped();
    work.ended(std::move(result));
  }

  const std::uint64_t number;
  Work work;
  Request request;
  std::stop_source stop;
  DecoderContext context;
  TextRelease release;
  PassCollector tokens;
  std::size_t seen = 0;  // bytes of the answer
  std::string text;
  int job = -1;
  bool over = false;
  WorkResult result;
};

Worker::Worker(Session& session, const Queue::Bounds& bounds) : session_(session), queue_(bounds) {}

Worker::~Worker() = default;

std::vector<std::uint64_t> Worker::submit(std::vector<Work> works) {
  std::vector<std::pair<Timed, std::int64_t>> jobs;
  for (Work& work : works) {
    const std::int64_t rows = work.rows;
    jobs.push_back({{std::move(work), session_.clock.now_ns()}, rows});
  }
  return queue_.submit(std::move(jobs));
}

Worker::Load Worker::load() const {
  const Queue::Load load = queue_.load();
  const std::int64_t blocks = session_.engine.cache_budget().blocks;
  return {.running = load.running,
          .waiting = load.waiting,
          .passes = passes_,
          .job_passes = job_passes_,
          .held_rows = held_rows_,
          .held_share =
              blocks > 0 ? static_cast<double>(held_blocks_) / static_cast<double>(blocks) : 0};
}

void Worker::note_load() {
  const Engine& engine = session_.engine;
  passes_ = engine.occupancy().passes;
  job_passes_ = engine.occupancy().job_passes;
  held_rows_ = engine.held_rows();
  held_blocks_ = engine.held_blocks();
}

void Worker::run() {
  for (;;) {
    Queue::Turn turn = queue_.take(live_.size());
    if (turn.stopping) break;
    drop(turn.cancelled);
    std::list<Live> over;
    try {
      for (Queue::Entry& entry : turn.joining) start(std::move(entry));
      session_.engine.step();
      tell_passes();
      over = take_over();
    } catch (...) {  // an error of the engine itself
      for (Live& one : live_) {
        session_.engine.cancel(one.job);
        one.result.error = std::current_exception();
      }
      over.swap(live_);
    }
    listen();
    if (session_.engine.idle()) session_.engine.prefixes().clear();
    note_load();
    queue_.left(live_.size());  // before the replies: whoever has one finds the load without it
    for (Live& one : over) one.end();
  }
  for (const Live& one : live_) session_.engine.cancel(one.job);
  live_.clear();
}

void Worker::drop(const std::vector<std::uint64_t>& numbers) {
  std::erase_if(live_, [&](const Live& one) {
    const bool gone = std::find(numbers.begin(), numbers.end(), one.number) != numbers.end();
    if (gone) session_.engine.cancel(one.job);
    return gone;
  });
}

/// Listens to the engine as long as a client watches the passes.
void Worker::listen() {
  const bool watched =
      std::any_of(live_.begin(), live_.end(), [](const Live& one) { return bool(one.work.pass); });
  if (watched == listening_) return;
  listening_ = watched;
  if (!watched) return session_.engine.set_listener({});
  session_.engine.set_listener([this](const Event& event) {
    const int job = std::visit([](const auto& one) { return one.job; }, event);
    for (Live& one : live_)
      if (one.job == job && one.work.pass)
        one.tokens.add(event, session_.engine.occupancy().passes);
  });
}

void Worker::tell_passes() {
  if (!listening_) return;
  for (Live& one : live_)
    if (one.tokens.has_news()) one.work.pass(one.tokens.take());
}

void Worker::start(Queue::Entry entry) {
  const std::int64_t since = entry.job.since_ns;
  Live& live = live_.emplace_back(std::move(entry), session_);
  live.result.queued_ns = session_.clock.now_ns() - since;
  listen();
  LeastLength least{live.work.min_tokens, session_.context.eos()};
  live.job = session_.engine.submit(decode(live), std::move(least));
}

Task<void> Worker::decode(Live& live) {
  const Work& work = live.work;
  Answers& answers = live.result.answers;
  try {
    if (work.decodes) {
      answers = co_await decode_request(*work.decoder, live.request, live.context);
      if (live.seen == 0) live.take(work.written ? work.written(answers) : answers.text);
      live.say(live.release.finish());
    }
    if (work.logprobs || work.prompt_logprobs) {
      Tokens ids = live.request.pieces.field_prompt(0, 0);
      const auto prompt = std::ssize(ids);
      if (work.logprobs) ids.insert(ids.end(), answers.tokens.begin(), answers.tokens.end());
      const int first = work.prompt_logprobs ? 1 : static_cast<int>(prompt);
      std::vector<TokenScore> scores = co_await score_tokens(
          session_.engine, std::move(ids), first,
          std::max(work.logprobs.value_or(0), work.prompt_logprobs.value_or(0)));
      const auto end = scores.begin() + (work.prompt_logprobs ? prompt - 1 : 0);
      live.result.prompt_scores.assign(std::make_move_iterator(scores.begin()),
                                       std::make_move_iterator(end));
      live.result.scores.assign(std::make_move_iterator(end),
                                std::make_move_iterator(scores.end()));
      keep_top(live.result.prompt_scores, work.prompt_logprobs.value_or(0));
      keep_top(live.result.scores, work.logprobs.value_or(0));
    }
  } catch (...) {
    live.result.error = std::current_exception();
  }
  live.over = true;
}

std::list<Worker::Live> Worker::take_over() {
  std::list<Live> over;
  for (auto one = live_.begin(); one != live_.end();) {
    const auto next = std::next(one);
    if (one->over) over.splice(over.end(), live_, one);
    one = next;
  }
  return over;
}

}  // namespace pardec::serve
