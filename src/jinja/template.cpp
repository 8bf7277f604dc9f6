#include "src/jinja/template.hpp"

#include <algorithm>
#include <deque>
#include <map>

#include "src/jinja/filters.hpp"
#include "src/jinja/format.hpp"
#include "src/jinja/functions.hpp"
#include "src/jinja/members.hpp"
#include "src/jinja/operators.hpp"
#include "src/jinja/syntax.hpp"
#include "src/support/error.hpp"
#include "src/support/text.hpp"

namespace pardec::jinja {

struct ParsedTemplate {
  Program program;
  std::string where;
};

struct Scope {
  Scope* parent = nullptr;
  std::map<std::string, Value> names;
};

namespace {

[[noreturn]] void fail(const std::string& where, const Fault& fault) {
  throw ConfigError(str(where, fault.line ? str(", line ", fault.line) : "", ": ", fault.what));
}

/// One rendering. Scopes and namespaces live until its end, because macros refer to them.
class Renderer {
 public:
  Renderer(const OrderedJson& variables, const std::tm& now, std::int64_t steps) : budget_(steps) {
    Scope& given = scopes_.emplace_back();
    add_functions(given.names, now);
    given.names["namespace"] =
        make_callable("namespace", [this](const Arguments& all) { return make_namespace(all); });
    std::int64_t weight = 0;
    for (const auto& [name, value] : variables.items())
      weight += (given.names[name] = from_json(value)).weight();
    budget_ = Budget(steps + 1000 * std::min(weight, std::int64_t{1} << 40));
  }

  std::string render(const Program& program) {
    try {
      top_ = &child(scopes_.front(), program.hidden);
      run(program.body, *top_);
    } catch (Fault& fault) {
      if (fault.line == 0) fault.line = line_;
      throw;
    }
    return std::move(out_);
  }

 private:
  enum class Flow { on, leave, next };

  Scope& child(Scope& of, const std::vector<std::string>& hidden = {}) {
    budget_.take(8 + std::ssize(hidden));  // a scope lives until the end
    Scope& made = scopes_.emplace_back(Scope{&of, {}});
    for (const std::string& name : hidden) made.names[name] = Undefined{name, "it is set below"};
    return made;
  }

  Value make_namespace(const Arguments& arguments);

  Flow run(const Body& body, Scope& scope);
  Flow run(const Statement& statement, Scope& scope);
  void block(const Statement& statement, Scope& scope);
  Flow loop(const Statement& statement, Scope& scope, const Value& over, std::int64_t depth0 = 0);
  /// `loop(over)` in a recursive loop: the output of its body for these items.
  Value loop_again(const Loop& loop, const Arguments& given);
  /// The value of a macro, or of a call block, which is the macro `caller`.
  Value macro(const Statement& statement, Scope& scope);
  Value call_macro(const Statement& statement, Scope& scope, const Arguments& given);
  /// The output of a body, in a new scope.
  std::string captured(const Body& body, Scope& scope);
  void assign(const Target& target, const Value& value, Scope& scope);

  Value evaluate(const Expression& expression, Scope& scope);
  Value evaluate_or_none(const ExpressionPtr& expression, Scope& scope) {
    return expression ? evaluate(*expression, scope) : Value();
  }
  Values evaluate_all(const std::vector<ExpressionPtr>& parts, size_t first, Scope& scope);
  Arguments arguments(const Expression& of, std::string callee, Scope& scope,
                      const Value* caller = nullptr);
  static const Value* find(const std::string& name, const Scope& scope);  ///< null: not found
  Value name(const Expression& expression, Scope& scope);
  Value comparison(const Expression& expression, Scope& scope);
  /// `caller`: the macro passed by a call block; may be null.
  Value call(const Expression& expression, Scope& scope, const Value* caller = nullptr);

