#include "src/jinja/parser.hpp"

#include <algorithm>
#include <set>

#include "src/support/text.hpp"

namespace pardec::jinja {

namespace {

using Kind = Statement::Kind;

Statement make(Kind kind, int line) {
  Statement statement;
  statement.kind = kind;
  statement.line = line;
  return statement;
}

/// Parser of Jinja's statements.
class TemplateParser {
 public:
  explicit TemplateParser(std::string_view source) : stream_(tokenize(source)) {}

  Body parse() { return body({}); }

 private:
  /// Statements up to a block that begins with one of `ends`, whose name becomes the current token.
  /// Without names: up to the end of the template.
  Body body(std::initializer_list<std::string_view> ends) {
    const Nesting nesting(depth_, stream_.current().line);
    Body statements;
    while (!stream_.is(Token::Kind::end)) {
      const Token token = stream_.take();
      if (token.kind == Token::Kind::data) {
        statements.push_back(make(Kind::data, token.line));
        statements.back().text = token.text;
      } else if (token.kind == Token::Kind::output_begin) {
        statements.push_back(make(Kind::output, token.line));
        statements.back().expression = expressions_.tuple();
        stream_.expect(Token::Kind::output_end);
      } else {
        if (std::any_of(ends.begin(), ends.end(),
                        [&](std::string_view name) { return stream_.is_name(name); }))
          return statements;
        statements.push_back(statement(token.line));
        stream_.expect(Token::Kind::block_end);
      }
    }
    if (ends.size() > 0) stream_.unexpected(str("{% ", *(ends.end() - 1), " %}"));
    return statements;
  }

  Statement statement(int line) {
    const std::string word = stream_.expect_name();
    if (word == "if") return condition(line);
    if (word == "for") return loop(line);
    if (word == "set") return set(line);
    if (word == "with") return with(line);
    if (word == "macro") return macro(line);
    if (word == "call") return call(line);
    if (word == "filter") return filter(line);
    if (word == "print") return print(line);
    if (word == "block") return block(line);
    if (word == "autoescape") return autoescape(line);
    if (word == "generation") {
      Statement made = make(Kind::generation, line);
      macro_body(made, "endgeneration");
      return made;
    }
    if (word == "break" || word == "continue") {
      if (loops_ == 0) throw Fault{str("'", word, "' is outside of a for"), line};
      return make(word == "break" ? Kind::leave : Kind::next, line);
    }
    throw Fault{str("{% ", word, " %} is not supported",
                    known_names(word, {"if", "for", "set", "with", "macro", "call", "filter",
                                       "print", "block", "generation", "break", "continue"})),
                line};
  }

  /// The end of a tag, optionally preceded by a colon.
  void end_block() {
    stream_.skip_symbol(":");
    stream_.expect(Token::Kind::block_end);
  }

  /// A body up to and including the word of the tag `end`.
  void body_to(Statement& made, std::string_view end) {
    end_block();
    made.body = body({end});
    stream_.take();
  }
  /// The same, for a body that break and continue cannot leave.
  void enclosed(Statement& made, std::string_view end) {
    const int loops = std::exchange(loops_, 0);
    body_to(made, end);
    loops_ = loops;
  }

  /// Continues after `if` or `elif`.
  Statement condition(int line) {
    const Nesting nesting(depth_, line);
    Statement made = make(Kind::condition, line);
    made.expression = expressions_.tuple(false);
    end_block();
    made.body = body({"elif", "else", "endif"});
    const Token word = stream_.take();
    if (word.text == "elif") {
      made.otherwise.push_back(condition(word.line));  // it takes the endif
    } else if (word.text == "else") {
      end_block();
      made.otherwise = body({"endif"});
      stream_.take();
    }
    return made;
  }

  Statement loop(int line) {
    Statement made = make(Kind::loop, line);
    made.target = targets(false);
    if (!stream_.skip_name("in")) stream_.unexpected("'in'");
    made.expression = expressions_.tuple(false);
    if (stream_.skip_name("if")) made.filter = expressions_.expression();
    made.is_recursive = stream_.skip_name("recursive");
    end_block();
    ++loops_;
    made.body = body({"endfor", "else"});
    --loops_;
    if (stream_.take().text == "else") {
      end_block();
      made.otherwise = body({"endfor"});
      stream_.take();
    }
    return made;
  }

  Statement set(int line) {
    Statement made = make(Kind::assign, line);
    made.target = targets(true);
    if (stream_.skip_symbol("=")) {
      made.expression = expressions_.tuple();
      return made;
    }
    made.kind = Kind::capture;
    if (stream_.is_symbol("|")) made.expression = expressions_.filters(nullptr);
    enclosed(made, "endset");
    return made;
  }

