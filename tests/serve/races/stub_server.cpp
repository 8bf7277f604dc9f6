// The server's HTTP part and its queue with an engine that writes nothing but "word ": for
// ThreadSanitizer, which cannot look into libtorch, and for limits that a network is too slow for.
// Usage: serve_stub [UNSENT_BYTES [PASS_US [BATCH]]]; SIGTERM ends it. Prints its port first.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <thread>

#include "src/serve/api_error.hpp"
#include "src/serve/ask.hpp"
#include "src/serve/http_server.hpp"
#include "src/serve/job_queue.hpp"
#include "src/support/json.hpp"

using namespace pardec;
using namespace pardec::serve;

namespace {

struct Job {
  int tokens = 0;
  std::uint64_t answer = 0;
};
using Queue = JobQueue<Job>;

/// An answer that is being made; of the server's thread.
struct Open {
  std::shared_ptr<HttpAnswer> answer;
  bool stream = false;
  std::string text;
};

class Stub {
 public:
  Stub(const HttpBounds& bounds, std::chrono::microseconds pass, std::size_t batch)
      : server_("127.0.0.1", 0, bounds), pass_(pass), queue_({.live = batch, .waiting = 400}) {}

  int port() const { return server_.port(); }

  void serve() {
    server_.run([this](const HttpRequest& request, const std::shared_ptr<HttpAnswer>& answer) {
      try {
        handle(request, answer);
      } catch (const ApiError& error) {
        answer->send(error_reply(error));
      }
    });
    queue_.stop();
  }

  /// The engine's thread: one token of each job in a pass, as Worker does with a network.
  void work() {
    struct Live {
      std::uint64_t number;
      Job job;
    };
    std::list<Live> live;
    for (;;) {
      Queue::Turn turn = queue_.take(live.size());
      if (turn.stopping) return;
      std::erase_if(live, [&](const Live& one) {
        return std::find(turn.cancelled.begin(), turn.cancelled.end(), one.number) !=
               turn.cancelled.end();
      });
      for (Queue::Entry& entry : turn.joining) live.push_back({entry.number, entry.job});
      std::this_thread::sleep_for(pass_);
      for (Live& one : live) {
        const bool last = --one.job.tokens <= 0;
        server_.post([this, answer = one.job.answer, last] { take("word ", answer, last); });
      }
      std::erase_if(live, [](const Live& one) { return one.job.tokens <= 0; });
    }
  }

  void stop() {
    server_.post([this] {
      server_.refuse();
      server_.post_after(std::chrono::milliseconds(200), [this] { server_.stop(); });
    });
  }

 private:
  void handle(const HttpRequest& request, const std::shared_ptr<HttpAnswer>& answer) {
    if (request.target == "/health") return answer->send({.body = "{}"});
    if (request.target == "/load") {
      const Queue::Load load = queue_.load();
      return answer->send({.body = dump(Json{{"running", load.running},
                                             {"waiting", load.waiting},
                                             {"open", open_.size()},
                                             {"busy", server_.busy()}})});
    }
    if (request.method != "POST") throw ApiError(405, "POST only");
    if (!queue_.has_room()) throw ApiError(503, "full");
    const Ask ask = parse_ask(request.body, Endpoint::completions);
    const std::uint64_t id = next_++;
    const auto numbers = queue_.submit({{Job{ask.max_tokens.value_or(16), id}, 1}});
    if (numbers.empty()) throw ApiError(503, "full");
    open_[id] = {answer, ask.stream, ""};
    answer->on_gone([this, id, numbers] {
      queue_.cancel(numbers);
      open_.erase(id);
    });
  }

  void take(std::string_view word, std::uint64_t id, bool last) {
    const auto found = open_.find(id);
    if (found == open_.end()) return;
    Open& open = found->second;
    open.text += word;
    const std::shared_ptr<HttpAnswer> answer = open.answer;
    if (open.stream) answer->event(dump(Json{{"choices", {{{"index", 0}, {"text", word}}}}}));
    if (!last) return;
    if (open.stream) {
      answer->event("[DONE]");
      answer->end_events(/*whole=*/true);
    } else {
      answer->send({.body = dump(Json{{"choices", {{{"index", 0}, {"text", open.text}}}}})});
    }
    open_.erase(id);
  }

  HttpServer server_;
  const std::chrono::microseconds pass_;
  Queue queue_;
  std::map<std::uint64_t, Open> open_;
  std::uint64_t next_ = 1;
};

}  // namespace

int main(int argc, char** argv) {
  sigset_t ends;
  sigemptyset(&ends);
  sigaddset(&ends, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &ends, nullptr);
  HttpBounds bounds;
  if (argc > 1) bounds.unsent_bytes = static_cast<std::size_t>(std::atol(argv[1]));
  Stub stub(bounds, std::chrono::microseconds(argc > 2 ? std::atol(argv[2]) : 1000),
            argc > 3 ? static_cast<std::size_t>(std::atol(argv[3])) : 16);
  std::printf("%d\n", stub.port());
  std::fflush(stdout);
  std::thread engine([&] { stub.work(); });
  std::thread io([&] { stub.serve(); });
  int signal = 0;
  sigwait(&ends, &signal);
  stub.stop();
  io.join();
  engine.join();
}
