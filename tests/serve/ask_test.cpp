#include "src/serve/ask.hpp"

#include "src/serve/api_error.hpp"
#include "src/support/text.hpp"
#include "tests/support/catch.hpp"

using namespace pardec;
using namespace pardec::serve;

namespace {

Ask completion(const std::string& body) { return parse_ask(body, Endpoint::completions); }
Ask chat(const std::string& body) { return parse_ask(body, Endpoint::chat); }

/// The field that is refused; "no error" if none is.
std::string refused(const std::string& body, Endpoint endpoint = Endpoint::completions) {
  try {
    parse_ask(body, endpoint);
  } catch (const ApiError& error) {
    CHECK(error.status == 400);
    CHECK(*error.what() != '\0');
    return error.param;
  }
  return "no error";
}

}  // namespace

TEST_CASE("a prompt is a text, ids, or a list of either") {
  using Prompts = std::vector<std::variant<std::string, Tokens>>;
  CHECK(completion(R"({"prompt": "a"})").prompts == Prompts{"a"});
  CHECK(completion(R"({"prompt": [1, 2]})").prompts == Prompts{Tokens{1, 2}});
  CHECK(completion(R"({"prompt": ["a", "b"]})").prompts == Prompts{"a", "b"});
  CHECK(completion(R"({"prompt": [[1], [2, 3]]})").prompts == Prompts{Tokens{1}, Tokens{2, 3}});
  CHECK(completion(R"({"prompt": ["a", [2]]})").prompts == Prompts{"a", Tokens{2}});
  for (const char* bad :
       {R"({})", R"({"prompt": null})", R"({"prompt": 1})", R"({"prompt": []})",
        R"({"prompt": {}})", R"({"prompt": [true]})", R"({"prompt": [1, "a"]})",
        R"({"prompt": [-1]})", R"({"prompt": [1.5]})", R"({"prompt": [4294967296]})",
        R"({"prompt": [18446744073709551615]})", R"({"prompt": [["a"]]})"}) {
    INFO(bad);
    CHECK(refused(bad) == "prompt");
  }
}

TEST_CASE("messages are texts, or parts of type text") {
  const Ask ask = chat(
      R"({"messages": [{"role": "developer", "content": "s"}, {"role": "user", "content": "u"},
          {"role": "assistant", "content": null},
          {"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}]})");
  REQUIRE(ask.messages.size() == 4);
  CHECK(ask.messages[0].role == "system");
  CHECK(ask.messages[2].content.empty());
  CHECK(ask.messages[3].content == "ab");
  for (const char* bad :
       {R"({})", R"({"messages": []})", R"({"messages": "hi"})", R"({"messages": [1]})",
        R"({"messages": [{"role": "tool", "content": "x"}]})",
        R"({"messages": [{"content": "x"}]})", R"({"messages": [{"role": "user", "content": 1}]})",
        R"({"messages": [{"role": "user", "content": [{"type": "image_url"}]}]})",
        R"({"messages": [{"role": "user", "content": ["x"]}]})"}) {
    INFO(bad);
    CHECK(refused(bad, Endpoint::chat) == "messages");
  }
}

TEST_CASE("what is sent is read, what is not sent is empty") {
  const Ask bare = completion(R"({"prompt": "a", "stop": [], "seed": null, "logprobs": null})");
  CHECK(!bare.max_tokens);
  CHECK(!bare.temperature);
  CHECK(!bare.seed);
  CHECK(bare.stops.empty());
  CHECK(bare.n == 1);
  CHECK(!bare.stream);
  const Ask full = completion(
      R"({"model": "m", "prompt": "a", "n": 3, "max_tokens": 5, "max_completion_tokens": 7,
          "temperature": 0, "top_p": 0.5, "top_k": -1, "seed": -4, "stop": "x", "stream": true,
          "stream_options": {"include_usage": true}, "ignore_eos": true, "return_token_ids": true,
          "pardec": {"decoder": "ar", "options": {"ask": "together"}},
          "best_of": 1, "presence_penalty": 0.0, "repetition_penalty": 1.0, "logit_bias": {},
          "user": "me", "new_field": [1]})");
  CHECK(full.model == "m");
  CHECK(full.n == 3);
  CHECK(full.max_tokens == 7);
  CHECK(full.temperature == 0.0);
  CHECK(full.top_p == 0.5);
  CHECK(full.top_k == 0);
  CHECK(full.seed == static_cast<std::uint64_t>(-4));
  CHECK(full.stops == std::vector<std::string>{"x"});
  CHECK((full.stream && full.include_usage && full.ignore_eos && full.return_token_ids));
  CHECK(full.decoder == "ar");
  CHECK(full.options == Json{{"ask", "together"}});
  CHECK(full.ignored == std::vector<std::string>{"new_field", "user"});
}

TEST_CASE("scores of tokens") {
  CHECK(completion(R"({"prompt": "a", "logprobs": 1, "echo": true, "max_tokens": 0})").logprobs ==
        1);
  CHECK(completion(R"({"prompt": "a", "logprobs": 0})").logprobs == 0);
  CHECK(!completion(R"({"prompt": "a", "logprobs": false})").logprobs);
  const std::string message = R"("messages": [{"role": "user", "content": "a"}])";
  CHECK(chat("{" + message + R"(, "logprobs": true})").logprobs == 0);
  CHECK(chat("{" + message + R"(, "logprobs": true, "top_logprobs": 5})").logprobs == 5);
  CHECK(!chat("{" + message + R"(, "top_logprobs": 0})").logprobs);
  CHECK(refused("{" + message + R"(, "logprobs": 1})", Endpoint::chat) == "logprobs");
  CHECK(refused("{" + message + R"(, "top_logprobs": 5})", Endpoint::chat) == "top_logprobs");
  CHECK(refused(R"({"prompt": "a", "logprobs": 21})") == "logprobs");
  CHECK(refused(R"({"prompt": "a", "max_tokens": 0})") == "max_tokens");
}

