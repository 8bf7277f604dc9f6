#include "src/engine/trace_threads.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>

#include "src/support/error.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

template <typename T>
T& at(std::vector<T>& values, int row) {
  return values[static_cast<size_t>(row)];
}
template <typename T>
const T& at(const std::vector<T>& values, int row) {
  return values[static_cast<size_t>(row)];
}

/// 1 GiB of integers; a trace of 23,000 tokens has that many.
constexpr std::size_t kMostVisible = std::size_t{1} << 28;

// A column's value, a 32-bit integer. Json::exception: anything else.

int whole(const Json& value) {
  const auto number = value.is_number_integer() ? value.get<std::int64_t>() : -1;
  if (number < std::numeric_limits<int>::min() || number > std::numeric_limits<int>::max() ||
      !value.is_number_integer())
    throw Json::type_error::create(302, str(value.type_name(), ", expected a 32-bit integer"),
                                   &value);
  return static_cast<int>(number);
}

const Json& list(const Json& values) {
  if (!values.is_array())
    throw Json::type_error::create(302, str(values.type_name(), ", expected a list"), &values);
  return values;
}

std::vector<int> wholes(const Json& values) {
  std::vector<int> out;
  for (const Json& value : list(values)) out.push_back(whole(value));
  return out;
}

std::vector<std::optional<int>> nullable(const Json& values) {
  std::vector<std::optional<int>> out;
  for (const Json& value : list(values))
    out.push_back(value.is_null() ? std::nullopt : std::optional(whole(value)));
  return out;
}

std::vector<Tokens> lists(const Json& values) {
  std::vector<Tokens> out;
  for (const Json& ids : list(values)) out.push_back(ids.is_null() ? Tokens{} : wholes(ids));
  return out;
}

/// Expands ranges to rows, ascending and below `most`; no value if they are not.
std::optional<std::vector<int>> unfold(const Json& items, int most) {
  std::vector<int> rows;
  for (const Json& item : items) {
    const int begin = whole(item.is_array() ? item.at(0) : item);
    const int end = item.is_array() ? whole(item.at(1)) : begin < most ? begin + 1 : begin;
    if (begin < (rows.empty() ? 0 : rows.back() + 1) || end <= begin || end > most)
      return std::nullopt;
    for (int row = begin; row < end; ++row) rows.push_back(row);
  }
  return rows;
}

[[noreturn]] void wrong(const std::string& where, const char* column, size_t tokens) {
  throw ConfigError(str(where, ": '", column, "' does not fit its ", tokens,
                        " tokens; expected a trace as generate `trace` writes it"));
}

/// ConfigError: a column has a different length, or refers to a row that does not exist.
void check_rows(const Trace& t, const std::string& where) {
  const size_t n = t.tokens.size();
  const auto wrong = [&](const char* column) { pardec::wrong(where, column, n); };
  const auto check = [&](const char* column, size_t size) {
    if (size != n) wrong(column);
  };
  const auto is_row = [&](int row) { return row >= 0 && static_cast<size_t>(row) < n; };
  check("position", t.position.size());
  check("step", t.step.size());
  check("visible", t.visible.size());
  check("predicts", t.predicts.size());
  check("from", t.from.size());
  check("banned", t.banned.size());
  check("allowed", t.allowed.size());
  check("dropped_at", t.dropped_at.size());
  const auto countable = [](int value) {
    return value >= 0 && value < std::numeric_limits<int>::max();
  };
  if (!std::all_of(t.position.begin(), t.position.end(), countable)) wrong("position");
  if (!std::is_sorted(t.step.begin(), t.step.end()) ||
      !std::all_of(t.step.begin(), t.step.end(), countable))
    wrong("step");
  if (!std::all_of(t.emitted.begin(), t.emitted.end(), is_row)) wrong("emitted");
  for (size_t i = 0; i < n; ++i) {
    if (t.from[i] && (!is_row(*t.from[i]) || static_cast<size_t>(*t.from[i]) >= i)) wrong("from");
  }
}

}  // namespace

