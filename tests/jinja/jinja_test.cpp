#include "src/jinja/template.hpp"

#include "src/support/error.hpp"
#include "src/support/text.hpp"
#include "tests/support/catch.hpp"

using namespace pardec;

namespace {

std::string render(const std::string& source, const OrderedJson& variables = OrderedJson::object(),
                   std::int64_t steps = jinja::Template::kSteps) {
  std::tm now{};
  now.tm_year = 124;
  now.tm_mday = 5;
  return jinja::Template::parse(source, "t").render(variables, now, steps);
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

TEST_CASE("a rendering is bounded in steps, and says where it ran out of them") {
  const std::string doubled = [] {
    std::string source = "{% set x = 'ab' %}\n";
    for (int i = 0; i < 60; ++i) source += "{% set x = x + x %}";
    return source;
  }();
  const std::string list_of_lists =
      "{% set n = namespace(x=[1]) %}{% for i in range(60) %}"
      "{% set n.x = [n.x, n.x] %}{% endfor %}\n";
  const std::string big = "{% set b = 'a' * 1000000 %}";
  const std::string sources[] = {
      "{% for i in range(100000) %}{% for j in range(100000) %}{% endfor %}{% endfor %}",
      "{% for i in range(100000) %}{% set x = 'a' * 100000 %}{% endfor %}",
      "{% for i in range(100000) %}{{ 'a' * 1000 }}{% endfor %}",
      "{% macro m(n) %}{% if n %}{{ m(n - 1) + m(n - 1) }}{% endif %}{% endmacro %}{{ m(60) }}",
      doubled,
      list_of_lists + "{{ n.x }}",
      list_of_lists + "{{ n.x | string }}",
      list_of_lists + "{{ n.x | tojson }}",
      list_of_lists + "{{ 'a' ~ n.x }}",
      list_of_lists + "{{ n.x == [n.x[0], [1, n.x]] }}",
      list_of_lists + "{{ n.x in [[n.x, 1]] }}",
      list_of_lists + "{{ [n.x, [n.x[0], 1]] | sort }}",
      list_of_lists + "{{ [n.x, [n.x[0], 1]] | unique | list | length }}",
      list_of_lists + "{{ n.x is eq [n.x[0], 1] }}",
      "{{ 'ab' * 1000000000000 }}",
      "{{ [1] * 1000000000000 }}",
      big + "{{ b.replace('', b) }}",
      big + "{{ b | replace('a', b) }}",
      big + "{{ b | join(b) }}",
      big + "{{ b.join(range(100000) | map('string') | list) }}",
      big + "{{ range(100000) | join(b) }}",
      big + "{{ b | list | length }}",
      big + "{% for c in b %}{% endfor %}",
      big + "{{ b.split('a') | length }}",
      big + "{{ (b + 'b') in (b + b) }}{{ (b + b).count(b + 'b') }}",
      "{{ range(100000) | list | tojson(indent=1000) }}",
      "{{ ('\n' * 1000000) | indent(1000) | length }}",
      "{{ range(100000) | unique | list | length }}",
      "{{ range(100000) | map('string') | map('replace', '', 'a' * 100000) | list | length }}",
      "{{ range(100000) | map('indent', 'a' * 100000) | list | length }}",
      "{% for i in range(100000) %}{% set x = range(100000) | list %}{% endfor %}",
      "{% set g = range(100000) | select %}{% for i in range(100000) %}{{ g | first }}{% endfor %}",
      "{% set x = dict(range(100000) | map('string') | map('list') | list) %}",
  };
  for (const std::string& source : sources) {
    CAPTURE(source.substr(0, 200));
    CHECK_THROWS_WITH(render(source, OrderedJson::object(), 300000),
                      Catch::StartsWith("t, line ") && Catch::Contains("takes more than"));
  }
  CHECK_THROWS_WITH(
      render("\n{% for i in range(100000) %}\n{% for j in range(100000) %}\n{% endfor %}"
             "{% endfor %}"),
      "t, line 3: the template takes more than 10000000 steps, which are items and bytes gone "
      "over; no conversation needs so many");
}

TEST_CASE("a long conversation has the steps it needs") {
  OrderedJson messages = OrderedJson::array();
  for (int i = 0; i < 2000; ++i)
    messages.push_back({{"role", i % 2 ? "assistant" : "user"},
                        {"content", "<think>x</think>" + std::string(5000, 'a')}});
  const std::string text = render(
      "{% for m in messages %}{% set c = m.content.split('</think>')[-1].lstrip('\\n') %}"
      "{% if '<think>' in m['content'] and not loop.last and (messages | length) > 1 %}"
      "{{ '<|' + m.role + '|>' + (c | trim | replace('a', 'bb')) + m.content[:3] }}{% endif %}"
      "{% for k in messages[::-1] %}{% if loop.index0 > 3 %}{% break %}{% endif %}{% endfor %}"
      "{% endfor %}",
      {{"messages", messages}});
  CHECK(text.size() > 19'000'000);
}

TEST_CASE("macros that call one another inside deep expressions do not overrun the stack") {
  std::string deep = "m()";
  for (int i = 0; i < 90; ++i) deep = "[" + deep + "]";
  CHECK_THROWS_WITH(render("{% macro m() %}{{ " + deep + " }}{% endmacro %}{{ m() }}"),
                    Catch::Contains("this is nested deeper than supported"));
  std::string sum = "'a'";
  for (int i = 0; i < 700; ++i) sum += " + 'a'";
  CHECK(render("{{ " + sum + " }}") == std::string(701, 'a'));
  CHECK_THROWS_WITH(render("{% macro m() %}{{ m() + " + sum + " }}{% endmacro %}{{ m() }}"),
                    Catch::Contains("this is nested deeper than supported"));
}
