// Autoregressive decoding against a loop that computes the whole text again for every token.
#include <algorithm>

#include "src/prompt/json_answer.hpp"
#include "src/support/error.hpp"
#include "src/support/text.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/decoding.hpp"

using namespace pardec;
using namespace pardec::test;

namespace {

/// x_1, x_2, ... after `text`, without cache or batch, until `ends` or `limit`.
template <typename Ends>
Tokens slow_greedy(const SlowTransformer& slow, Tokens text, int limit, Ends ends) {
  Tokens chosen;
  while (static_cast<int>(chosen.size()) < limit) {
    chosen.push_back(slow.next(text));
    text.push_back(chosen.back());
    if (ends(chosen)) break;
  }
  return chosen;
}

void check_causal(const Trace& trace) {
  for (int row = 0; row < static_cast<int>(trace.tokens.size()); ++row) {
    const auto i = static_cast<size_t>(row);
    CHECK(trace.position[i] == row);
    std::vector<int> all(i + 1);
    for (size_t key = 0; key <= i; ++key) all[key] = static_cast<int>(key);
    CHECK(trace.visible[i] == all);
  }
}

}  // namespace

TEST_CASE("ar together: the ids of the slow loop, up to the limit") {
  for (const char* family : {"llama", "qwen3"}) {
    TinyNetwork network(family, 21);
    const auto decoder = make_decoder("ar", {{"stack", 2}});
    Job job = random_job("together", 2, 2, 1);
    job.limits.max_new_tokens = 16;
    const Request request = make_request(job, *decoder, network.tokenizer());
    const Tokens expected = slow_greedy(network.slow(), request.pieces.whole_prompt(), 16,
                                        [](const Tokens& t) { return t.back() == 0; });
    for (const Dtype dtype : {Dtype::fp32, Dtype::fp64}) {
      Model model = network.load(dtype);
      const Ran ran = run(model, network.tokenizer(), *decoder, {request}, 1, true);
      const Answers& answers = ran.of();
      INFO(family << " " << name(dtype));
      CHECK(answers.tokens == expected);
      CHECK(answers.stop == (expected.back() == 0 ? Stop::eos : Stop::limit));
      CHECK(answers.text ==
            std::string(kAnswerOpening) + repair_utf8(bytes_of(expected, network.tokenizer())));
      CHECK(answers.counters.forwards == std::ssize(expected));
      CHECK(answers.counters.chosen == std::ssize(expected));
      CHECK(answers.counters.fed == answers.counters.prompt + std::ssize(expected) -
                                        1);  // the last one chosen is not computed
      CHECK(answers.counters.forced == 0);
      CHECK(answers.counters.emitted ==
            std::map<std::int64_t, std::int64_t>{{1, std::ssize(expected)}});
      CHECK(answers.counters.branch_lengths == std::vector<std::int64_t>{std::ssize(expected)});
      check_causal(ran.traces.at("together"));
    }
  }
}

TEST_CASE(
    "ar separately: one prompt for each field; each ends at an end of sequence or at its limit") {
  Json eos = Json::array();
  for (int id = 30; id < 90; ++id)
    eos.push_back(id);  // many ends, so that answers are of all lengths
  TinyNetwork network("llama", 4, {{"eos_token_id", eos}});
  const auto decoder = make_decoder("ar", {{"ask", "separately"}});
  Job job = random_job("apart", 2, 4, 1);
  job.limits.per_field = 7;
  const Request request = make_request(job, *decoder, network.tokenizer());
  Model model = network.load(Dtype::fp32);
  const Ran ran = run(model, network.tokenizer(), *decoder, {request}, 1, true);
  const Answers& answers = ran.of();
  int ended = 0, limited = 0;
  std::int64_t fed = 0, chosen = 0;
  for (size_t c = 0; c < 2; ++c)
    for (size_t f = 0; f < 4; ++f) {
      const Tokens prompt = request.pieces.field_prompt(c, f);
      const Tokens expected = slow_greedy(network.slow(), prompt, 7, [](const Tokens& t) {
        return t.back() >= 30 && t.back() < 90;
      });
      const FieldResult& field = answers.fields[c][f];
      INFO("context " << c << " field " << f);
      CHECK(field.tokens == expected);
      const bool at_end = expected.back() >= 30 && expected.back() < 90;
      CHECK(field.stop == (at_end ? Stop::eos : Stop::limit));
      CHECK(field.text == parse_plain_value(repair_utf8(bytes_of(expected, network.tokenizer()))));
      ++(at_end ? ended : limited);
      fed += std::ssize(prompt) + std::ssize(expected) - 1;
      chosen += std::ssize(expected);
      const Trace& trace = ran.traces.at(str("apart/", c, "/", f));
      check_causal(trace);
      Tokens rows = prompt;
      rows.insert(rows.end(), expected.begin(), expected.end() - 1);
      CHECK(trace.tokens == rows);
    }
  CHECK(answers.counters.fed == fed);
  CHECK(answers.counters.chosen == chosen);
  // The fields share their forward passes: one each until it ends.
  std::vector<std::int64_t> lengths;
  for (const auto& fields : answers.fields)
    for (const auto& field : fields) lengths.push_back(std::ssize(field.tokens));
  CHECK(answers.counters.branch_lengths == lengths);
  CHECK(answers.counters.forwards == *std::max_element(lengths.begin(), lengths.end()));
  std::int64_t passes = 0, emitted = 0;
  for (const auto& [tokens, count] : answers.counters.emitted) {
    passes += count;
    emitted += tokens * count;
  }
  CHECK(passes == answers.counters.forwards);
  CHECK(emitted == chosen);
  CHECK(std::min(ended, limited) > 0);
}

