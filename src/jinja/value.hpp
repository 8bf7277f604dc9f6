#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "src/support/json.hpp"

namespace pardec::jinja {

/// What goes wrong in a template; `line` 0 where the place is not known yet.
struct Fault {
  std::string what;
  int line = 0;
};

/// What is left of the steps that a rendering may take: a node of the template that is evaluated,
/// an item or some bytes of a text that are gone over or made. Counted, not timed: the same
/// template and values always end alike.
class Budget {
 public:
  explicit Budget(std::int64_t steps) : most_(steps), left_(steps) {}
  /// Fault where there are no more.
  void take(std::int64_t steps) {
    if (steps > left_) used_up();
    left_ -= steps;
  }
  /// `each` steps for each of `count`.
  void take(std::int64_t count, std::int64_t each) {
    std::int64_t steps = 0;
    take(__builtin_mul_overflow(count, each, &steps) ? INT64_MAX : steps);
  }

 private:
  [[noreturn]] void used_up() const;
  std::int64_t most_, left_;
};

/// Steps of going over so many bytes of text.
inline std::int64_t text_steps(std::size_t bytes) {
  return 1 + static_cast<std::int64_t>(bytes / 16);
}
/// Steps of looking for `part` in `text`, where all of it is nearly found again and again.
inline std::int64_t search_steps(std::string_view text, std::string_view part) {
  return text_steps(text.size()) * text_steps(part.size() / 16);
}

struct Sequence;
struct Dict;
struct Namespace;
struct Loop;
struct Callable;

/// What Python calls an undefined value: prints as nothing, and most uses of it are errors.
struct Undefined {
  std::string name;      ///< how the template called it
  std::string why = {};  ///< said where it is called, beside the name
};

/// A text that `safe` or `escape` marked as HTML, which Python's Markup is.
struct Marked {
  std::shared_ptr<const std::string> text;
};

/// A value of the template language. It behaves as the Python value that jinja2 would have; texts
/// are valid UTF-8 and count code points.
class Value {
 public:
  using None = std::monostate;
  Value() = default;  ///< None
  Value(bool value) : held_(value) {}
  Value(int value) : held_(std::int64_t{value}) {}
  Value(std::int64_t value) : held_(value) {}
  Value(double value) : held_(value) {}
  Value(std::string value) : held_(std::make_shared<const std::string>(std::move(value))) {}
  Value(std::string_view value) : Value(std::string(value)) {}
  Value(const char* value) : Value(std::string(value)) {}
  Value(Undefined value) : held_(std::move(value)) {}
  Value(Marked value) : held_(std::move(value)) {}
  Value(std::shared_ptr<Sequence> value) : held_(std::move(value)) {}
  Value(std::shared_ptr<const Dict> value) : held_(std::move(value)) {}
  Value(std::shared_ptr<const Callable> value) : held_(std::move(value)) {}
  Value(Namespace* value) : held_(value) {}
  Value(Loop* value) : held_(value) {}

  bool is_none() const { return std::holds_alternative<None>(held_); }
  const Undefined* undefined() const { return std::get_if<Undefined>(&held_); }
  const bool* boolean() const { return std::get_if<bool>(&held_); }
  const std::int64_t* integer() const { return std::get_if<std::int64_t>(&held_); }
  const double* real() const { return std::get_if<double>(&held_); }
  const std::string* text() const { return pointer<std::shared_ptr<const std::string>>(); }
  /// The text of a marked one, which is no `text()`: what does not know of marks refuses it.
  const std::string* marked() const {
    const auto* held = std::get_if<Marked>(&held_);
    return held ? &*held->text : nullptr;
  }
  Sequence* sequence() const { return pointer<std::shared_ptr<Sequence>>(); }
  const Dict* dict() const { return pointer<std::shared_ptr<const Dict>>(); }
  const Callable* callable() const { return pointer<std::shared_ptr<const Callable>>(); }
  Namespace* name_space() const { return pointer<Namespace*>(); }
  Loop* loop() const { return pointer<Loop*>(); }

  bool is_number() const { return boolean() || integer() || real(); }
  /// A bool or an integer. Fault otherwise, which says what for.
  std::int64_t whole(std::string_view what_for) const;
  /// As Python's float(). REQUIRES: is_number().
  double as_real() const;
  /// `bool(value)`.
  bool truth() const;
  /// How many lists and dicts stand one inside the other here.
  int depth() const;
  /// Steps of going through all that it holds, as often as it is held: at most what it takes to
  /// write it, or to compare it.
  std::int64_t weight() const;
  /// Steps of going through its own items, or its text.
  std::int64_t breadth() const;
  /// Python's name of the type: "str", "dict".
  std::string_view type() const;

