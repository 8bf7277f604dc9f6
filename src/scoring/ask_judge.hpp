#pragma once
#include <stop_token>
#include <string>
#include <vector>

#include "src/chat/service.hpp"
#include "src/scoring/judging.hpp"
#include "src/support/notes.hpp"
#include "src/support/progress.hpp"

/// A service is asked for verdicts on stored answers.
namespace pardec {

/// How a judge is asked.
struct AskJudgeOptions {
  chat::Budget budget = {};  ///< with what this judge cost before, by this database
  ProgressStyle progress = ProgressStyle::none;
  std::stop_token stop = {};  ///< requests that were sent are waited for
  Notes notes = {};           ///< how far it is, and what it cost
};

/// Asks a service for what is not judged yet. StopRun; a stop that was asked for ends it, too.
JudgeProgress ask_judge(Store& store, const JudgeTask& task, const JudgeUnits& units,
                        const chat::ServiceSpec& service, const AskJudgeOptions& how);

/// By one of the built-in protocols; no dataset: all of the run.
JudgeProgress judge_by(Store& store, const std::string& invocation, const std::string& protocol,
                       const std::vector<std::string>& datasets, const chat::ServiceSpec& service,
                       const AskJudgeOptions& how);

/// By the protocols that the run's datasets are scored by.
JudgeProgress judge_run(Store& store, const std::string& invocation,
                        const chat::ServiceSpec& service, const AskJudgeOptions& how);

/// Which answers no judge can be shown.
void tell_of_left_out(const JudgeUnits& units, const Notes& notes);

}  // namespace pardec
