// Training sequences: worked examples as literals, and real ids compared with the decoders'.
#include <algorithm>
#include <cmath>
#include <set>
#include <stdexcept>

#include "decoders/apar/format.hpp"
#include "decoders/ar/format.hpp"
#include "decoders/hpd/format.hpp"
#include "decoders/space/format.hpp"
#include "src/prompt/json_answer.hpp"
#include "src/support/error.hpp"
#include "src/support/text.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/decoding.hpp"

using namespace pardec;
using namespace pardec::test;

namespace {

std::vector<std::string> mask_of(const TrainingSample& sample) {
  std::vector<std::string> rows;
  for (const RowLabel& q : sample.labels) {
    std::string& row = rows.emplace_back();
    for (const RowLabel& k : sample.labels) row += visible(q, k, sample.segments) ? '1' : '0';
  }
  return rows;
}

TrainingExample example_of(const Tokenizer& tokenizer, const Decoder& decoder, int products,
                           int fields, std::uint64_t seed) {
  const Request request =
      make_request(random_job("taught", products, fields, seed), decoder, tokenizer);
  TrainingExample example{request.job, request.form, request.pieces, {}};
  Rng rng(seed);
  for (int c = 0; c < products; ++c) {
    auto& values = example.references.emplace_back();
    for (int f = 0; f < fields; ++f)
      values.push_back(rng.below(3) == 0 ? std::nullopt
                                         : std::optional(std::string(1 + rng.below(9), 'v')));
  }
  return example;
}

}  // namespace

TEST_CASE("hpd: a worked example, row by row") {
  constexpr Token T = 99;
  const HpdOptions options{.k_max = 3, .stack = 1};
  const HpdLayout layout = lay_out({1, 2}, {{3, 4}, {5, 6}}, 1, options);
  const TrainingSample sample = hpd_sample(layout, {{7, 8, T}, {9, 10, T}});
  CHECK(sample.tokens == Tokens{1, 2, 3, 4, 7, 8, 5, 6, 9, 10});
  std::vector<int> positions;
  for (const RowLabel& label : sample.labels) positions.push_back(label.position);
  CHECK(positions == std::vector<int>{0, 1, 2, 3, 4, 5, 7, 8, 9, 10});
  CHECK(mask_of(sample) == std::vector<std::string>{
                               "1000000000",  // p0
                               "1100000000",  // p1
                               "1110000000",  // a1s
                               "1111000000",  // a1e
                               "1111100000",  // v11
                               "1111110000",  // v12
                               "1111001000",  // a2s
                               "1111001100",  // a2e
                               "1111101110",  // v21
                               "1111111111",  // v22
                           });
  // a1e -> 7, v11 -> 8, v12 -> T, a2e -> 9, v21 -> 10, v22 -> T
  const bool taught = sample.targets == std::vector<std::pair<int, Token>>{{3, 7}, {4, 8},  {5, T},
                                                                           {7, 9}, {8, 10}, {9, T}};
  CHECK(taught);
}

TEST_CASE("hpd: isolated values see no other value") {
  const HpdLayout layout = lay_out({1, 2}, {{3, 4}, {5, 6}}, 1,
                                   {.k_max = 3, .stack = 1, .isolated = HpdIsolation::values});
  const auto mask = mask_of(hpd_sample(layout, {{7, 8, 99}, {9, 10, 99}}));
  CHECK(mask[8] == "1111001110");
  CHECK(mask[9] == "1111001111");
}

