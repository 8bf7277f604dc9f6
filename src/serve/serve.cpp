#include "src/serve/serve.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <memory>
#include <thread>
#include <utility>

#include "src/checkpoint/memory_plan.hpp"
#include "src/serve/http_server.hpp"
#include "src/serve/keys.hpp"
#include "src/serve/models.hpp"
#include "src/serve/prepare.hpp"
#include "src/serve/service.hpp"
#include "src/serve/worker.hpp"
#include "src/support/error.hpp"
#include "src/support/hub_cache.hpp"
#include "src/support/text.hpp"
#include "src/tasks/checkpoint_fit.hpp"
#include "src/tasks/session.hpp"

namespace pardec::serve {

namespace {

struct Address {
  std::string host;
  int port = 0;
};

/// "127.0.0.1:8000" or "[::1]:8000". ConfigError.
Address parse_address(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  Address address;
  if (colon != std::string::npos) {
    address.host = text.substr(0, colon);
    if (address.host.starts_with('[') && address.host.ends_with(']'))
      address.host = address.host.substr(1, address.host.size() - 2);
    const char* const end = text.data() + text.size();
    const auto read = std::from_chars(text.data() + colon + 1, end, address.port);
    if (read.ec == std::errc() && read.ptr == end && address.port >= 0 && address.port <= 65535 &&
        !address.host.empty())
      return address;
  }
  throw ConfigError(str("`listen` is '", text, "', expected ADDRESS:PORT such as 127.0.0.1:8000"));
}

std::string name_of(const ServeSpec& spec) {
  if (!spec.name.empty()) return spec.name;
  std::filesystem::path folder = std::filesystem::absolute(spec.model.model).lexically_normal();
  if (!folder.has_filename()) folder = folder.parent_path();
  if (const auto name = hub_name_of(folder)) return name->repository;
  return repair_utf8(folder.filename().string());
}

std::vector<ServedModel> models_of(const ServeSpec& spec) {
  return served_models(name_of(spec), spec.decoders, spec.aliases,
                       read_training_record(texts_folder(spec.model)).settings);
}

/// The warning for a server that other machines can reach; empty: it needs none.
std::string open_warning(const Address& address, bool key, bool encrypted) {
  if (is_loopback_address(address.host) || (key && encrypted)) return "";
  return str("warning: other machines reach ", address.host, encrypted ? "" : ", unencrypted",
             key ? "" : "; without a key (`key_env`, `key_file`) anybody there can ask");
}

bool any_drafts(const std::vector<ServedModel>& models) {
  return std::any_of(models.begin(), models.end(),
                     [](const ServedModel& one) { return one.algorithm->drafts_with_model(); });
}

}  // namespace

void check(const ServeSpec& spec) {
  parse_address(spec.listen);
  if (spec.batch_size < 1)
    throw ConfigError(str("`batch_size` is ", spec.batch_size, ", expected at least 1"));
  if (spec.queue < 0) throw ConfigError(str("`queue` is ", spec.queue, ", expected 0 or more"));
  if (spec.drain_seconds < 0)
    throw ConfigError(str("`drain` is ", spec.drain_seconds, ", expected 0 or more seconds"));
}

bool serve(const ServeSpec& spec, const std::stop_token& stop,
           const std::function<void(const std::string&)>& note) {
  check(spec);
  const std::vector<ServedModel> models = models_of(spec);
  check_draft_flag(spec.model, any_drafts(models));
  const Address address = parse_address(spec.listen);
  Keys keys(spec.key_env, spec.key_file);
  const TlsFiles tls{spec.tls_certificate, spec.tls_key};
  const bool encrypted = !tls.certificate.empty();
  if (const std::string warning = open_warning(address, !keys.empty(), encrypted); !warning.empty())
    note(warning);
  HttpServer server(address.host, address.port, {}, tls);

  CacheBudget cache;
  if (!spec.model.memory_limit.empty() && read_face(spec.model.model)) {
    const MemoryPlan memory = plan_memory({spec.model}, cache.block_rows);
    apply_limit(memory, spec.model, cache);
    note("memory: " + describe(memory, cache));
  }
  Checkpoints loaded;
  Session session(spec.model, spec.decode,
                  {.tokenizer = true, .draft = any_drafts(models), .cache = cache}, loaded);
  for (const ServedModel& model : models) model.algorithm->check(session.context);
  if (!session.note.empty()) note("model: " + session.note);
  for (const std::string& line : session.file_notes()) note("model: " + line);

  Worker worker(session, {.live = static_cast<std::size_t>(spec.batch_size),
                          .waiting = static_cast<std::size_t>(spec.queue),
                          .waiting_rows = cache.blocks * cache.block_rows});
  Service service(session, worker, models, spec.decode, std::move(keys),
                  default_sampling(spec.model.model, spec.decode.no_generation_config),
                  spec.model.model,
                  [&server](std::function<void()> task) { server.post(std::move(task)); });
  bool all = true;
  const std::function<void()> end_when_idle = [&] {
    if (server.busy() == 0) return server.stop();
    server.post_after(std::chrono::milliseconds(20), end_when_idle);
  };
  const std::stop_callback on_stop(stop, [&] {
    server.post([&] {
      service.drain();
      server.refuse();
      end_when_idle();
      server.post_after(std::chrono::seconds(spec.drain_seconds), [&] {
        all = false;
        service.abort();
        server.post_after(std::chrono::seconds(1), [&] { server.stop(); });
      });
    });
  });
  std::vector<std::string> ids;
  for (const ServedModel& model : models) ids.push_back(model.id);
  const bool six = address.host.find(':') != std::string::npos;
  note(str("serving ", join(ids, ", "), " on http", encrypted ? "s" : "", "://", six ? "[" : "",
           address.host, six ? "]" : "", ":", server.port()));
  std::thread io([&] {
    server.run([&](const HttpRequest& request, const std::shared_ptr<HttpAnswer>& answer) {
      service.handle(request, answer);
    });
    worker.stop();
  });
  worker.run();
  io.join();
  return all;
}

}  // namespace pardec::serve
