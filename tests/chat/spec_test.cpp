// Descriptions of services: what is read, and that errors name the line.
#include <unistd.h>

#include <cstdlib>

#include "src/chat/key.hpp"
#include "src/chat/service.hpp"
#include "src/support/files.hpp"
#include "src/support/json.hpp"
#include "src/support/text.hpp"
#include "tests/support/catch.hpp"

using namespace pardec;
using namespace pardec::chat;
using Catch::Contains;

namespace {

std::filesystem::path written(const std::string& text) {
  const auto file = std::filesystem::temp_directory_path() / str("chat-spec-", ::getpid(), ".json");
  write_file(file, text);
  return file;
}
std::string error(const std::string& more) {
  const std::string text = str("{\n\"interface\": \"openai-chat\",\n\"base_url\": ",
                               "\"http://127.0.0.1:1/v1\",\n\"model\": \"m\"", more, "\n}\n");
  try {
    read_service(written(text));
  } catch (const Error& wrong) {
    return wrong.what();
  }
  return "";
}

}  // namespace

TEST_CASE("a service is read with its defaults, also from inside a file") {
  const auto file = written(
      "{\"judge\": {\"service\":\n {\"interface\": \"anthropic-messages\", \"base_url\": "
      "\"https://h/\", \"model\": \"m\",\n  \"parameters\": {\n   \"thinking\": {\"type\": "
      "\"disabled\"}},\n  \"prices\": {\"input\": 3, \"output\": 15}}}}");
  const ServiceSpec spec = read_service(file, "/judge/service");
  CHECK(spec.interface == Interface::kAnthropicMessages);
  CHECK(spec.base_url == "https://h");
  CHECK(spec.auth == "x-api-key");
  CHECK(spec.version == "2023-06-01");
  CHECK(spec.prices->cached_input == 3);
  CHECK(spec.formats == std::vector{Format::kJsonSchema});
  CHECK(spec.lines.at("parameters.thinking") == 4);
  CHECK(identity(spec)["parameters"]["thinking"]["type"] == "disabled");

  const Call call{"k", {{"user", "12345678"}}, nullptr, "", 1000};
  const WorstCase most = worst_case(spec, call);
  CHECK(most.tokens == 8 + 2 * 32 + 1000);
  CHECK(most.cost == Approx((8 + 2 * 32) * 3e-6 + 1000 * 15e-6));
}

TEST_CASE("errors of a description name its line") {
  CHECK(error("") == "");
  CHECK_THAT(error(",\n\"concurrency\": 0"), Contains(".json:5: 'concurrency' is 0, expected 1"));
  CHECK_THAT(error(",\n\n\"retries\": \"x\""), Contains(".json:6: the service: 'retries'"));
  CHECK_THAT(error(",\n\"prices\": {\n\"input\": -1}"), Contains(".json:6: 'input' is -1"));
  CHECK_THAT(error(",\n\"prices\": {\"inputs\": 1}"), Contains(".json:5:") && Contains("inputs"));
  CHECK_THAT(error(",\n\"prices\": {\"input\": 1}"), Contains("'prices' has no 'output'"));
  CHECK_THAT(error(",\n\"retries\": 1,\n\"retries\": 2"), Contains("'retries' occurs twice"));
  CHECK_THAT(error(",\n\"deadlines\": {\"total\": 0}"), Contains(".json:5: 'total' is 0"));
  CHECK_THAT(error(",\n\"temperature\": 0"), Contains("unknown key 'temperature'"));
  CHECK_THAT(error(",\n\"parameters\": {\n\"temperature\": 0,\n\"max_tokens\": 5}"),
             Contains(".json:7: 'parameters' has 'max_tokens'"));
  CHECK_THAT(error(",\n\"parameters\": 7"), Contains(".json:5:") && Contains("object"));
  CHECK_THAT(error(",\n\"formats\": [\"text\", \"json_schema\"]"), Contains(".json:5: 'formats'"));
  CHECK_THAT(error(",\n\"formats\": [\"jason\"]"), Contains("unknown 'jason'"));
  CHECK_THAT(error(",\n\"formats\": []"), Contains("'formats' must hold"));
  CHECK(error(",\n\"formats\": [\"json_schema\", \"json_object+schema\"]") == "");
  CHECK_THAT(error(",\n\"auth\": \"basic\""), Contains(".json:5: 'auth' is 'basic'"));
  CHECK(error(",\n\"auth\": \"api-key\"") == "");
  CHECK_THAT(error(",\n\"token_limit\": \"n\""), Contains(".json:5: 'token_limit'"));
  const std::string rest = ", \"model\": \"m\", \"base_url\": \"";
  for (const char* url : {"ftp://h", "h/v1", "http://", "https://me:pw123@h/v1",
                          "http://h/v1?api-version=1", "http://h/ v1"}) {
    INFO(url);
    const auto file = written(str("{\"interface\": \"openai-chat\"", rest, url, "\"}"));
    CHECK_THROWS_WITH(read_service(file), Contains(".json:1: 'base_url'") && !Contains("pw123"));
  }
  CHECK_THROWS_WITH(read_service(written("{\"interface\": \"openai\"}")),
                    Contains("unknown 'openai'"));
  CHECK_THROWS_WITH(read_service(written("{}"), "/service"), Contains("'service' is missing"));
}