TEST_CASE("what is not supported is refused by its name") {
  for (const auto& [field, value] :
       std::vector<std::pair<std::string, std::string>>{{"n", "0"},
                                                        {"n", "129"},
                                                        {"n", "1.5"},
                                                        {"max_tokens", "0"},
                                                        {"max_tokens", "\"5\""},
                                                        {"max_tokens", "18446744073709551615"},
                                                        {"temperature", "-1"},
                                                        {"temperature", "\"hot\""},
                                                        {"top_p", "0"},
                                                        {"top_p", "1.01"},
                                                        {"seed", "0.5"},
                                                        {"stop", "\"\""},
                                                        {"stop", "[1]"},
                                                        {"stream", "1"},
                                                        {"stream_options", "{}"},
                                                        {"best_of", "2"},
                                                        {"presence_penalty", "0.5"},
                                                        {"repetition_penalty", "1.1"},
                                                        {"logit_bias", R"({"5": 1})"},
                                                        {"suffix", "\"end\""},
                                                        {"tools", R"([{"type": "function"}])"},
                                                        {"pardec", "[]"},
                                                        {"pardec", R"({"decodr": "ar"})"},
                                                        {"pardec.options", "5"}}) {
    INFO(field << " " << value);
    const std::string sent =
        field == "pardec.options" ? R"("pardec": {"options": 5})" : str("\"", field, "\": ", value);
    CHECK(refused(str(R"({"prompt": "a", )", sent, "}")) == field);
  }
  CHECK(refused(R"({"prompt": ["a", "b"], "n": 65})") == "n");
  CHECK(refused(str(R"({"prompt": "a", "stop": [)", std::string(16, ' '), R"("a")",
                    [] {
                      std::string more;
                      for (int i = 0; i < 16; ++i) more += ", \"a\"";
                      return more;
                    }(),
                    "]}")) == "stop");
}

TEST_CASE("a body that is no object is refused") {
  for (const std::string& bad :
       {std::string(), std::string("[]"), std::string("null"), std::string("{"),
        std::string("{\"prompt\": \"\xff\"}"), std::string("{\"prompt\": 1e999}"),
        std::string(100'000, '['), std::string("{\"a\":\"\0\"}", 9)}) {
    INFO(bad.substr(0, 40));
    CHECK(refused(bad).empty());
  }
}

TEST_CASE("a job takes the place of messages") {
  const std::string job = R"("pardec": {"job": {"contexts": [{"text": "a"}], "seed": 3})";
  const Ask ask = chat("{" + job + R"(, "events": true}, "stream": true})");
  REQUIRE(ask.job.has_value());
  CHECK(ask.job->at("seed") == 3);
  CHECK(ask.events);
  CHECK(ask.messages.empty());
  CHECK(chat("{" + job + R"(}, "messages": [], "logprobs": false})").job.has_value());
  const auto with = [&](const std::string& more) {
    return refused("{" + job + "}, " + more + "}", Endpoint::chat);
  };
  CHECK(with(R"("messages": [{"role": "user", "content": "a"}])") == "messages");
  CHECK(with(R"("response_format": {"type": "text"})") == "response_format");
  CHECK(with(R"("logprobs": true)") == "logprobs");
  CHECK(with(R"("seed": 1)") == "seed");
  CHECK(with(R"("temperature": 1)") == "no error");
  CHECK(refused(R"({"prompt": "a", )" + job + "}}") == "pardec");
  CHECK(refused(R"({"pardec": {"job": []}})", Endpoint::chat) == "pardec.job");
}

TEST_CASE("events go with streams only") {
  CHECK(refused(R"({"prompt": "a", "pardec": {"events": true}})") == "pardec");
  CHECK(completion(R"({"prompt": "a", "stream": true, "pardec": {"events": true}})").events);
  CHECK_FALSE(completion(R"({"prompt": "a"})").events);
}

TEST_CASE("a least length") {
  CHECK(completion(R"({"prompt": "a", "min_tokens": 3})").min_tokens == 3);
  CHECK(refused(R"({"prompt": "a", "min_tokens": -1})") == "min_tokens");
  CHECK(refused(R"({"prompt": "a", "min_tokens": 3, "max_tokens": 2})") == "min_tokens");
  CHECK(refused(R"({"prompt": "a", "min_tokens": 3, "stop": "x"})") == "min_tokens");
}

TEST_CASE("scores of the prompt") {
  CHECK(completion(R"({"prompt": "a", "prompt_logprobs": 0})").prompt_logprobs == 0);
  CHECK_FALSE(completion(R"({"prompt": "a", "prompt_logprobs": null})").prompt_logprobs);
  CHECK(refused(R"({"prompt": "a", "prompt_logprobs": 21})") == "prompt_logprobs");
  CHECK(refused(R"({"prompt": "a", "prompt_logprobs": 1, "stream": true})") == "prompt_logprobs");
}
