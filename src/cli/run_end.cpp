#include "src/cli/run_end.hpp"

#include <csignal>
#include <cstdio>

#include "src/cli/print_note.hpp"

namespace pardec {

std::unique_ptr<Group> join_group(ProgressStyle& progress) {
  constexpr double kNoLimit = 1e8;  // seconds: a block may take hours
  auto group = Group::join(kNoLimit);
  if (group && group->rank() > 0) progress = ProgressStyle::none;
  return group;
}

Notes notes_of(const Group* group) { return group && group->rank() > 0 ? Notes{} : print_note; }

int stopped(const Execution& done, const RunSpec& spec, const SignalStop& stop) {
  if (!done.invocation.empty())
    std::fprintf(stderr,
                 "stopped; all results so far are in %s; continue with the same command%s\n",
                 spec.db.c_str(), spec.go_on ? "" : " and --resume");
  return 128 + (stop.signal() ? stop.signal() : SIGTERM);  // none: another process was stopped
}

int exit_code(const RunCounts& counts, double fail_on_error) {
  if (counts.failed_share() <= fail_on_error) return 0;
  std::fprintf(
      stderr,
      "pardec: %lld of %lld answers failed; column error of table generation has the reasons\n",
      static_cast<long long>(counts.failed), static_cast<long long>(counts.finished));
  return 3;
}

}  // namespace pardec
