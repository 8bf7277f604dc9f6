// Training equals decoding: masks in training see and predict what a group of masks does in
// decoding. A network that was trained so drafts for itself, and gives the ids of AR in fewer
// passes.
#include <algorithm>
#include <map>
#include <set>

#include "decoders/space/format.hpp"
#include "decoders/space/space.hpp"
#include "src/model/device.hpp"
#include "src/model/network.hpp"
#include "src/support/files.hpp"
#include "src/support/text.hpp"
#include "src/training/training_loop.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/decoding.hpp"
#include "tests/support/space_reference.hpp"

using namespace pardec;
using namespace pardec::test;

namespace {

Tokens random_tokens(int count, int vocab, Rng& rng) {
  Tokens tokens;
  for (int i = 0; i < count; ++i)
    tokens.push_back(static_cast<Token>(rng.below(static_cast<std::uint64_t>(vocab))));
  return tokens;
}

/// Logits of all cells of a step as the decoder computes it: text[0 .. n) is cached, then come x_l
/// and `candidates` tokens of the text with their groups of masks.
at::Tensor grid_logits(Model& model, const Tokens& text, int n, int candidates, int k, Token mask,
                       SpaceGrid& grid) {
  KvCache cache(model);
  Segments segments;
  for (int i = 0; i <= k; ++i) segments.add({0});
  if (n > 0) {
    std::vector<RowLabel> labels;
    for (int t = 0; t < n; ++t) labels.push_back(text_label(t));
    const SequenceStep before{
        &cache, &segments, std::span(text).first(static_cast<size_t>(n)), labels, {}};
    forward_rows(model.network(), {&before, 1});
  }
  grid = space_grid(n, candidates, k, model.config().positions());
  Tokens fed(grid.labels.size(), mask);
  for (size_t i = 0; i < grid.reals.size(); ++i)
    fed[static_cast<size_t>(grid.reals[i])] = text[static_cast<size_t>(n) + i];
  std::vector<OutputRequest> outputs;
  for (int cell = 0; cell < std::ssize(fed); ++cell) outputs.push_back({.index = cell});
  const SequenceStep step{&cache, &segments, fed, grid.labels, outputs};
  return forward_rows(model.network(), {&step, 1});
}

}  // namespace

TEST_CASE("masks have the same logits in training and in their group in decoding") {
  Rng rng(12);
  double worst = 0;
  int rows = 0;
  for (const char* family : {"llama", "qwen3"}) {
    TinyNetwork network(family, 51);
    const Token mask = network.tokenizer().vocab_size();
    Model model = network.load(Dtype::fp64);
    for (int round = 0; round < 24; ++round) {
      const int k = 1 + round % 6, prompt = 1 + static_cast<int>(rng.below(8));
      const int N = 2 * k + 2 + static_cast<int>(rng.below(6));
      const Tokens text = random_tokens(prompt + N, 300, rng);
      const Tokens answer(text.begin() + prompt, text.end());
      const TrainingSample causal = causal_sample({text.begin(), text.begin() + prompt}, answer);
      // The step whose x_l is y_s, with the answer's own next tokens as candidates: group i follows
      // y_{s+i}, as the masks of training do when the answer is cut there.
      const int s = static_cast<int>(rng.below(static_cast<std::uint64_t>(N - 2 * k)));
      SpaceGrid grid;
      const at::Tensor decoding = grid_logits(model, text, prompt - 1 + s, k, k, mask, grid);
      for (int i = 0; i <= k && s + i + k + 1 <= N; ++i)
        for (const bool one_pass : {false, true}) {
          const TrainingSample sample = one_pass ? sar_one_pass(causal, {s + i}, k, mask)
                                                 : sar_sample(causal, s + i, k, mask);
          const at::Tensor training =
              logits(model.network(), sample.tokens, sample.labels, sample.segments).detach();
          const auto compare = [&](int in_training, int cell) {
            const at::Tensor a = training[in_training], b = decoding[cell];
            worst = std::max(worst, ((a - b).abs().max() / b.abs().max()).item<double>());
            ++rows;
          };
          compare(prompt - 1 + s + i, grid.reals[static_cast<size_t>(i)]);
          const int first = static_cast<int>(sample.tokens.size()) - k;
          for (int j = 1; j <= k; ++j)
            compare(first + j - 1, grid.masks[static_cast<size_t>(i)][static_cast<size_t>(j - 1)]);
          // They are trained on what the decoder needs of them: the token of position n + i + j +
          // 1, which is answer[s + i + j].
          for (int j = 1; j <= k; ++j)
            CHECK(sample.targets[sample.targets.size() - static_cast<size_t>(k - j) - 1].second ==
                  answer[static_cast<size_t>(s + i + j)]);
        }
    }
  }
  INFO("worst " << worst << " over " << rows << " rows");
  CHECK(rows > 1000);
  CHECK(worst < 1e-9);  // fp64: sums in another order, see training_order_test.cpp
}

