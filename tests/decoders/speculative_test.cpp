// Decoders that guess ahead (speculative, prompt-lookup, self-speculative, lookahead): their
// guesses, that sampled ids have ar's distribution, and passes with made-up guesses and under an
// oracle.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "decoders/speculation/lookahead.hpp"
#include "decoders/speculation/prompt_lookup.hpp"
#include "decoders/speculation/self_speculative.hpp"
#include "decoders/speculation/speculation.hpp"
#include "decoders/speculation/speculative.hpp"
#include "src/support/error.hpp"
#include "src/support/text.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/conformance.hpp"
#include "tests/support/outcomes.hpp"

using namespace pardec;
using namespace pardec::test;

namespace {

// fp32: a pass over several rows sums in another order than one over a single row, which moves
// logits by some 5e-6 (measured in tests/model). Choices with a gap below ten times that may
// change.
constexpr float kTie = 5e-5f;

struct Arm {
  std::string decoder;
  Json options;
};

std::vector<Arm> arms() {
  return {
      {"speculative", {{"gamma", 1}}},
      {"speculative", {{"gamma", 4}}},
      {"speculative", {{"schedule", "heuristic"}}},
      {"speculative", {{"schedule", "dynamic"}, {"threshold", 0.05}}},
      {"prompt-lookup", Json::object()},
      {"prompt-lookup", {{"ngram", 1}, {"draft", 3}}},
      {"self-speculative", {{"gamma", 3}, {"threshold", 0}}},
      {"self-speculative", {{"threshold", 0.05}, {"skip_attention", "none"}, {"skip_mlp", "1"}}},
      {"self-speculative",
       {{"gamma", 2}, {"threshold", 0}, {"skip_attention", "all"}, {"skip_mlp", "all"}}},
      {"self-speculative",
       {{"gamma", 3}, {"threshold", 0}, {"skip_attention", "none"}, {"skip_mlp", "none"}}},
      {"lookahead", Json::object()},
      {"lookahead", {{"window", 3}, {"ngram", 3}, {"guesses", 2}}},
      {"lookahead", {{"window", 1}, {"ngram", 2}, {"guesses", 1}}},
  };
}

Json with(Json options, const Json& more) {
  options.update(more);
  return options;
}

std::int64_t sum(const std::vector<std::int64_t>& counts) {
  return std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
}

/// A free-running decoder whose guesses are made up here.
class Scripted final : public FreeRunningDecoder {
 public:
  using Script = std::function<Tokens(const Tokens& text)>;
  Scripted(const Json& options, Script script)
      : FreeRunningDecoder(Options::of_decoder("scripted", with_asking({}), options)),
        script_(std::move(script)) {}
  Task<Stream> stream(StreamRequest request, const DecoderContext& context) const override {
    return speculate(name(), std::move(request), context, [this](DraftScene) {
      struct Guess final : Drafter {
        explicit Guess(const Script& s) : script(s) {}
        Task<Candidates> draft(const Tokens& text, int, int room) override {
          Candidates x{script(text), {}};
          x.tokens.resize(std::min(x.tokens.size(), static_cast<size_t>(room)));
          co_return x;
        }
        const Script& script;
      };
      return std::make_unique<Guess>(script_);
    });
  }

 private:
  Script script_;
};

}  // namespace

