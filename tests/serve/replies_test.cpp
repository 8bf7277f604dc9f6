#include "src/serve/replies.hpp"

#include "src/serve/api_error.hpp"
#include "tests/support/catch.hpp"

using namespace pardec;
using namespace pardec::serve;

namespace {

const ReplyHead kChat{Endpoint::chat, "chatcmpl-1", "net:ar", 5};
const ReplyHead kPlain{Endpoint::completions, "cmpl-1", "net", 5};

}  // namespace

TEST_CASE("whole replies") {
  Decoding decoding{.decoder = "lookahead", .sampling = {.temperature = 0.5}, .seed = 9};
  decoding.counters.chosen = 6;
  decoding.counters.forwards = 4;
  decoding.counters.drafted = {4, 2};
  decoding.counters.accepted = {2, 0};
  const OrderedJson chat =
      whole_reply(kChat, {{.index = 0, .text = "hi", .finish = "stop"}}, {3, 6}, decoding);
  CHECK(
      dump(chat) ==
      R"({"id":"chatcmpl-1","object":"chat.completion","created":5,"model":"net:ar","choices":[)"
      R"({"index":0,"message":{"role":"assistant","content":"hi"},"logprobs":null,"finish_reason":"stop"}],)"
      R"("usage":{"prompt_tokens":3,"completion_tokens":6,"total_tokens":9},)"
      R"("pardec":{"decoder":"lookahead","options":{},"temperature":0.5,"top_p":1.0,"top_k":0,"seed":9,)"
      R"("passes":4,"tokens_per_pass":1.5,"guesses":6,"accepted_guesses":2,"draft_passes":0,"streams":0},)"
      R"("metrics":{"speculative_decoding":{"num_spec_tokens":2,"num_spec_steps":4,"num_draft_tokens":6,)"
      R"("num_accepted_draft_tokens":2,"mean_acceptance_length":1.5,"draft_acceptance_rate":0.3333333333333333,)"
      R"("acceptance_histogram":[2,2,0]}}})");
  const OrderedJson plain = whole_reply(
      kPlain, {{.index = 0, .text = "a", .finish = "length", .tokens = Tokens{7}}, {.index = 1}},
      {}, {});
  CHECK(plain["object"] == "text_completion");
  CHECK(plain["choices"][0] == OrderedJson{{"index", 0},
                                           {"text", "a"},
                                           {"logprobs", nullptr},
                                           {"finish_reason", "length"},
                                           {"token_ids", {7}}});
  CHECK(plain["choices"].size() == 2);
}

TEST_CASE("values of a job") {
  Job job;
  job.contexts = {{.fields = {{.name = "Brand"}, {.name = "Pack \"size\""}}}};
  Answers answers;
  answers.fields.resize(1);
  answers.fields[0].resize(2);
  answers.fields[0][0].text = "A \"B\"";
  CHECK(job_values(job, answers) == R"({"Brand":"A \"B\"","Pack \"size\"":null})");
  job.contexts.push_back(job.contexts[0]);
  answers.fields.push_back(answers.fields[0]);
  CHECK(Json::parse(job_values(job, answers)) ==
        Json::array({{{"Brand", "A \"B\""}, {"Pack \"size\"", nullptr}},
                     {{"Brand", "A \"B\""}, {"Pack \"size\"", nullptr}}}));
}

TEST_CASE("the role rides on the first chunk") {
  const OrderedJson first = chunk(kChat, {.index = 1, .text = "a"}, true);
  CHECK(first["object"] == "chat.completion.chunk");
  CHECK(first["choices"][0]["delta"] == OrderedJson{{"role", "assistant"}, {"content", "a"}});
  CHECK(first["choices"][0]["finish_reason"].is_null());
  CHECK(first["choices"][0]["index"] == 1);
  CHECK(chunk(kChat, {.text = "b"}, false)["choices"][0]["delta"] == OrderedJson{{"content", "b"}});
  const OrderedJson last = chunk(kChat, {.finish = "stop"}, false);
  CHECK(last["choices"][0]["delta"] == OrderedJson::object());
  CHECK(last["choices"][0]["finish_reason"] == "stop");
  // An answer without text has a role, too.
  CHECK(chunk(kChat, {.finish = "stop"}, true)["choices"][0]["delta"] ==
        OrderedJson{{"role", "assistant"}, {"content", ""}});
  CHECK(chunk(kPlain, {.text = "b"}, false)["choices"][0]["text"] == "b");
  CHECK(usage_chunk(kChat, {1, 2})["choices"] == OrderedJson::array());
  CHECK(usage_chunk(kChat, {1, 2})["usage"]["total_tokens"] == 3);
}

TEST_CASE("what the model writes is escaped, on one line") {
  const std::string hostile = "\"\n\r</script>\x01\x7F";
  const std::string line = dump(chunk(kChat, {.text = hostile}, true));
  CHECK(line.find('\n') == std::string::npos);
  CHECK(line.find('\r') == std::string::npos);
  CHECK(Json::parse(line)["choices"][0]["delta"]["content"] == hostile);
}

TEST_CASE("why a choice ended") {
  CHECK(finish_reason(Stop::eos, false) == "stop");
  CHECK(finish_reason(Stop::limit, false) == "length");
  CHECK(finish_reason(Stop::context, false) == "length");
  CHECK(finish_reason(Stop::limit, true) == "stop");
  CHECK(finish_reason(Stop::interrupted, true) == "stop");
}

TEST_CASE("errors have OpenAI's shape") {
  const HttpReply reply = error_reply({404, "none \"such\"", "model", "model_not_found"});
  CHECK(reply.status == 404);
  CHECK(
      reply.body ==
      R"({"error":{"message":"none \"such\"","type":"not_found_error","param":"model","code":"model_not_found"}})");
  CHECK(reply.retry_after == 0);
  CHECK(error_reply({503, "full"}).retry_after > 0);
  CHECK(Json::parse(error_body({400, "no"}))["error"]["param"].is_null());
}
