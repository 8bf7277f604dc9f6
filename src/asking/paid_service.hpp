#pragma once
#include <cstdint>
#include <filesystem>
#include <string>

#include "src/chat/service.hpp"
#include "src/store/judgments.hpp"
#include "src/support/notes.hpp"

/// A service that is asked for money: by one process at a time, on one budget.
namespace pardec {

/// While it lives nobody else asks this judge for this database: what is asked and what is spent
/// are counted by one process at a time. RunError where another one does.
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

/// That its key is there; a note where it is sent in clear.
void check_service(const chat::ServiceSpec& service, const Notes& notes);

/// With what was spent on it before, by this database; what was asked while the service had no
/// prices at those that it has now.
chat::Service paid_service(Store& store, const NamedRecord& judge, const chat::ServiceSpec& service,
                           const chat::Budget& budget);

/// Where a stop is asked for: what was sent is waited for, which may take as long as the service's
/// deadlines. Begins a line of its own, below a progress bar.
inline constexpr const char* kStoppingNote =
    "\nstopping: requests that were sent are waited for; a second Ctrl-C leaves them, perhaps paid "
    "for";

/// How many calls ended, and what the service cost in all.
std::string spent_note(Store& store, const NamedRecord& judge, const char* role,
                       std::int64_t calls);

}  // namespace pardec