TEST_CASE("lookup: the earliest occurrence of the longest n-gram, clipped at the end of the text") {
  const Tokens text{1, 2, 3, 9, 2, 3, 7, 2, 3};
  CHECK(look_up(text, 2, 10) == Tokens{9, 2, 3, 7, 2, 3});
  CHECK(look_up(text, 2, 2) == Tokens{9, 2});
  CHECK(look_up(text, 3, 2) == Tokens{9, 2});  // no 7 2 3 before: falls back to 2 3
  CHECK(look_up({1, 2, 3}, 3, 5).empty());
  CHECK(look_up({5}, 3, 5).empty());
  CHECK(look_up({5, 5}, 3, 5) == Tokens{5});
  CHECK(look_up({5, 5, 5}, 3, 5) == Tokens{5});  // 5 5 at 0, one token follows
  CHECK(look_up({4, 5, 4}, 1, 5) == Tokens{5, 4});

  // A slow implementation of the rule.
  Rng rng(3);
  for (int round = 0; round < 2000; ++round) {
    Tokens random;
    const int n = 1 + static_cast<int>(rng.below(14));
    for (int i = 0; i < n; ++i) random.push_back(static_cast<Token>(rng.below(3)));
    const int ngram = 1 + static_cast<int>(rng.below(4)),
              draft = 1 + static_cast<int>(rng.below(6));
    Tokens wanted;
    for (int g = ngram; g >= 1 && wanted.empty(); --g)
      for (int at = 0; at + g < n && wanted.empty(); ++at) {
        bool same = true;
        for (int i = 0; i < g; ++i)
          same =
              same && random[static_cast<size_t>(at + i)] == random[static_cast<size_t>(n - g + i)];
        for (int i = at + g; same && i < n && std::ssize(wanted) < draft; ++i)
          wanted.push_back(random[static_cast<size_t>(i)]);
      }
    CHECK(look_up(random, ngram, draft) == wanted);
  }
}

TEST_CASE("layers are named one by one, in ranges or by a word") {
  using Layers = std::vector<bool>;
  CHECK(parse_layers("none", 3, "x") == Layers{false, false, false});
  CHECK(parse_layers("all", 2, "x") == Layers{true, true});
  CHECK(parse_layers("odd", 4, "x") == Layers{false, true, false, true});
  CHECK(parse_layers("0+2-3", 5, "x") == Layers{true, false, true, true, false});
  CHECK_THROWS_WITH(parse_layers("3", 3, "x.y"),
                    Catch::Contains("x.y is '3'") && Catch::Contains("end at 2"));
  for (const char* bad : {"", "a", "2-1", "1-2-3", "1+", "-1", "odd+1"})
    CHECK_THROWS_AS(parse_layers(bad, 9, "x"), ConfigError);
}

TEST_CASE("schedules of gamma: transformers' rules") {
  DraftLength constant(GammaSchedule::constant, 4, 0.4);
  constant.learn(4, 4);
  CHECK(constant.most() == 4);
  CHECK(!constant.ends_with(0.1));
  DraftLength heuristic(GammaSchedule::heuristic, 5, 0.4);
  heuristic.learn(5, 5);
  CHECK(heuristic.most() == 7);
  heuristic.learn(7, 6);
  CHECK(heuristic.most() == 6);
  for (int i = 0; i < 9; ++i) heuristic.learn(heuristic.most(), 0);
  CHECK(heuristic.most() == 1);
  CHECK(!heuristic.ends_with(0.1));
  DraftLength dynamic(GammaSchedule::dynamic, 20, 0.4);
  CHECK(dynamic.ends_with(0.39));
  CHECK(!dynamic.ends_with(0.4));
  dynamic.learn(3, 0);
  CHECK(dynamic.most() == 20);
}

TEST_CASE("options of the decoders that guess ahead") {
  CHECK(make_decoder("speculative", Json::object())->options().dump() ==
        R"({"ask":"together","stack":1,"schedule":"constant","gamma":5})");
  CHECK(make_decoder("speculative", {{"schedule", "dynamic"}})->options().dump() ==
        R"({"ask":"together","stack":1,"schedule":"dynamic","gamma":20,"threshold":0.4})");
  CHECK(make_decoder("prompt-lookup", {{"ask", "separately"}})->options().dump() ==
        R"({"ask":"separately","stack":1,"ngram":3,"draft":10})");
  CHECK(
      make_decoder("self-speculative", {{"skip_mlp", 1}})->options().dump() ==
      R"({"ask":"together","stack":1,"gamma":12,"threshold":0.6,"skip_attention":"odd","skip_mlp":"1"})");
  for (const auto& [name, options] : std::vector<std::pair<std::string, Json>>{
           {"speculative", {{"gamma", 0}}},
           {"speculative", {{"schedule", "clever"}}},
           {"speculative", {{"threshold", 0.4}}},
           {"speculative", {{"schedule", "dynamic"}, {"threshold", 1.5}}},
           {"speculative", {{"ask", "nicely"}}},
           {"prompt-lookup", {{"ngram", 0}}},
           {"prompt-lookup", {{"draft", 0}}},
           {"self-speculative", {{"gamma", 0}}},
           {"self-speculative", {{"threshold", -1}}}})
    CHECK_THROWS_AS(make_decoder(name, options), ConfigError);

  TinyNetwork network;
  Model model = network.load(Dtype::fp32);
  const SteadyClock clock;
  Engine engine(model, clock);
  const DecoderContext context{engine, nullptr};
  CHECK_THROWS_WITH(make_decoder("speculative", Json::object())->check(context),
                    Catch::Contains("`draft_model=DIR`"));
  CHECK_THROWS_AS(make_decoder("self-speculative", {{"skip_mlp", "3"}})->check(context),
                  ConfigError);
  make_decoder("self-speculative", {{"skip_mlp", "2"}})->check(context);
}

