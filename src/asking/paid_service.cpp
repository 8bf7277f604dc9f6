#include "src/asking/paid_service.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "src/support/error.hpp"
#include "src/support/hashing.hpp"
#include "src/support/json.hpp"
#include "src/support/number_text.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

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

AskingLock::AskingLock(const std::filesystem::path& db, const NamedRecord& judge)
    // The lock file is next to the database itself, even if the path is a link. An open database
    // cannot be reached through a hard link (SideFiles).
    : path_(str(std::filesystem::canonical(db).string(), "-judge-",
                sha256(str(judge.name, dump(judge.json))).substr(0, 12))) {
  for (;;) {
    fd_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (fd_ < 0) throw RunError(str(path_.string(), " cannot be made: ", std::strerror(errno)));
    if (::flock(fd_, LOCK_EX | LOCK_NB) != 0) {
      ::close(fd_);
      throw RunError(str("another process asks ", visible_text(judge.name), " for ", db.string(),
                         ", and only one process at a time may spend; wait for its end"));
    }
    // If the previous process removed the file between opening and locking, the lock would not
    // exclude others.
    struct stat ours = {}, there = {};
    if (::fstat(fd_, &ours) == 0 && ::stat(path_.c_str(), &there) == 0 &&
        ours.st_ino == there.st_ino)
      return;
    ::close(fd_);
  }
}

AskingLock::~AskingLock() {
  ::unlink(path_.c_str());
  ::close(fd_);
}

void check_service(const chat::ServiceSpec& service, const Notes& notes) {
  chat::check_key(service);
  if (const std::string warning = chat::clear_text_warning(service); !warning.empty())
    tell(notes, str("warning: ", visible_text(warning)));
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

std::string spent_note(Store& store, const NamedRecord& judge, const char* role,
                       std::int64_t calls) {
  return str(role, " ", visible_text(judge.name), ": ", counted(calls, "call"), "; in all ",
             spent_text(judge_spending(store, put_judge(store, judge))));
}

TokenCounts token_counts(const chat::Usage& usage) {
  return {usage.prompt_tokens, usage.completion_tokens, usage.reasoning_tokens,
          usage.cached_tokens};
}

AttemptRow attempt_row(const std::string& process, const chat::Call& call,
                       const chat::Attempt& attempt) {
  AttemptRow row;
  row.process = process;
  row.call_key = call.key;
  row.number = attempt.number;
  row.started_utc = attempt.started;
  row.waited_s = attempt.waited;
  row.seconds = attempt.seconds;
  row.http_status = attempt.http_status;
  row.request_id = attempt.request_id;
  row.format = attempt.format;
  row.tokens = token_counts(attempt.usage);
  row.cost = attempt.cost;
  row.outcome_unknown = attempt.outcome_unknown;
  row.error = attempt.error;
  row.body = attempt.body;
  return row;
}

}  // namespace pardec