TEST_CASE(
    "ar with forced keys: keys are fed, values are those of the slow loop, a line break is not "
    "fed") {
  int closed = 0, cut = 0;
  for (const std::uint64_t seed : {8, 9, 10, 11}) {
    TinyNetwork network(seed % 2 ? "llama" : "qwen3", seed);
    const auto decoder = make_decoder("ar", {{"forced_keys", true}, {"stack", 2}});
    Job job = random_job("keys", 2, 3, seed);
    job.limits.per_field = 5;
    const Request request = make_request(job, *decoder, network.tokenizer());
    Model model = network.load(Dtype::fp32);
    const Ran ran = run(model, network.tokenizer(), *decoder, {request}, 1, true);
    const Answers& answers = ran.of();
    Tokens text = request.pieces.whole_prompt();
    std::int64_t keys = 0, fed = 0;
    for (size_t r = 0; r < 6; ++r) {
      const Tokens& segment = request.pieces.segments[r];
      text.insert(text.end(), segment.begin(), segment.end());
      keys += std::ssize(segment);
      const auto breaks = [&](const Tokens& t) {
        return network.tokenizer().bytes(t.back()).find('\n') != std::string_view::npos;
      };
      const Tokens expected = slow_greedy(network.slow(), text, 5, breaks);
      const FieldResult& field = answers.fields[r / 3][r % 3];
      INFO("seed " << seed << " value " << r + 1);
      CHECK(field.tokens == expected);
      CHECK(field.stop == (breaks(expected) ? Stop::terminator : Stop::limit));
      ++(breaks(expected) ? closed : cut);
      fed = std::ssize(text) + std::ssize(expected) - 1;
      text.insert(text.end(), expected.begin(), expected.end());
      if (breaks(expected)) text.pop_back();  // the next key begins with it
    }
    CHECK(answers.counters.forced == keys);
    CHECK(answers.counters.fed == fed);
    const Trace& trace = ran.traces.at("keys");
    check_causal(trace);
    text.resize(static_cast<size_t>(fed));
    CHECK(trace.tokens == text);
    CHECK(answers.counters.forwards == answers.counters.chosen);
  }
  INFO("values closed " << closed << ", cut " << cut);
  CHECK(std::min(closed, cut) > 2);
}

TEST_CASE("a reader gets a single field's answer while it is generated, by every way to ask") {
  TinyNetwork network("llama", 5, {{"eos_token_id", nullptr}});
  Model model = network.load(Dtype::fp32);
  for (const auto& [name, options] :
       {std::pair{"ar", Json{{"ask", "separately"}}},
        {"ar", {{"ask", "separately"}, {"prefix_cache", "instruction"}}},
        {"ar", {{"ask", "separately"}, {"prefix_cache", "context"}}},
        {"ar", {{"ask", "separately"}, {"choose", "likelihood"}}},
        {"ippd", Json::object()}}) {
    INFO(name << " " << options.dump());
    const auto decoder = make_decoder(name, options);
    for (const int fields : {1, 2}) {
      Job job = random_job("read", 1, fields, 1);
      job.limits.per_field = 6;
      Request request = make_request(job, *decoder, network.tokenizer());
      std::vector<std::string> seen;
      request.reader = [&](std::string_view text) { seen.emplace_back(text); };
      const Ran ran = run(model, network.tokenizer(), *decoder, {request});
      CHECK(std::ssize(seen) == (fields == 1 ? 6 : 0));  // several streams have no one order
      if (fields == 1)
        CHECK(seen.back() == bytes_of(ran.of().fields[0][0].tokens, network.tokenizer()));
    }
  }
}

TEST_CASE("ar ends at the network's last position") {
  TinyNetwork network("llama", 2, {{"max_position_embeddings", 128}, {"eos_token_id", nullptr}});
  Model model = network.load(Dtype::fp32);
  const auto decoder = make_decoder("ar", Json::object());
  const Request request = make_request(random_job("full", 1, 1, 1), *decoder, network.tokenizer());
  const Ran ran = run(model, network.tokenizer(), *decoder, {request}, 1, true);
  const Answers& answers = ran.of();
  REQUIRE(answers.stop == Stop::context);
  CHECK(answers.counters.fed == 128);
  CHECK(answers.counters.prompt + answers.counters.chosen == 129);

  // A prompt that is too long fails, says so, and fails alone.
  TinyNetwork small("llama", 2, {{"max_position_embeddings", 16}});
  Model short_model = small.load(Dtype::fp32);
  const Ran failed = run(short_model, small.tokenizer(), *decoder, {request});
  CHECK(!failed.answers[0]);
  CHECK_THAT(failed.errors[0], Catch::Contains("context overflow") && Catch::Contains("16"));
}
