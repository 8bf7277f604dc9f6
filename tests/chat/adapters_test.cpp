// Requests and replies of each interface, compared with the shapes that the clients of OpenAI and
// Anthropic define (openai 3.54.0, anthropic 2.12.0).
#include "src/chat/adapter.hpp"
#include "tests/support/catch.hpp"

using namespace pardec;
using namespace pardec::chat;

namespace {

const Json kSchema =
    Json::parse(R"({"type": "object", "properties": {"verdict": {"enum": ["A", "B", null]}},
                                     "required": ["verdict"], "additionalProperties": false})");

Call call() { return {"k", {{"system", "Judge."}, {"user", "A or B?"}}, kSchema, "verdict", 64}; }
ServiceSpec service(Interface interface, const char* parameters = "{}") {
  ServiceSpec spec;
  spec.interface = interface, spec.base_url = "http://h/v1", spec.model = "m";
  spec.token_limit = "max_completion_tokens";
  spec.parameters = Json::parse(parameters);
  return spec;
}
Json body(const ServiceSpec& spec, Format format) {
  return adapter_of(spec.interface).body(spec, call(), format);
}
Answer read(Interface interface, const char* text) {
  return adapter_of(interface).read(Json::parse(text));
}
std::vector<std::int64_t> counts(Interface interface, const char* text) {
  const Usage usage = adapter_of(interface).usage(Json::parse(text));
  return {usage.prompt_tokens, usage.completion_tokens, usage.reasoning_tokens,
          usage.cached_tokens};
}

}  // namespace

TEST_CASE("openai-chat asks for a schema, an object or text") {
  const ServiceSpec spec =
      service(Interface::kOpenAiChat, R"({"temperature": 0, "reasoning_effort": "low"})");
  CHECK(adapter_of(spec.interface).path(spec) == "/chat/completions");
  Json expected = Json::parse(R"({"model": "m", "max_completion_tokens": 64, "temperature": 0,
      "reasoning_effort": "low",
      "messages": [{"role": "system", "content": "Judge."}, {"role": "user", "content": "A or B?"}],
      "response_format": {"type": "json_schema", "json_schema": {"name": "verdict", "strict": true}}})");
  expected["response_format"]["json_schema"]["schema"] = kSchema;
  CHECK(body(spec, Format::kJsonSchema) == expected);

  const Json both = body(spec, Format::kSchemaInObject);
  CHECK(both["response_format"] == Json{{"type", "json_object"}, {"schema", kSchema}});
  const Json object = body(spec, Format::kJsonObject);
  CHECK(both["messages"] == object["messages"]);
  CHECK(object["response_format"] == Json{{"type", "json_object"}});
  const std::string asked = object["messages"][1]["content"];
  CHECK(asked.starts_with("A or B?\n\nReply with one JSON object"));
  CHECK(asked.ends_with(dump(kSchema)));
  const Json text = body(spec, Format::kText);
  CHECK_FALSE(text.contains("response_format"));
  CHECK(text["messages"] == object["messages"]);

  Call free = call();
  free.schema = nullptr;
  const Json plain = adapter_of(spec.interface).body(spec, free, Format::kText);
  CHECK_FALSE(plain.contains("response_format"));
  CHECK(plain["messages"] == expected["messages"]);
}

TEST_CASE(
    "anthropic-messages sends the system text separately, and adds the configured parameters") {
  ServiceSpec spec =
      service(Interface::kAnthropicMessages, R"({"output_config": {"effort": "low"}})");
  CHECK(adapter_of(spec.interface).path(spec) == "/messages");
  spec.base_url = "http://h";
  CHECK(adapter_of(spec.interface).path(spec) == "/v1/messages");
  Json expected = Json::parse(R"({"model": "m", "max_tokens": 64, "system": "Judge.",
      "messages": [{"role": "user", "content": "A or B?"}],
      "output_config": {"effort": "low", "format": {"type": "json_schema"}}})");
  expected["output_config"]["format"]["schema"] = kSchema;
  CHECK(body(spec, Format::kJsonSchema) == expected);
  CHECK(body(spec, Format::kText)["output_config"] == Json{{"effort", "low"}});
}

