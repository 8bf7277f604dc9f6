#include "src/scoring/ask_judge.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "datasets/dataset.hpp"
#include "src/asking/paid_service.hpp"
#include "src/store/invocations.hpp"
#include "src/support/number_text.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

void tell_of_families(Store& store, const JudgeTask& task, const Notes& notes) {
  std::set<std::string> said;
  for (const RunSummary& run : runs_of(store, task.invocation)) {
    const std::string family = shared_family(task.judge.name, run.run.model.path);
    if (!family.empty() && said.insert(family).second)
      tell(notes, str("warning: judge ", visible_text(task.judge.name), " and network ",
                      visible_text(run.run.model.path), " are both of the family ", family,
                      "; judges tend to prefer answers of their own family"));
  }
}

}  // namespace

void tell_of_left_out(const JudgeUnits& units, const Notes& notes) {
  for (const auto& [reason, count] : units.left_out)
    tell(notes, str(counted(count, "answer"), " cannot be judged: ", visible_text(reason)));
}

JudgeProgress ask_judge(Store& store, const JudgeTask& task, const JudgeUnits& units,
                        const chat::ServiceSpec& service, const AskJudgeOptions& how) {
  tell_of_families(store, task, how.notes);
  const std::stop_callback said(how.stop, [&] { tell(how.notes, kStoppingNote); });
  const AskingLock alone(store.path(), task.judge);
  chat::Service judges = paid_service(store, task.judge, service, how.budget);
  JudgeProgress done;
  {
    Progress progress(how.progress, "judge", 0);
    done = judge_answers(
        store, task, units,
        [&](const chat::NextCall& next, chat::Events& events) {
          judges.ask(next, events, how.stop);
        },
        [&](const JudgeProgress& now) {
          progress.update(now.calls,
                          str(now.before + now.equal + now.done(), " of ", now.votes, " judged, ",
                              now.unscored + now.refused + now.failed, " without a verdict"));
        });
  }
  tell(how.notes, spent_note(store, task.judge, "judge", done.calls));
  if (done.equal > 0)
    tell(how.notes,
         str(counted(done.equal, "verdict"), " of equal answers: ties, and nobody was asked"));
  return done;
}

JudgeProgress judge_by(Store& store, const std::string& invocation, const std::string& protocol,
                       const std::vector<std::string>& datasets, const chat::ServiceSpec& service,
                       const AskJudgeOptions& how) {
  JudgeTask task;
  task.invocation = invocation;
  task.protocol = find_protocol(protocol);
  task.judge = {service.model, chat::identity(service)};
  task.datasets = datasets;
  const JudgeUnits units = judge_units(store, task);
  tell_of_left_out(units, how.notes);
  return ask_judge(store, task, units, service, how);
}

JudgeProgress judge_run(Store& store, const std::string& invocation,
                        const chat::ServiceSpec& service, const AskJudgeOptions& how) {
  std::map<std::string, std::vector<std::string>> datasets;  // by protocol
  for (const RunSummary& run : runs_of(store, invocation)) {
    auto& names = datasets[protocol_for(stored_dataset(run.run.dataset.name))];
    if (std::find(names.begin(), names.end(), run.run.dataset.name) == names.end())
      names.push_back(run.run.dataset.name);
  }
  JudgeProgress all;
  for (const auto& [protocol, names] : datasets) {
    if (protocol.empty() || how.stop.stop_requested()) continue;
    all.failed += judge_by(store, invocation, protocol, names, service, how).failed;
  }
  return all;
}

}  // namespace pardec