TEST_CASE("made-up guesses: good ones save forwards as in the formula, wrong ones cost none") {
  TinyNetwork network("llama", 33);
  Model model = network.load(Dtype::fp32);
  const auto ar = make_decoder("ar", {{"ask", "separately"}});
  Rng rng(6);
  for (int round = 0; round < 8; ++round) {
    const int limit = 9 + round * 3, gamma = 1 + round % 5;
    const Request request = open_request("r", repeating_prompt(6 + round, 250, rng), limit);
    const Answers want = run(model, network.tokenizer(), *ar, {request}).of();
    if (smallest_gap(want) < kTie) continue;
    const auto n = std::ssize(want.tokens);
    const auto prompt = request.pieces.field_prompt(0, 0).size();
    const auto truth = [&](const Tokens& text) {
      const auto done = static_cast<std::ptrdiff_t>(text.size() - prompt);
      return Tokens(want.tokens.begin() + done,
                    want.tokens.begin() + std::min<std::ptrdiff_t>(n, done + gamma));
    };
    const auto decode = [&](Scripted::Script script) {
      const Scripted decoder({{"ask", "separately"}}, std::move(script));
      const Answers got = run(model, network.tokenizer(), decoder, {request}).of();
      CHECK(got.tokens == want.tokens);
      CHECK(got.stop == want.stop);
      CHECK(wrong_stream_counts(got) == "");
      return got.counters;
    };
    INFO("round " << round << ", " << n << " tokens, gamma " << gamma);
    const Counters good = decode(truth);
    CHECK(good.forwards == (n + gamma) / (gamma + 1));
    CHECK(good.accepted == good.drafted);
    const Counters wrong = decode([&](const Tokens& text) {
      Tokens guesses = truth(text);
      for (Token& guess : guesses) guess = (guess + 1) % 250;
      return guesses;
    });
    CHECK(wrong.forwards == n);
    CHECK(sum(wrong.accepted) == 0);
    CHECK(sum(wrong.drafted) > 0);
    // The first right, the second wrong.
    const Counters half = decode([&](const Tokens& text) {
      Tokens guesses = truth(text);
      if (guesses.size() > 1) guesses[1] = (guesses[1] + 1) % 250;
      return guesses;
    });
    CHECK(half.forwards == (n + 1) / 2);
    decode([&](const Tokens&) {
      Tokens guesses;
      for (int i = 0; i < gamma; ++i) guesses.push_back(static_cast<Token>(rng.below(250)));
      return guesses;
    });
  }
}