Trace parse_trace(const Json& json, const std::string& where) {
  JsonReader read(json, where);
  Trace t;
  t.request = read.required<std::string>("request");
  t.decoder = read.required<std::string>("decoder");
  t.group = read.optional<std::string>("group", "");
  t.arm = read.optional<std::string>("arm", "");
  t.dataset = read.optional<std::string>("dataset", "");
  t.examples = read.optional<std::vector<std::string>>("examples", {});
  t.model = read.optional<std::string>("model", "");
  t.inherited = read.optional<int>("inherited", 0);
  if (read.has("generation_config")) t.rules = read.any("generation_config");
  try {
    t.tokens = wholes(read.any("tokens"));
    t.position = wholes(read.any("position"));
    t.step = wholes(read.any("step"));
    std::size_t seen = 0;
    for (const Json& items : list(read.any("visible"))) {
      auto rows = unfold(items, static_cast<int>(t.tokens.size()));
      if (!rows) wrong(where, "visible", t.tokens.size());
      if ((seen += rows->size()) > kMostVisible)
        throw ConfigError(str(where, ": 'visible' names more than ", kMostVisible,
                              " rows in all; expected a shorter trace"));
      t.visible.push_back(*std::move(rows));
    }
    t.predicts = nullable(read.any("predicts"));
    t.from = nullable(read.any("from"));
    t.banned = lists(read.any("banned"));
    t.allowed =
        read.has("allowed") ? lists(read.any("allowed")) : std::vector<Tokens>(t.tokens.size());
    t.dropped_at = nullable(read.any("dropped_at"));
    t.emitted = wholes(read.any("emitted"));
  } catch (const Json::exception& error) {
    throw ConfigError(
        str(where, ": is no trace (", error.what(), "), expected what generate `trace` writes"));
  }
  read.finish();
  check_rows(t, where);
  return t;
}

bool is_greedy(const Trace& t) {
  for (size_t i = 0; i < t.tokens.size(); ++i)
    if (t.from[i] && at(t.predicts, *t.from[i]) && at(t.predicts, *t.from[i]) != t.tokens[i])
      return false;
  return true;
}

namespace {

/// Assigns the rows of one trace to threads.
class Reader {
 public:
  explicit Reader(const Trace& trace)
      : t_(trace),
        fed_as_(trace.tokens.size(), -1),
        guess_behind_(trace.tokens.size(), -1),
        emitted_(trace.tokens.size(), 0),
        thread_(trace.tokens.size(), -1) {
    for (const int row : t_.emitted) at(emitted_, row) = 1;
    for (int row = 0; row < rows(); ++row)
      if (at(t_.from, row)) at(fed_as_, *at(t_.from, row)) = row;
  }

  std::vector<TraceThread> threads(bool greedy) {
    for (const int row : t_.emitted) place(row);
    for (const int row : t_.emitted) {
      std::vector<TraceToken>& tokens = at(threads_, at(thread_, row)).tokens;
      const int step = at(t_.step, row);
      if (const int guess = at(guess_behind_, row); guess >= 0) {
        tokens.push_back({at(t_.tokens, guess), row, step, TraceToken::Fate::guessed});
        continue;
      }
      for (const int guess : rejected_behind(row))
        tokens.push_back({at(t_.tokens, guess), row, step, TraceToken::Fate::rejected});
      if (const int fed = at(fed_as_, row); fed >= 0)
        tokens.push_back({at(t_.tokens, fed), row, step, TraceToken::Fate::chosen});
      else if (greedy && at(t_.predicts, row))
        tokens.push_back({*at(t_.predicts, row), row, step, TraceToken::Fate::chosen});
    }
    return std::move(threads_);
  }

 private:
  int rows() const { return static_cast<int>(t_.tokens.size()); }

  bool sees(int row, int other) const {
    return std::binary_search(at(t_.visible, row).begin(), at(t_.visible, row).end(), other);
  }

  /// Whether `row` directly follows `other` in the text, and was computed in the same pass.
  bool follows_in_pass(int row, int other) const {
    return at(t_.step, row) == at(t_.step, other) &&
           at(t_.position, row) == at(t_.position, other) + 1 && sees(row, other);
  }

