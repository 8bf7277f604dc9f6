// SPACE against AR, and against the paper's algorithm computed from scratch: greedy ids, the exact
// distribution of sampling, ends inside an accepted block, counters, and the oracle that accepts by
// coin.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <numeric>

#include "decoders/space/space.hpp"
#include "src/model/files/checkpoint_files.hpp"
#include "src/model/files/safetensors.hpp"
#include "src/support/error.hpp"
#include "src/support/files.hpp"
#include "src/support/text.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/decoding.hpp"
#include "tests/support/outcomes.hpp"
#include "tests/support/space_reference.hpp"

using namespace pardec;
using namespace pardec::test;

namespace {

std::unique_ptr<Decoder> space(int k, Token mask, const char* extra = "residual") {
  return make_decoder("space", {{"k", k}, {"mask_token", mask}, {"extra", extra}});
}

Tokens random_prompt(int length, int vocab, Rng& rng) {
  Tokens prompt;
  for (int i = 0; i < length; ++i)
    prompt.push_back(static_cast<Token>(rng.below(static_cast<std::uint64_t>(vocab))));
  return prompt;
}

/// A network whose every choice depends only on the last token: a checkpoint with one-hot
/// embeddings, a head that is a table, and layers that add nothing. `best[t]` follows t. If t has a
/// `second`, that is the next best.
class TableNetwork {
 public:
  TableNetwork(const Tokens& best, const Tokens& second, const Json& eos, int positions = 256)
      : vocab_(static_cast<int>(best.size())) {
    const Json config = {{"model_type", "llama"},
                         {"vocab_size", vocab_},
                         {"hidden_size", vocab_},
                         {"intermediate_size", 8},
                         {"num_hidden_layers", 1},
                         {"num_attention_heads", 1},
                         {"num_key_value_heads", 1},
                         {"head_dim", 8},
                         {"max_position_embeddings", positions},
                         {"eos_token_id", eos},
                         {"tie_word_embeddings", false}};
    synthesise_checkpoint(config, 1, folder_.path());
    std::vector<TensorToWrite> tensors;
    const CheckpointFiles random(folder_.path());
    for (const auto& [name, entry] : random.tensors()) {
      const std::vector<std::int64_t> shape = entry.tensor.shape;
      tensors.push_back({name, StoredType::bf16, shape, [=, this](std::span<std::byte> bytes) {
                           fill(name, shape, best, second, bytes);
                         }});
    }
    write_safetensors(folder_.path() / "model.safetensors", tensors);
  }
  Model load() const { return Model::load(folder_.path(), {.dtype = Dtype::fp32}); }
  int vocab() const { return vocab_; }

 private:
  static void fill(const std::string& name, const std::vector<std::int64_t>& shape,
                   const Tokens& best, const Tokens& second, std::span<std::byte> bytes) {
    std::vector<float> values(bytes.size() / 2, shape.size() == 1 ? 1.0f : 0.0f);
    const auto columns = static_cast<size_t>(shape.back());
    for (size_t t = 0; t < best.size(); ++t) {
      if (name == "model.embed_tokens.weight") values[t * columns + t] = 1;
      if (name != "lm_head.weight") continue;
      if (!second.empty()) values[static_cast<size_t>(second[t]) * columns + t] = 1;
      values[static_cast<size_t>(best[t]) * columns + t] = 2;
    }
    for (size_t i = 0; i < values.size(); ++i) {
      const auto upper = static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(values[i]) >> 16);
      std::memcpy(bytes.data() + 2 * i, &upper, 2);
    }
  }

  TemporaryFolder folder_;
  int vocab_;
};

const Tokenizer& some_tokenizer() {
  static const TinyNetwork network;
  return network.tokenizer();
}

Answers decode(Model& model, const Decoder& decoder, const Request& request) {
  return run(model, some_tokenizer(), decoder, {request}).of();
}

std::int64_t sum(const std::vector<std::int64_t>& values) {
  return std::accumulate(values.begin(), values.end(), std::int64_t{0});
}

