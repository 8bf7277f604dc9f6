// Training order equals decoding order: ASPD's sequence in flattened order, in one pass without a
// cache, has the logits of inference. Inference computes one time after another, and under Same-Re
// drops the rows that were moved.
#include <algorithm>

#include "decoders/aspd/format.hpp"
#include "src/model/network.hpp"
#include "src/support/text.hpp"
#include "tests/support/aspd_reference.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/decoding.hpp"

using namespace pardec;
using namespace pardec::test;

namespace {

constexpr AspdTokens kControl{1, 2, 3, 393, 394, 395};

struct Taught {
  AspdCase c;
  TrainingSample sample;
};

Taught random_sample(const AspdOptions& options, const Tokenizer& tokenizer, Rng& rng) {
  const auto ids = [&](int most) {
    Tokens tokens;
    for (auto n = 1 + rng.below(static_cast<std::uint64_t>(most)); n > 0; --n)
      tokens.push_back(static_cast<Token>(4 + rng.below(380)));
    return tokens;
  };
  Taught out;
  out.c.positions = options.positions;
  out.c.shared = options.shared;
  const Tokens prompt = ids(12);
  std::vector<AspdIds> answer;
  for (int block = 0; block < 2; ++block) {
    AspdIds& part = answer.emplace_back();
    part.serial = ids(4);
    AspdCase::Block& of = out.c.blocks.emplace_back();
    of.serial = static_cast<int>(part.serial.size()) + 1 +
                (block ? 1 : static_cast<int>(prompt.size()));  // <Para>; </Para> or the prompt
    for (auto k = 1 + rng.below(4); k > 0; --k) {
      part.branches.push_back({ids(3), ids(6)});
      const auto& branch = part.branches.back();
      const int title = static_cast<int>(branch.title.size());
      of.serial += title + 2;
      of.prefix.push_back(title + 2);
      of.lengths.push_back(title + 3 + static_cast<int>(branch.content.size()));
    }
  }
  answer.push_back({ids(3), {}});
  out.c.tail = static_cast<int>(answer.back().serial.size());  // </Para>, without the last
  out.sample = aspd_sample(prompt, answer, options, kControl, tokenizer);
  return out;
}

/// Logits of the rows, computed as in decoding: in arrival order, one row in a forward pass if
/// nothing else is needed; moved rows leave the cache. Returned in the order of the sample's rows.
at::Tensor fed_step_by_step(Model& model, const Taught& taught) {
  const std::vector<AspdToken> flat = flattened_order(taught.c), order = arrival_order(taught.c);
  KvCache cache(model);
  std::vector<at::Tensor> rows(flat.size());
  int stage_begin = 0;
  for (size_t i = 0; i < order.size(); ++i) {
    if (i > 0 && order[i].g != order[i - 1].g) stage_begin = cache.rows_fed();
    if (order[i].moved && !order[i - 1].moved) cache.retract(stage_begin);
    const size_t row =
        static_cast<size_t>(std::find(flat.begin(), flat.end(), order[i]) - flat.begin());
    const std::vector<OutputRequest> outputs(1);
    const SequenceStep step{&cache, &taught.sample.segments,
                            std::span(taught.sample.tokens).subspan(row, 1),
                            std::span(taught.sample.labels).subspan(row, 1), outputs};
    rows[row] = forward_rows(model.network(), {&step, 1});
  }
  return at::cat(rows, 0);
}

}  // namespace

TEST_CASE("aspd: training-order logits equal inference logits") {
  // As for hpd (training_order_test.cpp).
  const std::pair<Dtype, double> kinds[] = {{Dtype::fp64, 1e-9}, {Dtype::fp32, 2e-4}};
  Rng rng(8895);
  for (const char* family : {"llama", "qwen3"}) {
    TinyNetwork network(family, 41);
    for (const auto& [dtype, tolerance] : kinds) {
      Model model = network.load(dtype);
      for (const char* scheme : {"same-seq", "same-max", "same-re", "fix-3", "fix-32"})
        for (const bool shared : {false, true})
          for (int round = 0; round < 2; ++round) {
            AspdOptions options;
            options.positions = parse_aspd_positions(scheme);
            options.shared = shared;
            const Taught taught = random_sample(options, network.tokenizer(), rng);
            REQUIRE(taught.sample.tokens.size() == flattened_order(taught.c).size());
            const at::Tensor training = logits(model.network(), taught.sample.tokens,
                                               taught.sample.labels, taught.sample.segments)
                                            .detach();
            const at::Tensor inference = fed_step_by_step(model, taught);
            const double worst = ((training - inference).abs().amax(1) / inference.abs().amax(1))
                                     .max()
                                     .item<double>();
            INFO(family << " " << name(dtype) << " " << taught.c.text());
            CHECK(worst <= tolerance);
          }
    }
  }
}
