#include <algorithm>

#include "src/jinja/parser.hpp"
#include "src/jinja/python_text.hpp"
#include "src/support/text.hpp"

namespace pardec::jinja {

Token TokenStream::take() {
  Token token = current();
  if (at_ + 1 < tokens_.size()) ++at_;
  return token;
}
bool TokenStream::is_symbol(std::string_view symbol) const {
  return is(Token::Kind::symbol) && current().text == symbol;
}
bool TokenStream::is_name(std::string_view name) const {
  return is(Token::Kind::name) && current().text == name;
}
bool TokenStream::skip_symbol(std::string_view symbol) {
  const bool found = is_symbol(symbol);
  if (found) take();
  return found;
}
bool TokenStream::skip_name(std::string_view name) {
  const bool found = is_name(name);
  if (found) take();
  return found;
}
void TokenStream::expect_symbol(std::string_view symbol) {
  if (!skip_symbol(symbol)) unexpected(str("'", symbol, "'"));
}
std::string TokenStream::expect_name() {
  if (!is(Token::Kind::name)) unexpected("a name");
  return take().text;
}
void TokenStream::expect(Token::Kind kind) {
  if (!is(kind)) unexpected(kind == Token::Kind::block_end ? "%}" : "}}");
  take();
}

void TokenStream::unexpected(std::string_view expected) const {
  const auto found = [&]() -> std::string {
    switch (current().kind) {
      case Token::Kind::end:
        return "the template ends";
      case Token::Kind::block_end:
        return "found %}";
      case Token::Kind::output_end:
        return "found }}";
      case Token::Kind::string:
        return str("found a text, '", current().text, "'");
      default:
        return str("found '", current().text, "'");
    }
  };
  throw Fault{str(found(), ", expected ", expected), current().line};
}

namespace {

bool* implicit_of(Implicit& all, std::string_view name) {
  return name == "caller"    ? &all.caller
         : name == "varargs" ? &all.varargs
         : name == "kwargs"  ? &all.kwargs
                             : nullptr;
}

}  // namespace

Implicit ImplicitNames::close() {
  const Implicit read = macros_.back().read;
  macros_.pop_back();
  return read;
}
void ImplicitNames::read(std::string_view name) {
  for (Macro& macro : macros_)
    if (bool* read = implicit_of(macro.read, name); read && !*implicit_of(macro.set, name))
      *read = true;
}
void ImplicitNames::set(std::string_view name) {
  for (Macro& macro : macros_)
    if (bool* set = implicit_of(macro.set, name)) *set = true;
}

namespace {

using Kind = Expression::Kind;

template <typename... Parts>
std::unique_ptr<Expression> node(Kind kind, int line, Parts... parts) {
  auto made = std::make_unique<Expression>();
  made->kind = kind;
  made->line = line;
  (made->parts.push_back(std::move(parts)), ...);
  return made;
}

ExpressionPtr constant(Value value, int line) {
  auto made = node(Kind::constant, line);
  made->constant = std::move(value);
  return made;
}

}  // namespace

ExpressionPtr ExpressionParser::expression() {
  const Nesting nesting(depth_, stream_.current().line);
  const int line = stream_.current().line;
  ExpressionPtr value = logical_or();
  while (stream_.skip_name("if")) {
    ExpressionPtr condition = logical_or();
    ExpressionPtr otherwise;
    if (stream_.skip_name("else")) otherwise = expression();
    value =
        node(Kind::condition, line, std::move(value), std::move(condition), std::move(otherwise));
  }
  return value;
}

ExpressionPtr ExpressionParser::unconditional() { return logical_or(); }

ExpressionPtr ExpressionParser::logical_or() {
  ExpressionPtr left = logical_and();
  while (stream_.is_name("or")) {
    const int line = stream_.take().line;
    left = node(Kind::logical_or, line, std::move(left), logical_and());
  }
  return left;
}

ExpressionPtr ExpressionParser::logical_and() {
  ExpressionPtr left = logical_not();
  while (stream_.is_name("and")) {
    const int line = stream_.take().line;
    left = node(Kind::logical_and, line, std::move(left), logical_not());
  }
  return left;
}

ExpressionPtr ExpressionParser::logical_not() {
  if (!stream_.is_name("not")) return comparison();
  const Nesting nesting(depth_, stream_.current().line);
  const int line = stream_.take().line;
  return node(Kind::logical_not, line, logical_not());
}

ExpressionPtr ExpressionParser::comparison() {
  ExpressionPtr first = sum();
  std::unique_ptr<Expression> chain;
  while (true) {
    std::string op;
    for (const char* symbol : {"==", "!=", "<=", ">=", "<", ">"})
      if (stream_.is_symbol(symbol)) op = symbol;
    if (stream_.is_name("in")) op = "in";
    if (stream_.is_name("not") && stream_.next().kind == Token::Kind::name &&
        stream_.next().text == "in") {
      stream_.take();
      op = "not in";
    }
    if (op.empty()) break;
    const int line = stream_.take().line;
    if (!chain) chain = node(Kind::comparison, line, std::move(first));
    chain->operators.push_back(op);
    chain->parts.push_back(sum());
  }
  return chain ? ExpressionPtr(std::move(chain)) : std::move(first);
}

ExpressionPtr ExpressionParser::binary(ExpressionPtr (ExpressionParser::*operand)(),
                                       std::initializer_list<std::string_view> symbols) {
  ExpressionPtr left = (this->*operand)();
  while (std::any_of(symbols.begin(), symbols.end(),
                     [&](std::string_view symbol) { return stream_.is_symbol(symbol); })) {
    const Token op = stream_.take();
    auto made = node(Kind::arithmetic, op.line, std::move(left), (this->*operand)());
    made->text = op.text;
    left = std::move(made);
  }
  return left;
}

ExpressionPtr ExpressionParser::sum() {
  return binary(&ExpressionParser::concatenation, {"+", "-"});
}

ExpressionPtr ExpressionParser::concatenation() {
  ExpressionPtr first = product();
  if (!stream_.is_symbol("~")) return first;
  auto joined = node(Kind::concatenation, stream_.current().line, std::move(first));
  while (stream_.skip_symbol("~")) joined->parts.push_back(product());
  return joined;
}

ExpressionPtr ExpressionParser::product() {
  return binary(&ExpressionParser::power, {"*", "/", "//", "%"});
}

ExpressionPtr ExpressionParser::power() { return binary(&ExpressionParser::filtered, {"**"}); }

ExpressionPtr ExpressionParser::filtered() { return unary(true); }

ExpressionPtr ExpressionParser::unary(bool with_filters) {
  const Nesting nesting(depth_, stream_.current().line);
  ExpressionPtr value;
  if (stream_.is_symbol("-") || stream_.is_symbol("+")) {
    const Token sign = stream_.take();
    value = node(sign.text == "-" ? Kind::negative : Kind::positive, sign.line, unary(false));
  } else {
    value = primary();
  }
  value = postfix(std::move(value));
  while (with_filters) {
    if (stream_.is_symbol("|")) {
      value = filters(std::move(value));
    } else if (stream_.is_name("is")) {
      value = test(std::move(value));
    } else if (stream_.is_symbol("(")) {
      value = call(std::move(value));
    } else {
      break;
    }
  }
  return value;
}

ExpressionPtr ExpressionParser::primary() {
  const Token token = stream_.current();
  switch (token.kind) {
    case Token::Kind::name: {
      stream_.take();
      if (token.text == "true" || token.text == "True") return constant(true, token.line);
      if (token.text == "false" || token.text == "False") return constant(false, token.line);
      if (token.text == "none" || token.text == "None") return constant({}, token.line);
      auto made = node(Kind::name, token.line);
      made->text = token.text;
      implicit_.read(token.text);
      return made;
    }
    case Token::Kind::string: {
      std::string text;
      while (stream_.is(Token::Kind::string)) text += stream_.take().text;
      return constant(std::move(text), token.line);
    }
    case Token::Kind::integer: {
      stream_.take();
      std::optional<std::int64_t> value;
      try {
        value = parse_whole(token.text, 0);
      } catch (const Fault& fault) {
        throw Fault{fault.what, token.line};
      }
      return constant(*value, token.line);
    }
    case Token::Kind::real:
      stream_.take();
      return constant(*parse_real(token.text), token.line);
    default:
      break;
  }
  const auto items = [&](Kind kind, std::string_view close) {
    stream_.take();
    auto made = node(kind, token.line);
    while (!stream_.is_symbol(close)) {
      if (!made->parts.empty()) stream_.expect_symbol(",");
      if (stream_.is_symbol(close)) break;
      made->parts.push_back(expression());
      if (kind != Kind::dict) continue;
      stream_.expect_symbol(":");
      made->parts.push_back(expression());
    }
    stream_.expect_symbol(close);
    return made;
  };
  if (stream_.is_symbol("[")) return items(Kind::list, "]");
  if (stream_.is_symbol("{")) return items(Kind::dict, "}");
  if (stream_.skip_symbol("(")) {
    ExpressionPtr inner;
    if (stream_.is_symbol(")"))
      inner = node(Kind::tuple, token.line);
    else
      inner = tuple();
    stream_.expect_symbol(")");
    return inner;
  }
  stream_.unexpected("a value");
}

bool ExpressionParser::ends_tuple() const {
  return stream_.is(Token::Kind::output_end) || stream_.is(Token::Kind::block_end) ||
         stream_.is_symbol(")");
}

ExpressionPtr ExpressionParser::tuple(bool conditional) {
  const int line = stream_.current().line;
  const auto one = [&] { return conditional ? expression() : unconditional(); };
  ExpressionPtr first = one();
  if (!stream_.is_symbol(",")) return first;
  auto made = node(Kind::tuple, line, std::move(first));
  while (stream_.skip_symbol(",")) {
    if (ends_tuple()) break;
    made->parts.push_back(one());
  }
  return made;
}

ExpressionPtr ExpressionParser::postfix(ExpressionPtr subject) {
  while (true) {
    if (stream_.is_symbol(".") || stream_.is_symbol("[")) {
      subject = subscript(std::move(subject));
    } else if (stream_.is_symbol("(")) {
      subject = call(std::move(subject));
    } else {
      return subject;
    }
  }
}

ExpressionPtr ExpressionParser::subscript(ExpressionPtr subject) {
  const Token open = stream_.take();
  if (open.text == ".") {
    if (stream_.is(Token::Kind::integer)) {
      const Token index = stream_.current();
      return node(Kind::item, open.line, std::move(subject), primary());
    }
    const std::string name = stream_.expect_name();
    auto made = node(Kind::attribute, open.line, std::move(subject));
    made->text = name;
    return made;
  }
  ExpressionPtr begin;
  if (!stream_.is_symbol(":")) {
    begin = expression();
    if (stream_.is_symbol(",")) begin = rest_of_key(std::move(begin));
    if (stream_.skip_symbol("]"))
      return node(Kind::item, open.line, std::move(subject), std::move(begin));
  }
  stream_.expect_symbol(":");
  const auto bound = [&]() -> ExpressionPtr {
    if (stream_.is_symbol(":") || stream_.is_symbol("]")) return nullptr;
    return expression();
  };
  ExpressionPtr end = bound(), step;
  if (stream_.skip_symbol(":")) step = bound();
  if (stream_.is_symbol(",")) throw Fault{"several slices at once are not supported", open.line};
  stream_.expect_symbol("]");
  return node(Kind::slice, open.line, std::move(subject), std::move(begin), std::move(end),
              std::move(step));
}

ExpressionPtr ExpressionParser::rest_of_key(ExpressionPtr first) {
  auto key = node(Kind::tuple, stream_.current().line, std::move(first));
  while (stream_.skip_symbol(",")) {
    key->parts.push_back(expression());
    if (stream_.is_symbol(":"))
      throw Fault{"several slices at once are not supported", stream_.current().line};
  }
  return key;
}

void ExpressionParser::arguments(Expression& of) {
  stream_.expect_symbol("(");
  for (bool first = true; !stream_.is_symbol(")"); first = false) {
    if (!first) {
      stream_.expect_symbol(",");
      if (stream_.is_symbol(")")) break;
    }
    const Token token = stream_.current();
    if (stream_.skip_symbol("*")) {
      if (of.star || of.stars) throw Fault{"'*' may stand once, before '**'", token.line};
      of.star = expression();
    } else if (stream_.skip_symbol("**")) {
      if (of.stars) throw Fault{"'**' may stand once, as the last argument", token.line};
      of.stars = expression();
    } else if (stream_.is(Token::Kind::name) && stream_.next().kind == Token::Kind::symbol &&
               stream_.next().text == "=") {
      const Token name = stream_.take();
      stream_.take();
      if (of.stars) throw Fault{"'**' may stand once, as the last argument", token.line};
      for (const auto& [own, value] : of.named)
        if (own == name.text) throw Fault{str("argument '", own, "' is given twice"), name.line};
      of.named.emplace_back(name.text, expression());
    } else {
      if (!of.named.empty() || of.star || of.stars)
        stream_.unexpected("an argument with its name, as those before");
      of.parts.push_back(expression());
    }
  }
  stream_.expect_symbol(")");
}

ExpressionPtr ExpressionParser::call(ExpressionPtr subject) {
  auto made = node(Kind::call, stream_.current().line, std::move(subject));
  arguments(*made);
  return made;
}

ExpressionPtr ExpressionParser::filters(ExpressionPtr subject, bool named) {
  while (std::exchange(named, false) || stream_.skip_symbol("|")) {
    const int line = stream_.current().line;
    const std::string name = stream_.expect_name();
    if (!is_filter(name))
      throw Fault{str("filter '", name, "' is not supported", known_names(name, filter_names())),
                  line};
    auto made = node(Kind::filter, line, std::move(subject));
    made->text = name;
    if (stream_.is_symbol("(")) arguments(*made);
    subject = std::move(made);
  }
  return subject;
}

ExpressionPtr ExpressionParser::test(ExpressionPtr subject) {
  const int line = stream_.take().line;
  const bool negated = stream_.skip_name("not");
  const std::string name = stream_.expect_name();
  if (!is_test(name))
    throw Fault{str("test '", name, "' is not supported", known_names(name, test_names())), line};
  auto made = node(Kind::test, line, std::move(subject));
  made->text = name;
  const bool value = stream_.is(Token::Kind::string) || stream_.is(Token::Kind::integer) ||
                     stream_.is(Token::Kind::real) || stream_.is_symbol("[") ||
                     stream_.is_symbol("{") ||
                     (stream_.is(Token::Kind::name) && !stream_.is_name("else") &&
                      !stream_.is_name("or") && !stream_.is_name("and"));
  if (stream_.is_symbol("(")) {
    arguments(*made);
  } else if (value) {
    if (stream_.is_name("is")) stream_.unexpected("one test; several cannot be chained");
    made->parts.push_back(postfix(primary()));
  }
  return negated ? ExpressionPtr(node(Kind::logical_not, line, ExpressionPtr(std::move(made))))
                 : ExpressionPtr(std::move(made));
}

}  // namespace pardec::jinja
