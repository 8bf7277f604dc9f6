// How `pardec judge` and `pardec run --judge` ask a service.
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <map>
#include <set>

#include "datasets/dataset.hpp"
#include "src/chat/service.hpp"
#include "src/cli/judge.hpp"
#include "src/cli/paid_service.hpp"
#include "src/store/invocations.hpp"
#include "src/support/error.hpp"
#include "src/support/hashing.hpp"
#include "src/support/json.hpp"
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
  const std::int64_t unpriced = spent.unpriced_prompt_tokens + spent.unpriced_completion_tokens;
  return str(fixed(spent.money, 6), " spent on ", counted(spent.attempts, "request"),
             unpriced == 0 ? "" : str(", ", grouped(unpriced), " tokens of them without a price"),
             spent.possible_attempts == 0
                 ? ""
                 : str(", perhaps ", fixed(spent.possible_money, 6), " more on ",
                       spent.possible_attempts, " whose outcome is unknown"));
}

}  // namespace

OneAsker::OneAsker(const std::filesystem::path& db, const NamedRecord& judge)
    // Beside the database itself, whichever links lead to it. A hard link is no way to one that is
    // open (SideFiles).
    : path_(str(std::filesystem::canonical(db).string(), "-judge-",
                sha256(str(judge.name, dump(judge.json))).substr(0, 12))) {
  for (;;) {
    fd_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (fd_ < 0) throw RunError(str(path_.string(), " cannot be made: ", std::strerror(errno)));
    if (::flock(fd_, LOCK_EX | LOCK_NB) != 0) {
      ::close(fd_);
      throw RunError(str("another process asks ", visible_text(judge.name), " for ", db.string(),
                         ", and what is spent is counted by one at a time; wait for its end"));
    }
    // Removed by the one before, between opening and locking: then it keeps nobody out.
    struct stat ours = {}, there = {};
    if (::fstat(fd_, &ours) == 0 && ::stat(path_.c_str(), &there) == 0 &&
        ours.st_ino == there.st_ino)
      return;
    ::close(fd_);
  }
}

OneAsker::~OneAsker() {
  ::unlink(path_.c_str());
  ::close(fd_);
}

void check_service(const chat::ServiceSpec& service) {
  chat::check_key(service);
  if (const std::string warning = chat::clear_text_warning(service); !warning.empty())
    std::fprintf(stderr, "warning: %s\n", visible_text(warning).c_str());
}

chat::Service paid_service(Store& store, const NamedRecord& judge, const chat::ServiceSpec& service,
                           const chat::Budget& budget) {
  const JudgeSpending before = judge_spending(store, put_judge(store, judge));
  const chat::Prices prices = service.prices.value_or(chat::Prices{});
  const double unpriced = (static_cast<double>(before.unpriced_prompt_tokens) * prices.input +
                           static_cast<double>(before.unpriced_completion_tokens) * prices.output) /
                          1e6;
  return {service,
          budget,
          {before.money + unpriced, before.possible_money, before.tokens, before.possible_tokens}};
}

void print_stopping() {
  std::fprintf(stderr,
               "\nstopping: requests that were sent are waited for; a second Ctrl-C leaves them, "
               "perhaps paid for\n");
}

void print_spent(Store& store, const NamedRecord& judge, const char* role, std::int64_t calls) {
  std::fprintf(stderr, "%s %s: %s; in all %s\n", role, visible_text(judge.name).c_str(),
               counted(calls, "call").c_str(),
               spent_text(judge_spending(store, put_judge(store, judge))).c_str());
}

JudgeProgress ask_judge(Store& store, const JudgeTask& task, const JudgeUnits& units,
                        const chat::ServiceSpec& service, const chat::Budget& budget,
                        const std::string& progress_style, std::stop_token stop) {
  print_families(store, task);
  const std::stop_callback said(stop, &print_stopping);
  const OneAsker alone(store.path(), task.judge);
  chat::Service judges = paid_service(store, task.judge, service, budget);
  JudgeProgress done;
  {
    Progress progress(parse_progress_style(progress_style), "judge", 0);
    done = judge_answers(
        store, task, units,
        [&](const chat::NextCall& next, chat::Events& events) { judges.ask(next, events, stop); },
        [&](const JudgeProgress& now) {
          progress.update(now.calls,
                          str(now.before + now.equal + now.done(), " of ", now.votes, " judged, ",
                              now.unscored + now.refused + now.failed, " without a verdict"));
        });
  }
  print_spent(store, task.judge, "judge", done.calls);
  if (done.equal > 0)
    std::fprintf(stderr, "%s of equal answers: ties, and nobody was asked\n",
                 counted(done.equal, "verdict").c_str());
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
    auto& names = datasets[protocol_for(stored_dataset(run.run.dataset.name))];
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