 private:
  template <typename Pointer>
  auto pointer() const -> decltype(&**static_cast<const Pointer*>(nullptr)) {
    const auto* held = std::get_if<Pointer>(&held_);
    return held ? &**held : nullptr;
  }
  std::variant<None, Undefined, bool, std::int64_t, double, std::shared_ptr<const std::string>,
               Marked, std::shared_ptr<Sequence>, std::shared_ptr<const Dict>,
               std::shared_ptr<const Callable>, Namespace*, Loop*>
      held_;
};

using Values = std::vector<Value>;

/// Everything with items in an order. A generator can be gone through once.
struct Sequence {
  enum class Kind { list, tuple, range, keys, values, items, generator };
  Kind kind = Kind::list;
  Values values;
  int depth = 1;
  std::int64_t weight = 1;
  std::int64_t begin = 0, end = 0, step = 1;  ///< of a range
  bool is_group = false;                      ///< a tuple of groupby, with names for its two items
  bool has_length() const { return kind != Kind::generator; }
  bool has_index() const {
    return kind == Kind::list || kind == Kind::tuple || kind == Kind::range;
  }
};
/// Fault where it would be nested deeper than supported: to write, compare and free a value takes a
/// call a level.
Value make_sequence(Values values, Sequence::Kind kind = Sequence::Kind::list);
/// Fault where it has more than 100000 items, as in jinja2's sandbox.
Value make_range(std::int64_t begin, std::int64_t end, std::int64_t step);
Value make_marked(std::string text);

struct Dict {
  std::vector<std::pair<Value, Value>> entries;  ///< in the order in which they came
  int depth = 1;                                 ///< as make_dict finds it, and the next
  std::int64_t weight = 1;
  const Value* find(const Value& key) const;
  void set(Value key, Value value);
};
Value make_dict(Dict dict);  ///< Fault as make_sequence
/// Fault: a value that no dict has as a key.
void check_hashable(const Value& key);

/// `namespace()`: the one thing that a template can change from an inner scope. Its renderer owns
/// it, so that it may hold itself.
struct Namespace {
  Dict members;
};

struct Statement;
struct Scope;

/// What `loop` is inside a `for`.
struct Loop {
  const Statement* statement;  ///< the `for`
  Scope* around;               ///< where it stands
  Values items;
  std::int64_t index0 = 0, depth0 = 0;
  Values last_changed;
  bool changed_before = false;
};

/// The arguments of a call, a filter or a test.
class Arguments {
 public:
  Arguments(Budget& budget, std::string callee, Values positional,
            std::vector<std::pair<std::string, Value>> named)
      : budget_(&budget),
        callee_(std::move(callee)),
        positional_(std::move(positional)),
        named_(std::move(named)) {}

  const std::string& callee() const { return callee_; }
  /// Of the rendering that calls.
  Budget& budget() const { return *budget_; }
  const Values& positional() const { return positional_; }
  const std::vector<std::pair<std::string, Value>>& named() const { return named_; }
  bool has(size_t index, std::string_view name) const;
  /// The argument at a position or by its name, else `fallback`.
  Value get(size_t index, std::string_view name, Value fallback) const;
  /// Fault where it is missing.
  Value get(size_t index, std::string_view name) const;
  /// Fault: more arguments than `most`, or a name that is not among the `names`.
  void check(size_t most, std::initializer_list<std::string_view> names) const;

 private:
  Budget* budget_;
  std::string callee_;
  Values positional_;
  std::vector<std::pair<std::string, Value>> named_;
};

struct Callable {
  std::string name;
  std::function<Value(const Arguments&)> call;
  std::function<std::optional<Value>(std::string_view name)> member = {};  ///< may be empty
};
Value make_callable(std::string name, std::function<Value(const Arguments&)> call,
                    std::function<std::optional<Value>(std::string_view name)> member = {});

/// Fault for an integer beyond 64 bits, which Python would have, and as make_sequence. `inside`:
/// how many lists and dicts it stands in.
Value from_json(const OrderedJson& json, int inside = 0);

/// `str(value)` and `repr(value)`.
std::string to_text(const Value& value);
std::string representation(const Value& value);

struct JsonStyle {
  bool ensure_ascii = false, sort_keys = false;
  bool pretty = false;
  std::string indent;  ///< of one level; where pretty
  std::string item_separator = ", ", key_separator = ": ";
};
/// `json.dumps(value)` of Python.
std::string to_json_text(const Value& value, const JsonStyle& style);

/// The items that a `for` goes through; a generator is used up. Fault for what cannot be iterated.
Values iterate(const Value& value);
Values iterate(const Value& value, Budget& budget);  ///< takes a step for each before
bool is_iterable(const Value& value);
/// `len(value)`. Fault where it has none.
std::int64_t length(const Value& value);

}  // namespace pardec::jinja
