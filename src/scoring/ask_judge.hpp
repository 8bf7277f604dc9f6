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

/// Options of ask_judge, judge_by and judge_run.
struct AskJudgeOptions {
  /// Limit on the judge's cost, including the cost of earlier requests in this database.
  chat::Budget budget = {};
  ProgressStyle progress = ProgressStyle::none;
  /// After a stop is requested, no further requests are sent; requests that were already sent are
  /// completed.
  std::stop_token stop = {};
  Notes notes = {};  ///< messages about progress and cost
};

/// Asks the service for all missing verdicts, and stores the verdicts and the resulting scores (see
/// judge_answers). chat::StopRun: no more requests can be sent. RunError: another process is asking
/// this judge for the same database. ConfigError: the API key is missing, or a budget in money is
/// given for a service without prices.
JudgeProgress ask_judge(Store& store, const JudgeTask& task, const JudgeUnits& units,
                        const chat::ServiceSpec& service, const AskJudgeOptions& how);

/// Judges the answers of an invocation with a built-in protocol, with one vote per answer (or per
/// order of a pair). `datasets`: empty means all datasets of the invocation. ConfigError: there is
/// no such protocol, or nothing can be judged (judge_units). Other errors: see ask_judge.
JudgeProgress judge_by(Store& store, const std::string& invocation, const std::string& protocol,
                       const std::vector<std::string>& datasets, const chat::ServiceSpec& service,
                       const AskJudgeOptions& how);

/// Calls judge_by for each protocol that the scores of the invocation's datasets need
/// (protocol_for). Datasets whose scores need no judge are left out. In the result, only the member
/// `failed` is set: the number of failed votes over all protocols. Errors: see judge_by.
JudgeProgress judge_run(Store& store, const std::string& invocation,
                        const chat::ServiceSpec& service, const AskJudgeOptions& how);

/// Sends one note for each reason why answers cannot be judged (JudgeUnits::left_out), with the
/// number of these answers. Sends nothing if there are no such answers.
void tell_of_left_out(const JudgeUnits& units, const Notes& notes);

}  // namespace pardec
