#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/store/sqlite.hpp"
#include "src/support/counters.hpp"

/// The columns of table `job` that hold counters, in the order of kCounters.
namespace pardec {

/// A column and its counters. Only a JSON column has more than one counter.
struct CounterColumn {
  std::string_view name;
  std::span<const Counter> counters;

  /// Whether the column holds a JSON object with one key for each counter. The column is NULL if
  /// the first counter is 0 or empty.
  bool is_json() const { return !counters.front().json_column.empty(); }
  /// Whether the column holds a JSON list of numbers, the value of one counter.
  bool is_list() const;
  /// Whether the counter is computed from other counters. It is stored, but not read back.
  bool is_derived() const { return counters.front().after == Adding::anew; }
  /// Whether the column `job.turns` has the values of these counters for each single turn, under
  /// the name of this column.
  bool is_of_turns() const { return counters.front().of_turns; }
};

/// All columns, in the order of kCounters.
const std::vector<CounterColumn>& counter_columns();
/// Names of the columns, joined by ", ". `lists`: whether to include columns that hold lists.
std::string counter_names(bool lists = true);

/// Binds the values of all columns of counter_names(), after the parameters that are already bound.
/// `failed`: whether the job failed; derived columns are then NULL. A JSON column is NULL if its
/// first counter is 0 or empty. A column whose counter has `beside` = Adding::earliest is NULL if
/// the counter is 0.
void bind_counters(Statement& statement, const Counters& counters, bool failed);
/// Reads the values of the columns of counter_names(lists) into `counters`. Derived columns are
/// skipped. NULL is read as 0. For NULL in a JSON column, all numbers of the column are 0 and all
/// lists are empty.
void read_counters(RowReader& row, Counters& counters, bool lists = true);

/// turn_json and turn_counts convert the counters of a turn of a conversation to and from the JSON
/// in `job.turns`. Only the columns with is_of_turns() are converted. Their values have the same
/// form in `job.turns` as in the columns.
Json turn_json(const Counts& turn);
Counts turn_counts(const Json& json);

}  // namespace pardec
