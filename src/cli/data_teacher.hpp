#pragma once
// Shared by `pardec data rewrite` and `pardec data label`, which ask a chat service (the teacher)
// for data.
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

/// Checks the flags, and loads the dataset in flags.datasets. If the dataset is the project's own
/// sample, prints a note to stderr. ConfigError: flags.datasets does not have exactly one entry,
/// another flag is missing or invalid, or an output file is a file of the dataset. Other errors:
/// see load_dataset.
Dataset teacher_dataset(const DataFlags& flags);

/// The connection of one command to its teacher: sends requests to the service, stores their cost,
/// and prints a summary. In a dry run (flags.dry_run), nothing is sent, and only the requests that
/// do not depend on replies are counted. While this object exists, a first SIGINT or SIGTERM only
/// requests a stop (SignalStop).
class Teacher {
 public:
  /// Reads the file of the service (flags.service), and opens the database (flags.answers.db). If
  /// the database does not exist, the constructor creates it, except in a dry run. `flags` must
  /// outlive this object. Errors: see chat::read_service, check_service and Store.
  explicit Teacher(const DataFlags& flags);

  /// Identifies the service in the database: the model's name, and properties of the service.
  const NamedRecord& record() const { return record_; }
  /// The database. Null in a dry run if the database does not exist yet.
  Store* store() { return store_ ? &*store_ : nullptr; }

  /// Calls `next` for the next request until `next` returns none. Sends each request, and passes
  /// the reply to `events`. In a dry run, only counts the requests. rewrite_answers and
  /// label_examples call this function as their AskService (src/asking/asking.hpp). Errors: see
  /// AskingLock, paid_service and chat::Service::ask.
  void operator()(const chat::NextCall& next, chat::Events& events);

  /// Prints the counts of a dry run to stdout: the number of requests, the maximum number of their
  /// tokens, and their maximum price. `follows`: a text about the requests that depend on replies,
  /// and are therefore not counted.
  void print_plan(const char* follows) const;
  /// If a signal requested a stop: prints a message to stderr, and returns the exit code, 128 plus
  /// the signal's number. Otherwise returns none.
  std::optional<int> stopped() const;
  /// Prints the cost of the service to stderr, and returns the exit code: 3 if `undecided` is above
  /// 0 or `made` is 0, otherwise 0. With exit code 3, also prints the reason. `calls`: number of
  /// calls. `undecided`: number of examples whose calls failed. `made`: number of examples that
  /// gave a result. REQUIRES: this is not a dry run.
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

/// Prints `table` to stdout, and after that one further table for each entry of `why` whose map is
/// not empty. An entry of `why` is the title of its table, and a map from each reason to the number
/// of cases with this reason. The table has the 20 most frequent reasons, the most frequent first.
/// flags.format is the format of all tables. ConfigError: there is no such format.
void print_made(const Table& table,
                const std::vector<std::pair<const char*, std::map<std::string, std::int64_t>>>& why,
                const DataFlags& flags);

}  // namespace pardec
