// The conformance suite: rules that hold for every decoder, on random networks (on the quickstart
// model: quickstart_test.cpp). Every decoder with a row in the registry is included; a decoder that
// the suite cannot run is named and fails.
//   replay            One full forward over all rows ever computed, in arrival order, each with the
//                     rows recorded in `visible`, by a transformer of naive loops, makes every
//                     choice again, with the same distance to the second best.
//   batch invariance  Alone or packed with others, answers and counts are the same.
//   greedy equality   Decoders that guess ahead give ar's ids, whatever makes the guesses, in no
//                     more passes.
#include "tests/support/conformance.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "src/model/files/families.hpp"
#include "src/support/text.hpp"
#include "tests/support/catch.hpp"

using namespace pardec;
using namespace pardec::test;

namespace {

// How far the naive loops in double may be from the engine. Both have rotary angles in float32. If
// the libraries' powers differ by one ulp (2^-23), an angle at position 250 is off by 250 * 0.32 *
// 2^-23 = 1e-5, a score by the product of that and the pair's lengths over sqrt(head_dim), 5e-5,
// and an attention weight by the same relative amount: 2e-4 in the logits. In fp32 a sum of 64
// terms is off by 8 * 2^-24 = 5e-7 relatively, a score of 40 by 2e-5, a logit after three layers by
// a few times that. Measured: 4e-6 in fp64, 2e-5 in fp32. A wrong mask or position makes a
// difference of 1e-2 and more.
double tolerance(Dtype dtype) { return dtype == Dtype::fp64 ? 2e-4 : 5e-4; }

// fp32: another batch shape sums in another order, which moves logits by some 5e-6 (measured in
// tests/model). Choices with a gap below ten times that may change.
constexpr float kTie = 5e-5f;

/// Ids of the network beyond the tokenizer's.
constexpr int kFork = 393, kChild = 394, kMask = 395;

constexpr int kHeads = 4;  // extra heads, as medusa.tree=sparse needs them

/// A decoder with options, and a random network on which it uses its special features.
struct Arm {
  std::string decoder;
  Json options;
  enum class On { plain, forks, branches } on = On::plain;
  bool guesses = false;  ///< greedily, its ids are ar's
  bool cascade = false;  ///< the beginnings of sequences are shared, and attended to once
};

/// The control tokens of ASPD. Seeds and orders were found by trying, so that random networks
/// choose them in turn.
std::string aspd_tokens(const std::string& family) {
  return family == "llama" ? "394,393,3,2,1,395" : "1,395,394,393,3,2";
}

/// At least one for every decoder.
std::vector<Arm> arms(const std::string& family) {
  using enum Arm::On;
  std::vector<Arm> all = {
      {"ar", {{"stack", 3}}},
      {"ar", {{"forced_keys", true}, {"stack", 3}}},
      {"ar", {{"ask", "separately"}}},
      {"ar", {{"ask", "separately"}, {"prefix_cache", "instruction"}}},
      {"ar", {{"ask", "separately"}, {"prefix_cache", "context"}}},
      {"hpd", {{"k_max", 7}, {"stack", 3}}},
      {"hpd", {{"k_max", 4}, {"stack", 3}, {"isolated", "products"}}},
      {"hpd", {{"k_max", 4}, {"stack", 3}, {"isolated", "values"}}},
      {"ippd", {{"contexts", 3}}},
      {"ippd", {{"contexts", 3}, {"prefix_cache", true}}},
      {"skeleton-of-thought", {{"shared_prefix", false}}},
      {"skeleton-of-thought", {{"shared_prefix", true}}},
      {"apar", {{"stack", 3}}, forks},
      {"apar", {{"ask", "separately"}, {"max_depth", 0}, {"max_threads", 6}}, forks},
      {"aspd", {{"positions", "same-seq"}, {"ask", "separately"}}, branches},
      {"aspd", {{"positions", "same-seq"}, {"mask", "shared"}}, branches},
      {"aspd", {{"positions", "same-max"}, {"mask", "shared"}, {"ask", "separately"}}, branches},
      {"aspd", {{"positions", "same-re"}, {"ask", "separately"}}, branches},
      {"aspd", {{"positions", "fix-2"}}, branches},
      {"aspd", {{"positions", "fix-32"}, {"mask", "shared"}, {"ask", "separately"}}, branches},
      {"speculative", {{"gamma", 1}}, plain, true},
      {"speculative", {{"gamma", 4}}, plain, true},
      {"speculative", {{"schedule", "heuristic"}}, plain, true},
      {"speculative", {{"schedule", "dynamic"}, {"threshold", 0.05}}, plain, true},
      {"prompt-lookup", Json::object(), plain, true},
      {"prompt-lookup", {{"ngram", 1}, {"draft", 3}}, plain, true},
      {"self-speculative", {{"gamma", 3}, {"threshold", 0}}, plain, true},
      {"self-speculative",
       {{"threshold", 0.05}, {"skip_attention", "none"}, {"skip_mlp", "1"}},
       plain,
       true},
      {"self-speculative",
       {{"gamma", 2}, {"threshold", 0}, {"skip_attention", "all"}, {"skip_mlp", "all"}},
       plain,
       true},
      {"self-speculative",
       {{"gamma", 3}, {"threshold", 0}, {"skip_attention", "none"}, {"skip_mlp", "none"}},
       plain,
       true},
      {"lookahead", Json::object(), plain, true},
      {"lookahead", {{"window", 3}, {"ngram", 3}, {"guesses", 2}}, plain, true},
      {"lookahead", {{"window", 1}, {"ngram", 2}, {"guesses", 1}}, plain, true},
      {"medusa", Json::object(), plain, true},
      {"medusa", {{"tree", "sparse"}}, plain, true},
      {"medusa", {{"tree", "1x2x2x1"}, {"acceptance", "exact"}}, plain, true},
      {"apar", {{"stack", 3}, {"medusa", "1x3x2"}}, forks},
      {"space", {{"k", 1}}, plain, true},
      {"space", {{"k", 3}}, plain, true},
      {"space", {{"k", 5}}, plain, true},
  };
  for (const char* forks : {"ar", "ippd", "skeleton-of-thought"})
    for (size_t i = 0, listed = all.size(); i < listed; ++i)
      if (all[i].decoder == forks && !all[i].cascade) {
        all.push_back(all[i]);
        all.back().cascade = true;
      }
  for (Arm& arm : all) {
    if (arm.decoder == "apar") arm.options.update({{"fork_token", kFork}, {"child_token", kChild}});
    if (arm.decoder == "aspd")
      arm.options.update({{"tokens", aspd_tokens(family)}, {"max_steps", 9}});
    if (arm.decoder == "space") arm.options["mask_token"] = kMask;
  }
  return all;
}

/// The first arm of each decoder.
std::vector<Arm> one_of_each(const std::vector<Arm>& all) {
  std::vector<Arm> first;
  for (const Arm& arm : all)
    if (std::none_of(first.begin(), first.end(),
                     [&](const Arm& other) { return other.decoder == arm.decoder; }))
      first.push_back(arm);
  return first;
}

/// Of one family: networks for all arms, and one that is a bad draft.
struct Networks {
  TinyNetwork plain, forks, branches, drafter;