TEST_CASE("a cache budget counts the rows of the network, and none of its drafts") {
  TinyNetwork network("llama", 14), other("llama", 16);
  Model model = network.load(Dtype::fp64);
  Model good = network.load(Dtype::fp64), bad = other.load(Dtype::fp64);
  for (const Arm& arm : arms())
    for (Model* draft : {&good, &bad}) {
      if (arm.decoder != "speculative" && draft == &bad) continue;
      const auto decoder = make_decoder(arm.decoder, with(arm.options, {{"ask", "separately"}}));
      std::vector<Request> requests;
      Rng rng(9);
      for (int i = 0; i < 6; ++i)
        requests.push_back(
            open_request(str("r", i), repeating_prompt(4 + 9 * i, 250, rng), 12 + (i * 7) % 17));
      const Ran free = run(model, network.tokenizer(), *decoder, requests, 6, true, {}, draft);
      std::int64_t widest = 0;  // blocks of one answer
      for (size_t i = 0; i < requests.size(); ++i)
        widest = std::max(widest, (free.of(i).counters.cached_peak + 15) / 16);
      for (const std::int64_t blocks : {widest, 2 * widest}) {
        INFO(arm.decoder << arm.options.dump() << ": budget " << blocks);
        const Ran tight = run(model, network.tokenizer(), *decoder, requests, 6, true,
                              {.blocks = blocks, .watermark = 0.0}, draft);
        CHECK(tight.cache.peak_blocks <= blocks);
        CHECK(tight.cache.peak_blocks >= widest);
        for (size_t i = 0; i < requests.size(); ++i) {
          REQUIRE(tight.errors[i] == "");
          CHECK(chosen_ids(tight.of(i)) == chosen_ids(free.of(i)));
          const Counters &a = free.of(i).counters, &b = tight.of(i).counters;
          CHECK(b.accepted == a.accepted);
          CHECK(b.forwards == a.forwards);
          CHECK(b.fed == a.fed);
          CHECK(b.draft_forwards == a.draft_forwards);
          CHECK(b.draft_fed == a.draft_fed);
        }
        CHECK(tight.traces.size() == free.traces.size());
        for (const auto& [name, trace] : free.traces) {
          CHECK(tight.traces.at(name).tokens == trace.tokens);
          CHECK(tight.traces.at(name).visible == trace.visible);
        }
      }
    }
}

namespace {

/// Networks of four tokens, the last of which ends a sequence, and what decodes on them.
struct Vocabulary4 {
  TinyNetwork network{"llama", 3, {{"vocab_size", 4}, {"eos_token_id", 3}}};
  TinyNetwork drafter{"llama", 4, {{"vocab_size", 4}, {"eos_token_id", 3}}};
  Model model = network.load(Dtype::fp64), draft = drafter.load(Dtype::fp64);

  std::map<Tokens, double> law(const Decoder& decoder, const Request& request) {
    return law_of<Tokens>([&](Chance& chance) {
      return run(model, network.tokenizer(), decoder, {request}, 1, false, {}, &draft, &chance)
          .of()
          .tokens;
    });
  }
};

// Flattened, so that all four tokens have a noticeable probability.
const Sampling kWarm{.temperature = 3.0};

std::vector<Arm> sampling_arms() {
  return {
      {"speculative", {{"gamma", 2}}},
      {"speculative", {{"schedule", "dynamic"}, {"gamma", 2}}},
      {"prompt-lookup", {{"ngram", 2}, {"draft", 2}}},
      {"self-speculative", {{"gamma", 2}, {"threshold", 0}}},
      {"lookahead", {{"window", 3}, {"ngram", 3}, {"guesses", 2}}},
  };
}

}  // namespace

TEST_CASE(
    "sampling: the joint distribution of three tokens is ar's, by enumerating every outcome") {
  Vocabulary4 four;
  const auto ar = make_decoder("ar", {{"ask", "separately"}});
  for (const Sampling& sampling : {kWarm, Sampling{.temperature = 2.0, .top_k = 3, .top_p = 0.9}}) {
    const Request request = open_request("r", {0, 1, 2, 0, 1, 1, 2, 0}, 3, sampling);
    const auto want = four.law(*ar, request);
    double total = 0;
    for (const auto& [tokens, p] : want) total += p;
    CHECK(total == Approx(1).epsilon(1e-12));
    CHECK(want.size() > 8);
    for (const Arm& arm : sampling_arms()) {
      const auto decoder = make_decoder(arm.decoder, with(arm.options, {{"ask", "separately"}}));
      const auto got = four.law(*decoder, request);
      INFO(arm.decoder << arm.options.dump());
      CHECK(total_variation(got, want) < 1e-12);
    }
  }
}