  /// Finds the thread of a row whose choice belongs to the answer.
  void place(int row) {
    int& thread = at(thread_, row);
    if (const auto from = at(t_.from, row); from && at(thread_, *from) >= 0) {
      thread = at(thread_, *from);
      return;
    }
    // A guess: it was verified in the pass that chose it.
    for (int before = row - 1; before >= 0 && at(t_.step, before) == at(t_.step, row); --before)
      if (at(thread_, before) >= 0 && follows_in_pass(row, before)) {
        thread = at(thread_, before);
        at(guess_behind_, before) = row;
        return;
      }
    thread = static_cast<int>(threads_.size());
    threads_.push_back({heading(row), {}});
  }

  /// The consecutive tokens up to `row` that were not chosen.
  Tokens heading(int row) const {
    constexpr int kMost = 64;
    int first = row;
    while (first > 0 && row - first < kMost && !at(t_.from, first) && !at(emitted_, first - 1) &&
           at(t_.position, first - 1) == at(t_.position, first) - 1 && sees(row, first - 1))
      --first;
    first += at(t_.from, first).has_value();
    return {t_.tokens.begin() + first, t_.tokens.begin() + row + 1};
  }

  /// Whether the row is a mask: any id but its own may be guessed from it.
  bool is_mask(int row) const { return at(t_.banned, row) == Tokens{at(t_.tokens, row)}; }

  /// Whether the row is a rejected guess: dropped in its own pass, and chosen by no row or by a
  /// mask. Masks are dropped in their own pass too, but are no guesses.
  bool rejected(int row) const {
    if (at(emitted_, row) || !at(t_.predicts, row) || at(t_.dropped_at, row) != at(t_.step, row))
      return false;
    const auto from = at(t_.from, row);
    return from ? is_mask(*from) : !is_mask(row);
  }

  std::vector<int> rejected_behind(int row) const {
    std::vector<int> line;
    int last = row;
    for (int next = row + 1; next < rows() && at(t_.step, next) == at(t_.step, row); ++next)
      if (follows_in_pass(next, last) && rejected(next)) line.push_back(last = next);
    return line;
  }

  const Trace& t_;
  std::vector<int> fed_as_;  // by row: the row that contains its choice as a token, or -1
  // by row: the guess in the same pass that equals its choice, or -1
  std::vector<int> guess_behind_;
  std::vector<char> emitted_;
  std::vector<int> thread_;  // thread of each row whose choice was emitted
  std::vector<TraceThread> threads_;
};

}  // namespace

std::vector<TraceThread> threads_of(const Trace& trace, bool greedy) {
  return Reader(trace).threads(greedy);
}

std::vector<Event> events_of(const Trace& trace) {
  if (!trace.model.empty() || trace.emitted.empty()) return {};
  const std::vector<TraceThread> threads = threads_of(trace, is_greedy(trace));
  std::vector<size_t> told(threads.size());  // number of tokens reported per thread
  std::vector<Event> events;
  for (auto row = trace.step.begin(); row != trace.step.end();) {
    const int pass = *row;
    row = std::upper_bound(row, trace.step.end(), pass);
    for (size_t t = 0; t < threads.size(); ++t) {
      const std::vector<TraceToken>& tokens = threads[t].tokens;
      for (size_t& next = told[t]; next < tokens.size() && tokens[next].step <= pass; ++next) {
        const int stream = static_cast<int>(t);
        if (next == 0)
          events.emplace_back(
              StreamBegan{0, stream, trace.request, trace.decoder, threads[t].heading});
        const TraceToken& token = tokens[next];
        events.emplace_back(TokenEvent{.job = 0,
                                       .stream = stream,
                                       .token = token.id,
                                       .row = token.row,
                                       .pass = token.step,
                                       .guessed = token.fate != TraceToken::Fate::chosen,
                                       .final = token.fate != TraceToken::Fate::rejected});
      }
    }
    events.emplace_back(
        PassRead{0, trace.request, trace.decoder, pass + 1, /*ended=*/row == trace.step.end()});
  }
  return events;
}

}  // namespace pardec
