#include "src/support/counters.hpp"

#include <algorithm>
#include <functional>

namespace pardec {

namespace {

/// Every member of Counts is in the table.
static_assert(std::count_if(kCounters.begin(), kCounters.end(), [](const Counter& counter) {
                return std::holds_alternative<std::int64_t Counts::*>(counter.value);
              }) == sizeof(Counts) / sizeof(std::int64_t));

using List = std::vector<std::int64_t>;

std::int64_t added(Adding adding, std::int64_t a, std::int64_t b) {
  switch (adding) {
    case Adding::sum:
      return a + b;
    case Adding::most:
      return std::max(a, b);
    case Adding::earliest:
      return a == 0 || (b > 0 && b < a) ? b : a;
    case Adding::first:
    case Adding::joined:
    case Adding::anew:
      break;
  }
  return a;
}

void add(Adding adding, List& to, const List& more) {
  if (adding == Adding::joined) {
    to.insert(to.end(), more.begin(), more.end());
    return;
  }
  if (to.size() < more.size()) to.resize(more.size());
  for (size_t i = 0; i < more.size(); ++i) to[i] += more[i];
}

void add_numbers(Adding Counter::*rule, Counts& to, const Counts& more) {
  for (const Counter& counter : kCounters)
    if (const auto* of = number(counter)) to.*(*of) = added(counter.*rule, to.*(*of), more.*(*of));
}

void add_lists(Adding Counter::*rule, Counters& to, const Counters& more) {
  for (const Counter& counter : kCounters) {
    if (const auto* list = std::get_if<List Counters::*>(&counter.value))
      add(counter.*rule, to.*(*list), more.*(*list));
    else if (const auto* bars =
                 std::get_if<std::map<std::int64_t, std::int64_t> Counters::*>(&counter.value))
      for (const auto& [tokens, count] : more.*(*bars)) (to.*(*bars))[tokens] += count;
  }
}

OrderedJson shown(std::int64_t number) { return number; }
OrderedJson shown(double number) { return number; }
OrderedJson shown(const List& list) { return list; }
OrderedJson shown(const std::map<std::int64_t, std::int64_t>& bars) {
  OrderedJson json = OrderedJson::object();
  for (const auto& [tokens, count] : bars) json[std::to_string(tokens)] = count;
  return json;
}

}  // namespace

void Counts::add_after(const Counts& later) { add_numbers(&Counter::after, *this, later); }

void Counters::count_branch(std::int64_t chosen_ids) {
  ++branches;
  branch_lengths.push_back(chosen_ids);
}

void Counters::count_draft(int candidates, int kept) {
  add(Adding::sum, drafted, List(static_cast<size_t>(candidates), 1));
  accepted.resize(drafted.size());
  add(Adding::sum, accepted, List(static_cast<size_t>(kept), 1));
}

void Counters::add_beside(const Counters& other) {
  add_numbers(&Counter::beside, *this, other);
  add_lists(&Counter::beside, *this, other);
}

void Counters::add_after(const Counters& later) {
  Counts::add_after(later);
  add_lists(&Counter::after, *this, later);
}

OrderedJson to_json(const Counters& counters) {
  OrderedJson json = OrderedJson::object();
  for (const Counter& counter : kCounters)
    json[std::string(counter.name)] =
        std::visit([&](auto value) { return shown(std::invoke(value, counters)); }, counter.value);
  return json;
}

}  // namespace pardec
