#include "src/prompt/jinja/template.hpp"

#include "src/support/error.hpp"
#include "src/support/text.hpp"
#include "tests/support/catch.hpp"

using namespace pardec;

namespace {

std::string render(const std::string& source,
                   const OrderedJson& variables = OrderedJson::object()) {
  std::tm now{};
  now.tm_year = 124;
  now.tm_mday = 5;
  return jinja::Template::parse(source, "t").render(variables, now);
}

}  // namespace

TEST_CASE("white space around tags goes as with trim_blocks and lstrip_blocks") {
  CHECK(render("a\n  {% if true %}\nb\n  {% endif %}\nc\n") == "a\nb\nc");
  CHECK(render("a\n  {%+ if true %}\nb\n{% endif +%}\nc") == "a\n  b\n\nc");
  CHECK(render("a \n {%- if true -%} \n b {%- endif %} c") == "ab c");
  CHECK(render("  {{ 1 }}\n  {{- 2 }}\n") == "  12");
  CHECK(render("x {# gone #}\ny{#- gone -#}\n z") == "x yz");
  CHECK(render("{% raw %}{{ x }}{% endraw %}\n!") == "{{ x }}!");
}

TEST_CASE("scopes: what a loop sets stays in it, a namespace carries it out") {
  CHECK(
      render(
          "{% set x = 1 %}{% for i in [1, 2] %}{{ x }}{% set x = 5 %}{{ x }}{% endfor %}{{ x }}") ==
      "15151");
  CHECK(render("{% set n = namespace(x=0) %}{% for i in [1, 2] %}{% set n.x = n.x + i %}{% endfor "
               "%}{{ n.x }}") == "3");
  CHECK(render("{% if true %}{% set x = 2 %}{% endif %}{{ x }}") == "2");
}

TEST_CASE("the caller's date is the only one") {
  CHECK(render("{{ strftime_now('%d %b %Y') }}") == "05 Jan 2024");
}

TEST_CASE("what is not supported is named with its line") {
  const std::pair<const char*, const char*> cases[] = {
      {"a\n{% include 'x' %}", "t, line 2: {% include %} is not supported"},
      {"{% call f() %}{% endcall %}", "t, line 1: {% call %} is not supported"},
      {"\n\n{{ x | groupby('a') }}", "t, line 3: filter 'groupby' is not supported"},
      {"{{ x is sameas y }}", "t, line 1: test 'sameas' is not supported"},
      {"{{ f(*x) }}", "t, line 1: unpacking arguments by * is not supported"},
      {"{% for x in y recursive %}{% endfor %}", "t, line 1: a recursive for is not supported"},
      {"{% macro m() %}\n{{ caller() }}{% endmacro %}", "t, line 2: 'caller' in a macro is not"},
      {"{{ 'a%s' % 1 }}", "t, line 1: '%' on a text (formatting) is not supported"},
      {"\n{{ 'a'.zfill(3) }}", "t, line 2: member 'zfill' of a value of type str is not supported"},
      {"{{ [1].append(2) }}", "t, line 1: member 'append' of a value of type list is not"},
      {"{{ ''.__class__ }}", "t, line 1: member '__class__' is closed to templates"},
      {"{{ cycler('a') }}", "t, line 1: 'cycler' is not supported"},
      {"{{ 'ß' | upper }}", "t, line 1: the upper case of 'ß' is several characters"},
      {"{{ 9223372036854775807 + 1 }}", "t, line 1: an integer is larger than 64 bits"},
  };
  for (const auto& [source, message] : cases) {
    CAPTURE(source);
    CHECK_THROWS_WITH(render(source), Catch::Contains(message));
  }
}

TEST_CASE("what is wrong is said with its line") {
  const std::pair<const char*, const char*> cases[] = {
      {"{% if x %}\n", "t, line 1: the template ends, expected {% endif %}"},
      {"\n{{ x", "t, line 2: an output has no end, expected }}"},
      {"{{ 1 + }}", "t, line 1: found }}, expected a value"},
      {"{{ x.y.z }}", "t, line 1: 'x' is undefined, so it has no member 'y'"},
      {"{{ 'a' + 1 }}", "t, line 1: '+' does not take str and int"},
      {"\n{{ raise_exception('no system role') }}",
       "t, line 2: the template refuses this: no system role"},
      {"{% break %}", "t, line 1: 'break' stands outside a for"},
      {"{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}", "macros call one another deeper than"},
  };
  for (const auto& [source, message] : cases) {
    CAPTURE(source);
    CHECK_THROWS_WITH(render(source), Catch::Contains(message));
  }
  CHECK_THROWS_AS(render("{{ " + std::string(100000, '(')), ConfigError);
  CHECK_THROWS_AS(render("{{ " + std::string(100000, '-') + "1 }}"), ConfigError);
  std::string sum = "1", blocks;
  for (int i = 0; i < 100000; ++i) sum += "+1", blocks += "{% if 1 %}";
  CHECK_THROWS_AS(render("{{ " + sum + " }}"), ConfigError);
  CHECK_THROWS_AS(render(blocks), ConfigError);
}

TEST_CASE("values nest a hundred deep, and no deeper") {
  const auto nested = [](const std::string& value, int times) {
    return str("{% set ns = namespace(x=1) %}{% for i in range(", times,
               ") %}{% set ns.x = ", value, " %}{% endfor %}");
  };
  for (const char* value :
       {"[ns.x]", "(ns.x,)", "{'a': ns.x}", "dict(a=ns.x)", "{'a': ns.x}.items()",
        "[[ns.x], 1] | list", "ns.x | list if i % 2 else [ns.x]"}) {
    CAPTURE(value);
    CHECK_NOTHROW(render(nested(value, 30) + "{{ ns.x == ns.x }}"));
    CHECK_THROWS_WITH(render(nested(value, 100000)),
                      Catch::Contains("line 1: values are nested deeper than supported"));
  }
  CHECK(render(nested("[ns.x]", 100) + "{{ ns.x }}{{ ns.x == ns.x | list }}") ==
        std::string(100, '[') + "1" + std::string(100, ']') + "True");
  CHECK_THROWS_WITH(render(nested("[ns.x]", 101)), Catch::Contains("deeper"));
  // What a user sets: `--chat-set x=[[[...`.
  const auto given = [](int times) {
    return OrderedJson{
        {"x", OrderedJson::parse(std::string(times, '[') + std::string(times, ']'))}};
  };
  CHECK(render("{{ x }}", given(100)) == std::string(100, '[') + std::string(100, ']'));
  CHECK_THROWS_WITH(render("{{ x }}", given(101)), Catch::Contains("deeper"));
  CHECK_THROWS_WITH(render("", given(1000000)), Catch::Contains("deeper"));
}
