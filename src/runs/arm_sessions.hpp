#pragma once
#include <map>
#include <memory>
#include <string>

#include "src/runs/run_spec.hpp"
#include "src/runs/service_arm.hpp"
#include "src/tasks/session.hpp"

namespace pardec {

/// The sessions that arms run on. Arms with the same networks and cache budget share a session, and
/// each distinct network is loaded once. All sessions are kept in memory; with order `blocked`,
/// only those of one arm at a time.
class ArmSessions {
 public:
  /// Loads nothing yet. `spec` must outlive this object.
  explicit ArmSessions(const RunSpec& spec) : spec_(spec) {}

  /// Loads what is not in memory. If only one arm's networks are kept at a time, the session is
  /// destroyed by the next call for an arm with other networks. ConfigError, ModelError.
  Session& of(const Arm& arm);

  /// The service that answers the arm; null: its decoder runs here. Errors as ServiceArm.
  ServiceArm* service(const Arm& arm);
  /// The services record their requests in this database, which must outlive this object.
  void record_in(Store& store) { store_ = &store; }
  /// As Engine::run, with the settings of the arm: in the engine of its session, or by its service.
  std::int64_t run(const Arm& arm, int count, const std::function<Task<void>(int)>& start,
                   const std::function<void(const Ended&)>& done);

  /// Whether arms have several networks and only those of one arm are kept at a time.
  bool take_turns() const;

 private:
  const RunSpec& spec_;
  Checkpoints loaded_;
  std::map<std::string, std::unique_ptr<Session>> sessions_;
  std::map<std::string, std::unique_ptr<ServiceArm>> services_;  // by label
  Store* store_ = nullptr;
};

}  // namespace pardec
