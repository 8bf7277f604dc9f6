#include "src/serve/worker.hpp"

#include <algorithm>
#include <iterator>
#include <stop_token>
#include <utility>

#include "src/engine/prefix_cache.hpp"
#include "src/tasks/conversation.hpp"

namespace pardec::serve {

struct Worker::Live {
  Live(Queued queued, const DecoderContext& shared)
      : number(queued.number),
        work(std::move(queued.work)),
        request(work.given->requests.front()),
        context(shared),
        release(work.stops) {
    request.job.seed = work.seed;
    context.ignore_eos = work.ignore_eos;
    context.stop = stop.get_token();
    if (work.written) return;
    request.reader = [this](std::string_view bytes) {
      take(bytes.substr(std::min(seen, bytes.size())));
      seen = bytes.size();
    };
  }

  /// Passes on the text that is certain with these further bytes.
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
  std::size_t seen = 0;  // bytes of the answer
  std::string text;
  int job = -1;
  bool over = false;
  WorkResult result;
};

Worker::Worker(Session& session, int live, int waiting)
    : session_(session),
      most_live_(static_cast<std::size_t>(live)),
      most_waiting_(static_cast<std::size_t>(waiting)) {}

Worker::~Worker() = default;

void Worker::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_one();
}

std::vector<std::uint64_t> Worker::submit(std::vector<Work> works) {
  std::vector<std::uint64_t> numbers;
  {
    const std::lock_guard lock(mutex_);
    const std::size_t free = most_live_ - std::min(most_live_, running_);
    if (queue_.size() + works.size() > most_waiting_ + free) return {};
    for (Work& work : works) {
      numbers.push_back(next_number_);
      queue_.push_back({next_number_++, std::move(work), session_.clock.now_ns()});
    }
  }
  wake_.notify_one();
  return numbers;
}

void Worker::cancel(const std::vector<std::uint64_t>& numbers) {
  {
    const std::lock_guard lock(mutex_);
    cancelled_.insert(cancelled_.end(), numbers.begin(), numbers.end());
  }
  wake_.notify_one();
}

Worker::Load Worker::load() const {
  const std::lock_guard lock(mutex_);
  return {running_, queue_.size(), passes_};
}

void Worker::run() {
  for (;;) {
    std::vector<Queued> joining;
    {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [&] {
        return stopping_ || !live_.empty() || !queue_.empty() || !cancelled_.empty();
      });
      if (stopping_) break;
      drop_cancelled();
      while (!queue_.empty() && live_.size() + joining.size() < most_live_) {
        joining.push_back(std::move(queue_.front()));
        queue_.pop_front();
      }
      running_ = live_.size() + joining.size();
    }
    std::list<Live> over;
    try {
      for (Queued& queued : joining) start(std::move(queued));
      session_.engine.step();
      over = take_over();
    } catch (...) {  // an error of the engine itself
      for (Live& one : live_) {
        session_.engine.cancel(one.job);
        one.result.error = std::current_exception();
      }
      over.swap(live_);
    }
    if (session_.engine.idle()) session_.engine.prefixes().clear();
    {
      const std::lock_guard lock(mutex_);
      running_ = live_.size();
      passes_ = session_.engine.occupancy();
    }
    for (Live& one : over) one.end();
  }
  for (const Live& one : live_) session_.engine.cancel(one.job);
  live_.clear();
}

void Worker::drop_cancelled() {
  const std::vector<std::uint64_t> cancelled = std::exchange(cancelled_, {});
  const auto gone = [&](const auto& one) {
    return std::find(cancelled.begin(), cancelled.end(), one.number) != cancelled.end();
  };
  std::erase_if(queue_, gone);
  for (auto one = live_.begin(); one != live_.end();) {
    if (gone(*one)) {
      session_.engine.cancel(one->job);
      one = live_.erase(one);
    } else {
      ++one;
    }
  }
}

void Worker::start(Queued queued) {
  const std::int64_t since = queued.since_ns;
  Live& live = live_.emplace_back(std::move(queued), session_.context);
  live.result.queued_ns = session_.clock.now_ns() - since;
  live.job = session_.engine.submit(decode(live));
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
    if (work.logprobs) {
      Tokens ids = live.request.pieces.field_prompt(0, 0);
      const int first = work.prompt_scores ? 1 : static_cast<int>(ids.size());
      ids.insert(ids.end(), answers.tokens.begin(), answers.tokens.end());
      live.result.scores =
          co_await score_tokens(session_.engine, std::move(ids), first, *work.logprobs);
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
