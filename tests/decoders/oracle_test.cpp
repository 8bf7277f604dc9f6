// Forced references: what is chosen, what is kept, and that a reference survives the conversion to
// ids and back.
#include <algorithm>
#include <set>

#include "src/prompt/json_answer.hpp"
#include "src/support/text.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/decoding.hpp"

using namespace pardec;
using namespace pardec::test;

namespace {

using Value = std::optional<std::string>;
using Values = std::vector<std::vector<Value>>;

/// Values with everything that JSON escapes, everything that ends a value, and some absent ones.
Values random_values(int products, int fields, Rng& rng) {
  const std::vector<std::string> parts = {"\"", "\\",         "\n", ",",   " ",  "é",
                                          "漢", "\U0001F600", "a",  "bc",  "7",  ".5",
                                          "{",  "}",          "</", "n/a", "\t", "'"};
  Values values(static_cast<size_t>(products));
  for (auto& product : values)
    for (int n = 0; n < fields; ++n) {
      if (rng.below(4) == 0) {
        product.emplace_back();
        continue;
      }
      std::string value = "v";
      for (std::uint64_t i = rng.below(5); i > 0; --i) value += parts[rng.below(parts.size())];
      product.emplace_back(value);
    }
  return values;
}

Values read(const Answers& answers) {
  Values values;
  for (const auto& fields : answers.fields) {
    auto& product = values.emplace_back();
    for (const auto& field : fields) product.push_back(field.text);
  }
  return values;
}

Request with_oracle(Job job, const Values& references, const Decoder& decoder, Model& model,
                    const Tokenizer& tokenizer) {
  Request request = make_request(std::move(job), decoder, tokenizer);
  const SteadyClock clock;
  Engine engine(model, clock);
  request.oracle = decoder.reference_oracle(request, references, {engine, &tokenizer, false});
  return request;
}

}  // namespace

TEST_CASE("forced references come back as answers, in hpd and in all modes of ar") {
  TinyNetwork network("qwen3", 6);
  Model model = network.load(Dtype::fp32);
  const Tokenizer& tokenizer = network.tokenizer();
  Rng rng(31);
  for (int round = 0; round < 12; ++round) {
    const int products = 1 + round % 3, fields = 1 + static_cast<int>(rng.below(5));
    const Values references = random_values(products, fields, rng);
    Job job = random_job(str("oracle", round), products, fields, static_cast<std::uint64_t>(round));
    job.limits = {.max_new_tokens = 1000, .per_field = 100};
    INFO("round " << round << ": " << products << " products, " << fields << " fields");

    for (const char* isolated : {"none", "values", "products"}) {
      const auto hpd = make_decoder("hpd", {{"k_max", 64}, {"stack", 3}, {"isolated", isolated}});
      const Request request = with_oracle(job, references, *hpd, model, tokenizer);
      const Answers answers = run(model, tokenizer, *hpd, {request}).of();
      CHECK(read(answers) == references);
      std::int64_t longest = 0, r = 0;
      for (const auto& value : flat(answers)) {
        const Tokens& forced = request.oracle->streams[static_cast<size_t>(r++)];
        CHECK(value.tokens == forced);
        CHECK(value.unforced.size() == forced.size());
        CHECK(value.stop == Stop::terminator);
        CHECK(tokenizer.bytes(forced.back()).find('\n') != std::string_view::npos);
        longest = std::max(longest, std::ssize(forced));
      }
      CHECK(answers.counters.forwards == longest);  // max K_r of the references
      CHECK(parse_json_answer(std::string_view(answers.text).substr(kAnswerOpening.size()),
                              job.contexts)
                .values == references);
    }

    const auto keys = make_decoder("ar", {{"forced_keys", true}, {"stack", 3}});
    const Request by_key = with_oracle(job, references, *keys, model, tokenizer);
    const Answers one_by_one = run(model, tokenizer, *keys, {by_key}).of();
    CHECK(read(one_by_one) == references);
    CHECK(chosen_ids(one_by_one) == [&] {
      std::vector<Tokens> ids{{}};
      for (const auto& stream : by_key.oracle->streams) ids.push_back(stream);
      return ids;
    }());
    std::int64_t chosen = 0;
    for (const auto& stream : by_key.oracle->streams) chosen += std::ssize(stream);
    CHECK(one_by_one.counters.forwards == chosen);  // one value after another

    const auto together = make_decoder("ar", {{"stack", 3}});
    const Request whole = with_oracle(job, references, *together, model, tokenizer);
    const Answers answer = run(model, tokenizer, *together, {whole}).of();
    REQUIRE(whole.oracle->streams.size() == 1);
    CHECK(answer.tokens == whole.oracle->streams[0]);
    CHECK(answer.counters.forwards == std::ssize(answer.tokens));  // T, all of its tokens
    CHECK(answer.stop == Stop::terminator);
    CHECK(answer.parsed == std::vector<bool>(static_cast<size_t>(products), true));
    CHECK(read(answer) == references);
    CHECK(answer.text.ends_with(kAnswerClosing));
    // A value's ids are the stream's ids between its key and the next, and decode to its JSON.
    size_t r = 0;
    for (size_t j = 0; j < references.size(); ++j)
      for (size_t n = 0; n < references[j].size(); ++n, ++r) {
        const FieldResult& field = answer.fields[j][n];
        CHECK(bytes_of(field.tokens, tokenizer) ==
              json_value(references[j][n], n + 1 == references[j].size()));
        CHECK(field.unforced.size() == field.tokens.size());
      }
  }
}

TEST_CASE(
    "one field in a prompt: a plain reference is returned as the answer, then the end of "
    "sequence") {
  TinyNetwork network("llama", 6);
  Model model = network.load(Dtype::fp32);
  const auto decoder = make_decoder("ar", {{"ask", "separately"}});
  const Values references = {{"red wool 27\"", std::nullopt, "12.50"}, {"été 漢", "a, b,", "1e5"}};
  const Request request =
      with_oracle(random_job("plain", 2, 3, 1), references, *decoder, model, network.tokenizer());
  const Answers answers = run(model, network.tokenizer(), *decoder, {request}).of();
  CHECK(read(answers) == references);
  std::int64_t longest = 0;
  for (const auto& field : flat(answers)) longest = std::max(longest, std::ssize(field.tokens));
  CHECK(answers.counters.forwards == longest);  // all streams at the same time
  for (const auto& field : flat(answers)) {
    CHECK(field.tokens.back() == 0);
    CHECK(field.stop == Stop::eos);
    CHECK(field.unforced.size() == field.tokens.size());
  }
}

TEST_CASE("a reference longer than K_max is cut there") {
  TinyNetwork network("llama", 6);
  Model model = network.load(Dtype::fp32);
  const auto decoder = make_decoder("hpd", {{"k_max", 5}, {"stack", 1}});
  const Request request = with_oracle(random_job("cut", 1, 2, 1), {{"abcdefgh", "x"}}, *decoder,
                                      model, network.tokenizer());
  const Answers answers = run(model, network.tokenizer(), *decoder, {request}).of();
  CHECK(answers.fields[0][0].tokens.size() == 5);
  CHECK(answers.fields[0][0].stop == Stop::limit);
  CHECK(answers.fields[0][0].text == "abcd");  // ` "` is one token
  CHECK(answers.fields[0][1].text == "x");
  CHECK(answers.counters.forwards == 5);
}