TEST_CASE("hpd: a terminator is a target and never an input; a long value is cut without one") {
  TinyNetwork network;
  const Tokenizer& tokenizer = network.tokenizer();
  const auto decoder = make_decoder("hpd", {{"k_max", 6}, {"stack", 3}});
  const auto format = make_hpd_format({.k_max = 6, .stack = 3}, tokenizer, 1 << 20);
  int ended = 0, cut = 0;
  for (std::uint64_t seed = 1; seed < 30; ++seed) {
    const TrainingExample example =
        example_of(tokenizer, *decoder, 1 + static_cast<int>(seed % 3), 3, seed);
    const std::vector<TrainingSample> samples = format->samples(example);
    REQUIRE(samples.size() == 1);
    const TrainingSample& sample = samples.front();
    const HpdLayout layout = lay_out(example.pieces.whole_prompt(), example.pieces.segments,
                                     static_cast<int>(example.references.size()), {.k_max = 6});
    const auto breaks = [&](Token id) {
      return tokenizer.bytes(id).find('\n') != std::string_view::npos;
    };
    size_t value_rows = 0;
    for (size_t row = 0; row < sample.tokens.size(); ++row)
      if (sample.labels[row].rank > 0) {
        ++value_rows;
        CHECK_FALSE(breaks(sample.tokens[row]));
        CHECK(sample.labels[row].rank < 6);
      }
    CHECK(sample.tokens.size() == layout.tokens.size() + value_rows);
    CHECK(sample.targets.size() == static_cast<size_t>(layout.values()) + value_rows);
    // The targets are the tokens that the decoder is forced to choose under an oracle.
    Tokens taught, forced;
    for (const auto& [row, target] : sample.targets) taught.push_back(target);
    for (const Tokens& value : hpd_values(example.references, 6, tokenizer)) {
      forced.insert(forced.end(), value.begin(), value.end());
      ++(breaks(value.back()) ? ended : cut);
    }
    CHECK(taught == forced);
  }
  CHECK(ended > 10);
  CHECK(cut > 10);
  CHECK_THROWS_AS(make_hpd_format({.k_max = 6, .stack = 3}, tokenizer, 20)
                      ->samples(example_of(tokenizer, *decoder, 3, 3, 1)),
                  ConfigError);
}

TEST_CASE("ar: the whole answer is trained, and reads back") {
  TinyNetwork network;
  const Tokenizer& tokenizer = network.tokenizer();
  const auto decoder = make_decoder("ar", {{"stack", 2}});
  const auto format = make_ar_format({.stack = 2}, tokenizer, 1 << 20);
  for (std::uint64_t seed = 1; seed < 20; ++seed) {
    const TrainingExample example =
        example_of(tokenizer, *decoder, 1 + static_cast<int>(seed % 2), 3, seed);
    const TrainingSample sample = format->samples(example).front();
    Tokens taught;
    for (const auto& [row, target] : sample.targets) taught.push_back(target);
    const std::string text = bytes_of(taught, tokenizer);
    CHECK(text.ends_with(kAnswerClosing));
    CHECK((parse_json_answer(text, example.job.contexts).values == example.references));
    // Each value has the ids that hpd has for it.
    auto from = taught.begin();
    for (const Tokens& value : hpd_values(example.references, 1000, tokenizer)) {
      from = std::search(from, taught.end(), value.begin(), value.end());
      CHECK(from != taught.end());
    }
    const size_t prompt = example.pieces.whole_prompt().size();
    CHECK(sample.tokens.size() == prompt + taught.size() - 1);
    for (size_t i = 0; i < sample.targets.size(); ++i)
      CHECK(sample.targets[i].first == static_cast<int>(prompt + i) - 1);
    for (size_t row = 0; row < sample.labels.size(); ++row)
      CHECK((sample.labels[row] == RowLabel{static_cast<int>(row), static_cast<int>(row), 0, 0}));
  }
}

TEST_CASE("ar-value: one sequence for each field, ended by the end of sequence") {
  TinyNetwork network;
  const Tokenizer& tokenizer = network.tokenizer();
  const auto decoder = make_decoder("ar", {{"ask", "separately"}});
  const auto format = make_ar_format({.together = false, .eos = 0}, tokenizer, 1 << 20);
  const TrainingExample example = example_of(tokenizer, *decoder, 1, 4, 3);
  const auto samples = format->samples(example);
  REQUIRE(samples.size() == 4);
  for (size_t f = 0; f < 4; ++f) {
    Tokens taught;
    for (const auto& [row, target] : samples[f].targets) taught.push_back(target);
    CHECK(taught.back() == 0);
    taught.pop_back();
    CHECK(bytes_of(taught, tokenizer) == str(" ", example.references[0][f].value_or("n/a")));
  }
}