  std::deque<Scope> scopes_;
  std::deque<Namespace> namespaces_;
  std::deque<Loop> loops_;
  Scope* top_ = nullptr;  ///< the scope visible to blocks: that of the top-level statements
  std::string out_;
  const std::string* captured_ = nullptr;  ///< output of a set block's body, for its filters
  int line_ = 0, calls_ = 0, depth_ = 0;
  Budget budget_;
};

/// Counts nested statements and expressions, including macros, so that none overflows the stack.
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

/// The same rule as in transformers.
void check_member_name(std::string_view name) {
  if (name.starts_with('_'))
    throw Fault{str("a namespace takes no member '", name, "', which begins with _")};
}

Value Renderer::make_namespace(const Arguments& arguments) {
  Namespace& made = namespaces_.emplace_back();
  made.members = dict_of(arguments);
  for (const auto& [name, value] : made.members.entries)
    if (name.text()) check_member_name(*name.text());
  return &made;
}

// Statements

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
      const Value value = evaluate(*statement.expression, scope);
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
      return loop(statement, scope, evaluate(*statement.expression, scope));
    case Statement::Kind::assign: {
      const Value value = evaluate(*statement.expression, scope);
      line_ = statement.line;
      assign(statement.target, value, scope);
      break;
    }
    case Statement::Kind::capture: {
      Scope& inner = child(scope, statement.hidden);
      const std::string body = captured(statement.body, inner);
      captured_ = &body;
      const Value value =
          statement.expression ? evaluate(*statement.expression, inner) : Value(body);
      assign(statement.target, value, scope);
      break;
    }
    case Statement::Kind::with: {
      Scope& inner = child(scope, statement.hidden);
      for (const auto& [target, expression] : statement.bindings)
        assign(target, evaluate(*expression, scope), inner);
      return run(statement.body, inner);
    }
    case Statement::Kind::macro:
      scope.names[statement.text] = macro(statement, scope);
      break;
    case Statement::Kind::call: {
      const Value caller = macro(statement, scope);
      const Value value = call(*statement.expression, scope, &caller);
      budget_.take(value.weight());
      out_ += to_text(value);
      break;
    }
    case Statement::Kind::filter: {
      Scope& inner = child(scope, statement.hidden);
      const std::string body = captured(statement.body, inner);
      captured_ = &body;
      const Value value = evaluate(*statement.expression, inner);
      budget_.take(value.weight());
      if (!value.text() && !value.marked())
        throw Fault{str("{% filter %} makes a value of type ", value.type(), ", expected str")};
      out_ += to_text(value);
      break;
    }
    case Statement::Kind::block:
      block(statement, scope);
      break;
    case Statement::Kind::generation:  // jinja2 implements it as a macro that is called at once
      out_ += to_text(call_macro(statement, scope, Arguments(budget_, "generation", {}, {})));
      break;
    case Statement::Kind::leave:
      return Flow::leave;
    case Statement::Kind::next:
      return Flow::next;
  }
  return Flow::on;
}

void Renderer::block(const Statement& statement, Scope& scope) {
  Scope* const outer = std::exchange(top_, statement.is_scoped ? &scope : top_);
  Scope& inner = child(*top_, statement.hidden);
  // Names that surrounding bodies hide are visible in a block, because jinja2 compiles blocks
  // separately.
  for (const auto& [name, given] : scopes_.front().names) {
    const Value* found = find(name, inner);
    if (found->undefined() && !found->undefined()->why.empty() && !inner.names.contains(name))
      inner.names[name] = given;
  }
  run(statement.body, inner);
  top_ = outer;
}

Renderer::Flow Renderer::loop(const Statement& statement, Scope& scope, const Value& over,
                              std::int64_t depth0) {
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
  Loop& state = loops_.emplace_back(Loop{&statement, &scope, std::move(items)});
  state.depth0 = depth0;
  for (; state.index0 < std::ssize(state.items); ++state.index0) {
    Scope& inner = child(scope, statement.hidden);
    assign(statement.target, state.items[static_cast<size_t>(state.index0)], inner);
    inner.names["loop"] = &state;
    const Flow flow = run(statement.body, inner);
    one_came_through |= flow == Flow::on;
    if (flow == Flow::leave) break;
  }
  // As in jinja2: `else` also runs if every round ended with break or continue.
  if (!one_came_through) return run(statement.otherwise, child(scope, statement.hidden_otherwise));
  return Flow::on;
}

