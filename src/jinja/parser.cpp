#include "src/jinja/parser.hpp"

#include <algorithm>

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

/// Jinja's statements.
class TemplateParser {
 public:
  explicit TemplateParser(std::string_view source) : stream_(tokenize(source)) {}

  Body parse() { return body({}); }

 private:
  /// Statements up to a block that begins with one of the names, which stays current; no names:
  /// up to the template's end.
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
    if (word == "macro") return macro(line);
    if (word == "generation") return generation(line);
    if (word == "break" || word == "continue") {
      if (loops_ == 0) throw Fault{str("'", word, "' stands outside a for"), line};
      return make(word == "break" ? Kind::leave : Kind::next, line);
    }
    throw Fault{
        str("{% ", word, " %} is not supported",
            known_names(word, {"if", "for", "set", "macro", "generation", "break", "continue"})),
        line};
  }

  void end_block() { stream_.expect(Token::Kind::block_end); }

  /// From behind `if` or `elif`.
  Statement condition(int line) {
    const Nesting nesting(depth_, line);
    Statement made = make(Kind::condition, line);
    made.expression = expressions_.tuple(false);
    end_block();
    made.body = body({"elif", "else", "endif"});
    const Token word = stream_.take();
    if (word.text == "elif") {
      made.otherwise.push_back(condition(word.line));  // which takes the endif
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
    if (stream_.is_name("recursive")) throw Fault{"a recursive for is not supported", line};
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
    end_block();
    made.body = body({"endset"});
    stream_.take();
    return made;
  }

  Statement macro(int line) {
    Statement made = make(Kind::macro, line);
    made.text = stream_.expect_name();
    stream_.expect_symbol("(");
    while (!stream_.is_symbol(")")) {
      if (!made.parameters.empty()) stream_.expect_symbol(",");
      Parameter& parameter = made.parameters.emplace_back();
      parameter.name = stream_.expect_name();
      if (stream_.skip_symbol("="))
        parameter.fallback = expressions_.expression();
      else if (made.parameters.size() > 1 && made.parameters.end()[-2].fallback)
        stream_.unexpected("'=', as the parameter before has a default");
    }
    stream_.take();
    end_block();
    const size_t begin = stream_.position();
    const int loops = std::exchange(loops_, 0);
    made.body = body({"endmacro"});
    loops_ = loops;
    refuse_implicit(made, begin);
    stream_.take();
    return made;
  }

  /// Fault: the macro's body uses a name that jinja2 gives a meaning of its own there.
  void refuse_implicit(const Statement& macro, size_t begin) const {
    for (size_t i = begin; i < stream_.position(); ++i) {
      const Token& token = stream_.at(i);
      if (token.kind != Token::Kind::name || stream_.at(i - 1).text == ".") continue;
      const bool own = std::any_of(macro.parameters.begin(), macro.parameters.end(),
                                   [&](const Parameter& p) { return p.name == token.text; });
      for (const char* name : {"caller", "varargs", "kwargs"})
        if (!own && token.text == name)
          throw Fault{str("'", name, "' in a macro is not supported"), token.line};
    }
  }

  Statement generation(int line) {
    Statement made = make(Kind::generation, line);
    end_block();
    const int loops = std::exchange(loops_, 0);
    made.body = body({"endgeneration"});
    loops_ = loops;
    stream_.take();
    return made;
  }

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
    for (const char* word : {"true", "false", "none", "True", "False", "None", "loop"})
      if (made.name == word) throw Fault{str("'", word, "' cannot be assigned to"), line};
    if (with_members && stream_.skip_symbol(".")) made.member = stream_.expect_name();
    return made;
  }

  TokenStream stream_;
  ExpressionParser expressions_{stream_};
  int depth_ = 0, loops_ = 0;
};

}  // namespace

Body parse(std::string_view source) { return TemplateParser(source).parse(); }

}  // namespace pardec::jinja