TEST_CASE(
    "sampling: 6,000 answers through the batched engine have ar's distribution (chi-square)") {
  Vocabulary4 four;
  const auto ar = make_decoder("ar", {{"ask", "separately"}});
  const auto decoder = make_decoder("speculative", {{"ask", "separately"}, {"gamma", 2}});
  constexpr int kAnswers = 6000;
  std::vector<Request> requests;
  for (int i = 0; i < kAnswers; ++i)
    requests.push_back(
        open_request(str("r", i), {0, 1, 2, 0}, 3, kWarm, derive_seed(7, str("answer ", i))));
  const auto law = four.law(*ar, requests.front());
  const Ran ran =
      run(four.model, four.network.tokenizer(), *decoder, requests, 50, false, {}, &four.draft);
  std::map<Tokens, int> counts;
  for (size_t i = 0; i < requests.size(); ++i) ++counts[ran.of(i).tokens];
  // Cells with fewer than 5 expected answers are joined.
  double statistic = 0, rare_expected = 0, rare_seen = 0;
  int cells = 0;
  for (const auto& [tokens, p] : law) {
    const double expected = p * kAnswers;
    if (expected < 5) {
      rare_expected += expected, rare_seen += counts[tokens];
      continue;
    }
    statistic += std::pow(counts[tokens] - expected, 2) / expected;
    ++cells;
  }
  if (rare_expected > 0) {
    statistic += std::pow(rare_seen - rare_expected, 2) / rare_expected;
    ++cells;
  }
  for (const auto& [tokens, count] : counts) CHECK((count == 0 || law.contains(tokens)));
  // Wilson and Hilferty 1931: the cube root of chi-square / k is nearly normal.
  const double k = cells - 1, spread = 2 / (9 * k);
  const double z = (std::cbrt(statistic / k) - (1 - spread)) / std::sqrt(spread);
  const double p_value = std::erfc(z / std::sqrt(2.0)) / 2;
  INFO("chi-square " << statistic << " in " << cells << " cells, p " << p_value);
  CHECK(cells > 20);
  CHECK(p_value > 1e-4);
}

TEST_CASE("lookahead: the pool keeps the newest n-grams of each first token") {
  NgramPool pool(2);
  pool.add({1, 2, 3});
  pool.add({1, 4, 5});
  pool.add({9, 4, 5});
  CHECK(pool.starting_with(1) == std::vector<Tokens>{{4, 5}, {2, 3}});
  pool.add({1, 2, 3});
  CHECK(pool.starting_with(1) == std::vector<Tokens>{{2, 3}, {4, 5}});
  pool.add({1, 6, 7});
  CHECK(pool.starting_with(1) == std::vector<Tokens>{{6, 7}, {2, 3}});
  CHECK(pool.starting_with(9) == std::vector<Tokens>{{4, 5}});
  CHECK(pool.starting_with(2).empty());
}

TEST_CASE("lookahead: the longest path that agrees, and the distribution of what paths give") {
  const auto best = [](Token token) {
    RowLogits row;
    row.best = token;
    return row;
  };
  SeededChance unused(1);
  const std::vector<Tokens> paths{{5, 6, 7}, {4, 6, 1}, {5, 8, 9}};
  const std::vector<std::vector<RowLogits>> rows{
      {best(8), best(0), best(0)}, {best(1), best(1), best(1)}, {best(8), best(9), best(2)}};
  const PathVerdict verdict = verify_paths(best(5), rows, paths, unused);
  CHECK(verdict.path == 2);
  CHECK(verdict.accepted == 3);
  Tokens tokens;
  for (const Choice& choice : verdict.choices) tokens.push_back(choice.token);
  CHECK(tokens == Tokens{5, 8, 9, 2});
  CHECK(verify_paths(best(3), rows, paths, unused).accepted == 0);
  CHECK(verify_paths(best(3), {}, {}, unused).choices[0].token == 3);

  // Two guesses at the root, one of them given twice. The rows after them have their own
  // distributions.
  RowLogits root, behind, other;
  root.probabilities = {.1, .2, .3, .4};
  behind.probabilities = {.7, .3, 0, 0};
  other.probabilities = {0, 0, .5, .5};
  const auto law = law_of<std::pair<Token, Token>>([&](Chance& chance) {
    const PathVerdict v =
        verify_paths(root, {{behind, best(0)}, {behind, best(0)}, {other, best(0)}},
                     {{2, 0}, {2, 2}, {3, 1}}, chance);
    return std::pair(v.choices[0].token, v.choices.size() > 1 ? v.choices[1].token : -1);
  });
  std::map<std::pair<Token, Token>, double> want{{{0, -1}, .1}, {{1, -1}, .2}};
  for (Token t = 0; t < 4; ++t) {
    if (const double p = behind.probabilities[static_cast<size_t>(t)]) want[{2, t}] = .3 * p;
    if (const double p = other.probabilities[static_cast<size_t>(t)]) want[{3, t}] = .4 * p;
  }
  CHECK(total_variation(law, want) < 1e-12);
}

