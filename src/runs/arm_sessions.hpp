#pragma once
#include <map>
#include <memory>
#include <string>

#include "src/runs/run_spec.hpp"
#include "src/runs/service_arm.hpp"
#include "src/tasks/session.hpp"

namespace pardec {

/// The sessions of a run's arms. Arms with the same networks and cache budget share a session, and
/// each distinct network is loaded once. With order `blocked`, creating a session for an arm that
/// computes in this process destroys all earlier sessions; networks that the new session needs too
/// stay loaded. With order `interleaved`, all sessions stay in memory.
class ArmSessions {
 public:
  /// Loads nothing yet. `spec` must outlive this object.
  explicit ArmSessions(const RunSpec& spec) : spec_(spec) {}

  /// The session of an arm. Loads networks that are not in memory. With order `blocked`, a later
  /// call for an arm with other networks or another cache budget destroys the returned session.
  /// Errors: see the constructor of Session, e.g. ModelError if a network cannot be loaded.
  Session& of(const Arm& arm);

  /// The service that answers the arm's prompts; null if the arm's decoder runs in this process.
  /// The first call for an arm creates its service. Errors: see `of`, and the constructor of
  /// ServiceArm.
  ServiceArm* service(const Arm& arm);
  /// From now on, services record their requests in this database. `store` must outlive this
  /// object. REQUIRES: called before the first `run`.
  void record_in(Store& store) { store_ = &store; }
  /// Runs `count` jobs of an arm with the arm's batch size: by ServiceArm::run if a service answers
  /// the arm, otherwise by Engine::run. `start`, `done`: see Engine::run. Returns the time in
  /// nanoseconds that the caller must subtract from the measured time of this call: the time spent
  /// in `done` and, for a service, the time for recording requests. Errors: see `of`, `service`,
  /// and the called function.
  std::int64_t run(const Arm& arm, int count, const std::function<Task<void>(int)>& start,
                   const std::function<void(const Ended&)>& done);

  /// True if only one arm's networks are in memory at a time. This is so if the order is `blocked`
  /// and the arms use different networks.
  bool take_turns() const;

 private:
  const RunSpec& spec_;
  Checkpoints loaded_;
  std::map<std::string, std::unique_ptr<Session>> sessions_;
  std::map<std::string, std::unique_ptr<ServiceArm>> services_;  // label of the arm -> service
  Store* store_ = nullptr;
};

}  // namespace pardec
