#pragma once
#include <cstdint>
#include <filesystem>
#include <string>

#include "src/chat/service.hpp"
#include "src/store/judgments.hpp"
#include "src/support/notes.hpp"

/// Services that may cost money: used by one process at a time, within a budget.
namespace pardec {

/// A lock: while this object exists, no other process can get the lock for this judge and this
/// database. Thus only one process at a time counts requests and spending.
class AskingLock {
 public:
  /// RunError: another process holds the lock, or the lock file beside `db` cannot be created.
  /// REQUIRES: `db` exists.
  AskingLock(const std::filesystem::path& db, const NamedRecord& judge);
  ~AskingLock();
  AskingLock(const AskingLock&) = delete;
  AskingLock& operator=(const AskingLock&) = delete;

 private:
  std::filesystem::path path_;
  int fd_ = -1;
};

/// Checks a service before use. Passes a warning to `notes` if texts or the key would be sent
/// unencrypted to another machine. ConfigError: see chat::check_key.
void check_service(const chat::ServiceSpec& service, const Notes& notes);

/// Creates the service. What earlier runs with this database spent on this judge counts against
/// `budget`. Requests that were made while the service had no prices count with the present prices.
/// StoreError: the database cannot be read or written. ConfigError: see chat::Service.
chat::Service paid_service(Store& store, const NamedRecord& judge, const chat::ServiceSpec& service,
                           const chat::Budget& budget);

/// Converts token counts to their stored form.
TokenCounts token_counts(const chat::Usage& usage);

/// Converts an attempt of `call` to its row. `process`: uuid of the process that sends the attempt.
AttemptRow attempt_row(const std::string& process, const chat::Call& call,
                       const chat::Attempt& attempt);

/// The message to print after a stop request (Ctrl-C). The program then waits for the requests that
/// were already sent, at most until the service's deadlines. The message begins with a line break,
/// so that it is printed below a progress bar.
inline constexpr const char* kStoppingNote =
    "\nstopping: waiting for requests that were already sent; a second Ctrl-C does not wait, but "
    "they may still be charged";

/// A line of text with the number of calls in this run (`calls`), and with the requests and the
/// cost of the service in all runs of this database. `role`: what the service is, e.g. "judge".
/// StoreError: see paid_service.
std::string spent_note(Store& store, const NamedRecord& judge, const char* role,
                       std::int64_t calls);

}  // namespace pardec