  Statement with(int line) {
    Statement made = make(Kind::with, line);
    while (!stream_.is(Token::Kind::block_end) && !stream_.is_symbol(":")) {
      if (!made.bindings.empty()) stream_.expect_symbol(",");
      Target bound = targets(false);
      stream_.expect_symbol("=");
      made.bindings.emplace_back(std::move(bound), expressions_.expression());
    }
    body_to(made, "endwith");
    return made;
  }

  /// `print` with values separated by commas.
  Statement print(int line) {
    Statement made = make(Kind::output, line);
    auto all = std::make_unique<Expression>();
    all->kind = Expression::Kind::concatenation;
    all->line = line;
    while (!stream_.is(Token::Kind::block_end)) {
      if (!all->parts.empty()) stream_.expect_symbol(",");
      all->parts.push_back(expressions_.expression());
    }
    made.expression = std::move(all);
    return made;
  }

  Statement filter(int line) {
    Statement made = make(Kind::filter, line);
    made.expression = expressions_.filters(nullptr, true);
    enclosed(made, "endfilter");
    return made;
  }

  /// A block of a template that no other template extends: its body is rendered in place.
  Statement block(int line) {
    Statement made = make(Kind::block, line);
    made.text = stream_.expect_name();
    if (!blocks_.insert(made.text).second)
      throw Fault{str("block '", made.text, "' is given here again"), line};
    made.is_scoped = stream_.skip_name("scoped");
    if (stream_.is_name("required")) throw Fault{"a required block is not supported", line};
    implicit().enter_block();
    enclosed(made, "endblock");
    implicit().leave_block();
    stream_.skip_name(made.text);
    return made;
  }

  Statement autoescape(int line) {
    Statement made = make(Kind::with, line);
    if (!stream_.skip_name("false") && !stream_.skip_name("False"))
      throw Fault{"{% autoescape %} is not supported, but with false", line};
    body_to(made, "endautoescape");
    return made;
  }

  Statement macro(int line) {
    Statement made = make(Kind::macro, line);
    made.text = stream_.expect_name();
    implicit().set(made.text);
    parameters(made);
    macro_body(made, "endmacro");
    return made;
  }

  Statement call(int line) {
    Statement made = make(Kind::call, line);
    if (stream_.is_symbol("(")) parameters(made);
    made.expression = expressions_.expression();
    if (made.expression->kind != Expression::Kind::call)
      throw Fault{"{% call %} has no call of a macro", line};
    macro_body(made, "endcall");
    return made;
  }

  void parameters(Statement& made) {
    stream_.expect_symbol("(");
    while (!stream_.is_symbol(")")) {
      if (!made.parameters.empty()) stream_.expect_symbol(",");
      Parameter& parameter = made.parameters.emplace_back();
      parameter.name = stream_.expect_name();
      for (size_t i = 0; i + 1 < made.parameters.size(); ++i)
        if (made.parameters[i].name == parameter.name)
          throw Fault{str("parameter '", parameter.name, "' is given here again"), made.line};
      if (stream_.skip_symbol("="))
        parameter.fallback = expressions_.expression();
      else if (made.parameters.size() > 1 && made.parameters.end()[-2].fallback)
        stream_.unexpected("'=', as the parameter before has a default");
    }
    stream_.take();
  }

  void macro_body(Statement& made, std::string_view end) {
    for (const Parameter& parameter : made.parameters) implicit().set(parameter.name);
    implicit().open();
    enclosed(made, end);
    made.implicit = implicit().close();
    for (const Parameter& parameter : made.parameters)
      for (const char* name : {"caller", "varargs", "kwargs"})
        if (parameter.name == name)
          throw Fault{str("a parameter '", name, "' is not supported"), made.line};
  }

  ImplicitNames& implicit() { return expressions_.implicit(); }

  Target targets(bool with_members) {
    Target first = target(with_members);
    if (!stream_.is_symbol(",")) return first;
    Target all;
    all.several.push_back(std::move(first));
    while (stream_.skip_symbol(",")) {
      if (!stream_.is(Token::Kind::name) && !stream_.is_symbol("(")) break;
      if (stream_.is_name("in")) break;
      all.several.push_back(target(with_members));
    }
    return all;
  }

  Target target(bool with_members) {
    if (stream_.skip_symbol("(")) {
      Target inner = targets(with_members);
      stream_.expect_symbol(")");
      return inner;
    }
    Target made;
    const int line = stream_.current().line;
    made.name = stream_.expect_name();
    implicit().set(made.name);
    for (const char* word : {"true", "false", "none", "True", "False", "None", "loop"})
      if (made.name == word) throw Fault{str("'", word, "' cannot be assigned to"), line};
    if (with_members && stream_.skip_symbol(".")) made.member = stream_.expect_name();
    return made;
  }

  TokenStream stream_;
  ExpressionParser expressions_{stream_};
  std::set<std::string> blocks_;
  int depth_ = 0, loops_ = 0;
};

}  // namespace

Program parse(std::string_view source) {
  Program program{TemplateParser(source).parse(), {}};
  hide_names(program);
  return program;
}

}  // namespace pardec::jinja