TEST_CASE("openai-responses has its format under text, and stores nothing unless asked") {
  const ServiceSpec spec =
      service(Interface::kOpenAiResponses, R"({"text": {"verbosity": "low"}})");
  CHECK(adapter_of(spec.interface).path(spec) == "/responses");
  Json expected = Json::parse(R"({"model": "m", "max_output_tokens": 64, "store": false,
      "input": [{"role": "system", "content": "Judge."}, {"role": "user", "content": "A or B?"}],
      "text": {"verbosity": "low", "format": {"type": "json_schema", "name": "verdict", "strict": true}}})");
  expected["text"]["format"]["schema"] = kSchema;
  CHECK(body(spec, Format::kJsonSchema) == expected);
  CHECK(body(spec, Format::kJsonObject)["text"]["format"] == Json{{"type", "json_object"}});
  CHECK(body(service(Interface::kOpenAiResponses, R"({"store": true})"), Format::kText)["store"] ==
        true);
}

TEST_CASE("the keys of a schema are sent in their order, in which services write the reply") {
  Call ordered = call();
  ordered.schema = OrderedJson::parse(
      R"({"type": "object", "properties": {"why": {"type": "string"}, "answer": {"type": "string"}}})");
  for (const Interface interface :
       {Interface::kOpenAiChat, Interface::kAnthropicMessages, Interface::kOpenAiResponses})
    for (const Format format : {Format::kJsonSchema, Format::kSchemaInObject, Format::kText}) {
      if (format == Format::kSchemaInObject && interface != Interface::kOpenAiChat) continue;
      const std::string sent =
          dump(adapter_of(interface).body(service(interface, "{}"), ordered, format));
      INFO(sent);
      CHECK(sent.find("why") < sent.find("answer"));
    }
}

TEST_CASE("openai-chat's answers") {
  const auto choice = [](const char* message, const char* ended) {
    return read(Interface::kOpenAiChat,
                (std::string(R"({"model": "m-1", "choices": [{"index": 0, "finish_reason": ")") +
                 ended + R"(", "message": )" + message + "}]}")
                    .c_str());
  };
  const Answer good = choice(R"({"role": "assistant", "content": " yes\n"})", "stop");
  CHECK(good.state == ReplyState::kAnswered);
  CHECK(good.text == "yes");
  CHECK(good.model == "m-1");
  // Refusals take precedence over everything else, also over truncated replies.
  const Answer refused = choice(R"({"content": null, "refusal": "no"})", "length");
  CHECK(refused.state == ReplyState::kRefused);
  CHECK(refused.text == "no");
  CHECK(choice(R"({"content": ""})", "content_filter").state == ReplyState::kRefused);
  const Answer cut = choice(R"({"content": "hal"})", "length");
  CHECK(cut.state == ReplyState::kCutShort);
  CHECK(cut.text == "hal");
  CHECK(choice(R"({"content": null})", "stop").state == ReplyState::kCutShort);
  CHECK(choice(R"({"content": "<think>hm"})", "stop").state == ReplyState::kCutShort);
  CHECK(choice(R"({"content": "<think>hm</think> "})", "stop").state == ReplyState::kCutShort);
  CHECK(choice(R"({"content": "<think>[[A]]</think>[[B]]"})", "stop").text == "[[B]]");
  CHECK(choice(R"({"content": "hm [[A]]</think>[[B]]"})", "stop").text == "[[B]]");
  CHECK(choice(R"({"content": "{\"why\": \"</think>\"}"})", "stop").text ==
        R"({"why": "</think>"})");
  CHECK(choice(R"({"content": "the tags <think> and </think>"})", "stop").text ==
        "the tags <think> and </think>");
  CHECK(choice(R"({"content": [{"type": "text", "text": "a"}, {"text": "b"}]})", "stop").text ==
        "ab");
  for (const char* none :
       {R"({})", R"([])", R"({"choices": null})", R"({"choices": []})", R"({"choices": [1]})",
        R"({"choices": [{"finish_reason": "stop", "message": null}]})",
        R"({"choices": [{"finish_reason": "error", "message": {"content": "x"}}]})"})
    CHECK_THROWS_AS(read(Interface::kOpenAiChat, none), NoAnswer);
}