  /// `changes`: for all networks except `branches`, which would hardly begin a branch with them.
  Networks(const std::string& family, std::uint64_t seed, const Json& changes)
      : plain(family, seed, changes),
        forks(family, seed, changes, {kFork, kFork, kFork}),
        branches(family, family == "llama" ? 7 : 3, Json::object(),
                 {1, 2, 3, 393, 394, 395, 1, 2, 3, 393, 394, 395}),
        drafter(family, seed + 1, changes) {
    plain.add_heads(kHeads, 1);
    forks.add_heads(kHeads, 1);
  }

  const TinyNetwork& of(const Arm& arm) const {
    return arm.on == Arm::On::forks ? forks : arm.on == Arm::On::branches ? branches : plain;
  }
};

struct Models {
  Model plain, forks, branches, drafter;

  Models(const Networks& n, Dtype dtype)
      : plain(n.plain.load(dtype)),
        forks(n.forks.load(dtype)),
        branches(n.branches.load(dtype)),
        drafter(n.drafter.load(dtype)) {}

  Model& of(const Arm& arm) {
    return arm.on == Arm::On::forks ? forks : arm.on == Arm::On::branches ? branches : plain;
  }
};

/// Jobs of several contexts and fields, and open prompts if the decoder takes them.
std::vector<Request> requests_for(const Arm& arm, const Decoder& decoder,
                                  const Tokenizer& tokenizer, int jobs, int open,
                                  const Sampling& sampling = {}) {
  if (arm.decoder == "skeleton-of-thought") jobs = 2;    // its prompts are long
  const int longer = arm.on == Arm::On::plain ? 0 : 20;  // for a second round, and several threads
  std::vector<Request> requests;
  Rng rng(9);
  for (int i = 0; i < jobs; ++i) {
    Job job = random_job(str("job", i), 1 + i % 3, 1 + (i * 5) % 4, static_cast<std::uint64_t>(i));
    job.limits = {.max_new_tokens = 3 + (i * 7) % 12 + longer, .per_field = 1 + i % 6 + longer / 4};
    job.sampling = sampling;
    requests.push_back(make_request(job, decoder, tokenizer));
  }
  if (find_decoder(arm.decoder).free_running && arm.decoder != "skeleton-of-thought")
    for (int i = 0; i < open; ++i)
      requests.push_back(open_request(str("open", i), repeating_prompt(2 + 5 * i, 250, rng),
                                      3 + (i * 7) % 17 + 2 * longer, sampling,
                                      static_cast<std::uint64_t>(i)));
  if (arm.decoder == "skeleton-of-thought")  // an untrained network names no points
    for (Request& request : requests) {
      request.oracle.emplace();
      for (const Context& context : request.job.contexts)
        request.oracle->streams.resize(request.oracle->streams.size() + context.fields.size(),
                                       tokenizer.encode_piece(" x\n2. y\n3. z", false));
    }
  return requests;
}

Json many_ends() {
  Json eos = Json::array();
  for (int id = 20; id < 32; ++id) eos.push_back(id);
  return {{"eos_token_id", eos}};
}

Json with(Json options, const Json& more) {
  options.update(more);
  return options;
}

}  // namespace

