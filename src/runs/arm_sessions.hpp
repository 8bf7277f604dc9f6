#pragma once
#include <map>
#include <memory>
#include <string>

#include "src/runs/run_spec.hpp"
#include "src/tasks/session.hpp"

namespace pardec {

/// What the arms run on. Arms of the same networks and cache budget share a session, and each
/// distinct network is loaded once. All are held together; with order `blocked` those of one arm at
/// a time.
class ArmSessions {
 public:
  /// Loads nothing yet. `spec` outlives this.
  explicit ArmSessions(const RunSpec& spec) : spec_(spec) {}

  /// Loads what is not held. Where one arm's networks are held at a time, the session is gone after
  /// the next call for an arm of others. ConfigError, ModelError.
  Session& of(const Arm& arm);

  /// Whether arms have several networks of which those of one are held at a time.
  bool take_turns() const;

 private:
  const RunSpec& spec_;
  Checkpoints loaded_;
  std::map<std::string, std::unique_ptr<Session>> sessions_;
};

}  // namespace pardec