TEST_CASE("apar: the trained sequence is what the decoder does under an oracle, and reads back") {
  TinyNetwork network;
  const Tokenizer& tokenizer = network.tokenizer();
  Model model = network.load(Dtype::fp32);
  constexpr Token F = 393, C = 394, E = 0;
  const auto decoder = make_decoder("apar", {{"stack", 2}, {"fork_token", F}, {"child_token", C}});
  AparFormatOptions options{.stack = 2, .unrolled = false, .control = {F, C}, .eos = E};
  const auto packed = make_apar_format(options, tokenizer, 1 << 20);
  options.unrolled = true;
  const auto unrolled = make_apar_format(options, tokenizer, 1 << 20);
  const auto ar = make_ar_format({.stack = 2}, tokenizer, 1 << 20);
  for (std::uint64_t seed = 1; seed < 8; ++seed) {
    const TrainingExample example =
        example_of(tokenizer, *decoder, 1 + static_cast<int>(seed % 2), 3, seed);
    const TrainingSample sample = packed->samples(example).front();
    // By thread: those that begin at [Child], and the prompt's own.
    const auto threads = unrolled->samples(example);
    REQUIRE(threads.size() == 1 + 3 * example.references.size());
    std::vector<Tokens> streams;
    size_t targets = 0;
    for (const TrainingSample& thread : threads) {
      targets += thread.targets.size();
      auto& stream = streams.emplace_back();
      for (const auto& [row, target] : thread.targets) stream.push_back(target);
    }
    CHECK(sample.targets.size() == targets);
    for (size_t t = 1; t < streams.size(); ++t) CHECK(streams[t].back() == E);

    // The order in which Algorithm 1 makes these choices: a thread begins two choices after the key
    // that forks.
    Tokens order;
    std::vector<size_t> at(streams.size(), 0), born{0};
    for (bool any = true; any;) {
      any = false;
      const size_t alive = born.size();
      for (size_t t = 0; t < alive; ++t) {
        if (at[t] == streams[t].size()) continue;
        any = true;
        if (t == 0 && at[0] > 0 && streams[0][at[0] - 1] == F) born.push_back(0);
        order.push_back(streams[t][at[t]++]);
      }
    }
    Request request;
    request.job = example.job;
    request.job.limits.max_new_tokens = 1000;
    request.pieces = example.pieces;
    request.oracle = Oracle{{order}, {}};
    const Ran ran = run(model, tokenizer, *decoder, {request}, 1, true);
    const Answers& answers = ran.of();
    CHECK(answers.tokens == order);
    CHECK(answers.stop == Stop::terminator);
    for (size_t c = 0; c < example.references.size(); ++c)
      for (size_t f = 0; f < 3; ++f) CHECK(answers.fields[c][f].text == example.references[c][f]);
    // Training equals decoding: the rows are the same, with the same positions and paths.
    const Trace& trace = ran.traces.begin()->second;
    REQUIRE(trace.tokens.size() == sample.tokens.size());
    const auto path_of = [](const auto& tokens, const auto& position, const auto& keys) {
      Tokens path(keys.size());
      for (const auto key : keys)
        path.at(static_cast<size_t>(position(key))) = tokens[static_cast<size_t>(key)];
      return path;
    };
    std::vector<Tokens> fed, taught;
    for (const auto& seen : trace.visible)
      fed.push_back(path_of(
          trace.tokens, [&](int k) { return trace.position[static_cast<size_t>(k)]; }, seen));
    for (const RowLabel& q : sample.labels) {
      std::vector<int> seen;
      for (size_t k = 0; k < sample.labels.size(); ++k)
        if (visible(q, sample.labels[k], sample.segments)) seen.push_back(static_cast<int>(k));
      taught.push_back(path_of(
          sample.tokens, [&](int k) { return sample.labels[static_cast<size_t>(k)].position; },
          seen));
    }
    std::sort(fed.begin(), fed.end());
    std::sort(taught.begin(), taught.end());
    CHECK((fed == taught));
    // The text's ids are ar's.
    Tokens of_ar, of_apar;
    const std::vector<TrainingSample> plain = ar->samples(example);
    for (const auto& [row, target] : plain.front().targets) of_ar.push_back(target);
    const ParagraphTree tree = json_answer_tree(example, tokenizer);
    for (const int node : tree.restore_order())
      of_apar.insert(of_apar.end(), tree.node(node).tokens.begin(), tree.node(node).tokens.end());
    CHECK(of_apar == of_ar);
  }
  CHECK_THROWS_AS(
      make_apar_format(options, tokenizer, 20)->samples(example_of(tokenizer, *decoder, 2, 3, 1)),
      ConfigError);
}