TEST_CASE("conformance: the suite has every decoder of the registry") {
  std::set<std::string> driven;
  for (const char* family : {"llama", "qwen3"})
    for (const Arm& arm : arms(family)) driven.insert(arm.decoder);
  for (const DecoderEntry& entry : decoders()) {
    INFO("decoder " << entry.name << " is in no arm of conformance_test.cpp");
    CHECK(driven.contains(std::string(entry.name)));
  }
}

TEST_CASE("conformance: replay under the recorded masks makes every choice again") {
  std::map<std::string, int> choices;
  std::int64_t forks = 0, groups = 0, shareable = 0;
  // Gemma: other norms, scores, windows and rotary embeddings. Qwen3-MoE: experts.
  for (const std::string family : {"llama", "qwen3", "gemma2", "gemma3_text", "qwen3_moe"}) {
    const Networks networks(family, 77, Json::object());
    {
      const Dtype dtype = Dtype::fp32;
      Models models(networks, dtype);
      for (const Arm& arm :
           family != "llama" && family != "qwen3" ? one_of_each(arms(family)) : arms(family)) {
        const auto decoder = make_decoder(arm.decoder, arm.options);
        const TinyNetwork& network = networks.of(arm);
        const auto requests = requests_for(arm, *decoder, network.tokenizer(), 3, 3);
        INFO(family << " " << name(dtype) << " " << arm.decoder << " " << arm.options.dump());
        const Ran ran = run(models.of(arm), network.tokenizer(), *decoder, requests, 2, true, {},
                            &models.drafter, nullptr, arm.cascade);
        for (const std::string& error : ran.errors) REQUIRE(error == "");
        // Logits of control tokens are up to eight times as large.
        const double near = tolerance(dtype) * (arm.on == Arm::On::plain ? 1 : 2);
        const ReplayedRun again =
            replay(ran, requests, network.slow(), &networks.drafter.slow(), near);
        CHECK(again.wrong == std::vector<std::string>{});
        CHECK(again.worst_gap <= 2 * near);
        choices[arm.decoder] += again.choices;
        if (arm.cascade)
          for (const auto& [id, trace] : ran.traces)
            shareable += std::count(trace.step.begin(), trace.step.end(), 0) >= 32;
        for (size_t i = 0; i < requests.size(); ++i) {
          const Answers& answers = ran.of(i);
          CHECK(wrong_counts(answers) == "");
          groups += answers.counters.groups;
          if (arm.decoder == "apar")
            for (const Tokens& ids : chosen_ids(answers))
              forks += std::count(ids.begin(), ids.end(), kFork);
        }
        for (const auto& [id, trace] : ran.traces) {
          CHECK(trace.model == (id.ends_with("#draft") ? "draft" : ""));
          // One text: a row attends to as many rows as its position says, and to no refused guess.
          if (arm.decoder == "ar" || (arm.guesses && arm.decoder != "lookahead"))
            for (size_t row = 0; row < trace.tokens.size(); ++row)
              CHECK(std::ssize(trace.visible[row]) == trace.position[row] + 1);
        }
      }
    }
  }
  for (const DecoderEntry& entry : decoders()) {
    INFO(entry.name);
    CHECK(choices[std::string(entry.name)] > 60);
  }
  CHECK(forks > 100);
  CHECK(groups > 20);
  CHECK(shareable > 20);  // a block of 32 rows, the unit of sharing
}

