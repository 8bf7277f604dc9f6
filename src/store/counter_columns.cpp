#include "src/store/counter_columns.hpp"

#include "src/support/text.hpp"

namespace pardec {

namespace {

using List = std::vector<std::int64_t>;
using ListMember = List Counters::*;
using Ratio = double (Counters::*)() const;

/// The value of a JSON column: null if its first counter is 0 or empty.
Json to_json(const CounterColumn& column, const Counters& counters) {
  Json json = Json::object();
  for (const Counter& counter : column.counters) {
    Json& value = json[std::string(counter.column)];
    if (const auto* of = number(counter)) value = counters.*(*of);
    if (const auto* of = std::get_if<ListMember>(&counter.value)) value = counters.*(*of);
    if (&counter == &column.counters.front() && (value == 0 || value.empty())) return nullptr;
  }
  return json;
}

/// `json`: the value of the column; null: all counters are 0 or empty.
void read(const CounterColumn& column, const Json& json, Counters& counters) {
  for (const Counter& counter : column.counters) {
    const Json* value = json.is_null() ? nullptr : &json.at(std::string(counter.column));
    if (const auto* of = number(counter)) counters.*(*of) = value ? value->get<std::int64_t>() : 0;
    if (const auto* of = std::get_if<ListMember>(&counter.value))
      counters.*(*of) = value ? value->get<List>() : List();
  }
}

}  // namespace

bool CounterColumn::is_list() const {
  return !is_json() && std::holds_alternative<ListMember>(counters.front().value);
}

const std::vector<CounterColumn>& counter_columns() {
  static const std::vector<CounterColumn> kColumns = [] {
    std::vector<CounterColumn> columns;
    for (const Counter& counter : kCounters) {
      if (counter.column.empty()) continue;
      if (!counter.json_column.empty() && columns.back().name == counter.json_column) {
        CounterColumn& column = columns.back();
        column.counters = {column.counters.data(), column.counters.size() + 1};
      } else {
        columns.push_back(
            {counter.json_column.empty() ? counter.column : counter.json_column, {&counter, 1}});
      }
    }
    return columns;
  }();
  return kColumns;
}

std::string counter_names(bool lists) {
  std::vector<std::string> names;
  for (const CounterColumn& column : counter_columns())
    if (lists || !column.is_list()) names.emplace_back(column.name);
  return join(names, ", ");
}

void bind_counters(Statement& statement, const Counters& counters, bool failed) {
  for (const CounterColumn& column : counter_columns()) {
    const Counter& counter = column.counters.front();
    if (column.is_json()) {
      statement.also(to_json(column, counters));
    } else if (const auto* of = number(counter)) {
      const bool none = counter.beside == Adding::earliest && counters.*(*of) == 0;
      statement.also(none ? std::nullopt : std::optional(counters.*(*of)));
    } else if (const auto* list = std::get_if<ListMember>(&counter.value)) {
      statement.also(dump(Json(counters.*(*list))));
    } else if (const auto* ratio = std::get_if<Ratio>(&counter.value)) {
      statement.also(failed ? std::nullopt : std::optional((counters.*(*ratio))()));
    }
  }
}

void read_counters(RowReader& row, Counters& counters, bool lists) {
  for (const CounterColumn& column : counter_columns()) {
    if (column.is_list() && !lists) continue;
    const Counter& counter = column.counters.front();
    if (column.is_json())
      read(column, row.maybe_json(), counters);
    else if (const auto* of = number(counter))
      counters.*(*of) = row.integer();
    else if (const auto* list = std::get_if<ListMember>(&counter.value))
      counters.*(*list) = row.maybe_json().get<List>();
    else
      row.skip();  // derived
  }
}

Json turn_json(const Counts& turn) {
  Counters counters;
  static_cast<Counts&>(counters) = turn;
  Json json = Json::object();
  for (const CounterColumn& column : counter_columns()) {
    if (!column.is_of_turns()) continue;
    Json& value = json[std::string(column.name)];
    if (column.is_json())
      value = to_json(column, counters);
    else
      value = counters.*(*number(column.counters.front()));
  }
  return json;
}

Counts turn_counts(const Json& json) {
  Counters counters;
  for (const CounterColumn& column : counter_columns()) {
    if (!column.is_of_turns()) continue;
    const Json& value = json.at(std::string(column.name));
    if (column.is_json())
      read(column, value, counters);
    else
      counters.*(*number(column.counters.front())) = value.get<std::int64_t>();
  }
  return counters;
}

}  // namespace pardec
