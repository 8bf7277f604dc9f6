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

TEST_CASE("white space around tags is treated as with trim_blocks and lstrip_blocks") {
  CHECK(render("a\n  {% if true %}\nb\n  {% endif %}\nc\n") == "a\nb\nc");
  CHECK(render("a\n  {%+ if true %}\nb\n{% endif +%}\nc") == "a\n  b\n\nc");
  CHECK(render("a \n {%- if true -%} \n b {%- endif %} c") == "ab c");
  CHECK(render("  {{ 1 }}\n  {{- 2 }}\n") == "  12");
  CHECK(render("x {# gone #}\ny{#- gone -#}\n z") == "x yz");
  CHECK(render("{% raw %}{{ x }}{% endraw %}\n!") == "{{ x }}!");
}

TEST_CASE("scopes: variables set in a loop stay in it, a namespace carries them out") {
  CHECK(
      render(
          "{% set x = 1 %}{% for i in [1, 2] %}{{ x }}{% set x = 5 %}{{ x }}{% endfor %}{{ x }}") ==
      "15151");
  CHECK(render("{% set n = namespace(x=0) %}{% for i in [1, 2] %}{% set n.x = n.x + i %}{% endfor "
               "%}{{ n.x }}") == "3");
  CHECK(render("{% if true %}{% set x = 2 %}{% endif %}{{ x }}") == "2");
}

TEST_CASE("scopes: a name that a body sets before reading it is local from the beginning") {
  const OrderedJson given = {{"n", 7}};
  CHECK(render("{{ n }}{% set n = n + 1 %}{{ n }}", given) == "78");
  CHECK(render("{% if false %}{% set n = 1 %}{% endif %}{{ n }}", given) == "7");
  CHECK(render("{% set n %}[{{ n }}]{% endset %}{{ n }}", given) == "[]");
  const std::string macro = "{% macro m() %}{{ n }}{% endmacro %}";
  CHECK(render(macro + "{{ m() }}{% set n = 1 %}{{ m() }}", given) == "1");
  CHECK(render(macro + "{{ n }}{{ m() }}{% set n = 1 %}{{ m() }}", given) == "771");
  CHECK(render("{% block b %}{{ n }}{% endblock %}{% set n = 1 %}{{ n }}", given) == "71");
}

TEST_CASE("the caller's date is the only date") {
  CHECK(render("{{ strftime_now('%d %b %Y') }}") == "05 Jan 2024");
}

TEST_CASE("unsupported constructs are named with their line") {
  const std::pair<const char*, const char*> cases[] = {
      {"a\n{% include 'x' %}", "t, line 2: {% include %} is not supported"},
      {"{% import 'x' as y %}", "t, line 1: {% import %} is not supported"},
      {"{% autoescape true %}{% endautoescape %}", "t, line 1: {% autoescape %} is not supported"},
      {"{% block a required %}{% endblock %}", "t, line 1: a required block is not supported"},
      {"{% macro m(kwargs) %}{% endmacro %}", "t, line 1: a parameter 'kwargs' is not supported"},
      {"\n\n{{ x | random }}", "t, line 3: filter 'random' is not supported"},
      {"{{ x[1:2, 3] }}", "t, line 1: several slices at once are not supported"},
      {"\n{{ 'a'.encode() }}",
       "t, line 2: member 'encode' of a value of type str is not supported"},
      {"{{ ('<' | e)[0] }}", "t, line 1: an item of a marked text is not supported"},
      {"{{ ('<' | e).upper() }}", "t, line 1: member 'upper' of a value of type Markup is not"},
      {"{{ ('a' * 99) | pprint }}",
       "t, line 1: pprint of what takes several lines is not supported"},
      {"{{ '&eacute;' | striptags }}", "t, line 1: striptags of a text with other entities than"},
      {"{{ 1.5 is sameas 1.5 }}", "t, line 1: sameas of equal values of type float is not"},
      {"{{ '²'.isdigit() }}", "t, line 1: isdigit of '²' is not supported"},
      {"{{ 25.0 | round(-1) }}", "t, line 1: rounding a real number to tens is not supported"},
      {"{{ ''.__class__ }}", "t, line 1: member '__class__' is closed to templates"},
      {"{{ lipsum() }}", "t, line 1: 'lipsum' is not supported"},
      {"{{ 'ᾳ' | upper }}", "t, line 1: the upper case of 'ᾳ' is several characters"},
      {"{{ 9223372036854775807 + 1 }}", "t, line 1: an integer is larger than 64 bits"},
  };
  for (const auto& [source, message] : cases) {
    CAPTURE(source);
    CHECK_THROWS_WITH(render(source), Catch::Contains(message));
  }
}

