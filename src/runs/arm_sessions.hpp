#pragma once
#include <map>
#include <memory>
#include <string>

#include "src/runs/run_spec.hpp"
#include "src/runs/service_arm.hpp"
#include "src/tasks/session.hpp"

namespace pardec {

/// The sessions of a run's arms. Arms with the same networks and cache budget share a session, and
/// each distinct network is loaded once. With order `blocked`, loading a session destroys the
/// sessions that other arms used before. Otherwise all sessions stay in memory.
class ArmSessions {
 public:
  /// Loads nothing yet. `spec` must outlive this object.
  explicit ArmSessions(const RunSpec& spec) : spec_(spec) {}

  /// The session of an arm. Loads networks that are not in memory. With order `blocked`, a later
  /// call for an arm with other networks or another cache budget destroys the returned session.
  /// ConfigError, ModelError: a network cannot be loaded.
  Session& of(const Arm& arm);

  /// The service that answers the arm's prompts; null if the arm's decoder runs in this process.
  /// The first call for an arm creates its service. Errors: those of `of` and of ServiceArm's
  /// constructor.
  ServiceArm* service(const Arm& arm);
  /// From now on, services record their requests in this database. `store` must outlive this
  /// object.
  void record_in(Store& store) { store_ = &store; }
  /// Runs `count` jobs of an arm with the arm's batch size: by ServiceArm::run if a service answers
  /// the arm, otherwise by Engine::run. `start`, `done`: see Engine::run. Returns the time spent
  /// outside of decoding, in nanoseconds. Errors: those of `service` and of the called function.
  std::int64_t run(const Arm& arm, int count, const std::function<Task<void>(int)>& start,
                   const std::function<void(const Ended&)>& done);

  /// Whether the arms use different networks, and only one arm's networks are in memory at a time.
  bool take_turns() const;

 private:
  const RunSpec& spec_;
  Checkpoints loaded_;
  std::map<std::string, std::unique_ptr<Session>> sessions_;
  std::map<std::string, std::unique_ptr<ServiceArm>> services_;  // label of the arm -> service
  Store* store_ = nullptr;
};

}  // namespace pardec
