#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "src/serve/http.hpp"
#include "src/serve/keys.hpp"
#include "src/serve/metrics.hpp"
#include "src/serve/models.hpp"
#include "src/serve/worker.hpp"
#include "src/tasks/decode_options.hpp"
#include "src/tasks/session.hpp"

namespace pardec::serve {

class Completion;

/// Handles all requests to the server, for any path. The functions must be called on the server's
/// thread.
class Service {
 public:
  /// Makes the server's thread call a function (HttpServer::post). A Post may be called on any
  /// thread.
  using Post = std::function<void(std::function<void()>)>;

  /// `worker`: runs the jobs of requests. `models`: the result of served_models; the first model is
  /// the default. `options`, `sampling`: defaults for requests (options_of). `keys`: if there are
  /// any keys, requests to all paths except /health and / need one of the keys. `root`: the
  /// network's folder, for /v1/models. `session` and `worker` must outlive this object. REQUIRES:
  /// `models` is not empty, and the session has a tokenizer.
  Service(const Session& session, Worker& worker, std::vector<ServedModel> models,
          DecodeOptions options, Keys keys, Sampling sampling, std::string root, Post post);
  ~Service();

  /// Handles a request, and sends the answer now or later. An exception becomes an error reply:
  /// ApiError with its own status, ConfigError with status 400, other exceptions with status 500.
  void handle(const HttpRequest& request, const std::shared_ptr<HttpAnswer>& answer);
  /// Makes handle() answer new requests for completions and for /health with status 503. Requests
  /// that are running continue.
  void drain() { draining_ = true; }
  /// Cancels the jobs of all running requests, and ends their answers with an error (status 503).
  void abort();

 private:
  friend class Completion;
  HttpReply get(const std::string& path) const;
  HttpReply models(const std::string& path) const;
  void complete(const std::string& body, Endpoint endpoint,
                const std::shared_ptr<HttpAnswer>& answer);

  const Session& session_;
  Worker& worker_;
  const std::vector<ServedModel> models_;
  const DecodeOptions options_;
  const Keys keys_;
  const Sampling sampling_;
  const std::string root_;
  const Post post_;
  const std::int64_t created_;
  const std::string page_;
  bool draining_ = false;
  Metrics metrics_;
  std::set<std::shared_ptr<Completion>> open_;
};

}  // namespace pardec::serve
