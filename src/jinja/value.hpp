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

/// An error in a template, thrown by the functions of this folder. Template converts a Fault to a
/// ConfigError. `line` is 0 as long as it is not known.
struct Fault {
  std::string what;
  int line = 0;
};

/// The limit on the work of a rendering. Work is counted in steps. A step is the evaluation of a
/// node of the template, a visit of an item, or reading or creating a few bytes of text. Unlike a
/// limit on time, a limit on steps gives the same result on every machine.
class Budget {
 public:
  explicit Budget(std::int64_t steps) : most_(steps), left_(steps) {}
  /// Fault: not enough steps are left.
  void take(std::int64_t steps) {
    if (steps > left_) used_up();
    left_ -= steps;
  }
  /// Takes count * each steps.
  void take(std::int64_t count, std::int64_t each) {
    std::int64_t steps = 0;
    take(__builtin_mul_overflow(count, each, &steps) ? INT64_MAX : steps);
  }

 private:
  [[noreturn]] void used_up() const;
  std::int64_t most_, left_;
};

/// The number of steps for reading `bytes` bytes of text.
inline std::int64_t text_steps(std::size_t bytes) {
  return 1 + static_cast<std::int64_t>(bytes / 16);
}
/// The number of steps for finding `part` in `text`, in the worst case, in which `part` has many
/// partial matches.
inline std::int64_t search_steps(std::string_view text, std::string_view part) {
  return text_steps(text.size()) * text_steps(part.size() / 16);
}

struct Sequence;
struct Dict;
struct Namespace;
struct Loop;
struct Callable;

/// jinja2's undefined value. It is printed as an empty text; most other uses are errors.
struct Undefined {
  std::string name;      ///< the name in the template
  std::string why = {};  ///< why the value is undefined; a part of the error if a template calls it
};

/// A text that the filter `safe` or `escape` marked as HTML (markupsafe's Markup).
struct Marked {
  std::shared_ptr<const std::string> text;
};

/// A value of the template language. It behaves like the Python value in jinja2. Texts are valid
/// UTF-8; their lengths count code points.
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
  // The renderer owns namespaces and loops.
  Value(Namespace* value) : held_(value) {}
  Value(Loop* value) : held_(value) {}

  // Each of these functions returns the content if the value has the function's type, otherwise
  // null. Copies of a Value share large content, such as a sequence or dict.

  bool is_none() const { return std::holds_alternative<None>(held_); }
  const Undefined* undefined() const { return std::get_if<Undefined>(&held_); }
  const bool* boolean() const { return std::get_if<bool>(&held_); }
  const std::int64_t* integer() const { return std::get_if<std::int64_t>(&held_); }
  const double* real() const { return std::get_if<double>(&held_); }
  const std::string* text() const { return pointer<std::shared_ptr<const std::string>>(); }
  /// The text of a Marked value. text() does not return it, so that code that does not handle
  /// Marked treats it as an unsupported type.
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
  /// The integer value of a bool or an integer. `what_for`: what the value is, e.g. "a slice's
  /// step"; the error begins with this text. Fault: the value has another type.
  std::int64_t whole(std::string_view what_for) const;
  /// Python's float(value). REQUIRES: is_number().
  double as_real() const;
  /// Python's bool(value).
  bool truth() const;
  /// Number of levels of nested sequences and dicts; 0 for other values.
  int depth() const;
  /// An upper bound of the steps for printing or comparing the value. All contained values count,
  /// and a value that occurs several times counts each time.
  std::int64_t weight() const;
  /// The number of steps for reading the value, if it is a text, or for traversing its items. The
  /// content of the items does not count.
  std::int64_t breadth() const;
  /// The name of the type in Python, e.g. "str" or "dict".
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

/// A value with ordered items: a list, a tuple, a range, a view of a dict (keys, values, items), or
/// a generator, which can be traversed only once. Make it with make_sequence or make_range. The
/// view `items` has tuples (key, value).
struct Sequence {
  enum class Kind { list, tuple, range, keys, values, items, generator };
  Kind kind = Kind::list;
  Values values;
  int depth = 1;                              ///< set by make_sequence; see Value::depth
  std::int64_t weight = 1;                    ///< set by make_sequence; see Value::weight
  std::int64_t begin = 0, end = 0, step = 1;  ///< only for a range; `values` has its items
  /// whether this is a tuple from the filter groupby, whose two items also have the names `grouper`
  /// and `list`
  bool is_group = false;
  bool has_length() const { return kind != Kind::generator; }
  bool has_index() const {
    return kind == Kind::list || kind == Kind::tuple || kind == Kind::range;
  }
};
/// Makes a sequence from its items. Fault: the sequence would have more than a hundred levels of
/// nesting. (Printing, comparing and freeing a value recurse once for each level.)
Value make_sequence(Values values, Sequence::Kind kind = Sequence::Kind::list);
/// Python's range(begin, end, step). Fault: the step is 0, or the range has more than 100000 items
/// (the limit of jinja2's sandbox).
Value make_range(std::int64_t begin, std::int64_t end, std::int64_t step);
Value make_marked(std::string text);  ///< see Marked