namespace {

/// Leviathan et al., (1): tokens that a pass gives on average.
double expected_tokens(double alpha, int gamma) {
  return alpha == 1 ? gamma + 1 : (1 - std::pow(alpha, gamma + 1)) / (1 - alpha);
}

}  // namespace

TEST_CASE("oracle accept:A: the number of forwards is that of the coins, and of the formula") {
  // Worked by hand: E, and E / (gamma c + 1) at c = .1.
  CHECK(expected_tokens(.7, 4) == Approx(2.7731).epsilon(1e-4));
  CHECK(expected_tokens(.7, 4) / (4 * .1 + 1) == Approx(1.9808).epsilon(1e-4));
  CHECK(expected_tokens(.8, 5) == Approx(3.6893).epsilon(1e-4));
  CHECK(expected_tokens(.8, 5) / (5 * .1 + 1) == Approx(2.4595).epsilon(1e-4));

  TinyNetwork network("llama", 40, {{"eos_token_id", Json::array()}}),
      other("llama", 41, {{"eos_token_id", Json::array()}});
  Model model = network.load(Dtype::fp32), draft = other.load(Dtype::fp32);
  for (const Arm& arm : {Arm{"speculative", {{"gamma", 4}}}, Arm{"speculative", {{"gamma", 5}}},
                         Arm{"self-speculative", {{"gamma", 3}, {"threshold", 0}}}}) {
    const int gamma = arm.options["gamma"];
    const bool guesses_at_once = arm.decoder == "speculative";  // the other one prefills first
    const auto decoder = make_decoder(arm.decoder, with(arm.options, {{"ask", "separately"}}));
    for (const double rate : {0.0, 0.5, 0.7, 0.8, 1.0}) {
      constexpr int kTokens = 61;
      std::vector<Request> requests;
      for (int i = 0; i < 8; ++i) {
        requests.push_back(open_request(str("r", i), {9, 8, 7, static_cast<Token>(i + 5)}, kTokens,
                                        {}, static_cast<std::uint64_t>(i)));
        requests.back().acceptance = AcceptanceLaw{{rate}};
      }
      const Ran ran = run(model, network.tokenizer(), *decoder, requests, 4, false, {}, &draft);
      double in_full_rounds = 0, full_rounds = 0;
      for (size_t i = 0; i < requests.size(); ++i) {
        const Answers& answers = ran.of(i);
        SeededChance coins(derive_seed(requests[i].job.seed, "accept"));
        int emitted = guesses_at_once ? 0 : 1, forwards = guesses_at_once ? 0 : 1;
        while (emitted < kTokens) {
          const int guesses = std::min(gamma, kTokens - emitted - 1);
          int kept = 0;
          while (kept < guesses && coins.happens(rate)) ++kept;
          emitted += kept + 1;
          ++forwards;
          if (guesses == gamma) in_full_rounds += kept + 1, ++full_rounds;
        }
        INFO(arm.decoder << " rate " << rate << " request " << i);
        CHECK(answers.counters.forwards == forwards);
        CHECK(std::ssize(answers.tokens) == kTokens);
        CHECK(flat(answers)[0].unforced.size() == kTokens);
        if (rate == 0) CHECK(answers.counters.forwards == kTokens);
        if (rate == 1 && guesses_at_once)
          CHECK(answers.counters.forwards == (kTokens + gamma) / (gamma + 1));
        CHECK(wrong_stream_counts(answers) == "");
      }
      const double expected = expected_tokens(rate, gamma);
      const double sigma = (gamma + 1) / 2.0 / std::sqrt(full_rounds);
      CHECK(std::abs(in_full_rounds / full_rounds - expected) <=
            4 * sigma * (rate > 0 && rate < 1));
    }
  }
  // An accepted guess is what continues; the network's own choice is recorded with it.
  const auto decoder = make_decoder("speculative", {{"ask", "separately"}, {"gamma", 3}});
  Request request = open_request("r", {1, 2, 3}, 12);
  const Answers free =
      run(model, network.tokenizer(), *decoder, {request}, 1, false, {}, &draft).of();
  request.acceptance = AcceptanceLaw{{1}};
  const Answers forced =
      run(model, network.tokenizer(), *decoder, {request}, 1, false, {}, &draft).of();
  CHECK(forced.tokens != free.tokens);
  CHECK(flat(forced)[0].unforced != forced.tokens);
  CHECK(forced.counters.accepted == std::vector<std::int64_t>{3, 3, 3});
}