TEST_CASE("anthropic-messages' answers") {
  const auto message = [](const char* content, const char* ended) {
    return read(Interface::kAnthropicMessages,
                (std::string(R"({"type": "message", "model": "m-1", "stop_reason": ")") + ended +
                 R"(", "stop_details": {"type": "refusal", "category": "bio"}, "content": )" +
                 content + "}")
                    .c_str());
  };
  const char* good =
      R"([{"type": "thinking", "thinking": "[[A]]"}, {"type": "text", "text": "B"}])";
  CHECK(message(good, "end_turn").text == "B");
  CHECK(message(good, "end_turn").state == ReplyState::kAnswered);
  CHECK(message(good, "refusal").state == ReplyState::kRefused);
  CHECK(message(good, "refusal").reason == "refused (bio)");
  CHECK(message(good, "max_tokens").state == ReplyState::kCutShort);
  CHECK(message(good, "model_context_window_exceeded").state == ReplyState::kCutShort);
  CHECK(message("[]", "end_turn").state == ReplyState::kCutShort);
  CHECK(message(R"([{"type": "thinking", "thinking": "x"}])", "end_turn").state ==
        ReplyState::kCutShort);
  for (const char* none : {R"({})", R"({"content": null, "stop_reason": "end_turn"})",
                           R"({"content": [], "stop_reason": null})"})
    CHECK_THROWS_AS(read(Interface::kAnthropicMessages, none), NoAnswer);
}

TEST_CASE("openai-responses' answers") {
  const auto response = [](const char* status, const char* why, const char* part) {
    return read(Interface::kOpenAiResponses,
                (std::string(R"({"model": "m-1", "error": null, "status": ")") + status +
                 R"(", "incomplete_details": )" + why +
                 R"(, "output": [{"type": "reasoning", "content": [{"text": "[[A]]"}]},
                     {"type": "message", "role": "assistant", "content": [)" +
                 part + "]}]}")
                    .c_str());
  };
  const char* text = R"({"type": "output_text", "text": "B", "annotations": []})";
  CHECK(response("completed", "null", text).text == "B");
  CHECK(response("completed", "null", text).state == ReplyState::kAnswered);
  CHECK(response("completed", "null", R"({"type": "refusal", "refusal": "no"})").state ==
        ReplyState::kRefused);
  CHECK(response("incomplete", R"({"reason": "content_filter"})", text).state ==
        ReplyState::kRefused);
  CHECK(response("incomplete", R"({"reason": "max_output_tokens"})", text).state ==
        ReplyState::kCutShort);
  CHECK(response("completed", "null", "").state == ReplyState::kCutShort);
  CHECK_THROWS_AS(response("failed", "null", text), NoAnswer);
  CHECK_THROWS_AS(response("queued", "null", text), NoAnswer);
  CHECK_THROWS_AS(read(Interface::kOpenAiResponses, R"({"status": "completed"})"), NoAnswer);
}

TEST_CASE("tokens are counted in each service's own terms") {
  using Counts = std::vector<std::int64_t>;
  CHECK(counts(Interface::kOpenAiChat,
               R"({"usage": {"prompt_tokens": 100, "completion_tokens": 20,
                   "completion_tokens_details": {"reasoning_tokens": 5},
                   "prompt_tokens_details": {"cached_tokens": 40}}})") == Counts{100, 20, 5, 40});
  CHECK(counts(Interface::kOpenAiChat,
               R"({"usage": {"prompt_tokens": 100, "completion_tokens": 20,
                   "prompt_tokens_details": null}})") == Counts{100, 20, -1, -1});
  CHECK(counts(Interface::kOpenAiChat, R"({"usage": null})") == Counts{-1, -1, -1, -1});
  CHECK(counts(Interface::kOpenAiChat,
               R"({"usage": {"prompt_tokens": -3, "completion_tokens": 1e300}})") ==
        Counts{-1, -1, -1, -1});
  CHECK(counts(Interface::kAnthropicMessages,
               R"({"usage": {"input_tokens": 50, "cache_read_input_tokens": 40,
                   "cache_creation_input_tokens": 10, "output_tokens": 20,
                   "output_tokens_details": {"thinking_tokens": 5}}})") == Counts{100, 20, 5, 40});
  CHECK(counts(Interface::kAnthropicMessages,
               R"({"usage": {"input_tokens": 50, "cache_read_input_tokens": null,
                   "output_tokens": 20}})") == Counts{50, 20, -1, -1});
  CHECK(counts(Interface::kOpenAiResponses,
               R"({"usage": {"input_tokens": 100, "input_tokens_details": {"cached_tokens": 40},
                   "output_tokens": 20, "output_tokens_details": {"reasoning_tokens": 5}}})") ==
        Counts{100, 20, 5, 40});
}