TEST_CASE("conformance: every decoder runs on every family, and guesses change no id") {
  std::int64_t accepted = 0;
  for (const Family& family : families()) {
    const Networks networks(family.model_type, 21, many_ends());
    Models models(networks, Dtype::fp64);
    const auto all = one_of_each(arms(family.model_type));
    for (const Arm& arm : all) {
      INFO(family.model_type << " " << arm.decoder << " " << arm.options.dump());
      Json options = arm.options;
      if (arm.guesses) options["ask"] = "separately";
      const auto decoder = make_decoder(arm.decoder, options);
      const TinyNetwork& network = networks.of(arm);
      const auto requests = requests_for(arm, *decoder, network.tokenizer(), 1, 1);
      const auto decode = [&](const Decoder& with) {
        return run(models.of(arm), network.tokenizer(), with, requests, 2, false, {},
                   &models.drafter);
      };
      const Ran ran = decode(*decoder);
      for (const std::string& error : ran.errors) REQUIRE(error == "");
      for (size_t i = 0; i < requests.size(); ++i) CHECK(wrong_counts(ran.of(i)) == "");
      if (!arm.guesses) continue;
      const Ran want = decode(*make_decoder("ar", {{"ask", "separately"}}));
      for (size_t i = 0; i < requests.size(); ++i) {
        for (const std::int64_t count : ran.of(i).counters.accepted) accepted += count;
        const std::vector<Tokens> ids = chosen_ids(want.of(i));
        const bool masks = std::any_of(ids.begin(), ids.end(), [](const Tokens& one) {
          return std::find(one.begin(), one.end(), kMask) != one.end();
        });
        if (arm.decoder == "space" && masks) continue;  // space cannot choose its mask
        CHECK(chosen_ids(ran.of(i)) == ids);
      }
    }
    CHECK(all.size() == decoders().size());
  }
  CHECK(accepted > 0);
}

