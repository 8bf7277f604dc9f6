#pragma once
// Shared by `pardec data rewrite` and `data label`: a teacher behind a service.
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "src/asking/asking.hpp"
#include "src/chat/service.hpp"
#include "src/cli/data.hpp"
#include "src/cli/signal_stop.hpp"
#include "src/report/table.hpp"

namespace pardec {

/// The dataset named by the flags. ConfigError: there is not exactly one, or other flags are
/// invalid.
Dataset teacher_dataset(const DataFlags& flags);

/// Asks the service. In a dry run, only counts the first requests. `flags` must outlive this
/// object.
class Teacher {
 public:
  explicit Teacher(const DataFlags& flags);

  const NamedRecord& record() const { return record_; }
  /// Null in a dry run if the database does not exist yet.
  Store* store() { return store_ ? &*store_ : nullptr; }

  /// For use as an AskService.
  void operator()(const chat::NextCall& next, chat::Events& events);

  /// Prints the counts of a dry run. `follows`: what depends on replies and is not counted.
  void print_plan(const char* follows) const;
  /// If a signal requested a stop: prints a message and returns the signal's exit code.
  std::optional<int> stopped() const;
  /// Prints the cost of the service. Returns the exit code for this number of `undecided` examples
  /// and of examples `made`.
  int end(std::int64_t calls, std::int64_t undecided, std::int64_t made);

 private:
  const DataFlags& flags_;
  SignalStop stop_;
  chat::ServiceSpec service_;
  NamedRecord record_;
  std::optional<Store> store_;
  std::int64_t calls_ = 0;
  chat::WorstCase worst_;
};

/// Prints the table to stdout, followed by tables of reasons, the most frequent first. Tables of
/// reasons without rows are left out.
void print_made(const Table& table,
                const std::vector<std::pair<const char*, std::map<std::string, std::int64_t>>>& why,
                const DataFlags& flags);

}  // namespace pardec
