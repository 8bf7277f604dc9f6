// Skeleton-of-Thought: its prompts; that each request is answered as ar answers the same prompt;
// and that sharing a prefix changes the cost and not the answer.
#include "decoders/skeleton_of_thought/skeleton_of_thought.hpp"

#include <algorithm>

#include "src/support/error.hpp"
#include "src/support/text.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/decoding.hpp"

using namespace pardec;
using namespace pardec::test;

namespace {

std::unique_ptr<Decoder> skeleton_of_thought(bool shared_prefix) {
  return make_decoder("skeleton-of-thought", {{"shared_prefix", shared_prefix}});
}

std::vector<std::string> lines_of(std::string_view skeleton) {
  std::vector<std::string> out;
  for (const auto& point : parse_skeleton(skeleton)) out.push_back(point.number + "|" + point.text);
  return out;
}

Request question(const std::string& id, const Decoder& decoder, const Tokenizer& tokenizer) {
  Job job = random_job(id, 1, 1, 7);
  job.contexts[0].text.clear();
  job.contexts[0].fields[0].question = "Why " + id + "?";
  job.limits.max_new_tokens = 5;
  Request request = make_request(job, decoder, tokenizer);
  return request;
}

/// The ids that ar chooses after these ids.
FieldResult ar_behind(const Tokens& prompt, int limit, Model& model, const Tokenizer& tokenizer) {
  const auto ar = make_decoder("ar", {{"ask", "separately"}});
  return run(model, tokenizer, *ar, {open_request("ar", prompt, limit)}).of().fields[0][0];
}

/// The rows of a trace that belong to its prompt.
Tokens prompt_of(const Trace& trace) {
  Tokens prompt;
  for (size_t row = 0; row < trace.tokens.size(); ++row)
    if (static_cast<int>(row) <= trace.emitted.front()) prompt.push_back(trace.tokens[row]);
  return prompt;
}

}  // namespace

TEST_CASE("skeleton-of-thought: a skeleton's points are its lines 'number. text'") {
  using Lines = std::vector<std::string>;
  CHECK(lines_of("1. Water them.\n2.Give light.\n  3.  Wait. ") ==
        Lines{"1|Water them.", "2|Give light.", "3|Wait."});
  CHECK(lines_of("1. One\n\nSome words\n- a dash\n2) bracket\n3.\n12. Twelve") ==
        Lines{"1|One", "12|Twelve"});
  CHECK(lines_of("").empty());
  CHECK(lines_of("1.").empty());
  std::string many;
  for (int i = 1; i <= 14; ++i) many += str(i, ". p\n");
  CHECK(lines_of(many).size() == 10);
  CHECK(lines_of(many).back() == "10|p");
}

TEST_CASE("skeleton-of-thought: fewer than two points are ar's answer") {
  TinyNetwork network("llama", 3);
  Model model = network.load(Dtype::fp32);
  const Tokenizer& tokenizer = network.tokenizer();
  const auto decoder = skeleton_of_thought(false);
  Request request = question("rain", *decoder, tokenizer);
  for (const char* skeleton : {"", " Only one", " One\nTwo\nThree"}) {
    if (*skeleton) request.oracle = Oracle{{tokenizer.encode_piece(skeleton, false)}, {}};
    const Ran ran = run(model, tokenizer, *decoder, {request}, 1, true);
    const FieldResult& answer = ran.of().fields[0][0];
    INFO("skeleton '" << skeleton << "'");
    const FieldResult ar = ar_behind(request.pieces.field_prompt(0, 0), 5, model, tokenizer);
    CHECK(answer.tokens == ar.tokens);
    CHECK(answer.text == ar.text);
    CHECK(answer.stop == ar.stop);
    CHECK(ran.of().text == *ar.text);
    REQUIRE(ran.traces.size() == 2);
    CHECK(ran.traces.contains("rain/0/0/plain"));
    const auto skeleton_ids = std::ssize(ran.traces.at("rain/0/0/skeleton").emitted);
    CHECK(ran.of().counters.forwards == skeleton_ids + std::ssize(ar.tokens));
    CHECK(ran.of().counters.chosen == skeleton_ids + std::ssize(ar.tokens));
  }
}

