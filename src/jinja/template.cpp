#include "src/jinja/template.hpp"

#include <algorithm>
#include <deque>
#include <map>

#include "src/jinja/filters.hpp"
#include "src/jinja/members.hpp"
#include "src/jinja/operators.hpp"
#include "src/jinja/syntax.hpp"
#include "src/support/error.hpp"
#include "src/support/text.hpp"

namespace pardec::jinja {

struct Program {
  Body body;
  std::string where;
};

namespace {

[[noreturn]] void fail(const std::string& where, const Fault& fault) {
  throw ConfigError(str(where, fault.line ? str(", line ", fault.line) : "", ": ", fault.what));
}

struct Scope {
  Scope* parent = nullptr;
  std::map<std::string, Value> names;
};

/// One rendering. Scopes and namespaces live until its end, as macros refer to them.
class Renderer {
 public:
  Renderer(const OrderedJson& variables, const std::tm& now, std::int64_t steps)
      : now_(now), budget_(steps) {
    Scope& given = scopes_.emplace_back();
    add_functions(given);
    std::int64_t weight = 0;
    for (const auto& [name, value] : variables.items())
      weight += (given.names[name] = from_json(value)).weight();
    budget_ = Budget(steps + 1000 * std::min(weight, std::int64_t{1} << 40));
  }

  std::string render(const Body& body) {
    try {
      run(body, child(scopes_.front()));
    } catch (Fault& fault) {
      if (fault.line == 0) fault.line = line_;
      throw;
    }
    return std::move(out_);
  }

 private:
  enum class Flow { on, leave, next };

  Scope& child(Scope& of) {
    budget_.take(8);  // it stays until the end
    return scopes_.emplace_back(Scope{&of, {}});
  }

  void add_functions(Scope& scope);
  Value strftime_now(const Arguments& arguments) const;
  Value make_namespace(const Arguments& arguments);

  Flow run(const Body& body, Scope& scope);
  Flow run(const Statement& statement, Scope& scope);
  Flow loop(const Statement& statement, Scope& scope);
  Value macro(const Statement& statement, Scope& scope);
  /// What a body writes, in a scope of its own.
  std::string captured(const Body& body, Scope& scope);
  void assign(const Target& target, const Value& value, Scope& scope);

  Value evaluate(const Expression& expression, Scope& scope);
  Value evaluate_or_none(const ExpressionPtr& expression, Scope& scope) {
    return expression ? evaluate(*expression, scope) : Value();
  }
  Values evaluate_all(const std::vector<ExpressionPtr>& parts, size_t first, Scope& scope);
  Arguments arguments(const Expression& of, std::string callee, Scope& scope);
  Value name(const Expression& expression, Scope& scope);
  Value comparison(const Expression& expression, Scope& scope);
  Value call(const Expression& expression, Scope& scope);

  std::deque<Scope> scopes_;
  std::deque<Namespace> namespaces_;
  std::deque<Loop> loops_;
  const std::tm now_;
  std::string out_;
  const std::string* captured_ = nullptr;  ///< the body of a set block, for its filters
  int line_ = 0, calls_ = 0, depth_ = 0;
  Budget budget_;
};

/// Counts statements and expressions in one another, macros' too, so that none overruns the stack.
class Level {
 public:
  explicit Level(int& depth) : depth_(depth) {
    if (depth_ >= 800) throw Fault{"this is nested deeper than supported"};
    ++depth_;
  }
  ~Level() { --depth_; }
  Level(const Level&) = delete;

