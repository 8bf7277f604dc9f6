#pragma once
#include <initializer_list>
#include <string_view>
#include <utility>
#include <vector>

#include "src/jinja/lexer.hpp"
#include "src/jinja/syntax.hpp"

namespace pardec::jinja {

/// The tokens of a template, one after the other.
class TokenStream {
 public:
  explicit TokenStream(std::vector<Token> tokens) : tokens_(std::move(tokens)) {}
  const Token& current() const { return tokens_[at_]; }
  const Token& next() const { return tokens_[at_ + 1 < tokens_.size() ? at_ + 1 : at_]; }
  Token take();
  size_t position() const { return at_; }
  const Token& at(size_t position) const { return tokens_[position]; }
  bool is(Token::Kind kind) const { return current().kind == kind; }
  bool is_symbol(std::string_view symbol) const;
  bool is_name(std::string_view name) const;
  bool skip_symbol(std::string_view symbol);
  bool skip_name(std::string_view name);
  void expect_symbol(std::string_view symbol);
  std::string expect_name();
  void expect(Token::Kind kind);
  [[noreturn]] void unexpected(std::string_view expected) const;

 private:
  std::vector<Token> tokens_;
  size_t at_ = 0;
};

/// Counts brackets in brackets and blocks in blocks, so that no template overruns the stack. Fault
/// beyond a hundred.
class Nesting {
 public:
  Nesting(int& depth, int line) : depth_(depth) {
    if (depth_ >= 100) throw Fault{"this is nested deeper than supported", line};
    ++depth_;
  }
  ~Nesting() { --depth_; }
  Nesting(const Nesting&) = delete;

 private:
  int& depth_;
};

/// Which of `caller`, `varargs` and `kwargs` the macros that are open ask for: a name that is read
/// before it is set.
class ImplicitNames {
 public:
  void open() { macros_.emplace_back(); }
  /// What stands in a block is not in the macros around it.
  void enter_block() { outside_.push_back(std::exchange(macros_, {})); }
  void leave_block() {
    macros_ = std::move(outside_.back());
    outside_.pop_back();
  }
  Implicit close();
  void read(std::string_view name);
  void set(std::string_view name);

 private:
  struct Macro {
    Implicit read, set;
  };
  std::vector<Macro> macros_;
  std::vector<std::vector<Macro>> outside_;
};

/// Jinja's expressions, by recursive descent.
class ExpressionParser {
 public:
  explicit ExpressionParser(TokenStream& stream) : stream_(stream) {}

  ExpressionPtr expression();
  /// Without `a if b else c`, whose words end it.
  ExpressionPtr unconditional();
  /// One expression, or several with commas between them, which make a tuple.
  ExpressionPtr tuple(bool conditional = true);
  /// Filters that follow; `subject` may be null. `named`: the first one's name follows, without |.
  ExpressionPtr filters(ExpressionPtr subject, bool named = false);
  ImplicitNames& implicit() { return implicit_; }

 private:
  ExpressionPtr logical_or();
  ExpressionPtr logical_and();
  ExpressionPtr logical_not();
  ExpressionPtr comparison();
  ExpressionPtr binary(ExpressionPtr (ExpressionParser::*operand)(),
                       std::initializer_list<std::string_view> symbols);
  ExpressionPtr sum();
  ExpressionPtr concatenation();
  ExpressionPtr product();
  ExpressionPtr power();
  ExpressionPtr filtered();
  ExpressionPtr unary(bool with_filters);
  ExpressionPtr primary();
  ExpressionPtr postfix(ExpressionPtr subject);
  ExpressionPtr subscript(ExpressionPtr subject);
  ExpressionPtr rest_of_key(ExpressionPtr first);
  ExpressionPtr test(ExpressionPtr subject);
  ExpressionPtr call(ExpressionPtr subject);
  void arguments(Expression& of);
  bool ends_tuple() const;

  TokenStream& stream_;
  ImplicitNames implicit_;
  int depth_ = 0;
};

}  // namespace pardec::jinja