/// Python's dict.
struct Dict {
  std::vector<std::pair<Value, Value>> entries;  ///< in order of insertion
  int depth = 1;                                 ///< depth and weight are set by make_dict
  std::int64_t weight = 1;
  /// The value of a key; null: there is no such key. Takes time in proportion to the number of
  /// entries. Fault: see check_hashable.
  const Value* find(const Value& key) const;
  /// Adds an entry, or replaces the value of an existing entry. Fault: see check_hashable.
  void set(Value key, Value value);
};
/// Sets depth and weight of a dict, and makes it a Value. Fault: see make_sequence.
Value make_dict(Dict dict);
/// Checks that a value can be a key of a dict. Fault: it cannot.
void check_hashable(const Value& key);

/// The value of `namespace()`: the only value that a template can change from an inner scope. The
/// renderer owns a namespace, because a namespace may contain itself.
struct Namespace {
  Dict members;
};

struct Statement;
struct Scope;

/// The value of `loop` inside a `for`.
struct Loop {
  const Statement* statement;  ///< the `for` statement
  Scope* around;               ///< the scope in which the `for` statement is
  Values items;
  std::int64_t index0 = 0, depth0 = 0;  ///< loop.index0 and loop.depth0
  Values last_changed;                  ///< arguments of the last call of loop.changed
  bool changed_before = false;          ///< whether loop.changed was called
};

/// The arguments of a call, a filter or a test, and the budget for its work.
class Arguments {
 public:
  Arguments(Budget& budget, std::string callee, Values positional,
            std::vector<std::pair<std::string, Value>> named)
      : budget_(&budget),
        callee_(std::move(callee)),
        positional_(std::move(positional)),
        named_(std::move(named)) {}

  /// The name of the function, filter or test, for errors.
  const std::string& callee() const { return callee_; }
  /// The budget of the rendering that makes the call.
  Budget& budget() const { return *budget_; }
  const Values& positional() const { return positional_; }
  const std::vector<std::pair<std::string, Value>>& named() const { return named_; }
  /// Whether there is a positional argument `index` (from 0), or an argument with this name.
  bool has(size_t index, std::string_view name) const;
  /// The positional argument `index`, or the argument with this name; `fallback` if there is
  /// neither.
  Value get(size_t index, std::string_view name, Value fallback) const;
  /// The positional argument `index`, or the argument with this name. Fault: there is neither.
  Value get(size_t index, std::string_view name) const;
  /// Checks the arguments. `most`: the maximum number of positional arguments. `names`: the names
  /// of the first parameters, in order; the arguments for further parameters can be passed only by
  /// position. Fault: there are more than `most` positional arguments, an argument has a name that
  /// is not in `names`, or a parameter has two arguments.
  void check(size_t most, std::initializer_list<std::string_view> names) const;

 private:
  Budget* budget_;
  std::string callee_;
  Values positional_;
  std::vector<std::pair<std::string, Value>> named_;
};

/// A function, method or macro.
struct Callable {
  std::string name;
  std::function<Value(const Arguments&)> call;
  /// Returns a member of the callable; none: there is no such member. May be empty.
  std::function<std::optional<Value>(std::string_view name)> member = {};
};
Value make_callable(std::string name, std::function<Value(const Arguments&)> call,
                    std::function<std::optional<Value>(std::string_view name)> member = {});

/// Converts JSON. `inside`: number of lists and dicts around `json`. Fault: an integer is beyond
/// the range of int64 (Python would accept it), or the value is nested too deeply (make_sequence).
Value from_json(const OrderedJson& json, int inside = 0);

/// Python's str(value) and repr(value). Fault: the value is or contains a generator, a namespace or
/// a callable. (Their text in Python has an address.)
std::string to_text(const Value& value);
std::string representation(const Value& value);

/// The arguments of json.dumps that the filter `tojson` sets.
struct JsonStyle {
  bool ensure_ascii = false, sort_keys = false;
  bool pretty = false;  ///< each item is on its own line
  std::string indent;   ///< indentation for each level, if pretty
  std::string item_separator = ", ", key_separator = ": ";
};
/// Python's json.dumps(value). Fault: the value or one of its items is not None, a bool, a number,
/// a text, a list, a tuple or a dict; a key of a dict is a tuple; or keys to be sorted have no
/// order.
std::string to_json_text(const Value& value, const JsonStyle& style);

/// The items of a value, as a `for` visits them: the characters of a text, the keys of a dict, no
/// item of an undefined value. A generator is empty afterwards. Fault: the value is not iterable,
/// or is a Marked text, which is not supported.
Values iterate(const Value& value);
/// The same, but the function takes the steps for traversing the items from `budget` before it
/// reads them. Fault: as above, or the budget is used up.
Values iterate(const Value& value, Budget& budget);
/// Whether Python can iterate over the value; false for a Loop. True for a Marked text, although
/// `iterate` does not support it.
bool is_iterable(const Value& value);
/// Python's len(value); 0 for an undefined value. Fault: the value has no length.
std::int64_t length(const Value& value);

}  // namespace pardec::jinja
