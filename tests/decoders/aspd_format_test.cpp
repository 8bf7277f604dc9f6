// The training format of ASPD: the worked example, the JSON answer in parts, the paper's markup.
#include "decoders/aspd/format.hpp"

#include <algorithm>

#include "src/prompt/json_answer.hpp"
#include "src/support/error.hpp"
#include "src/support/files.hpp"
#include "tests/support/aspd_reference.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/decoding.hpp"

using namespace pardec;
using namespace pardec::test;

namespace {

constexpr AspdTokens kAspdControl{1, 2, 3, 393, 394, 395};

Tokenizer line_breaks() {
  TemporaryFolder folder;
  write_file(folder.path() / "tokenizer.json", line_break_tokenizer().dump());
  return Tokenizer::load(folder.path() / "tokenizer.json");
}

/// u0 u1, then titles a and b with two tokens each, then z0 and an end.
TrainingSample aspd_sample(const AspdOptions& options, const Tokenizer& tokenizer) {
  const std::vector<AspdIds> answer{{{}, {{{21}, {31, 32}}, {{22}, {41, 42}}}}, {{51, 0}, {}}};
  return aspd_sample({11, 12}, answer, options, kAspdControl, tokenizer);
}

}  // namespace

TEST_CASE("aspd format: markup and text of parts") {
  const std::string markup =
      "So:\n<Title>a</Title><Title>b</Title><Para><Branch>a: x: "
      "1</Branch><Branch>b:y</Branch></Para>"
      "\nand <Title>c</Title><Title>d</Title><Para><Branch>c: z</Branch><Branch>d:  "
      "w</Branch></Para>";
  const auto parts = parse_markup(markup, "here");
  CHECK(write_markup(parts) == markup);
  CHECK(markup_text(parts) == "So:\nx: 1\ny\nand z\n w");
  CHECK(write_markup(parse_markup("plain", "here")) == "plain");
}

TEST_CASE("aspd format: the worked example in flattened order, every token of it a target") {
  const Tokenizer tokenizer = line_breaks();
  const Tokens flattened{11, 12, 1,   21, 2,  1,  22, 2,  394, 3,   21, 62,
                         31, 32, 393, 3,  22, 62, 41, 42, 393, 395, 51, 0};
  REQUIRE(4 + ':' == 62);  // the ":" of the prefix
  for (const char* scheme : {"same-seq", "same-max", "same-re", "fix-32"})
    for (const bool shared : {false, true}) {
      AspdOptions options;
      options.positions = parse_aspd_positions(scheme);
      options.shared = shared;
      const TrainingSample sample = aspd_sample(options, tokenizer);
      const AspdCase c{{{9, {6, 6}, {}}}, 2, options.positions, shared};
      const std::vector<AspdToken> order = flattened_order(c);
      REQUIRE(sample.tokens.size() == order.size());
      INFO(scheme << shared);
      std::vector<int> rows;  // of the flattened text: all but moved copies
      for (size_t i = 0; i < order.size(); ++i) {
        if (!order[i].moved) rows.push_back(static_cast<int>(i));
        CHECK(sample.labels[i].position == position(c, order[i]));
        for (size_t j = 0; j < order.size(); ++j)
          CHECK(visible(sample.labels[i], sample.labels[j], sample.segments) ==
                attends(c, order[i], order[j]));
        if (order[i].moved)
          CHECK(sample.tokens[i] == sample.tokens[i - 12]);  // both branches have six tokens
      }
      Tokens fed;
      for (const int row : rows) fed.push_back(sample.tokens[static_cast<size_t>(row)]);
      CHECK(fed == Tokens(flattened.begin(), flattened.end() - 1));
      // Row by row, from the prompt's last one on, the next token; at last the end of sequence.
      REQUIRE(sample.targets.size() == flattened.size() - 2);
      for (size_t i = 0; i < sample.targets.size(); ++i) {
        CHECK(sample.targets[i].first == rows[i + 1]);
        CHECK(sample.targets[i].second == flattened[i + 2]);
      }
    }
}

TEST_CASE("aspd format: an answer without blocks is trained like ar's") {
  const Tokenizer tokenizer = line_breaks();
  const TrainingSample sample =
      aspd_sample({11, 12}, {{{5, 6, 7, 0}, {}}}, AspdOptions{}, kAspdControl, tokenizer);
  CHECK(sample.tokens == Tokens{11, 12, 5, 6, 7});
  CHECK(sample.targets == std::vector<std::pair<int, Token>>{{1, 5}, {2, 6}, {3, 7}, {4, 0}});
  for (int i = 0; i < 5; ++i)
    CHECK(sample.labels[static_cast<size_t>(i)] ==
          RowLabel{.position = i, .order = i, .segment = 0, .rank = 0});
}

