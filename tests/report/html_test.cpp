#include "src/report/html.hpp"

#include "src/support/json.hpp"
#include "tests/support/catch.hpp"

using namespace pardec;

TEST_CASE("text that HTML would read as markup is escaped, in text and in attributes") {
  CHECK(escape_html("a<b> & \"c\" 'd'") == "a&lt;b&gt; &amp; &quot;c&quot; &#39;d&#39;");
  CHECK(escape_html("é 日本 \t\n") == "é 日本 \t\n");
  CHECK(escape_html("x\xFFy") == "x\uFFFDy");
  CHECK(escape_html(std::string("\x01\0\x7f", 3)) == "\uFFFD\uFFFD\uFFFD");
  CHECK(escape_html("").empty());
}

TEST_CASE("JSON in a script element cannot end it, and is read back unchanged") {
  const Json value = {{"text", "</script><!-- \u2028 \u2029 & \"q\""}, {"x", 0.1}};
  const std::string script = escape_json_script(dump(value));
  CHECK(script.find('<') == std::string::npos);
  CHECK(script.find("\u2028") == std::string::npos);
  CHECK(Json::parse(script) == value);
}