Value Renderer::loop_again(const Loop& loop, const Arguments& given) {
  if (!loop.statement->is_recursive)
    throw Fault{"'loop' is called, but its for is not marked 'recursive'"};
  given.check(1, {"iterable"});
  if (calls_ >= 100) throw Fault{"loops call one another deeper than supported"};
  ++calls_;
  std::string outer = std::exchange(out_, {});
  const int line = line_;
  this->loop(*loop.statement, *loop.around, given.get(0, "iterable"), loop.depth0 + 1);
  line_ = line;
  --calls_;
  budget_.take(text_steps(out_.size()));
  return std::exchange(out_, std::move(outer));
}

Value Renderer::macro(const Statement& statement, Scope& scope) {
  const auto member = [&statement](std::string_view name) -> std::optional<Value> {
    if (name == "name") return statement.text.empty() ? Value() : Value(statement.text);
    if (name == "catch_kwargs") return statement.implicit.kwargs;
    if (name == "catch_varargs") return statement.implicit.varargs;
    if (name == "caller") return statement.implicit.caller;
    if (name != "arguments") return std::nullopt;
    Values names;
    for (const Parameter& parameter : statement.parameters) names.emplace_back(parameter.name);
    return make_sequence(std::move(names), Sequence::Kind::tuple);
  };
  return make_callable(
      statement.text,
      [this, &statement, &scope](const Arguments& given) {
        return call_macro(statement, scope, given);
      },
      member);
}

Value Renderer::call_macro(const Statement& statement, Scope& scope, const Arguments& given) {
  const auto& parameters = statement.parameters;
  const Values& positional = given.positional();
  auto named = given.named();
  const auto take = [&](const std::string& name) -> std::optional<Value> {
    for (auto at = named.begin(); at != named.end(); ++at) {
      if (at->first != name) continue;
      Value value = std::move(at->second);
      named.erase(at);
      return value;
    }
    return std::nullopt;
  };
  const std::string who =
      statement.text.empty() ? "a call block" : str("macro '", statement.text, "'");
  if (calls_ >= 100) throw Fault{"macros call one another deeper than supported"};
  Scope& inner = child(scope, statement.hidden);
  std::vector<const Parameter*> missing;
  for (size_t i = 0; i < parameters.size(); ++i) {
    std::optional<Value> value = i < positional.size() ? positional[i] : take(parameters[i].name);
    if (!value) missing.push_back(&parameters[i]);
    inner.names[parameters[i].name] = value.value_or(Undefined{parameters[i].name});
  }
  if (statement.implicit.caller)
    inner.names["caller"] = take("caller").value_or(Undefined{"caller"});
  if (statement.implicit.kwargs) {
    Dict rest;
    budget_.take(std::ssize(named), std::ssize(named));
    for (auto& [name, value] : named) rest.set(name, std::move(value));
    inner.names["kwargs"] = make_dict(std::move(rest));
  } else if (!named.empty()) {
    throw Fault{str(who, " takes no argument '", named.front().first, "' here")};
  }
  if (statement.implicit.varargs) {
    Values rest;
    for (size_t i = parameters.size(); i < positional.size(); ++i) rest.push_back(positional[i]);
    inner.names["varargs"] = make_sequence(std::move(rest), Sequence::Kind::tuple);
  } else if (positional.size() > parameters.size()) {
    throw Fault{
        str(who, " has ", positional.size(), " arguments, expected at most ", parameters.size())};
  }
  ++calls_;
  for (const Parameter* parameter : missing)
    if (parameter->fallback) inner.names[parameter->name] = evaluate(*parameter->fallback, inner);
  const int line = line_;
  std::string text = captured(statement.body, inner);
  line_ = line;
  --calls_;
  return text;
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
  const Value* found = find(target.name, scope);
  if (!found || !found->name_space())
    throw Fault{str("'", target.name, "' is no namespace, so its member cannot be set")};
  check_member_name(target.member);
  Dict& members = found->name_space()->members;
  budget_.take(std::ssize(members.entries));
  members.set(target.member, value);
}

