#pragma once
#include <cstdint>
#include <filesystem>

#include "src/chat/service.hpp"
#include "src/store/judgments.hpp"

// What `judge` and `data` share that ask a service for money.
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

/// That its key is there; warns on stderr where it is sent in clear.
void check_service(const chat::ServiceSpec& service);

/// With what was spent on it before, by this database; what was asked while the service had no
/// prices at those that it has now.
chat::Service paid_service(Store& store, const NamedRecord& judge, const chat::ServiceSpec& service,
                           const chat::Budget& budget);

/// On stderr, where a stop is asked for: that what was sent is waited for, which may take as long
/// as the service's deadlines.
void print_stopping();

/// On stderr: how many calls ended, and what the service cost in all.
void print_spent(Store& store, const NamedRecord& judge, const char* role, std::int64_t calls);

}  // namespace pardec
