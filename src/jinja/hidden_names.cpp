// Determines which names a body hides before it sets them, as jinja2's idtracking.py.
#include <map>
#include <set>

#include "src/jinja/syntax.hpp"

namespace pardec::jinja {

namespace {

using Kind = Statement::Kind;

/// A frame in the sense of jinja2: a body with its own names.
class Frame {
 public:
  explicit Frame(const Frame* around) : around_(around) {}

  void parameter(const std::string& name) {
    begins_[name] = Begin::parameter;
    set_.insert(name);
  }
  void set(const std::string& name) {
    set_.insert(name);
    begins_.emplace(name, known_around(name) ? Begin::around : Begin::undefined);
  }
  void read(const std::string& name) {
    if (!begins_.contains(name) && !known_around(name)) begins_[name] = Begin::given;
  }
  /// Joins the branches of an `if`: a name that they set starts with its outer value.
  void join(const std::vector<Frame>& branches) {
    const std::set<std::string> before = set_;
    for (const Frame& branch : branches) {
      for (const auto& [name, begin] : branch.begins_) begins_[name] = begin;
      set_.insert(branch.set_.begin(), branch.set_.end());
    }
    for (const std::string& name : set_)
      if (!before.contains(name)) begins_[name] = known_around(name) ? Begin::around : Begin::given;
  }

  std::vector<std::string> hidden() const {
    std::vector<std::string> names;
    for (const auto& [name, begin] : begins_)
      if (begin == Begin::undefined) names.push_back(name);
    return names;
  }

 private:
  enum class Begin { parameter, around, given, undefined };
  bool known_around(const std::string& name) const {
    return around_ && (around_->begins_.contains(name) || around_->known_around(name));
  }

  const Frame* around_;
  std::map<std::string, Begin> begins_;
  std::set<std::string> set_;
};

void read(const ExpressionPtr& expression, Frame& frame) {
  if (!expression) return;
  if (expression->kind == Expression::Kind::name) frame.read(expression->text);
  for (const ExpressionPtr& part : expression->parts) read(part, frame);
  for (const auto& [name, value] : expression->named) read(value, frame);
  read(expression->star, frame);
  read(expression->stars, frame);
}

void set(const Target& target, Frame& frame, bool as_parameter = false) {
  for (const Target& one : target.several) set(one, frame, as_parameter);
  if (target.name.empty()) return;
  if (!target.member.empty())
    frame.read(target.name);
  else if (as_parameter)
    frame.parameter(target.name);
  else
    frame.set(target.name);
}

/// Records what a body does to its frame. Bodies with their own frames are left out.
void note(const Body& body, Frame& frame) {
  for (const Statement& statement : body) {
    switch (statement.kind) {
      case Kind::condition: {
        read(statement.expression, frame);
        std::vector<Frame> branches;
        for (const Body* branch : {&statement.body, &statement.otherwise})
          note(*branch, branches.emplace_back(frame));
        frame.join(branches);
        break;
      }
      case Kind::with:
        for (const auto& [target, value] : statement.bindings) read(value, frame);
        break;
      case Kind::macro:
        frame.set(statement.text);
        break;
      case Kind::assign:
        read(statement.expression, frame);
        set(statement.target, frame);
        break;
      case Kind::capture:
        set(statement.target, frame);
        break;
      case Kind::output:
      case Kind::loop:
      case Kind::call:
      case Kind::filter:
        read(statement.expression, frame);
        break;
      default:
        break;
    }
  }
}

void find(Body& body, const Frame& frame);

/// Processes a statement's body, in which the names of `frame` already exist.
void find_inside(Statement& statement, Frame& frame) {
  note(statement.body, frame);
  if (statement.kind == Kind::filter) read(statement.expression, frame);
  statement.hidden = frame.hidden();
  find(statement.body, frame);
}

void find(Body& body, const Frame& frame) {
  for (Statement& statement : body) {
    if (statement.kind == Kind::condition) {
      find(statement.body, frame);
      find(statement.otherwise, frame);
      continue;
    }
    Frame inner(statement.kind == Kind::block ? nullptr : &frame);
    if (statement.kind == Kind::loop) {
      Frame other(&frame);
      note(statement.otherwise, other);
      statement.hidden_otherwise = other.hidden();
      find(statement.otherwise, other);
      inner.parameter("loop");
      set(statement.target, inner, true);
    }
    for (const auto& [target, value] : statement.bindings) set(target, inner, true);
    for (const Parameter& parameter : statement.parameters) inner.parameter(parameter.name);
    for (const Parameter& parameter : statement.parameters) read(parameter.fallback, inner);
    if (statement.implicit.caller) inner.parameter("caller");
    if (statement.implicit.varargs) inner.parameter("varargs");
    if (statement.implicit.kwargs) inner.parameter("kwargs");
    find_inside(statement, inner);
  }
}

}  // namespace

void hide_names(Program& program) {
  Frame frame(nullptr);
  note(program.body, frame);
  program.hidden = frame.hidden();
  find(program.body, frame);
}

}  // namespace pardec::jinja
