#pragma once
#include <stop_token>
#include <string>
#include <vector>

#include "src/chat/service.hpp"
#include "src/scoring/judging.hpp"
#include "src/support/notes.hpp"
#include "src/support/progress.hpp"

/// Judges stored answers with a service.
namespace pardec {

/// Options of the functions below.
struct AskJudgeOptions {
  /// limit on the judge's cost, including its earlier cost in this database
  chat::Budget budget = {};
  ProgressStyle progress = ProgressStyle::none;
  std::stop_token stop = {};  ///< on a stop, requests that were sent are completed
  Notes notes = {};           ///< messages about progress and cost
};

/// Asks the service for all missing verdicts. chat::StopRun: no more requests can be sent.
JudgeProgress ask_judge(Store& store, const JudgeTask& task, const JudgeUnits& units,
                        const chat::ServiceSpec& service, const AskJudgeOptions& how);

/// The same with a built-in protocol. `datasets`: empty means all datasets of the run.
JudgeProgress judge_by(Store& store, const std::string& invocation, const std::string& protocol,
                       const std::vector<std::string>& datasets, const chat::ServiceSpec& service,
                       const AskJudgeOptions& how);

/// The same with the protocols of the run's datasets.
JudgeProgress judge_run(Store& store, const std::string& invocation,
                        const chat::ServiceSpec& service, const AskJudgeOptions& how);

/// Reports how many answers cannot be judged, and why.
void tell_of_left_out(const JudgeUnits& units, const Notes& notes);

}  // namespace pardec