TEST_CASE("replay notices a wrong mask, a wrong position and a wrong choice") {
  TinyNetwork network("llama", 77);
  Model model = network.load(Dtype::fp64);
  const auto decoder = make_decoder("hpd", {{"k_max", 8}, {"stack", 2}});
  const Request request = make_request(random_job("r", 2, 3, 1), *decoder, network.tokenizer());
  const Trace good = run(model, network.tokenizer(), *decoder, {request}, 1, true).traces.at("r");
  REQUIRE(replay(network.slow(), good, tolerance(Dtype::fp64)).wrong.empty());

  Trace mask = good;  // later rows do not attend to every third row of the prompt
  for (size_t row = 0; row < mask.visible.size(); ++row)
    if (good.step[row] > 0)
      std::erase_if(mask.visible[row], [&](int key) {
        return good.step[static_cast<size_t>(key)] == 0 && key % 3 == 1;
      });
  CHECK(!replay(network.slow(), mask, tolerance(Dtype::fp64)).wrong.empty());

  Trace position = good;
  for (size_t row = 0; row < position.position.size(); ++row)
    position.position[row] += good.step[row] > 0 ? 30 : 0;
  CHECK(!replay(network.slow(), position, tolerance(Dtype::fp64)).wrong.empty());

  Trace choice = good;
  auto& predicted = choice.predicts[static_cast<size_t>(good.emitted[0])];
  predicted = *predicted == 5 ? 6 : 5;
  CHECK(!replay(network.slow(), choice, tolerance(Dtype::fp64)).wrong.empty());

  Trace blind = good;
  blind.visible.back().pop_back();
  CHECK(!replay(network.slow(), blind, tolerance(Dtype::fp64)).wrong.empty());
}

TEST_CASE("conformance: answers decoded alone equal answers packed with others") {
  int passed_over = 0, compared = 0;
  std::int64_t forks = 0, groups = 0;
  for (const char* family : {"llama", "qwen3"}) {
    const Networks networks(family, 14, many_ends());
    for (const Dtype dtype : {Dtype::fp32, Dtype::fp64}) {
      Models models(networks, dtype);
      for (const Arm& arm : arms(family))
        for (const Sampling& sampling :
             {Sampling{}, Sampling{.temperature = 0.9, .top_k = 20, .top_p = 0.9}}) {
          // A random draw has no gap to avoid.
          if ((sampling.temperature > 0) != (dtype == Dtype::fp64)) continue;
          const auto decoder = make_decoder(arm.decoder, arm.options);
          const TinyNetwork& network = networks.of(arm);
          const auto requests = requests_for(arm, *decoder, network.tokenizer(), 4, 2, sampling);
          INFO(family << " " << name(dtype) << " " << arm.decoder << " " << arm.options.dump()
                      << " temperature " << sampling.temperature);
          const auto decode = [&](int live, const CacheBudget& budget = {}) {
            return run(models.of(arm), network.tokenizer(), *decoder, requests, live, false, budget,
                       &models.drafter, nullptr, arm.cascade);
          };
          const Ran alone = decode(1);
          std::set<size_t> lengths;
          for (size_t i = 0; i < requests.size(); ++i) {
            REQUIRE(alone.errors[i] == "");
            const Answers& answers = alone.of(i);
            CHECK(wrong_counts(answers) == "");
            for (const Tokens& ids : chosen_ids(answers)) {
              lengths.insert(ids.size());
              if (arm.decoder == "apar") forks += std::count(ids.begin(), ids.end(), kFork);
            }
            groups += answers.counters.groups;
            ++compared;
            passed_over +=
                sampling.temperature == 0 && dtype == Dtype::fp32 && smallest_gap(answers) < kTie;
          }
          CHECK(lengths.size() > 2);  // some end early, some late
          // In fp32 a guess may change if the draft's two best logits are that close.
          const bool counted = dtype == Dtype::fp64 || !arm.guesses;
          const float tie = dtype == Dtype::fp32 ? kTie : 0;
          CHECK(differences(decode(5), alone, tie, counted) == std::vector<std::string>{});
          // One prompt in a pass: the streams of one job begin at different times.
          if (sampling.temperature > 0)
            CHECK(differences(decode(5, {.prefill_rows = 1}), alone, tie, false) ==
                  std::vector<std::string>{});
        }
    }
  }
  CHECK(passed_over * 50 < compared);
  CHECK(forks > 100);
  CHECK(groups > 20);
}

