#pragma once
#include <stop_token>
#include <string>
#include <vector>

#include "src/chat/service.hpp"
#include "src/scoring/judging.hpp"
#include "src/support/notes.hpp"
#include "src/support/progress.hpp"

/// Asks a service for verdicts on stored answers.
namespace pardec {

/// Options for asking a judge.
struct AskJudgeOptions {
  chat::Budget budget = {};  ///< includes earlier costs of this judge, as stored in this database
  ProgressStyle progress = ProgressStyle::none;
  std::stop_token stop = {};  ///< requests that were already sent are completed
  Notes notes = {};           ///< messages about progress and cost
};

/// Asks a service for all missing verdicts, or until a stop is requested. StopRun.
JudgeProgress ask_judge(Store& store, const JudgeTask& task, const JudgeUnits& units,
                        const chat::ServiceSpec& service, const AskJudgeOptions& how);

/// Uses a built-in protocol. `datasets` empty: all datasets of the run.
JudgeProgress judge_by(Store& store, const std::string& invocation, const std::string& protocol,
                       const std::vector<std::string>& datasets, const chat::ServiceSpec& service,
                       const AskJudgeOptions& how);

/// Uses the protocols of the run's datasets.
JudgeProgress judge_run(Store& store, const std::string& invocation,
                        const chat::ServiceSpec& service, const AskJudgeOptions& how);

/// Reports the answers that cannot be judged.
void tell_of_left_out(const JudgeUnits& units, const Notes& notes);

}  // namespace pardec