TEST_CASE("errors are reported with their line") {
  const std::pair<const char*, const char*> cases[] = {
      {"{% if x %}\n", "t, line 1: the template ends, expected {% endif %}"},
      {"\n{{ x", "t, line 2: an output has no end, expected }}"},
      {"{{ 1 + }}", "t, line 1: found }}, expected a value"},
      {"{{ x.y.z }}", "t, line 1: 'x' is undefined, so it has no member 'y'"},
      {"{{ 'a' + 1 }}", "t, line 1: '+' does not take str and int"},
      {"\n{{ raise_exception('no system role') }}",
       "t, line 2: the template refuses this: no system role"},
      {"{% break %}", "t, line 1: 'break' is outside of a for"},
      {"{{ [1].append(2) }}", "t, line 1: 'append' cannot be called: it would change a list"},
      {"{% macro m(a) %}{% endmacro %}{{ m(1, b=2) }}", "macro 'm' takes no argument 'b' here"},
      {"{% macro m() %}{% endmacro %}{% call m() %}{% endcall %}",
       "macro 'm' takes no argument 'caller' here"},
      {"{% call 1 %}{% endcall %}", "t, line 1: {% call %} has no call of a macro"},
      {"{% block a %}{% endblock %}{% block a %}{% endblock %}", "block 'a' is given here again"},
      {"{% for x in [1] %}{{ loop([]) }}{% endfor %}", "its for is not marked 'recursive'"},
      {"{% for x in [1] recursive %}{{ loop([1]) }}{% endfor %}", "loops call one another deeper"},
      {"{{ '%d' % 'a' }}", "t, line 1: '%d' needs a number, found str"},
      {"{{ '%s' % (1, 2) }}", "t, line 1: '%' has more values than its text has places"},
      {"{{ '%(a)s' % {} }}", "t, line 1: '%': the dict has no 'a'"},
      {"{{ '{} {}'.format(1) }}", "t, line 1: format: it has no argument '1'"},
      {"{{ '{:d}'.format('a') }}", "t, line 1: format 'd' is not for a value of type str"},
      {"{% set n = namespace(_a=1) %}", "t, line 1: a namespace takes no member '_a'"},
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

TEST_CASE("the steps of a rendering are limited, and the error says where they ran out") {
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
      "{{ '%1000000000d' % 1 }}",
      "{{ '%*d' % (1000000000, 1) }}",
      "{{ '%.1000000000f' % 1.5 }}",
      "{{ '%.1000000000d' % 1 }}",
      "{{ '{:1000000000}'.format(1) }}",
      "{{ '{:0=1000000000,}'.format(1) }}",
      "{{ '{:.1000000000f}'.format(1.5) }}",
      "{{ '{:{}}'.format(1, 1000000000) }}",
      "{{ 'a'.center(1000000000000) }}",
      "{{ 'a' | center(1000000000000) }}",
      "{{ 'a'.ljust(1000000000000, '€') }}",
      "{{ 'a'.zfill(1000000000000) }}",
      "{{ '\t'.expandtabs(1000000000000) }}",
      "{{ [1] | batch(1000000000000, 0) | list }}",
      "{{ [1] | slice(1000000000000) | list }}",
      "{{ 'a' | indent(1000000000000) }}",
      "{{ [1] | tojson(indent=1000000000000) }}",
      "{{ 1.5 | round(300) }}{% for i in range(100000) %}{{ 1.5 | round(300) }}{% endfor %}",
      "{% for i in range(100000) %}{{ range(100000) }}{% endfor %}",
      "{% for x in range(100000) recursive %}{{ loop(range(100000)) }}{% endfor %}",
      "{% macro m(n) %}{% call m(n) %}{{ caller() }}{% endcall %}{{ caller() }}{% endmacro %}"
      "{% for i in range(100000) %}{% for j in range(100000) %}{{ m }}{% endfor %}{% endfor %}",
      "{% set ns = namespace(x=[1]) %}{% for i in range(40) %}{% set ns.x = ns.x + ns.x %}"
      "{% endfor %}{{ ns.x | sum }}",
      "{% for i in range(40) %}{{ ([[1]] * 100000) | sum(start=[]) | length }}{% endfor %}",
      "{% macro f(x) %}{{ varargs | length }}{% endmacro %}"
      "{% for i in range(100000) %}{{ f(*range(100000)) }}{% endfor %}",
      big + "{{ b.translate({97: b}) }}",
      big +
          "{{ b | urlencode | urlencode | urlencode | wordcount }}"
          "{% for i in range(100) %}{{ b | wordwrap(1) | length }}{% endfor %}",
      big + "{{ '{0}{0}{0}{0}{0}{0}{0}{0}{0}{0}'.format(b * 100) }}",
      big + "{{ '%s%s%s%s%s%s' % (b * 8, b * 8, b * 8, b * 8, b * 8, b * 8) }}",
      "{{ range(100000) | groupby('x') | length }}{% for i in range(100) %}"
      "{{ range(100000) | max }}{{ range(100000) | min }}{% endfor %}",
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

TEST_CASE("a long conversation has the steps that it needs") {
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