TEST_CASE("conformance: if logits are not finite, only their own job fails") {
  int failed = 0, passed_over = 0, compared = 0;
  const Networks clean("llama", 14, many_ends());
  for (const Dtype dtype : {Dtype::fp32, Dtype::bf16, Dtype::int8, Dtype::nf4}) {
    Models models(clean, dtype);
    for (const Arm& arm : arms("llama")) {
      const auto decoder = make_decoder(arm.decoder, arm.options);
      const TinyNetwork& network = clean.of(arm);
      auto requests = requests_for(arm, *decoder, network.tokenizer(), 3, 2);
      INFO(name(dtype) << " " << arm.decoder << " " << arm.options.dump());
      const Ran want = run(models.of(arm), network.tokenizer(), *decoder, requests, 3, true, {},
                           &models.drafter, nullptr, arm.cascade);
      // An id that is never computed, not even as a guess; then one job has it in its prompt.
      std::set<Token> fed;
      for (const auto& [id, trace] : want.traces)
        fed.insert(trace.tokens.begin(), trace.tokens.end());
      Token bad = 20;
      while (fed.contains(bad)) ++bad;
      REQUIRE(bad < kFork);
      Model model = network.load_spoiled(dtype, "model.embed_tokens.weight", bad);
      Request ill = requests[0];
      ill.job.id = "ill";
      ill.pieces.prefix.insert(ill.pieces.prefix.begin() + 1, bad);
      requests.insert(requests.begin() + 1, ill);
      const Ran got = run(model, network.tokenizer(), *decoder, requests, 3, false, {},
                          &models.drafter, nullptr, arm.cascade);
      CHECK(got.errors[1].find("are not finite (NaN)") != std::string::npos);
      failed += !got.errors[1].empty();
      for (size_t i = 0; i < requests.size(); ++i) {
        if (i == 1) continue;
        INFO(requests[i].job.id);
        REQUIRE(got.errors[i] == "");
        ++compared;
        if (dtype == Dtype::fp32 && smallest_gap(want.of(i - (i > 1))) < kTie)
          ++passed_over;
        else
          CHECK(chosen_ids(got.of(i)) == chosen_ids(want.of(i - (i > 1))));
      }
    }
  }
  CHECK(failed == static_cast<int>(4 * arms("llama").size()));
  CHECK(passed_over * 20 < compared);
}

TEST_CASE("conformance: also in bf16, a pass with one row of guesses has the bits of ar") {
  std::int64_t accepted = 0;
  for (const std::string family : {"llama", "qwen3"}) {
    const TinyNetwork network(family, 14, many_ends()), other(family, 15, many_ends());
    Model model = network.load(Dtype::bf16), drafter = network.load(Dtype::bf16),
          stranger = other.load(Dtype::bf16);
    const auto ar = make_decoder("ar", {{"ask", "separately"}});
    std::vector<Request> requests;
    Rng rng(3);
    for (int i = 0; i < 8; ++i)
      requests.push_back(open_request(str("open", i), repeating_prompt(5 + 9 * i, 300, rng), 40));
    const Ran want = run(model, network.tokenizer(), *ar, requests, 3);
    for (const Arm& arm : arms(family)) {
      if (arm.decoder != "speculative" && arm.decoder != "prompt-lookup" &&
          arm.decoder != "self-speculative")
        continue;
      const auto decoder = make_decoder(arm.decoder, with(arm.options, {{"ask", "separately"}}));
      for (Model* draft : {&drafter, &stranger}) {
        const Ran got = run(model, network.tokenizer(), *decoder, requests, 5, false, {}, draft);
        INFO(family << " " << arm.decoder << " " << arm.options.dump());
        for (size_t i = 0; i < requests.size(); ++i) {
          CHECK(got.of(i).tokens == want.of(i).tokens);
          CHECK(got.of(i).gaps == want.of(i).gaps);
          for (const std::int64_t count : got.of(i).counters.accepted) accepted += count;
        }
      }
    }
  }
  CHECK(accepted > 200);
}