TEST_CASE("oracle accept:A: passes of prompt-lookup and lookahead") {
  TinyNetwork network("llama", 40, {{"eos_token_id", Json::array()}});
  Model model = network.load(Dtype::fp32);
  constexpr int kTokens = 41, kNgram = 2, kDraft = 4;
  std::int64_t looked_up = 0, from_window = 0;
  for (const double rate : {0.0, 0.5, 1.0}) {
    std::vector<Request> requests;
    Rng rng(3);
    for (int i = 0; i < 8; ++i) {
      requests.push_back(open_request(str("r", i), repeating_prompt(6 + 4 * i, 200, rng), kTokens,
                                      {}, static_cast<std::uint64_t>(i)));
      requests.back().acceptance = AcceptanceLaw{{rate}};
    }
    const auto lookup = make_decoder("prompt-lookup",
                                     {{"ask", "separately"}, {"ngram", kNgram}, {"draft", kDraft}});
    const Ran ran = run(model, network.tokenizer(), *lookup, requests, 4);
    for (size_t i = 0; i < requests.size(); ++i) {
      INFO("prompt-lookup rate " << rate << " request " << i);
      const Answers& answers = ran.of(i);
      REQUIRE(std::ssize(answers.tokens) == kTokens);
      // What is looked up in the generated text, and the coins.
      SeededChance coins(derive_seed(requests[i].job.seed, "accept"));
      Tokens text = requests[i].pieces.prefix;
      int emitted = 0, forwards = 0;
      for (; emitted < kTokens; ++forwards) {
        const int room = kTokens - emitted - 1;
        const Tokens guesses = look_up(text, kNgram, std::min(kDraft, room));
        int kept = 0;
        while (kept < std::ssize(guesses) && coins.happens(rate)) ++kept;
        for (int g = 0; g < kept; ++g)
          CHECK(answers.tokens[static_cast<size_t>(emitted + g)] ==
                guesses[static_cast<size_t>(g)]);
        text.insert(text.end(), answers.tokens.begin() + emitted,
                    answers.tokens.begin() + emitted + kept + 1);
        emitted += kept + 1;
        looked_up += kept;
      }
      CHECK(answers.counters.forwards == forwards);
      CHECK(wrong_stream_counts(answers) == "");
      if (rate == 0) CHECK(forwards == kTokens);
    }
    const auto lookahead = make_decoder(
        "lookahead", {{"ask", "separately"}, {"window", 4}, {"ngram", 3}, {"guesses", 2}});
    const Ran paths = run(model, network.tokenizer(), *lookahead, requests, 4);
    for (size_t i = 0; i < requests.size(); ++i) {
      INFO("lookahead rate " << rate << " request " << i);
      const Counters& c = paths.of(i).counters;
      CHECK(wrong_stream_counts(paths.of(i), /*bare=*/false) == "");
      const std::int64_t accepted = std::accumulate(c.accepted.begin(), c.accepted.end(), 0LL);
      CHECK(c.forwards == kTokens - accepted);
      if (rate == 0) CHECK(accepted == 0);
      if (rate == 1) CHECK(c.accepted == c.drafted);
      from_window += accepted;
    }
  }
  CHECK(looked_up > 50);
  CHECK(from_window > 50);
}