namespace {

std::vector<int> positions_of(const TrainingSample& sample) {
  std::vector<int> positions;
  for (const RowLabel& label : sample.labels) positions.push_back(label.position);
  return positions;
}

}  // namespace

TEST_CASE("space: a worked example of SAR-SFT") {
  constexpr Token M = 77, kEos = 99;
  const TrainingSample causal = causal_sample({1, 2}, {5, 6, 7, 8, 9, kEos});
  const TrainingSample sample = sar_sample(causal, 1, 2, M);
  CHECK(sample.tokens == Tokens{1, 2, 5, M, M});
  CHECK(positions_of(sample) == std::vector<int>{0, 1, 2, 3, 4});
  CHECK(mask_of(sample) == std::vector<std::string>{"10000", "11000", "11100", "11110", "11111"});
  CHECK(sample.targets == std::vector<std::pair<int, Token>>{{1, 5}, {2, 6}, {3, 7}, {4, 8}});

  // s = 0 .. 3; the last mask of the last one guesses the end of sequence.
  CHECK(sar_sample(causal, 0, 2, M).tokens == Tokens{1, 2, M, M});
  const TrainingSample end = sar_sample(causal, 3, 2, M);
  CHECK(end.tokens == Tokens{1, 2, 5, 6, 7, M, M});
  CHECK(end.targets.back() == std::pair<int, Token>{6, kEos});
  CHECK_THROWS_AS(sar_sample(causal, 4, 2, M), std::logic_error);
  CHECK_THROWS_AS(sar_sample(causal, -1, 2, M), std::logic_error);
}

TEST_CASE("space in one pass: the answer stays whole, and answer and masks do not see each other") {
  constexpr Token M = 77, kEos = 99;
  const TrainingSample causal = causal_sample({1, 2}, {5, 6, 7, 8, 9, kEos});
  const TrainingSample sample = sar_one_pass(causal, {1}, 2, M);
  CHECK(sample.tokens == Tokens{1, 2, 5, 6, 7, 8, 9, M, M});
  CHECK(positions_of(sample) == std::vector<int>{0, 1, 2, 3, 4, 5, 6, 3, 4});
  CHECK(mask_of(sample) == std::vector<std::string>{"100000000", "110000000", "111000000",
                                                    "111100000", "111110000", "111111000",
                                                    "111111100", "111000010", "111000011"});
  CHECK(sample.targets == std::vector<std::pair<int, Token>>{
                              {1, 5}, {2, 6}, {3, 7}, {4, 8}, {5, 9}, {6, kEos}, {7, 7}, {8, 8}});

  // Groups do not see each other either.
  const TrainingSample two = sar_one_pass(causal, {1, 0}, 2, M);
  CHECK(two.tokens == Tokens{1, 2, 5, 6, 7, 8, 9, M, M, M, M});
  CHECK(positions_of(two) == std::vector<int>{0, 1, 2, 3, 4, 5, 6, 3, 4, 2, 3});
  const auto mask = mask_of(two);
  CHECK(std::vector(mask.end() - 4, mask.end()) ==
        std::vector<std::string>{"11100001000", "11100001100", "11000000010", "11000000011"});
  CHECK(std::vector(two.targets.end() - 4, two.targets.end()) ==
        std::vector<std::pair<int, Token>>{{7, 7}, {8, 8}, {9, 6}, {10, 7}});
  CHECK_THROWS_AS(sar_one_pass(causal, {1, 4}, 2, M), std::logic_error);
}

