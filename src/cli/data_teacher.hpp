#pragma once
// What `pardec data rewrite` and `data label` share: a teacher behind a service.
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

/// The one dataset that the flags name. ConfigErrors of flags, too.
Dataset teacher_dataset(const DataFlags& flags);

/// Asks the service, or, in a dry run, counts what would be asked first. Outlived by the flags.
class Teacher {
 public:
  explicit Teacher(const DataFlags& flags);

  const NamedRecord& record() const { return record_; }
  /// None in a dry run where the database is not there yet.
  Store* store() { return store_ ? &*store_ : nullptr; }

  /// An AskService.
  void operator()(const chat::NextCall& next, chat::Events& events);

  /// What a dry run counted; `follows` says what depends on replies.
  void print_plan(const char* follows) const;
  /// The exit code of a signal that asked for a stop, which is then said.
  std::optional<int> stopped() const;
  /// What the service cost, and the exit code behind `undecided` examples, and `made` ones that are
  /// written.
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

/// The tables on stdout, the reasons as a table behind it, the most frequent first; none of rows:
/// it is left out.
void print_made(const Table& table,
                const std::vector<std::pair<const char*, std::map<std::string, std::int64_t>>>& why,
                const DataFlags& flags);

}  // namespace pardec