namespace {

constexpr Token kMask = 15;
constexpr int kMasks = 4;

/// Counting: 0 1 2 .. 9 0 1 ..
Tokens count_from(Token first, int tokens) {
  Tokens text;
  for (int i = 0; i < tokens; ++i) text.push_back((first + i) % 10);
  return text;
}

class Counting final : public SampleSource {
 public:
  std::vector<TrainingSample> epoch(std::int64_t epoch) const override {
    Rng rng(derive_seed(1, str("epoch ", epoch)));
    std::vector<TrainingSample> samples;
    for (int i = 0; i < 512; ++i) {
      const int prompt = 1 + static_cast<int>(rng.below(4)), N = 10;
      const Tokens text = count_from(static_cast<Token>(rng.below(10)), prompt + N);
      TrainingSample sample =
          causal_sample({text.begin(), text.begin() + prompt}, {text.begin() + prompt, text.end()});
      if (rng.uniform() >= 0.3) {
        const auto s = static_cast<int>(rng.below(N - kMasks));
        sample = rng.below(2) == 0 ? sar_one_pass(sample, {s}, kMasks, kMask)
                                   : sar_sample(sample, s, kMasks, kMask);
      }
      samples.push_back(std::move(sample));
    }
    return samples;
  }
  std::vector<TrainingSample> validation() const override { return {}; }
};

Json counting_config() {
  return {{"model_type", "llama"},
          {"vocab_size", 16},
          {"hidden_size", 32},
          {"intermediate_size", 64},
          {"num_hidden_layers", 2},
          {"num_attention_heads", 2},
          {"num_key_value_heads", 2},
          {"head_dim", 16},
          {"max_position_embeddings", 256},
          {"eos_token_id", nullptr},
          {"tie_word_embeddings", false}};
}

/// A checkpoint of a network that learned to count, made once.
const std::filesystem::path& counting_network() {
  static const TemporaryFolder folder;
  static const bool made = [] {
    set_threads(1);
    const auto what = whole_network(parse_model_config(counting_config(), "config"));
    TrainingRun training{.what = *what, .seed = 3};
    training.trainer.adamw.weight_decay = 0;
    training.loop = {.batch_tokens = 768, .steps = 260, .learning_rate = 6e-3};
    const SteadyClock clock;
    train_model(training, Counting(), folder.path(), false, clock,
                [](const LossRow&, std::int64_t) {});
    return true;
  }();
  static_cast<void>(made);
  return folder.path();
}

Model load_counting(const Json& changes = Json::object()) {
  Json config = counting_config();
  config.update(changes);
  write_model_config(config, counting_network());
  return Model::load(counting_network(), {.dtype = Dtype::fp32});
}

/// Only for the spelling of its tokenizer.
const Tokenizer& spelling() {
  static const TinyNetwork network;
  return network.tokenizer();
}

std::unique_ptr<Decoder> space(int k) {
  return make_decoder("space", {{"k", k}, {"mask_token", kMask}});
}

/// Ten prompts that count and four that do not: passes accept much for the former, little for the
/// latter.
std::vector<Request> counting_requests(int tokens) {
  Rng rng(4);
  std::vector<Request> all;
  for (int i = 0; i < 10; ++i)
    all.push_back(open_request(str("count", i), count_from(i, 1 + i % 4), tokens));
  for (int i = 0; i < 4; ++i)
    all.push_back(open_request(str("other", i), random_tokens(9, 15, rng), tokens));
  return all;
}

}  // namespace

