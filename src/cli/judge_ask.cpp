// How `pardec judge` and `pardec run --judge` ask a service.
#include <algorithm>
#include <cstdio>
#include <map>
#include <set>

#include "datasets/dataset.hpp"
#include "src/chat/service.hpp"
#include "src/cli/judge.hpp"
#include "src/cli/paid_service.hpp"
#include "src/store/invocations.hpp"
#include "src/support/number_text.hpp"
#include "src/support/progress.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

void print_families(Store& store, const JudgeTask& task) {
  std::set<std::string> said;
  for (const RunSummary& run : runs_of(store, task.invocation)) {
    const std::string family = shared_family(task.judge.name, run.run.model.path);
    if (!family.empty() && said.insert(family).second)
      std::fprintf(stderr,
                   "warning: judge %s and network %s are both of the family %s; judges prefer "
                   "their own kind\n",
                   visible_text(task.judge.name).c_str(), visible_text(run.run.model.path).c_str(),
                   family.c_str());
  }
}

std::string spent_text(const JudgeSpending& spent) {
  return str(fixed(spent.money, 4), " spent on ", counted(spent.attempts, "request"),
             spent.possible_attempts == 0
                 ? ""
                 : str(", perhaps ", fixed(spent.possible_money, 4), " more on ",
                       spent.possible_attempts, " whose outcome is unknown"));
}

}  // namespace

chat::Service paid_service(Store& store, const NamedRecord& judge, const chat::ServiceSpec& service,
                           const chat::Budget& budget) {
  const JudgeSpending before = judge_spending(store, put_judge(store, judge));
  return {service,
          budget,
          {before.money, before.possible_money, before.tokens, before.possible_tokens}};
}

void print_stopping() {
  std::fprintf(stderr,
               "\nstopping: requests that were sent are waited for; a second Ctrl-C leaves them, "
               "perhaps paid for\n");
}

void print_spent(Store& store, const NamedRecord& judge, const char* role, std::int64_t calls) {
  std::fprintf(stderr, "%s %s: %s; in all %s\n", role, visible_text(judge.name).c_str(),
               counted(calls, "answer").c_str(),
               spent_text(judge_spending(store, put_judge(store, judge))).c_str());
}

JudgeProgress ask_judge(Store& store, const JudgeTask& task, const JudgeUnits& units,
                        const chat::ServiceSpec& service, const chat::Budget& budget,
                        const std::string& progress_style, std::stop_token stop) {
  print_families(store, task);
  const std::stop_callback said(stop, &print_stopping);
  chat::Service judges = paid_service(store, task.judge, service, budget);
  JudgeProgress done;
  {
    Progress progress(parse_progress_style(progress_style), "judge", 0);
    done = judge_answers(
        store, task, units,
        [&](const chat::NextCall& next, chat::Events& events) { judges.ask(next, events, stop); },
        [&](const JudgeProgress& now) {
          progress.update(now.calls, str(now.before + now.done(), " of ", now.votes, " verdicts, ",
                                         now.unscored + now.refused + now.failed, " without"));
        });
  }
  print_spent(store, task.judge, "judge", done.calls);
  return done;
}

JudgeProgress judge_by(Store& store, const std::string& invocation, const std::string& protocol,
                       const std::vector<std::string>& datasets, const chat::ServiceSpec& service,
                       const std::string& progress_style, std::stop_token stop) {
  JudgeTask task;
  task.invocation = invocation;
  task.protocol = find_protocol(protocol);
  task.judge = {service.model, chat::identity(service)};
  task.datasets = datasets;
  const JudgeUnits units = judge_units(store, task);
  print_left_out(units);
  return ask_judge(store, task, units, service, {}, progress_style, stop);
}

JudgeProgress judge_run(Store& store, const std::string& invocation,
                        const chat::ServiceSpec& service, const std::string& progress_style,
                        std::stop_token stop) {
  std::map<std::string, std::vector<std::string>> datasets;  // by protocol
  for (const RunSummary& run : runs_of(store, invocation)) {
    auto& names = datasets[protocol_for(find_dataset(run.run.dataset.name))];
    if (std::find(names.begin(), names.end(), run.run.dataset.name) == names.end())
      names.push_back(run.run.dataset.name);
  }
  JudgeProgress all;
  for (const auto& [protocol, names] : datasets) {
    if (protocol.empty() || stop.stop_requested()) continue;
    all.failed +=
        judge_by(store, invocation, protocol, names, service, progress_style, stop).failed;
  }
  return all;
}

}  // namespace pardec