TEST_CASE("skeleton-of-thought: every point is written by its own request, in parallel") {
  const std::vector<std::string> points{"Water them", "Give light", "Wait for spring"};
  const std::string skeleton = "1. Water them\n2. Give light\n3. Wait for spring";
  std::vector<Answers> both;
  for (const bool shared : {false, true}) {
    TinyNetwork network("qwen3", 12);
    Model model = network.load(Dtype::fp32);
    const Tokenizer& tokenizer = network.tokenizer();
    const auto decoder = skeleton_of_thought(shared);
    Request request = question("sun", *decoder, tokenizer);
    const Tokens forced = tokenizer.encode_piece(skeleton.substr(2), false);
    request.job.limits.max_new_tokens = static_cast<int>(forced.size());
    request.oracle = Oracle{{forced}, {}};
    const Ran ran = run(model, tokenizer, *decoder, {request}, 1, true);
    const Answers& answers = ran.of();
    const Counters& c = answers.counters;
    INFO("shared_prefix " << shared);

    const Trace& asked = ran.traces.at("sun/0/0/skeleton");
    const std::string request_text = bytes_of(prompt_of(asked), tokenizer);
    CHECK_THAT(request_text, Catch::Contains("Question: ") && Catch::Contains("Why sun?") &&
                                 Catch::EndsWith("\n1."));
    CHECK(std::ssize(asked.emitted) == std::ssize(forced));
    CHECK(asked.group.empty());

    std::string text;
    Tokens ids;
    std::int64_t longest = 0, prompts = std::ssize(prompt_of(asked)), common = 0, rows = 0;
    std::vector<std::int64_t> lengths{std::ssize(forced)};
    for (size_t i = 0; i < points.size(); ++i) {
      const Trace& trace = ran.traces.at(str("sun/0/0/point-", i + 1));
      CHECK(trace.group == "sun/0/0");
      const Tokens prompt = prompt_of(trace);
      const std::string prompt_text = bytes_of(prompt, tokenizer);
      CHECK_THAT(prompt_text, Catch::Contains("Why sun?") && Catch::Contains(skeleton) &&
                                  Catch::Contains(str("Write out point ", i + 1, " alone")) &&
                                  Catch::EndsWith(str("\n", i + 1, ". ", points[i])));
      // The answer of ar to the same ids, with both settings.
      const FieldResult ar = ar_behind(prompt, request.job.limits.max_new_tokens, model, tokenizer);
      ids.insert(ids.end(), ar.tokens.begin(), ar.tokens.end());
      text += str(i ? "\n" : "", i + 1, ". ", points[i], *ar.text);
      lengths.push_back(std::ssize(ar.tokens));
      longest = std::max(longest, lengths.back());
      prompts += std::ssize(prompt);
      rows += std::ssize(trace.tokens);
      common = std::count(trace.step.begin(), trace.step.end(), 0);
      CHECK(replay(network.slow(), trace, 5e-4).wrong.empty());
    }
    CHECK(answers.fields[0][0].tokens == ids);
    CHECK(answers.fields[0][0].text == text);
    CHECK(answers.text == text);
    CHECK(c.branch_lengths == lengths);
    CHECK(c.forwards == std::ssize(forced) + shared + longest);
    // The skeleton's rows are gone when the points are written.
    CHECK(c.cached_peak == std::max(std::ssize(asked.tokens), rows));
    // Sharing saves what the points have in common, except for once.
    CHECK(c.prompt == prompts - (shared ? 2 * common : 0));
    std::int64_t emitted = 0, passes = 0;
    for (const auto& [tokens, count] : c.emitted) emitted += tokens * count, passes += count;
    CHECK(emitted == c.chosen);
    CHECK(passes == c.forwards);
    CHECK(c.chosen == std::ssize(forced) + std::ssize(ids));
    both.push_back(answers);
  }
  CHECK(both[0].text == both[1].text);
  CHECK(both[0].tokens == both[1].tokens);
}

TEST_CASE("skeleton-of-thought says what it is missing") {
  TinyNetwork network;
  Model model = network.load(Dtype::fp32);
  const SteadyClock clock;
  Engine engine(model, clock);
  const auto decoder = skeleton_of_thought(false);
  const Request request = question("q", *decoder, network.tokenizer());
  const DecoderContext context{engine, nullptr, false};
  Task<Answers> task = decoder->decode(request, context);
  task.start();
  REQUIRE(task.done());
  CHECK_THROWS_AS(task.result(), ConfigError);
  CHECK_THROWS_AS(decoder->reference_oracle(request, {{"x"}}, context), std::logic_error);
  TinyNetwork small("llama", 2, {{"max_position_embeddings", 64}});
  Model short_model = small.load(Dtype::fp32);
  CHECK_THAT(run(short_model, small.tokenizer(), *decoder, {request}).errors[0],
             Catch::Contains("context overflow"));
}
