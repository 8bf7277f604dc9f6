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
  for (const ModelOptions& options : networks_of(spec_)) keys.insert(key_of(options));
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
  if (spec_.order == "blocked") sessions_.clear();
  auto session = std::make_unique<Session>(
      options, spec_.decode, Session::Parts{.draft = !options.draft_model.empty(), .cache = cache},
      loaded_);
  return *sessions_.emplace(key, std::move(session)).first->second;
}

}  // namespace pardec
