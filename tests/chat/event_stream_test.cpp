// Streamed answers, in whatever pieces they arrive.
#include "src/chat/event_stream.hpp"
#include "src/chat/adapter.hpp"
#include "src/support/text.hpp"
#include "tests/support/catch.hpp"

using namespace pardec;
using namespace pardec::chat;

namespace {

std::string event(const std::string& json) { return "data: " + json + "\n\n"; }

/// The stream of a text in pieces of `bytes`.
EventStream read(const std::string& text, std::size_t bytes, const std::string& until = "") {
  EventStream stream(until);
  for (std::size_t at = 0; at < text.size(); at += bytes)
    if (!stream.take(std::string_view(text).substr(at, bytes))) break;
  return stream;
}

const std::string kCompletion =
    ": ping\n\n" +
    event(R"({"id":"1","model":"m","choices":[{"index":0,"text":"Hel","token_ids":[5,6]}]})") +
    "event: message\r\n" +
    "data: {\"choices\":[{\"index\":0,\"text\":\"lo\",\"token_ids\":[7]}]}\r\n\r\n" +
    event(R"({"choices":[{"index":0,"text":"","finish_reason":"stop"}],"usage":null})") +
    event(R"({"choices":[],"usage":{"prompt_tokens":4,"completion_tokens":3},"metrics":{"x":1}})") +
    "data: [DONE]\n\n";

}  // namespace

TEST_CASE("a streamed completion is the same answer in any pieces", "[chat]") {
  for (const std::size_t bytes : {1, 2, 7, 64, 10000}) {
    CAPTURE(bytes);
    const EventStream stream = read(kCompletion, bytes);
    CHECK(stream.any());
    CHECK_FALSE(stream.broken());
    CHECK(stream.first_seconds() >= 0);
    const Json body = stream.body();
    CHECK(body["choices"][0]["text"] == "Hello");
    CHECK(body["choices"][0]["token_ids"] == Json{5, 6, 7});
    CHECK(body["choices"][0]["finish_reason"] == "stop");
    CHECK(body["metrics"]["x"] == 1);
    const Answer answer = openai_stream(false).read(body);
    CHECK(answer.state == ReplyState::kAnswered);
    CHECK(answer.text == "Hello");
    CHECK(answer.model == "m");
    CHECK(openai_stream(false).usage(body).completion_tokens == 3);
  }
}

TEST_CASE("a streamed chat answer, with its reasoning", "[chat]") {
  const std::string text = event(R"({"choices":[{"delta":{"role":"assistant","content":""}}]})") +
                           event(R"({"choices":[{"delta":{"reasoning_content":"let me see"}}]})") +
                           event(R"({"choices":[{"delta":{"content":"42"}}]})") +
                           event(R"({"choices":[{"delta":{},"finish_reason":"length"}]})");
  const Answer answer = openai_stream(true).read(read(text, 3).body());
  CHECK(answer.state == ReplyState::kAnswered);  // an arm's answer may end at the limit
  CHECK(answer.text == "<think>let me see</think>42");
}

TEST_CASE("a stream ends with the text that completes the answer", "[chat]") {
  const std::string text = event(R"({"choices":[{"text":"{}</res"}]})") +
                           event(R"({"choices":[{"text":"ult> and"}]})") +
                           event(R"({"choices":[{"text":" more"}]})");
  EventStream stream("</result>");
  CHECK(stream.take(text.substr(0, 40)));
  CHECK_FALSE(stream.take(text.substr(40)));
  CHECK(stream.body()["choices"][0]["text"] == "{}</result> and");
  CHECK(stream.body()["choices"][0]["finish_reason"] == "until");
}

TEST_CASE("what is no whole answer is not read as one", "[chat]") {
  const auto what = [](const Json& body) -> std::string {
    try {
      openai_stream(false).read(body);
      return "";
    } catch (const NoAnswer& none) {
      return none.what;
    }
  };
  // cut before its end
  CHECK(what(read(event(R"({"choices":[{"text":"half"}]})"), 5).body()) ==
        "has no end (finish_reason)");
  CHECK(what(read(event("{}"), 5).body()) == "has no end (finish_reason)");
  CHECK(what(Json::object()) == "has no choices");
  // an error in mid-stream is the body, as an error that was not streamed
  const EventStream failed =
      read(event(R"({"choices":[{"text":"half"}]})") + event(R"({"error":{"message":"died"}})"), 9);
  CHECK(failed.body()["error"]["message"] == "died");
  // no JSON
  CHECK(read("data: {no\n\n", 4).broken());
  CHECK_FALSE(read("{\"choices\": []}", 4).any());
}

TEST_CASE("a streamed call sends its own parameters over those of the service", "[chat]") {
  ServiceSpec spec;
  spec.model = "m";
  spec.token_limit = "max_tokens";
  spec.parameters = {{"temperature", 1}, {"extra", true}};
  Call call;
  call.max_tokens = 9;
  call.parameters = {{"prompt", {1, 2, 3}}, {"temperature", 0}};
  const Json body = openai_stream(false).body(spec, call, Format::kText);
  CHECK(body == Json{{"model", "m"},
                     {"max_tokens", 9},
                     {"prompt", {1, 2, 3}},
                     {"temperature", 0},
                     {"extra", true},
                     {"stream", true},
                     {"stream_options", {{"include_usage", true}}}});
  call.parameters.erase("prompt");
  call.messages = {{"user", "hi"}};
  const Json chat = openai_stream(true).body(spec, call, Format::kText);
  CHECK(chat["messages"] == Json::array({{{"role", "user"}, {"content", "hi"}}}));
  // a prompt of ids costs as many tokens as it has ids
  call.messages.clear();
  call.parameters["prompt"] = {1, 2, 3};
  CHECK(worst_case(spec, call).tokens == 3 + 32 + 9);
}
