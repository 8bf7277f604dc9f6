#include "src/runs/arm_sessions.hpp"

#include <set>

#include "src/support/text.hpp"

namespace pardec {

namespace {

/// Equal for arms that can share networks.
std::string key_of(const ModelOptions& options) {
  return str(network_key(options), "\n",
             options.draft_model.empty() ? "" : network_key(draft_options(options)));
}

}  // namespace

bool ArmSessions::take_turns() const {
  if (spec_.order != "blocked") return false;
  std::set<std::string> keys;
  for (const ModelOptions& options : networks_of(spec_))
    if (options.weights) keys.insert(key_of(options));
  return keys.size() > 1;
}

Session& ArmSessions::of(const Arm& arm) {
  const ModelOptions options = networks_of(spec_, arm);
  const CacheBudget cache = cache_of(spec_, arm);
  const std::string key = str(key_of(options), "\n", cache.blocks);
  if (const auto found = sessions_.find(key); found != sessions_.end()) return *found->second;
  // Keeps networks that both arms need.
  const auto network = loaded_.held(options);
  const auto draft = options.draft_model.empty() ? nullptr : loaded_.held(draft_options(options));
  if (spec_.order == "blocked" && options.weights) sessions_.clear();
  auto session = std::make_unique<Session>(
      options, spec_.decode, Session::Parts{.draft = !options.draft_model.empty(), .cache = cache},
      loaded_);
  return *sessions_.emplace(key, std::move(session)).first->second;
}

ServiceArm* ArmSessions::service(const Arm& arm) {
  if (!arm.algorithm->elsewhere()) return nullptr;
  std::unique_ptr<ServiceArm>& service = services_[arm.label];
  if (!service) service = std::make_unique<ServiceArm>(arm, of(arm));
  return service.get();
}

std::int64_t ArmSessions::run(const Arm& arm, int count,
                              const std::function<Task<void>(int)>& start,
                              const std::function<void(const Ended&)>& done) {
  Session& session = of(arm);
  if (ServiceArm* const asked = service(arm)) {
    if (store_) asked->record_in(*store_);
    session.context.elsewhere = asked;  // arms may share a session
    return asked->run(count, arm.batch_size, start, done);
  }
  session.engine.set_cascade(arm.cascade);
  return session.engine.run(count, arm.batch_size, start, done);
}

}  // namespace pardec