/// Properties of every answer of SPACE that was not cut by the context limit.
void check_counters(const Counters& c, int k, std::int64_t prompt, std::int64_t chosen) {
  std::int64_t emitted = 0, forwards = 0;
  for (const auto& [tokens, count] : c.emitted) {
    CHECK(tokens >= 1);
    CHECK(tokens <= k + 1);
    emitted += tokens * count;
    forwards += count;
  }
  CHECK(c.chosen == chosen);
  CHECK(emitted == chosen);  // sum of the histogram
  CHECK(forwards == c.forwards);
  CHECK(c.prompt == prompt);
  CHECK(c.forced == k + (c.forwards - 1) * k * (k + 1));  // masks
  CHECK(c.fed == prompt + k + (c.forwards - 1) * (k + 1) * (k + 1));
  CHECK(c.drafted ==
        std::vector<std::int64_t>(c.forwards > 1 ? static_cast<size_t>(k) : 0, c.forwards - 1));
  CHECK(std::is_sorted(c.accepted.rbegin(), c.accepted.rend()));
  // Each pass gives its accepted candidates and one token, except for the last, which may be cut.
  const std::int64_t given = sum(c.accepted) + c.forwards;
  CHECK(chosen <= given);
  CHECK(chosen >= given - 1);
  CHECK(c.branch_lengths == std::vector<std::int64_t>{chosen});
}

std::int64_t rounded_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

}  // namespace

TEST_CASE("greedy space has ar's ids for k = 1 to 6, on random networks") {
  Rng rng(5);
  int accepted = 0, compared = 0;
  for (const char* family : {"llama", "qwen3"}) {
    TinyNetwork network(family, 31);
    const Token mask = network.tokenizer().vocab_size() + 1;
    Model model = network.load(Dtype::fp32);
    std::vector<Request> requests;
    for (int i = 0; i < 5; ++i)
      requests.push_back(open_request(str("r", i), random_prompt(1 + 5 * i, 300, rng), 8 + 3 * i));
    const Ran ar =
        run(model, network.tokenizer(), *make_decoder("ar", Json::object()), requests, 2);
    for (int k = 1; k <= 6; ++k) {
      const Ran ran = run(model, network.tokenizer(), *space(k, mask), requests, 3, true);
      for (size_t i = 0; i < requests.size(); ++i) {
        INFO(family << " k " << k << " request " << i);
        const Tokens& expected = ar.of(i).tokens;
        REQUIRE(std::find(expected.begin(), expected.end(), mask) == expected.end());
        CHECK(ran.of(i).tokens == expected);
        CHECK(ran.of(i).stop == ar.of(i).stop);
        CHECK(ran.of(i).text == ar.of(i).text);
        check_counters(ran.of(i).counters, k, std::ssize(requests[i].pieces.prefix),
                       std::ssize(expected));
        accepted += static_cast<int>(sum(ran.of(i).counters.accepted));
        ++compared;
      }
    }
  }
  CHECK(compared == 60);
  INFO("accepted by chance: " << accepted);
  CHECK(accepted < 60);  // candidates of an untrained network are as good as random
}

TEST_CASE("candidates, acceptance and ids are those of Algorithm 1 computed from scratch") {
  Rng rng(8);
  for (const char* family : {"llama", "qwen3"}) {
    TinyNetwork network(family, 33);
    const Token mask = network.tokenizer().vocab_size();
    Model model = network.load(Dtype::fp64);
    for (const int k : {1, 2, 3, 5}) {
      const Request request = open_request("slow", random_prompt(6, 300, rng), 8);
      const Ran ran = run(model, network.tokenizer(), *space(k, mask), {request}, 1, true);
      const std::vector<SpaceStep> steps =
          slow_space(network.slow(), request.pieces.prefix, k, mask, 8);
      INFO(family << " k " << k);
      const Trace& trace = ran.traces.at("slow/0/0");
      CHECK(ran.of().counters.forwards == std::ssize(steps));
      Tokens emitted;
      for (size_t s = 0; s < steps.size(); ++s) {
        emitted.insert(emitted.end(), steps[s].emitted.begin(), steps[s].emitted.end());
        // The grid of step s, row by row.
        std::vector<size_t> rows;
        for (size_t row = 0; row < trace.tokens.size(); ++row)
          if (trace.step[row] == static_cast<int>(s)) rows.push_back(row);
        if (s == 0) {
          CHECK(rows.size() == request.pieces.prefix.size() + static_cast<size_t>(k));
          continue;
        }
        REQUIRE(rows.size() == static_cast<size_t>((k + 1) * (k + 1)));
        for (int i = 0; i <= k; ++i) {
          const auto cell = [&](int j) {
            return trace.tokens[rows[static_cast<size_t>(i * (k + 1) + j)]];
          };
          if (i > 0) CHECK(cell(0) == steps[s].checked[static_cast<size_t>(i - 1)]);
          for (int j = 1; j <= k; ++j) CHECK(cell(j) == mask);
        }
      }
      CHECK(ran.of().tokens == Tokens(emitted.begin(), emitted.begin() + 8));
    }
  }
}