TEST_CASE(
    "conformance: a recording forced on another network gives the same answer at the same cost") {
  std::map<std::string, int> compared;
  int cut_inside = 0;
  for (const char* family : {"llama", "qwen3"}) {
    const Networks networks(family, 14, many_ends());
    Models models(networks, Dtype::fp64);
    // The place where sequences end must be the same: `drafter` for most.
    Model foreign = TinyNetwork(family, 99).load(Dtype::fp64);
    for (const Arm& arm : arms(family)) {
      const auto& oracles = find_decoder(arm.decoder).oracles;
      if (std::find(oracles.begin(), oracles.end(), "recorded") == oracles.end()) continue;
      const auto decoder = make_decoder(arm.decoder, arm.options);
      if (!decoder->why_not_forced("recorded").empty()) continue;
      const TinyNetwork& network = networks.of(arm);
      auto requests = requests_for(arm, *decoder, network.tokenizer(), 7, 4);
      const Ran free = run(models.of(arm), network.tokenizer(), *decoder, requests, 4);
      for (size_t i = 0; i < requests.size(); ++i) {  // as src/cli/recording.cpp
        Oracle& oracle = requests[i].oracle.emplace();
        const Answers& answers = free.of(i);
        oracle.branch_lengths = answers.counters.branch_lengths;
        if (!answers.tokens.empty())
          oracle.streams = {answers.tokens};
        else
          for (const auto& value : flat(answers)) oracle.streams.push_back(value.tokens);
        cut_inside += answers.counters.groups > 0 && answers.stop == Stop::limit;
        ++compared[arm.decoder];
      }
      INFO(family << " " << arm.decoder << " " << arm.options.dump());
      const Ran same = run(models.of(arm), network.tokenizer(), *decoder, requests, 4);
      const Ran other = run(arm.on == Arm::On::branches ? foreign : models.drafter,
                            network.tokenizer(), *decoder, requests, 4);
      CHECK(differences(same, free, 0, true) == std::vector<std::string>{});
      CHECK(differences(other, free, 0, true) == std::vector<std::string>{});
      for (size_t i = 0; i < requests.size(); ++i) {
        const Answers& answers = same.of(i);
        CHECK(answers.unforced == answers.tokens);
        CHECK(sorted_gaps(answers) == sorted_gaps(free.of(i)));
        if (answers.tokens.empty())
          for (const auto& value : flat(answers)) CHECK(value.unforced == value.tokens);
        CHECK(other.of(i).unforced.size() == answers.tokens.size());
      }
    }
  }
  // Each of these decoders must have been compared often enough.
  for (const char* name : {"ar", "hpd", "ippd", "apar", "aspd"}) {
    INFO(name);
    CHECK(compared[name] > 20);
  }
  CHECK(cut_inside > 10);
}

