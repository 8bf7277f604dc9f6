#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/store/sqlite.hpp"
#include "src/support/counters.hpp"

/// The columns of table `job` that hold counters, in the order of kCounters.
namespace pardec {

/// A column and its counters: a single one, or all counters of a JSON column.
struct CounterColumn {
  std::string_view name;
  std::span<const Counter> counters;

  bool is_json() const { return !counters.front().json_column.empty(); }
  bool is_list() const;
  /// Whether the column is computed from other columns.
  bool is_derived() const { return counters.front().after == Adding::anew; }
  /// Whether `job.turns` also stores this column's counters for each turn, under the same name.
  bool is_of_turns() const { return counters.front().of_turns; }
};

/// In the order of kCounters.
const std::vector<CounterColumn>& counter_columns();
/// Names of the columns, joined by ", ". `lists`: whether to include columns that hold lists.
std::string counter_names(bool lists = true);

/// Binds all columns of counter_names() after the parameters that are already bound. `failed`:
/// derived columns are NULL.
void bind_counters(Statement& statement, const Counters& counters, bool failed);
/// Reads the columns of counter_names(lists).
void read_counters(RowReader& row, Counters& counters, bool lists = true);

/// The counters that `job.turns` keeps of a turn, as JSON in the same form as in the columns.
Json turn_json(const Counts& turn);
Counts turn_counts(const Json& json);

}  // namespace pardec