TEST_CASE("logits are computed only for the rows that decide and the group that drafts") {
  TinyNetwork network("llama", 34);
  const int k = 4;
  Model model = network.load(Dtype::fp32);
  const Ran ran = run(model, network.tokenizer(), *space(k, network.tokenizer().vocab_size()),
                      {open_request("lazy", {5, 6, 7}, 6)}, 1, true);
  const Trace& trace = ran.traces.at("lazy/0/0");
  for (int step = 0; step <= trace.step.back(); ++step) {
    int rows = 0;
    for (size_t row = 0; row < trace.tokens.size(); ++row)
      rows += trace.step[row] == step && trace.predicts[row].has_value();
    const bool last = step == trace.step.back();
    CHECK(rows == (step == 0 ? 1 : k + 1) + (last ? 0 : k));
  }
}

TEST_CASE("fewer masks than in training draft the same first candidates") {
  TinyNetwork network("qwen3", 35);
  const Token mask = network.tokenizer().vocab_size();
  Model model = network.load(Dtype::fp64);
  std::vector<Token> longest;
  for (const int k : {6, 5, 3, 2, 1}) {
    const Ran ran = run(model, network.tokenizer(), *space(k, mask),
                        {open_request("k", {9, 8, 7, 6}, 2)}, 1, true);
    const Trace& trace = ran.traces.at("k/0/0");
    std::vector<Token> drafted;
    for (int j = 1; j <= k; ++j) drafted.push_back(*trace.predicts[static_cast<size_t>(3 + j)]);
    if (longest.empty()) longest = drafted;
    CHECK(drafted == std::vector<Token>(longest.begin(), longest.begin() + k));
  }
}

TEST_CASE("good candidates: k + 1 tokens a pass; always wrong ones: one") {
  // After 5 comes 5, and masks (6) guess it; masks of the other network (7) guess 3, which never
  // comes.
  const Tokens best{1, 2, 5, 4, 5, 5, 5, 3};
  TableNetwork network(best, {}, nullptr);
  Model model = network.load();
  const auto ar = make_decoder("ar", Json::object());
  for (int k = 1; k <= 6; ++k)
    for (const int tokens : {1, 2, 7, 20, 43}) {
      const Request request = open_request("good", {4}, tokens);
      const Tokens expected = decode(model, *ar, request).tokens;
      REQUIRE(expected == Tokens(static_cast<size_t>(tokens), 5));
      INFO("k " << k << " tokens " << tokens);
      const Answers good = decode(model, *space(k, 6), request);
      CHECK(good.tokens == expected);
      CHECK(good.counters.forwards == 1 + rounded_up(tokens - 1, k + 1));
      const Answers wrong = decode(model, *space(k, 7), request);
      CHECK(wrong.tokens == expected);
      CHECK(wrong.counters.forwards == tokens);
      CHECK(sum(wrong.counters.accepted) == 0);
    }
}

