#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/jinja/value.hpp"

namespace pardec::jinja {

struct Expression;
using ExpressionPtr = std::unique_ptr<const Expression>;

/// A node of an expression; which members are used depends on its kind.
struct Expression {
  enum class Kind {
    constant,   ///< constant
    name,       ///< text
    list,       ///< parts
    tuple,      ///< parts
    dict,       ///< parts: key, value, key, value, ...
    attribute,  ///< parts[0].text
    item,       ///< parts[0][parts[1]]
    slice,      ///< parts[0][parts[1] : parts[2] : parts[3]], any of the three may be null
    call,       ///< parts[0](parts[1], ..., *star, named, **stars)
    filter,     ///< parts[0]|text(parts[1], ...) likewise; a null parts[0] is the body of a block
    test,       ///< parts[0] is text(parts[1], ...) likewise
    logical_not,
    logical_and,
    logical_or,
    negative,
    positive,
    concatenation,  ///< parts, joined by ~
    arithmetic,     ///< parts[0] text parts[1]
    comparison,     ///< parts[0] operators[0] parts[1] operators[1] parts[2] ...
    condition,      ///< parts[0] if parts[1] else parts[2], which may be null
  };
  Kind kind;
  int line;
  std::string text;
  Value constant;
  std::vector<ExpressionPtr> parts;
  std::vector<std::pair<std::string, ExpressionPtr>> named;
  ExpressionPtr star, stars;  ///< arguments of a list, of a dict; may be null
  std::vector<std::string> operators;
};

/// What is assigned to: a name, a member of a namespace, or several of these.
struct Target {
  std::string name, member;     ///< `member` is empty for a plain name
  std::vector<Target> several;  ///< where the name is empty
};

struct Statement;
using Body = std::vector<Statement>;

struct Parameter {
  std::string name;
  ExpressionPtr fallback;  ///< may be null
};

/// What a macro takes beside its parameters, since its body asks for it by these names.
struct Implicit {
  bool caller = false, varargs = false, kwargs = false;
};

struct Statement {
  enum class Kind {
    data,        ///< text
    output,      ///< expression
    condition,   ///< if expression: body, else: otherwise
    loop,        ///< for target in expression if filter: body, else: otherwise
    assign,      ///< set target = expression
    capture,     ///< set target, filters in `expression` (may be null), body
    with,        ///< bindings: body
    macro,       ///< text(parameters): body
    call,        ///< expression, a call, which gets body as the macro caller(parameters)
    filter,      ///< filters in `expression`, body
    block,       ///< text: body
    generation,  ///< body, which transformers marks as the assistant's
    leave,       ///< break
    next,        ///< continue
  };
  Kind kind;
  int line;
  std::string text;
  Target target;
  ExpressionPtr expression, filter;
  bool is_recursive = false;  ///< of a loop
  bool is_scoped = false;     ///< of a block: sees what is around it
  std::vector<std::pair<Target, ExpressionPtr>> bindings;
  std::vector<Parameter> parameters;
  Implicit implicit;
  Body body, otherwise;
  /// Names that are undefined where the body (or the other one) begins, whatever the caller of the
  /// template gives: see hide_names.
  std::vector<std::string> hidden, hidden_otherwise;
};

struct Program {
  Body body;
  std::vector<std::string> hidden;  ///< as a statement's
};

/// Fault with its line: a syntax error, or a construct that is not supported, by name.
Program parse(std::string_view source);

/// Finds what jinja2's compiler makes of a name that a body sets before it reads it, by their order
/// in the template: it is the body's own from its beginning, and undefined until it is set, so that
/// a set block, or a macro above, that reads it meets no variable of the same name. REQUIRES: none
/// is found yet.
void hide_names(Program& program);

/// Names that `filter` and `test` expressions may have.
bool is_filter(std::string_view name);
bool is_test(std::string_view name);
std::vector<std::string> filter_names();
std::vector<std::string> test_names();

}  // namespace pardec::jinja