TEST_CASE("aspd format: the parts of the JSON answer give the answer that ar is trained on") {
  Job job = random_job("j", 2, 3, 4);
  std::vector<std::vector<std::optional<std::string>>> references{{"red", std::nullopt, "a \"b\""},
                                                                  {std::nullopt, "x", "7"}};
  const std::vector<MarkupPart> parts = aspd_json_parts(job.contexts, references);
  REQUIRE(parts.size() == 3);
  std::string restored;
  for (const MarkupPart& part : parts) {
    restored += part.serial;
    for (size_t k = 0; k < part.branches.size(); ++k) {
      CHECK(part.branches[k].title == job.contexts[0].fields[k].name);
      CHECK(part.branches[k].content.front() == ' ');
      restored += (k ? "\n" : "") + part.branches[k].content.substr(1);
    }
  }
  const JsonSkeleton skeleton = json_skeleton(job.contexts);
  std::string whole;
  for (size_t r = 0; r < 6; ++r)
    whole += skeleton.segments[r] + json_value(references[r / 3][r % 3], r % 3 == 2);
  CHECK(restored == whole + skeleton.tail);
  const JsonAnswer read = parse_json_answer(restored, job.contexts);
  CHECK(read.parsed == std::vector<bool>{true, true});
  CHECK(read.values == references);
}

TEST_CASE("aspd format: the paper's markup, and errors in it") {
  const auto parts = parse_markup(
      "In <Title>a</Title><Title>b c</Title><Para><Branch>a: one</Branch><Branch>b c:two"
      "</Branch></Para>mid<Title>d</Title><Para><Branch>d: x</Branch></Para>",
      "id");
  REQUIRE(parts.size() == 3);
  CHECK(parts[0].serial == "In ");
  REQUIRE(parts[0].branches.size() == 2);
  CHECK(parts[0].branches[0].title == "a");
  CHECK(parts[0].branches[0].content == " one");
  CHECK(parts[0].branches[1].title == "b c");
  CHECK(parts[0].branches[1].content == "two");
  CHECK(parts[1].serial == "mid");
  CHECK(parts[1].branches.size() == 1);
  CHECK(parts[2].serial.empty());
  CHECK(parts[2].branches.empty());
  CHECK(parse_markup("plain", "id").size() == 1);
  for (const char* bad : {"<Title>a", "<Title>a</Title>", "<Title>a</Title> <Para>",
                          "<Title>a</Title><Para><Branch>b: x</Branch></Para>",
                          "<Title>a</Title><Para><Branch>a: x</Para>",
                          "<Title>a</Title><Title>b</Title><Para><Branch>a: x</Branch></Para>"})
    CHECK_THROWS_WITH(parse_markup(bad, "id7"), Catch::StartsWith("id7: byte "));
}

TEST_CASE("aspd format over examples: one JSON answer, or a field's own text") {
  const TinyNetwork network("llama", 1);
  AspdFormatOptions options;
  options.decoder.tokens = "1,2,3,393,394,395";
  const auto json = make_aspd_format(options, network.tokenizer(), 2048, 396);
  CHECK(json->name() == "aspd");
  CHECK(json->form() == Form::json);
  options.together = false;
  options.eos = 0;
  const auto value = make_aspd_format(options, network.tokenizer(), 2048, 396);
  CHECK(value->name() == "aspd-value");
  const auto example = [&](bool together) {
    const auto decoder = make_decoder("ar", {{"ask", together ? "together" : "separately"}});
    const Request request = make_request(random_job("e", 1, 2, 3), *decoder, network.tokenizer());
    return TrainingExample{request.job,
                           request.form,
                           request.pieces,
                           {{"plain", "<Title>t</Title><Para><Branch>t: x</Branch></Para>"}}};
  };
  const auto count = [](const TrainingSample& sample, Token token) {
    return std::count(sample.tokens.begin(), sample.tokens.end(), token);
  };
  const auto whole = json->samples(example(true));
  REQUIRE(whole.size() == 1);
  CHECK(count(whole[0], kAspdControl.branch) == 2);
  CHECK(count(whole[0], kAspdControl.para_end) == 1);
  const auto fields = value->samples(example(false));
  REQUIRE(fields.size() == 2);
  CHECK(count(fields[0], kAspdControl.title) == 0);
  CHECK(count(fields[1], kAspdControl.title) == 1);
  CHECK(fields[1].targets.back().second == 0);
  CHECK(fields[1].tokens.back() == kAspdControl.para_end);
  CHECK(make_aspd_format(options, network.tokenizer(), 20, 396)->samples(example(false)).empty());
  options.decoder.tokens = "";
  CHECK_THROWS_AS(make_aspd_format(options, network.tokenizer(), 2048, 396), ConfigError);
}