 private:
  int& depth_;
};

// Functions

Dict dict_of(const Arguments& arguments) {
  if (arguments.positional().size() > 1)
    throw Fault{str(arguments.callee(), " has several arguments without names, expected one")};
  Dict dict;
  if (!arguments.positional().empty()) {
    const Value& given = arguments.positional().front();
    arguments.budget().take(given.breadth(), given.weight());
    if (given.dict()) {
      dict = *given.dict();
    } else {
      for (const Value& pair : iterate(given, arguments.budget())) {
        const Values parts = iterate(pair, arguments.budget());
        if (parts.size() != 2) throw Fault{str(arguments.callee(), ": an item is no pair")};
        dict.set(parts[0], parts[1]);
      }
    }
  }
  for (const auto& [name, value] : arguments.named()) dict.set(name, value);
  return dict;
}

Value range(const Arguments& arguments) {
  arguments.check(3, {});
  const auto bound = [&](size_t i) { return arguments.get(i, "bound").whole("a range's bound"); };
  const size_t given = arguments.positional().size();
  const std::int64_t begin = given > 1 ? bound(0) : 0, end = bound(given > 1 ? 1 : 0);
  const std::int64_t step = given > 2 ? bound(2) : 1;
  if (step == 0) throw Fault{"a range's step is 0"};
  Values values;
  for (std::int64_t at = begin; step > 0 ? at < end : at > end;) {
    arguments.budget().take(1);
    values.emplace_back(at);
    if (values.size() > 100000) throw Fault{"a range has more than 100000 items"};  // as jinja2
    if (__builtin_add_overflow(at, step, &at)) break;
  }
  return make_sequence(std::move(values), Sequence::Kind::range);
}

Value raise_exception(const Arguments& arguments) {
  const Value message = arguments.get(0, "message");
  arguments.budget().take(message.weight());
  throw Fault{str("the template refuses this: ", to_text(message))};
}

Value Renderer::strftime_now(const Arguments& arguments) const {
  arguments.check(1, {"format"});
  const Value given = arguments.get(0, "format");
  arguments.budget().take(20, given.weight());
  const std::string format = to_text(given);
  if (format.empty()) return "";
  std::string text(format.size() * 20 + 100, '\0');
  text.resize(std::strftime(text.data(), text.size(), format.c_str(), &now_));
  return text;
}

Value Renderer::make_namespace(const Arguments& arguments) {
  Namespace& made = namespaces_.emplace_back();
  made.members = dict_of(arguments);
  return &made;
}

void Renderer::add_functions(Scope& scope) {
  const auto add = [&](const char* name, std::function<Value(const Arguments&)> call) {
    scope.names[name] = make_callable(name, std::move(call));
  };
  add("range", range);
  add("dict", [](const Arguments& arguments) { return make_dict(dict_of(arguments)); });
  add("namespace", [this](const Arguments& arguments) { return make_namespace(arguments); });
  add("raise_exception", raise_exception);
  add("strftime_now", [this](const Arguments& arguments) { return strftime_now(arguments); });
}

// Statements

/// `safe` marks text for HTML, which nothing does here: at an output's end it changes nothing.
const Expression& unmarked(const Expression& output) {
  const bool safe = output.kind == Expression::Kind::filter && output.text == "safe";
  return safe && output.parts.size() == 1 ? *output.parts[0] : output;
}

Renderer::Flow Renderer::run(const Body& body, Scope& scope) {
  for (const Statement& statement : body)
    if (const Flow flow = run(statement, scope); flow != Flow::on) return flow;
  return Flow::on;
}

Renderer::Flow Renderer::run(const Statement& statement, Scope& scope) {
  const Level level(depth_);
  line_ = statement.line;
  budget_.take(1);
  switch (statement.kind) {
    case Statement::Kind::data:
      budget_.take(text_steps(statement.text.size()));
      out_ += statement.text;
      break;
    case Statement::Kind::output: {
      const Value value = evaluate(unmarked(*statement.expression), scope);
      line_ = statement.line;
      budget_.take(value.weight());
      out_ += to_text(value);
      break;
    }
    case Statement::Kind::condition:
      return run(
          evaluate(*statement.expression, scope).truth() ? statement.body : statement.otherwise,
          scope);
    case Statement::Kind::loop:
      return loop(statement, scope);
    case Statement::Kind::assign: {
      const Value value = evaluate(*statement.expression, scope);
      line_ = statement.line;
      assign(statement.target, value, scope);
      break;
    }
    case Statement::Kind::capture: {
      const std::string body = captured(statement.body, child(scope));
      captured_ = &body;
      const Value value =
          statement.expression ? evaluate(*statement.expression, scope) : Value(body);
      assign(statement.target, value, scope);
      break;
    }
    case Statement::Kind::macro:
      scope.names[statement.text] = macro(statement, scope);
      break;
    case Statement::Kind::generation:
      out_ += captured(statement.body, child(scope));
      break;
    case Statement::Kind::leave:
      return Flow::leave;
    case Statement::Kind::next:
      return Flow::next;
  }
  return Flow::on;
}

Renderer::Flow Renderer::loop(const Statement& statement, Scope& scope) {
  const Value over = evaluate(*statement.expression, scope);
  line_ = statement.line;
  Values items = iterate(over, budget_);
  if (statement.filter) {
    Values kept;
    for (const Value& one : items) {
      Scope& tested = child(scope);
      assign(statement.target, one, tested);
      if (evaluate(*statement.filter, tested).truth()) kept.push_back(one);
    }
    items = std::move(kept);
  }
  bool one_came_through = false;
  Loop& state = loops_.emplace_back();
  state.items = std::move(items);
  for (; state.index0 < std::ssize(state.items); ++state.index0) {
    Scope& inner = child(scope);
    assign(statement.target, state.items[static_cast<size_t>(state.index0)], inner);
    inner.names["loop"] = &state;
    const Flow flow = run(statement.body, inner);
    one_came_through |= flow == Flow::on;
    if (flow == Flow::leave) break;
  }
  // As jinja2 has it: `else` also where each round ended with break or continue.
  if (!one_came_through) return run(statement.otherwise, child(scope));
  return Flow::on;
}

Value Renderer::macro(const Statement& statement, Scope& scope) {
  return make_callable(statement.text, [this, &statement, &scope](const Arguments& given) {
    const auto& parameters = statement.parameters;
    if (given.positional().size() > parameters.size())
      throw Fault{str("macro '", statement.text, "' has ", given.positional().size(),
                      " arguments, expected at most ", parameters.size())};
    for (const auto& [name, value] : given.named()) {
      size_t at = 0;
      while (at < parameters.size() && parameters[at].name != name) ++at;
      if (at == parameters.size() || at < given.positional().size())
        throw Fault{str("macro '", statement.text, "' takes no argument '", name, "' here")};
    }
    if (calls_ >= 100) throw Fault{"macros call one another deeper than supported"};
    ++calls_;
    Scope& inner = child(scope);
    for (size_t i = 0; i < parameters.size(); ++i) {
      const Parameter& parameter = parameters[i];
      inner.names[parameter.name] = given.has(i, parameter.name) ? given.get(i, parameter.name)
                                    : parameter.fallback ? evaluate(*parameter.fallback, inner)
                                                         : Value(Undefined{parameter.name});
    }
    const int line = line_;
    std::string text = captured(statement.body, inner);
    line_ = line;
    --calls_;
    return Value(std::move(text));
  });
}

std::string Renderer::captured(const Body& body, Scope& scope) {
  std::string outer = std::exchange(out_, {});
  run(body, scope);
  budget_.take(text_steps(out_.size()));
  return std::exchange(out_, std::move(outer));
}

void Renderer::assign(const Target& target, const Value& value, Scope& scope) {
  if (target.name.empty()) {
    const Values parts = iterate(value, budget_);
    if (parts.size() != target.several.size())
      throw Fault{str("a value of ", parts.size(), " items is assigned to ", target.several.size(),
                      " names")};
    for (size_t i = 0; i < parts.size(); ++i) assign(target.several[i], parts[i], scope);
    return;
  }
  if (target.member.empty()) {
    scope.names[target.name] = value;
    return;
  }
  for (Scope* at = &scope; at; at = at->parent)
    if (const auto found = at->names.find(target.name); found != at->names.end()) {
      if (!found->second.name_space()) break;
      budget_.take(std::ssize(found->second.name_space()->members.entries));
      found->second.name_space()->members.set(target.member, value);
      return;
    }
  throw Fault{str("'", target.name, "' is no namespace, so its member cannot be set")};
}

// Expressions

Values Renderer::evaluate_all(const std::vector<ExpressionPtr>& parts, size_t first, Scope& scope) {
  Values values;
  for (size_t i = first; i < parts.size(); ++i) values.push_back(evaluate(*parts[i], scope));
  return values;
}

Arguments Renderer::arguments(const Expression& of, std::string callee, Scope& scope) {
  Values positional = evaluate_all(of.parts, 1, scope);
  std::vector<std::pair<std::string, Value>> named;
  for (const auto& [name, value] : of.named) named.emplace_back(name, evaluate(*value, scope));
  line_ = of.line;
  return Arguments(budget_, std::move(callee), std::move(positional), std::move(named));
}

Value Renderer::name(const Expression& expression, Scope& scope) {
  for (const Scope* at = &scope; at; at = at->parent)
    if (const auto found = at->names.find(expression.text); found != at->names.end())
      return found->second;
  for (const char* other : {"cycler", "joiner", "lipsum", "self", "super"})
    if (expression.text == other) throw Fault{str("'", other, "' is not supported")};
  return Undefined{expression.text};
}

Value Renderer::comparison(const Expression& expression, Scope& scope) {
  Value left = evaluate(*expression.parts[0], scope);
  for (size_t i = 0; i < expression.operators.size(); ++i) {
    Value right = evaluate(*expression.parts[i + 1], scope);
    line_ = expression.line;
    budget_.take(comparison_steps(left, right));
    if (!compare(expression.operators[i], left, right)) return false;
    left = std::move(right);
  }
  return true;
}

Value Renderer::call(const Expression& expression, Scope& scope) {
  const Value callee = evaluate(*expression.parts[0], scope);
  const Arguments given =
      arguments(expression, callee.callable() ? callee.callable()->name : "", scope);
  if (callee.callable()) {
    Value made = callee.callable()->call(given);
    budget_.take(made.breadth());
    return made;
  }
  if (callee.undefined())
    throw Fault{str("'", callee.undefined()->name, "' is undefined, so it cannot be called")};
  throw Fault{str("a value of type ", callee.type(), " cannot be called")};
}

Value Renderer::evaluate(const Expression& expression, Scope& scope) {
  using Kind = Expression::Kind;
  const Level level(depth_);
  line_ = expression.line;
  budget_.take(1);
  const auto part = [&](size_t i) { return evaluate(*expression.parts[i], scope); };
  const auto back = [&](Value value) {  // errors from here on stand at this node's line
    line_ = expression.line;
    return value;
  };
  switch (expression.kind) {
    case Kind::constant:
      return expression.constant;
    case Kind::name:
      return name(expression, scope);
    case Kind::list:
      return make_sequence(evaluate_all(expression.parts, 0, scope));
    case Kind::tuple:
      return make_sequence(evaluate_all(expression.parts, 0, scope), Sequence::Kind::tuple);
    case Kind::dict: {
      Dict dict;
      for (size_t i = 0; i < expression.parts.size(); i += 2) {
        Value key = part(i);
        budget_.take(1 + std::ssize(dict.entries), key.weight());
        dict.set(std::move(key), back(part(i + 1)));
      }
      return make_dict(std::move(dict));
    }
    case Kind::attribute: {
      const Value of = back(part(0));
      if (!of.sequence()) budget_.take(of.breadth());
      return attribute(of, expression.text);
    }
    case Kind::item: {
      const Value of = part(0), key = back(part(1));
      if (!of.sequence()) budget_.take(of.breadth(), key.weight());
      return item(of, key);
    }
    case Kind::slice: {
      const Value of = part(0), begin = evaluate_or_none(expression.parts[1], scope),
                  end = evaluate_or_none(expression.parts[2], scope),
                  step = evaluate_or_none(expression.parts[3], scope);
      budget_.take(of.breadth());
      return slice(back(of), begin, end, step);
    }
    case Kind::call:
      return call(expression, scope);
    case Kind::filter: {
      const Value subject = expression.parts[0] ? part(0) : Value(*captured_);
      return apply_filter(expression.text, subject, arguments(expression, expression.text, scope));
    }
    case Kind::test: {
      const Value subject = part(0);
      return apply_test(expression.text, subject, arguments(expression, expression.text, scope));
    }
    case Kind::logical_not:
      return !part(0).truth();
    case Kind::logical_and: {
      Value left = part(0);
      return left.truth() ? part(1) : left;
    }
    case Kind::logical_or: {
      Value left = part(0);
      return left.truth() ? left : part(1);
    }
    case Kind::negative:
      return negate(back(part(0)));
    case Kind::positive:
      return positive(back(part(0)));
    case Kind::concatenation: {
      std::string text;
      for (size_t i = 0; i < expression.parts.size(); ++i) {
        const Value one = back(part(i));
        budget_.take(one.weight());
        text += to_text(one);
      }
      return text;
    }
    case Kind::arithmetic: {
      const Value left = part(0), right = back(part(1));
      budget_.take(arithmetic_steps(expression.text, left, right));
      return arithmetic(expression.text, left, right);
    }
    case Kind::comparison:
      return comparison(expression, scope);
    case Kind::condition:
      if (part(1).truth()) return part(0);
      if (!expression.parts[2]) return Undefined{"an if without else"};
      return part(2);
  }
  return {};
}

}  // namespace

Template Template::parse(std::string_view source, std::string where) {
  Template made;
  try {
    made.program_ =
        std::make_shared<const Program>(Program{jinja::parse(repair_utf8(source)), where});
  } catch (const Fault& fault) {
    fail(where, fault);
  }
  return made;
}

std::string Template::render(const OrderedJson& variables, const std::tm& now,
                             std::int64_t steps) const {
  try {
    return Renderer(variables, now, steps).render(program_->body);
  } catch (const Fault& fault) {
    fail(program_->where, fault);
  }
}

}  // namespace pardec::jinja