TEST_CASE("conformance: greedy ids, ends and texts are those of ar, whichever decoder guesses") {
  std::map<Stop, int> stops, inside;  // inside: a forward pass gave several tokens
  std::map<std::string, std::int64_t> saved;
  const std::set<std::string> one_row = {"speculative", "prompt-lookup", "self-speculative"};
  int passed_over = 0, compared = 0;
  for (const std::string family : {"llama", "qwen3"}) {
    const Json changes = with(many_ends(), {{"max_position_embeddings", 96}});
    TinyNetwork network(family, 14, changes), other(family, 15, changes),
        shorter(family, 14, with(changes, {{"max_position_embeddings", 40}}));
    network.add_heads(kHeads, 1);
    Model model = network.load(Dtype::fp32);
    std::vector<Model> drafts;
    drafts.push_back(network.load(Dtype::fp32));  // right up to its end
    drafts.push_back(other.load(Dtype::fp32));    // hardly ever right
    drafts.push_back(shorter.load(Dtype::fp32));  // has no positions for long texts
    std::vector<Request> open;
    Rng rng(5);
    for (int i = 0; i < 24; ++i) {
      const int length = 1 + static_cast<int>(rng.below(94));
      open.push_back(open_request(str("open", i), repeating_prompt(length, 300, rng),
                                  1 + static_cast<int>(rng.below(40))));
    }
    open.push_back(open_request("full", repeating_prompt(96, 300, rng), 9));
    for (const bool together : {false, true}) {
      const Json asking = {{"ask", together ? "together" : "separately"}, {"stack", 1}};
      std::vector<Request> requests = together ? std::vector<Request>{} : open;
      const auto baseline = make_decoder("ar", asking);
      for (int i = 0; i < 6; ++i) {
        Job job = random_job(str("job", i), 1, 1 + i % 3, static_cast<std::uint64_t>(i));
        job.limits = {.max_new_tokens = 24, .per_field = 3 + i};
        requests.push_back(make_request(job, *baseline, network.tokenizer()));
      }
      const auto by_ar = [&] { return run(model, network.tokenizer(), *baseline, requests, 4); };
      Ran want = by_ar();
      for (size_t i = requests.size(); i-- > 0;)  // space may not choose [M]
        for (const Tokens& ids : chosen_ids(want.of(i)))
          if (std::find(ids.begin(), ids.end(), kMask) != ids.end()) {
            requests.erase(requests.begin() + static_cast<std::ptrdiff_t>(i));
            break;
          }
      want = by_ar();
      for (const std::string& error : want.errors) REQUIRE(error == "");
      for (const Arm& arm : arms(family)) {
        if (!arm.guesses) continue;
        const auto decoder = make_decoder(arm.decoder, with(arm.options, asking));
        for (size_t d = 0; d < (decoder->drafts_with_model() ? drafts.size() : 1); ++d) {
          const Ran got =
              run(model, network.tokenizer(), *decoder, requests, 3, false, {}, &drafts[d]);
          INFO(family << " " << arm.decoder << arm.options.dump() << " draft " << d);
          CHECK(differences(want, got, kTie, /*counted=*/false) == std::vector<std::string>{});
          for (size_t i = 0; i < requests.size(); ++i) {
            INFO(requests[i].job.id);
            const Answers &a = want.of(i), &b = got.of(i);
            ++compared;
            if (smallest_gap(a) < kTie) {
              ++passed_over;
              continue;
            }
            if (flat(a).size() == 1 || together)
              CHECK(wrong_stream_counts(b, one_row.contains(arm.decoder)) == "");
            else
              CHECK(wrong_counts(b) == "");
            CHECK(b.counters.forwards <= a.counters.forwards);
            CHECK(b.counters.text == a.counters.text);
            for (const FieldResult& field : flat(b)) CHECK(field.unforced.empty());
            // If the draft is the network that verifies, its guesses are always right.
            if ((arm.decoder == "speculative" && d == 0) ||
                arm.options.value("skip_mlp", "") == "none")
              CHECK(b.counters.accepted == b.counters.drafted);
            saved[str(arm.decoder, " ", d)] += a.counters.forwards - b.counters.forwards;
            if (together || flat(a).size() > 1) continue;
            ++stops[b.stop];
            const auto& places = b.counters.emitted;
            if (!places.empty() && places.rbegin()->first > 1) ++inside[b.stop];
          }
        }
      }
    }
  }
  for (const Stop stop : {Stop::eos, Stop::limit, Stop::context}) {
    INFO(name(stop));
    CHECK(stops[stop] > 50);
    CHECK(inside[stop] > 10);
  }
  CHECK(passed_over * 20 < compared);
  CHECK(saved["speculative 0"] > 1000);
  CHECK(saved["prompt-lookup 0"] > 20);
  CHECK(saved["self-speculative 0"] > 20);
  CHECK(saved["lookahead 0"] > 20);
  CHECK(saved["speculative 2"] > 100);
}