TEST_CASE("a key is only in the environment") {
  const std::string wrong = error(",\n\"key_env\": \"sk-secret-1234567\"");
  CHECK_THAT(wrong, Contains(".json:5: 'key_env'") && !Contains("secret"));
  ::unsetenv("PARDEC_TEST_KEY");
  CHECK_THROWS_WITH(Key("PARDEC_TEST_KEY"), Contains("PARDEC_TEST_KEY"));
  ::setenv("PARDEC_TEST_KEY", "sk-1234\n", 1);
  CHECK_THROWS_WITH(Key("PARDEC_TEST_KEY"), !Contains("sk-1234"));
  ::setenv("PARDEC_TEST_KEY", "sk-123456789", 1);
  const Key key("PARDEC_TEST_KEY");
  CHECK(key.redact("a sk-123456789, and sk-123456789") == "a [key], and [key]");
  CHECK(key.redact("cut: sk-12345") == "cut: [key]");
  CHECK(key.redact("short: sk-") == "short: sk-");
  CHECK(Key().redact("sk-123456789") == "sk-123456789");
  // As JSON strings write it, once, and once more inside of such strings.
  ::setenv("PARDEC_TEST_KEY", "sk/\"ab\\c/9\\\\z", 1);
  const Key escaped("PARDEC_TEST_KEY");
  std::string written = "sk/\"ab\\c/9\\\\z";
  for (int level = 0; level < 4; ++level) {
    INFO(written);
    CHECK(escaped.redact(str("a ", written, " b ", written)) == "a [key] b [key]");
    for (const char* slash : {"\\/", "\\u002f", "\\u002F"})
      if (level == 1)
        CHECK(escaped.redact(str("a ", replace_all(written, "/", slash), " b")) == "a [key] b");
    for (size_t cut = written.size() - 1; cut > written.size() * 3 / 4; --cut)
      CHECK(escaped.redact("cut: " + written.substr(0, cut)) == "cut: [key]");
    written = Json(written).dump();
    written = written.substr(1, written.size() - 2);
  }
  CHECK(escaped.redact("sk/\\ab, \\\\ and \\") == "sk/\\ab, \\\\ and \\");
  ::setenv("PARDEC_TEST_KEY", "none", 1);
  CHECK(Key("PARDEC_TEST_KEY").redact("none is better") == "none is better");
  ::unsetenv("PARDEC_TEST_KEY");
}

TEST_CASE("a key among the parameters is refused, and not printed") {
  for (const char* name :
       {"api_key", "apiKey", "API-Key", "x-api-key", "openai_api_key", "key", "Authorization",
        "proxy_authorization", "access_token", "token", "client_secret", "password"}) {
    INFO(name);
    const std::string said = str("'parameters' has '", name, "', which looks like a key");
    CHECK_THAT(error(str(",\n\"parameters\": {\n\"", name, "\": \"sk-1234567\"}")),
               Contains(".json:6: " + said) && Contains("'key_env'") && !Contains("sk-1"));
    CHECK_THAT(error(str(",\n\"parameters\": {\"headers\": [{\"", name, "\": \"sk-1234567\"}]}")),
               Contains(".json:5: " + said) && !Contains("sk-1"));
    CHECK_THAT(error(str(",\n\"", name, "\": \"sk-1234567\"")),
               Contains(".json:5: ") && Contains("'key_env'") && !Contains("sk-1"));
  }
  CHECK_THAT(error(",\n\"parameters\": {\"headers\": {\"x\": \"Bearer sk-1234567\"}}"),
             Contains("looks like a key") && !Contains("sk-1"));
  for (const char* good : {"\"prompt_cache_key\": \"pardec\"", "\"stop_token_ids\": [2]",
                           "\"key\": 7", "\"skip_special_tokens\": true", "\"user\": \"me\""})
    CHECK(error(str(",\n\"parameters\": {", good, "}")) == "");
}

TEST_CASE("a budget of money needs prices") {
  const ServiceSpec spec = read_service(
      written(R"({"interface": "openai-chat", "base_url": "http://h", "model": "m"})"));
  CHECK_THROWS_WITH(Service(spec, Budget{1.0, std::nullopt}), Contains("'prices'"));
}
