#pragma once
#include <cstdint>
#include <filesystem>
#include <string>

#include "src/chat/service.hpp"
#include "src/store/judgments.hpp"
#include "src/support/notes.hpp"

/// A service that costs money, used by one process at a time under one budget.
namespace pardec {

/// During its lifetime, no other process can ask this judge for this database, so that one process
/// at a time counts requests and spending. RunError: another process is asking.
class OneAsker {
 public:
  OneAsker(const std::filesystem::path& db, const NamedRecord& judge);
  ~OneAsker();
  OneAsker(const OneAsker&) = delete;
  OneAsker& operator=(const OneAsker&) = delete;

 private:
  std::filesystem::path path_;
  int fd_ = -1;
};

/// ConfigError: its key is missing. Adds a note if the key would be sent unencrypted.
void check_service(const chat::ServiceSpec& service, const Notes& notes);

/// The service with earlier spending, as stored in this database. Requests from a time when the
/// service had no prices are charged at its present prices.
chat::Service paid_service(Store& store, const NamedRecord& judge, const chat::ServiceSpec& service,
                           const chat::Budget& budget);

/// Token counts as they are stored.
TokenCounts token_counts(const chat::Usage& usage);

/// The ledger's row of an attempt. `process`: uuid of the process that sends it.
AttemptRow attempt_row(const std::string& process, const chat::Call& call,
                       const chat::Attempt& attempt);

/// Shown when a stop is requested. Requests that were sent are awaited, which may take as long as
/// the service's deadlines. Begins with a line feed, to be printed below a progress bar.
inline constexpr const char* kStoppingNote =
    "\nstopping: requests that were sent are waited for; a second Ctrl-C leaves them, perhaps paid "
    "for";

/// The number of calls that ended, and the total cost of the service.
std::string spent_note(Store& store, const NamedRecord& judge, const char* role,
                       std::int64_t calls);

}  // namespace pardec