TEST_CASE("ends inside an accepted block are where ar ends") {
  // 0 1 2 3 4 5 5 5 ...; masks (6) guess 5, right from the sixth token on.
  const Tokens best{1, 2, 3, 4, 5, 5, 5, 5};
  const auto ar = make_decoder("ar", Json::object());
  int inside = 0;
  const auto compare = [&](const TableNetwork& network, int limit, Stop stop) {
    Model model = network.load();
    for (int k = 1; k <= 6; ++k)
      for (Token start = 0; start <= 5; ++start) {
        const Request request = open_request("ends", {start}, limit);
        const Answers expected = decode(model, *ar, request);
        const Answers answers = decode(model, *space(k, 6), request);
        INFO("k " << k << " start " << start << " limit " << limit);
        CHECK(expected.stop == stop);
        CHECK(answers.stop == stop);
        CHECK(answers.tokens == expected.tokens);
        CHECK(answers.text == expected.text);
        CHECK(answers.counters.chosen == expected.counters.chosen);
        CHECK(answers.counters.text == expected.counters.text);
        const Counters& c = answers.counters;
        inside += sum(c.accepted) + c.forwards > c.chosen || c.emitted.rbegin()->first > 1;
      }
  };
  for (int limit = 1; limit <= 20; ++limit)
    compare(TableNetwork(best, {}, nullptr), limit, Stop::limit);
  compare(TableNetwork(best, {}, 5), 30, Stop::eos);
  for (int positions = 2; positions <= 16; ++positions)
    compare(TableNetwork(best, {}, nullptr, positions), 40, Stop::context);
  CHECK(inside > 300);
}

TEST_CASE("at the end of the context nothing is fed beyond it, and the last tokens are ar's") {
  Rng rng(3);
  TinyNetwork network("llama", 36, {{"max_position_embeddings", 24}, {"eos_token_id", nullptr}});
  const Token mask = network.tokenizer().vocab_size();
  Model model = network.load(Dtype::fp32);
  const auto ar = make_decoder("ar", Json::object());
  for (const int length : {1, 15, 22, 23, 24}) {
    const Request request = open_request("full", random_prompt(length, 300, rng), 100);
    const Answers expected = decode(model, *ar, request);
    for (const int k : {1, 3, 6})
      for (const double rate : {-1.0, 0.0, 0.6, 1.0}) {
        Request asked = request;
        if (rate >= 0) asked.acceptance = AcceptanceLaw{{rate}};
        const Ran ran = run(model, network.tokenizer(), *space(k, mask), {asked}, 1, true);
        INFO("prompt " << length << " k " << k << " rate " << rate);
        CHECK(ran.of().stop == Stop::context);
        CHECK(std::ssize(ran.of().tokens) == 25 - length);
        if (rate < 0) CHECK(ran.of().tokens == expected.tokens);
        for (const int position : ran.traces.at("full/0/0").position) REQUIRE(position < 24);
      }
  }
  const Ran failed =
      run(model, network.tokenizer(), *space(2, mask), {open_request("over", Tokens(25, 5), 4)});
  CHECK_THAT(failed.errors[0], Catch::Contains("context overflow") && Catch::Contains("24"));
}

TEST_CASE("the mask token is neither emitted nor drafted, however likely it is") {
  // [M] = 6 is the best of every row; without it 1 follows 0, 2 follows 1, 0 follows 2.
  const Tokens best(8, 6), second{1, 2, 0, 0, 0, 0, 2, 0};
  TableNetwork network(best, second, nullptr);
  Model model = network.load();
  for (const int k : {1, 2, 4}) {
    const Ran ran =
        run(model, some_tokenizer(), *space(k, 6), {open_request("ban", {0}, 9)}, 1, true);
    CHECK(ran.of().tokens == Tokens{1, 2, 0, 1, 2, 0, 1, 2, 0});
    const Trace& trace = ran.traces.at("ban/0/0");
    for (size_t row = 0; row < trace.tokens.size(); ++row) {
      if (trace.from[row]) CHECK(trace.tokens[row] != 6);
      if (trace.predicts[row]) {
        CHECK(trace.predicts[row] != 6);
        CHECK(trace.banned[row] == Tokens{6});
      }
    }
    CHECK(sum(ran.of().counters.accepted) > 0);  // after 1 masks guess 2, which is right
    Request sampled = open_request("ban sampled", {0}, 40);
    sampled.job.sampling = {.temperature = 3.0};
    const Ran drawn = run(model, some_tokenizer(), *space(k, 6), {sampled}, 1, true);
    const Tokens& tokens = drawn.of().tokens;
    CHECK(std::count(tokens.begin(), tokens.end(), 6) == 0);
    CHECK(std::count(tokens.begin(), tokens.end(), 3) > 0);
  }
}