TEST_CASE("space in one pass: groups after as many places of an answer as were asked for") {
  TinyNetwork network;
  const Token mask = network.tokenizer().vocab_size();
  const ArFormatOptions ar{.together = false, .eos = 0};
  const auto decoder = make_decoder("ar", {{"ask", "separately"}});
  TrainingExample example = example_of(network.tokenizer(), *decoder, 1, 2, 3);
  const auto causal = make_ar_format(ar, network.tokenizer(), 2048)->samples(example);
  for (const int groups : {1, 2, 1000}) {
    const auto format = make_space_format(
        {.ar = ar, .k = 2, .p_ar = 0, .one_pass = true, .groups = groups, .mask = mask},
        network.tokenizer(), 2048);
    for (example.seed = 0; example.seed < 20; ++example.seed) {
      const auto samples = format->samples(example);
      REQUIRE(samples.size() == causal.size());
      for (size_t i = 0; i < samples.size(); ++i) {
        const auto places = std::max<std::ptrdiff_t>(0, std::ssize(causal[i].targets) - 2);
        const auto expected = std::min<std::ptrdiff_t>(groups, places);
        CHECK(std::count(samples[i].tokens.begin(), samples[i].tokens.end(), mask) == 2 * expected);
        std::set<int>
            behind;  // the first mask of a group is one position after the last token that it sees
        for (size_t row = causal[i].tokens.size(); row < samples[i].tokens.size(); row += 2)
          behind.insert(samples[i].labels[row].position);
        CHECK(std::ssize(behind) == expected);
      }
    }
  }
}

TEST_CASE("space: a share of AR's sequences gets masks, at any place, drawn by seed") {
  TinyNetwork network;
  const Tokenizer& tokenizer = network.tokenizer();
  const Token mask = tokenizer.vocab_size();
  for (const bool together : {true, false}) {
    const ArFormatOptions ar{.together = together, .stack = 2, .eos = 0};
    const auto plain = make_ar_format(ar, tokenizer, 2048);
    const auto decoder = make_decoder("ar", {{"ask", together ? "together" : "separately"}});
    TrainingExample example = example_of(tokenizer, *decoder, 2, 2, 3);
    const std::vector<TrainingSample> causal = plain->samples(example);
    const int k = 3;
    const auto format =
        make_space_format({.ar = ar, .k = k, .p_ar = 0.5, .mask = mask}, tokenizer, 2048);
    CHECK(format->name() == (together ? "space" : "space-value"));
    CHECK(format->form() == plain->form());
    CHECK(format->stack() == plain->stack());
    int all = 0, masked = 0, possible = 0;
    std::vector<std::set<int>> places(causal.size());
    for (std::uint64_t seed = 0; seed < 400; ++seed) {
      example.seed = seed;
      const std::vector<TrainingSample> samples = format->samples(example);
      REQUIRE(samples.size() == causal.size());
      for (size_t i = 0; i < samples.size(); ++i) {
        const auto N = std::ssize(causal[i].targets);
        ++all;
        possible += N >= k + 1;
        if (samples[i].tokens == causal[i].tokens) continue;
        ++masked;
        REQUIRE(std::count(samples[i].tokens.begin(), samples[i].tokens.end(), mask) == k);
        const int s = static_cast<int>(std::ssize(samples[i].targets)) - k - 1;
        places[i].insert(s);
        REQUIRE(samples[i].tokens == sar_sample(causal[i], s, k, mask).tokens);
        REQUIRE(samples[i].targets == sar_sample(causal[i], s, k, mask).targets);
      }
    }
    // Binomial: four deviations.
    CHECK(std::abs(masked - possible / 2.0) < 4 * std::sqrt(possible / 4.0));
    for (size_t i = 0; i < causal.size(); ++i) {
      const auto N = std::ssize(causal[i].targets);
      if (N >= k + 1 && N < 25) {
        CHECK(*places[i].begin() == 0);
        CHECK(*places[i].rbegin() == N - k - 1);
        CHECK(std::ssize(places[i]) == N - k);
      }
      if (N < k + 1) CHECK(places[i].empty());
    }
    example.seed = 7;
    CHECK(format->samples(example)[0].tokens == format->samples(example)[0].tokens);
    const auto always =
        make_space_format({.ar = ar, .k = k, .p_ar = 1, .mask = mask}, tokenizer, 2048);
    const auto never =
        make_space_format({.ar = ar, .k = k, .p_ar = 0, .mask = mask}, tokenizer, 2048);
    for (size_t i = 0; i < causal.size(); ++i) {
      CHECK(always->samples(example)[i].tokens == causal[i].tokens);
      CHECK((never->samples(example)[i].tokens != causal[i].tokens) ==
            (std::ssize(causal[i].targets) >= k + 1));
    }
  }
}

