#pragma once
#include <initializer_list>
#include <string_view>
#include <utility>
#include <vector>

#include "src/jinja/lexer.hpp"
#include "src/jinja/syntax.hpp"

namespace pardec::jinja {

/// The tokens of a template, read one after another.
class TokenStream {
 public:
  /// `tokens`: as `tokenize` returns them.
  explicit TokenStream(std::vector<Token> tokens) : tokens_(std::move(tokens)) {}
  const Token& current() const { return tokens_[at_]; }
  /// The token after the current one; at the end, the token `end`.
  const Token& next() const { return tokens_[at_ + 1 < tokens_.size() ? at_ + 1 : at_]; }
  /// Returns the current token, and moves to the next token. At the end, stays at the token `end`.
  Token take();
  size_t position() const { return at_; }  ///< index of the current token
  const Token& at(size_t position) const { return tokens_[position]; }
  bool is(Token::Kind kind) const { return current().kind == kind; }
  bool is_symbol(std::string_view symbol) const;
  bool is_name(std::string_view name) const;
  // If the current token is this symbol or name, moves to the next token and returns true.
  // Otherwise returns false.
  bool skip_symbol(std::string_view symbol);
  bool skip_name(std::string_view name);
  // Moves to the next token. Fault: the current token is not this symbol, not a name, or not of
  // this kind.
  void expect_symbol(std::string_view symbol);
  std::string expect_name();  ///< returns the name
  void expect(Token::Kind kind);
  /// Throws a Fault about the current token. `expected`: what the template should have here.
  [[noreturn]] void unexpected(std::string_view expected) const;

 private:
  std::vector<Token> tokens_;
  size_t at_ = 0;
};

/// Counts a level of nested brackets or blocks while this object exists, so that no template
/// overflows the stack. Fault: more than a hundred levels.
class Nesting {
 public:
  /// `depth`: the counter of levels. This object adds 1, and its destructor subtracts 1. `line`:
  /// the line for the Fault.
  Nesting(int& depth, int line) : depth_(depth) {
    if (depth_ >= 100) throw Fault{"this is nested deeper than supported", line};
    ++depth_;
  }
  ~Nesting() { --depth_; }
  Nesting(const Nesting&) = delete;

 private:
  int& depth_;
};

/// Finds out which of the names `caller`, `varargs` and `kwargs` each macro uses. A macro uses a
/// name if it reads the name before it sets it.
class ImplicitNames {
 public:
  /// Call this at the beginning of a macro, and close() at its end.
  void open() { macros_.emplace_back(); }
  /// Call these at the beginning and end of a {% block %}. Its content does not count for the
  /// macros around the block.
  void enter_block() { outside_.push_back(std::exchange(macros_, {})); }
  void leave_block() {
    macros_ = std::move(outside_.back());
    outside_.pop_back();
  }
  /// Returns the names that the innermost open macro uses, and closes this macro.
  Implicit close();
  // Call these where the template reads or sets a name.
  void read(std::string_view name);
  void set(std::string_view name);

 private:
  struct Macro {
    Implicit read, set;
  };
  std::vector<Macro> macros_;
  std::vector<std::vector<Macro>> outside_;
};

/// Parser of Jinja's expressions, by recursive descent. Its functions throw a Fault for a syntax
/// error, and for an expression that is not supported.
class ExpressionParser {
 public:
  explicit ExpressionParser(TokenStream& stream) : stream_(stream) {}

  ExpressionPtr expression();
  /// An expression that is not of the form `a if b else c`. It ends before the words `if` and
  /// `else`.
  ExpressionPtr unconditional();
  /// One expression, or a tuple of several expressions separated by commas. `conditional`: whether
  /// the expressions may be `a if b else c`; otherwise see unconditional().
  ExpressionPtr tuple(bool conditional = true);
  /// Reads the filters that follow `subject` in the template, and returns `subject` with these
  /// filters. `subject`: null for a filter block. `named`: whether the first filter is written
  /// without |, as in a filter block.
  ExpressionPtr filters(ExpressionPtr subject, bool named = false);
  /// The record of the names that macros use. The expression parser calls `read` for each name; the
  /// parser of statements makes the other calls.
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