TEST_CASE(
    "--oracle accept:A: the number of forwards is that of the coins, and on average that of the "
    "formula") {
  TinyNetwork network("llama", 37, {{"eos_token_id", nullptr}});
  const Token mask = network.tokenizer().vocab_size();
  Model model = network.load(Dtype::fp32);
  for (const int k : {1, 2, 5})
    for (const double rate : {0.0, 0.5, 0.8, 1.0}) {
      std::int64_t given = 0, passes = 0;
      std::vector<Request> requests;
      const int tokens = 150;
      for (int i = 0; i < 4; ++i) {
        requests.push_back(open_request(str("a", i), {7, 8, 9}, tokens));
        requests.back().job.seed = static_cast<std::uint64_t>(i);
        requests.back().acceptance = AcceptanceLaw{{rate}};
      }
      const Ran ran = run(model, network.tokenizer(), *space(k, mask), requests, 4);
      for (size_t i = 0; i < requests.size(); ++i) {
        const Answers& answers = ran.of(i);
        INFO("k " << k << " A " << rate << " request " << i);
        // Only the coins.
        SeededChance coins(derive_seed(i, "accept"));
        std::int64_t forwards = 1, emitted = 1;
        for (; emitted < tokens; ++forwards) {
          int accepted = 0;
          while (accepted < k && coins.happens(rate)) ++accepted;
          emitted += accepted + 1;
          given += accepted + 1;
        }
        passes += forwards - 1;
        CHECK(answers.counters.forwards == forwards);
        CHECK(answers.counters.chosen == tokens);
        CHECK(flat(answers).front().unforced.size() == static_cast<size_t>(tokens));
        if (rate == 0) CHECK(answers.counters.forwards == tokens);
        if (rate == 1) CHECK(answers.counters.forwards == 1 + rounded_up(tokens - 1, k + 1));
        check_counters(answers.counters, k, 3, tokens);
      }
      // E = (1 - A^(k+1)) / (1 - A) tokens in a pass; one pass has a deviation below k.
      const double E = rate == 1 ? k + 1 : (1 - std::pow(rate, k + 1)) / (1 - rate);
      CHECK(std::abs(static_cast<double>(given) / static_cast<double>(passes) - E) <=
            4 * k / std::sqrt(static_cast<double>(passes)) * (rate > 0 && rate < 1));
    }
}

// --- sampling ---

namespace {

constexpr Token kMask = 4;  // after a vocabulary of 0 to 3

/// Small enough to enumerate every outcome.
Json walkable() {
  return {{"vocab_size", 5},        {"hidden_size", 16},        {"intermediate_size", 16},
          {"num_hidden_layers", 1}, {"num_attention_heads", 2}, {"num_key_value_heads", 1},
          {"head_dim", 8},          {"eos_token_id", nullptr}};
}

using Law = std::map<Tokens, double>;

Task<void> decode_into(const Decoder& decoder, const Request& request,
                       const DecoderContext& context, Tokens& tokens) {
  Answers answers = co_await decoder.decode(request, context);
  tokens = std::move(answers.tokens);
}

/// The exact distribution of a decoder's results, by every way through its random decisions.
Law law_of_decoder(Model& model, const Decoder& decoder, const Request& request) {
  const SteadyClock clock;
  Engine engine(model, clock);
  return law_of<Tokens>([&](Chance& chance) {
    const DecoderContext context{engine, nullptr, false, nullptr,
                                 [&](std::uint64_t) -> std::unique_ptr<Chance> {
                                   return std::make_unique<Borrowed>(chance);
                                 }};
    Tokens tokens;
    engine.run(
        1, 1, [&](int) { return decode_into(decoder, request, context, tokens); },
        [](const Ended& end) { end.rethrow(); });
    return tokens;
  });
}

/// AR's distribution by its definition: the product of the warped distributions after each prefix,
/// computed from the whole text.
void ar_law(Model& model, const Tokens& text, Tokens tail, double p, int more,
            const Sampling& sampling, Law& law) {
  if (more == 0) {
    law[tail] += p;
    return;
  }
  Tokens all = text;
  all.insert(all.end(), tail.begin(), tail.end());
  std::vector<RowLabel> labels;
  for (int t = 0; t < std::ssize(all); ++t) labels.push_back(text_label(t));
  KvCache cache(model);
  const Segments segments;
  const std::vector<OutputRequest> outputs{
      {.index = static_cast<int>(all.size()) - 1, .sampling = sampling, .banned = {kMask}}};
  const SequenceStep step{&cache, &segments, all, labels, outputs};
  const std::vector<double> next = model.forward({&step, 1})[0][0].probabilities;
  for (Token token = 0; token < kMask; ++token) {
    tail.push_back(token);
    if (next[static_cast<size_t>(token)] > 0)
      ar_law(model, text, tail, p * next[static_cast<size_t>(token)], more - 1, sampling, law);
    tail.pop_back();
  }
}

Law ar_law(Model& model, const Tokens& text, int tokens, const Sampling& sampling) {
  Law law;
  ar_law(model, text, {}, 1, tokens, sampling, law);
  return law;
}

Request sampled_request(const std::string& id, const Sampling& sampling) {
  Request request = open_request(id, {1, 3}, 3);
  request.job.sampling = sampling;
  return request;
}

/// Probability of a larger statistic with `degrees` of freedom: the upper incomplete gamma
/// function, by its series.
double chi_square_tail(double statistic, int degrees) {
  const double a = degrees / 2.0, x = statistic / 2;
  double term = 1 / a, sum = term;
  for (int n = 1; n < 10000 && term > sum * 1e-16; ++n) sum += term *= x / (a + n);
  return 1 - sum * std::exp(-x + a * std::log(x) - std::lgamma(a));
}

}  // namespace