TEST_CASE(
    "a network trained to guess at masks: ar's ids in far fewer passes, alone and in batches") {
  const auto ar = make_decoder("ar", Json::object());
  Model model = load_counting();
  const int tokens = 14;
  const auto asked = counting_requests(tokens);
  const Ran expected = run(model, spelling(), *ar, asked, 4);
  for (int k = 1; k <= 6; ++k) {
    const Ran alone = run(model, spelling(), *space(k), asked, 1);
    const Ran packed = run(model, spelling(), *space(k), asked, 5);
    std::int64_t forwards = 0, least = tokens, most = 0;
    for (size_t i = 0; i < asked.size(); ++i) {
      INFO("k " << k << " request " << asked[i].job.id);
      CHECK(alone.of(i).tokens == expected.of(i).tokens);
      CHECK(packed.of(i).tokens == expected.of(i).tokens);
      CHECK(packed.of(i).counters.emitted == alone.of(i).counters.emitted);
      CHECK(packed.of(i).counters.accepted == alone.of(i).counters.accepted);
      const std::int64_t passes = alone.of(i).counters.forwards;
      if (i < 10) forwards += passes;
      least = std::min(least, passes), most = std::max(most, passes);
    }
    INFO("k " << k << ": " << forwards << " passes for " << 10 * tokens << " tokens");
    // Perfect guesses: 1 + 13 / (k + 1) passes. More masks than in training guess less well.
    const int taught = std::min(k, kMasks);
    CHECK(forwards <= 10 * (1.5 + 1.3 * 13.0 / (taught + 1)));
    CHECK(least < most);  // a batch of different accept counts
  }
}

TEST_CASE("ends inside the blocks of a trained network are where ar ends") {
  const auto ar = make_decoder("ar", Json::object());
  int cut = 0;
  const auto compare = [&](Model model, int tokens, std::set<Stop> stops) {
    const auto asked = counting_requests(tokens);
    const Ran expected = run(model, spelling(), *ar, asked, 4);
    for (const int k : {1, 2, 3, 4, 6}) {
      const Ran ran = run(model, spelling(), *space(k), asked, 3);
      for (size_t i = 0; i < asked.size(); ++i) {
        INFO("k " << k << " request " << asked[i].job.id << " tokens " << tokens);
        CHECK(ran.of(i).tokens == expected.of(i).tokens);
        CHECK(ran.of(i).stop == expected.of(i).stop);
        CHECK(ran.of(i).counters.text == expected.of(i).counters.text);
        if (i < 10) CHECK(stops.contains(ran.of(i).stop));
        // The last pass gave less than it had accepted.
        const Counters& c = ran.of(i).counters;
        std::int64_t given = c.forwards;
        for (const std::int64_t n : c.accepted) given += n;
        cut += given > c.chosen;
      }
    }
  };
  for (const int tokens : {3, 4, 5, 6, 7, 8}) compare(load_counting(), tokens, {Stop::limit});
  for (const Token end : {3, 7}) compare(load_counting({{"eos_token_id", end}}), 30, {Stop::eos});
  for (const int positions : {11, 12, 13})
    compare(load_counting({{"max_position_embeddings", positions}}), 30, {Stop::context});
  INFO("answers that end inside an accepted block: " << cut);
  CHECK(cut > 50);
}

TEST_CASE("a trained network accepts what Algorithm 1 from scratch accepts, and replays") {
  Model model = load_counting();
  const SlowTransformer slow(counting_network());
  for (const int k : {2, 4}) {
    const Request request = open_request("slow", count_from(4, 3), 12);
    const Ran ran = run(model, spelling(), *space(k), {request}, 1, true);
    const auto steps = slow_space(slow, request.pieces.prefix, k, kMask, 12);
    CHECK(ran.of().counters.forwards == std::ssize(steps));
    std::map<std::int64_t, std::int64_t> emitted;
    std::int64_t left = 12;
    for (const SpaceStep& step : steps) {
      const auto tokens = std::min(left, static_cast<std::int64_t>(step.emitted.size()));
      ++emitted[static_cast<int>(tokens)];
      left -= tokens;
    }
    CHECK(ran.of().counters.emitted == emitted);
    CHECK(emitted.rbegin()->first > 1);
    const Replay replayed = replay(slow, ran.traces.at("slow/0/0"), 5e-4);
    CHECK(replayed.wrong == std::vector<std::string>{});
    CHECK(replayed.choices > 12);
  }
}