TEST_CASE("ar, hpd: unknown values are fed and are no targets") {
  TinyNetwork network;
  const Tokenizer& tokenizer = network.tokenizer();
  const auto tokens_of = [](const TrainingSample& sample) {
    Tokens taught;
    for (const auto& [row, target] : sample.targets) taught.push_back(target);
    return taught;
  };
  const auto decoder = make_decoder("hpd", {{"stack", 2}});
  for (std::uint64_t seed = 1; seed < 20; ++seed) {
    TrainingExample example = example_of(tokenizer, *decoder, 2, 3, seed);
    const std::vector<Tokens> values = hpd_values(example.references, 30, tokenizer);
    TrainingExample gaps = example;
    Rng rng(seed);
    Tokens known;
    size_t r = 0;
    for (const auto& product : example.references) {
      gaps.unknown.emplace_back();
      for (size_t f = 0; f < product.size(); ++f, ++r) {
        gaps.unknown.back().push_back(r > 0 && rng.below(2) == 0);
        if (!gaps.unknown.back().back())
          known.insert(known.end(), values[r].begin(), values[r].end());
      }
    }
    const auto hpd = make_hpd_format({.k_max = 30, .stack = 2}, tokenizer, 1 << 20);
    const TrainingSample whole = hpd->samples(example).front(), some = hpd->samples(gaps).front();
    CHECK(some.tokens == whole.tokens);
    CHECK((some.labels == whole.labels));
    CHECK(tokens_of(some) == known);
    // For ar, keys and the end stay targets; only the ids of the unknown values are left out.
    const auto ar = make_ar_format({.stack = 2}, tokenizer, 1 << 20);
    const TrainingSample all = ar->samples(example).front(), part = ar->samples(gaps).front();
    const JsonAnswerIds ids = json_answer_ids(gaps, tokenizer);
    Tokens expected;
    r = 0;
    for (const auto& product : gaps.unknown)
      for (const bool unknown : product) {
        expected.insert(expected.end(), ids.keys[r].begin(), ids.keys[r].end());
        if (!unknown) expected.insert(expected.end(), ids.values[r].begin(), ids.values[r].end());
        ++r;
      }
    expected.insert(expected.end(), ids.tail.begin(), ids.tail.end());
    CHECK(part.tokens == all.tokens);
    CHECK(tokens_of(part) == expected);
    for (const auto& target : part.targets)
      CHECK(std::find(all.targets.begin(), all.targets.end(), target) != all.targets.end());
  }
  TrainingExample nothing = example_of(tokenizer, *decoder, 1, 3, 1);
  nothing.unknown = {{true, true, true}};
  CHECK(make_hpd_format({}, tokenizer, 1 << 20)->samples(nothing).empty());
}