TEST_CASE("sampling: exactly ar's joint distribution of three tokens; extra=paper has another") {
  const TinyNetwork network("llama", 41, walkable());
  Model model = network.load(Dtype::fp64);
  for (const Sampling& sampling :
       {Sampling{.temperature = 1.5}, Sampling{.temperature = 2.0, .top_k = 3, .top_p = 0.9}}) {
    const Request request = sampled_request("law", sampling);
    const Law ar = ar_law(model, request.pieces.prefix, 3, sampling);
    const Law exact = law_of_decoder(model, *space(2, kMask), request);
    double total = 0;
    for (const auto& [tokens, p] : exact) total += p;
    INFO("temperature " << sampling.temperature << ", outcomes " << exact.size());
    CHECK(ar.size() >= 27);
    CHECK(std::abs(total - 1) < 1e-12);
    CHECK(total_variation(exact, ar) < 1e-12);
    if (sampling.top_k == 0) continue;  // with all candidates there are three times as many ways
    const Law paper = law_of_decoder(model, *space(2, kMask, "paper"), request);
    INFO("paper's rule: " << total_variation(paper, ar));
    CHECK(total_variation(paper, ar) > 0.05);
  }
}

TEST_CASE("sampling through the batched engine fits ar's distribution; extra=paper does not") {
  const TinyNetwork network("llama", 41, walkable());
  Model model = network.load(Dtype::fp32);
  const Sampling sampling{.temperature = 1.5};
  const Law ar = ar_law(model, {1, 3}, 3, sampling);
  const auto p_of = [&](const char* extra) {
    std::vector<Request> requests;
    for (std::uint64_t i = 0; i < 3000; ++i) {
      requests.push_back(sampled_request(str("s", i), sampling));
      requests.back().job.seed = derive_seed(2026, str(i));
    }
    const Ran ran = run(model, network.tokenizer(), *space(2, kMask, extra), requests, 16);
    std::map<Tokens, int> counts;
    for (size_t i = 0; i < requests.size(); ++i) ++counts[ran.of(i).tokens];
    double statistic = 0, rare = 0;  // outcomes too rare for the test share one cell
    int cells = 0, rare_count = 0, seen = 0;
    const auto cell = [&](double expected, int count) {
      statistic += (count - expected) * (count - expected) / expected;
      ++cells;
    };
    for (const auto& [tokens, p] : ar) {
      const double expected = p * static_cast<double>(requests.size());
      const int count = counts[tokens];
      seen += count;
      if (expected >= 5) {
        cell(expected, count);
      } else {
        rare += expected;
        rare_count += count;
      }
    }
    CHECK(seen == std::ssize(requests));
    if (rare > 0) cell(rare, rare_count);
    INFO(extra << ": " << cells << " cells, chi-square " << statistic);
    CHECK(cells > 20);
    return chi_square_tail(statistic, cells - 1);
  };
  CHECK(p_of("residual") > 1e-4);
  CHECK(p_of("paper") < 1e-4);
}