// Expressions

Values Renderer::evaluate_all(const std::vector<ExpressionPtr>& parts, size_t first, Scope& scope) {
  Values values;
  for (size_t i = first; i < parts.size(); ++i) values.push_back(evaluate(*parts[i], scope));
  return values;
}

Arguments Renderer::arguments(const Expression& of, std::string callee, Scope& scope,
                              const Value* caller) {
  Values positional = evaluate_all(of.parts, 1, scope);
  std::vector<std::pair<std::string, Value>> named;
  for (const auto& [name, value] : of.named) named.emplace_back(name, evaluate(*value, scope));
  const Value star = evaluate_or_none(of.star, scope), stars = evaluate_or_none(of.stars, scope);
  line_ = of.line;
  if (of.star)
    for (Value& one : iterate(star, budget_)) positional.push_back(std::move(one));
  if (of.stars) {
    if (!stars.dict()) throw Fault{str("'**' takes a dict, found ", stars.type())};
    for (const auto& [key, value] : stars.dict()->entries) {
      if (!key.text()) throw Fault{str("'**' has a key of type ", key.type(), ", expected str")};
      budget_.take(1 + std::ssize(named));
      for (const auto& [own, given] : named)
        if (own == *key.text()) throw Fault{str("argument '", own, "' is given twice")};
      named.emplace_back(*key.text(), value);
    }
  }
  if (caller) named.emplace_back("caller", *caller);
  return Arguments(budget_, std::move(callee), std::move(positional), std::move(named));
}

const Value* Renderer::find(const std::string& name, const Scope& scope) {
  for (const Scope* at = &scope; at; at = at->parent)
    if (const auto found = at->names.find(name); found != at->names.end()) return &found->second;
  return nullptr;
}

Value Renderer::name(const Expression& expression, Scope& scope) {
  if (const Value* found = find(expression.text, scope)) return *found;
  for (const char* other : {"lipsum", "self", "super"})
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

Value Renderer::call(const Expression& expression, Scope& scope, const Value* caller) {
  const Value callee = evaluate(*expression.parts[0], scope);
  const Arguments given =
      arguments(expression, callee.callable() ? callee.callable()->name : "loop", scope, caller);
  if (callee.callable()) {
    Value made = callee.callable()->call(given);
    budget_.take(made.breadth());
    return made;
  }
  if (callee.loop()) return loop_again(*callee.loop(), given);
  if (const Undefined* undefined = callee.undefined())
    throw Fault{str("'", undefined->name, undefined->why.empty() ? "' is undefined, so it" : "'",
                    " cannot be called", undefined->why.empty() ? "" : ": ", undefined->why)};
  throw Fault{str("a value of type ", callee.type(), " cannot be called")};
}

Value Renderer::evaluate(const Expression& expression, Scope& scope) {
  using Kind = Expression::Kind;
  const Level level(depth_);
  line_ = expression.line;
  budget_.take(1);
  const auto part = [&](size_t i) { return evaluate(*expression.parts[i], scope); };
  const auto back = [&](Value value) {  // later errors belong to the line of this node
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
      if (expression.text == "%" && left.text())
        return percent_format(*left.text(), right, budget_);
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
    made.parsed_ = std::make_shared<const ParsedTemplate>(
        ParsedTemplate{jinja::parse(repair_utf8(source)), where});
  } catch (const Fault& fault) {
    fail(where, fault);
  }
  return made;
}

std::string Template::render(const OrderedJson& variables, const std::tm& now,
                             std::int64_t steps) const {
  try {
    return Renderer(variables, now, steps).render(parsed_->program);
  } catch (const Fault& fault) {
    fail(parsed_->where, fault);
  }
}

}  // namespace pardec::jinja
