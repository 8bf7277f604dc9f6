// Training order equals decoding order: HPD's sequence in natural order (prompt, seg_1, v_1, seg_2,
// v_2, ...; gap positions, and the index inside a value as rank), in one pass without a cache, has
// the logits of inference, which computes step by step. Also compared with naive loops, and for
// answers that the decoder itself chose.
#include <algorithm>

#include "decoders/hpd/hpd.hpp"
#include "src/model/network.hpp"
#include "src/support/text.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/decoding.hpp"
#include "tests/support/hpd_reference.hpp"

using namespace pardec;
using namespace pardec::test;

namespace {

struct Sequenced {
  std::vector<HpdToken> what;
  Tokens tokens;
  std::vector<RowLabel> labels;
};

/// The layout's tokens in a given order; `values[r]` are the tokens computed of value r.
Sequenced arrange(const std::vector<HpdToken>& order, const HpdLayout& layout,
                  const std::vector<Tokens>& values) {
  Sequenced out;
  out.what = order;
  for (const HpdToken& token : order) {
    if (token.kind == HpdToken::Kind::value) {
      out.tokens.push_back(
          values[static_cast<size_t>(token.n - 1)][static_cast<size_t>(token.i - 1)]);
      out.labels.push_back(layout.value(token.n - 1, token.i));
      continue;
    }
    int at = token.i;
    if (token.kind == HpdToken::Kind::attribute)
      at += token.n == 1 ? layout.prompt_length : layout.end[static_cast<size_t>(token.n - 2)] + 1;
    out.tokens.push_back(layout.tokens[static_cast<size_t>(at)]);
    out.labels.push_back(layout.labels[static_cast<size_t>(at)]);
  }
  return out;
}

Segments segments_of(const HpdLayout& layout) {
  Segments segments;
  for (int extra = 0; extra < layout.extra_segments(); ++extra) segments.add({0});
  return segments;
}

/// Logits of all rows, computed step by step into a cache, [rows, vocab].
at::Tensor fed_step_by_step(Model& model, const Sequenced& fed, const Segments& segments) {
  KvCache cache(model);
  std::vector<at::Tensor> rows;
  size_t begin = 0;
  const auto step_of = [&](size_t row) {
    return fed.what[row].kind == HpdToken::Kind::value ? fed.what[row].i : 0;
  };
  while (begin < fed.tokens.size()) {
    size_t end = begin;
    while (end < fed.tokens.size() && step_of(end) == step_of(begin)) ++end;
    std::vector<OutputRequest> outputs;
    for (size_t i = begin; i < end; ++i) outputs.push_back({.index = static_cast<int>(i - begin)});
    const SequenceStep step{&cache, &segments, std::span(fed.tokens).subspan(begin, end - begin),
                            std::span(fed.labels).subspan(begin, end - begin), outputs};
    rows.push_back(forward_rows(model.network(), {&step, 1}));
    begin = end;
  }
  return at::cat(rows, 0);
}

struct Worst {
  double relative = 0;
  std::string where = "nowhere";
};

/// The largest difference of two rows divided by the largest logit of the row, over all rows of
/// `a`, each compared with the same token in `b`.
Worst compare(const Sequenced& a, const at::Tensor& of_a, const Sequenced& b,
              const at::Tensor& of_b, Worst worst) {
  const auto same = [](const HpdToken& x, const HpdToken& y) {
    return x.kind == y.kind && x.n == y.n && x.i == y.i;
  };
  const at::Tensor left = of_a.to(at::kDouble).contiguous(),
                   right = of_b.to(at::kDouble).contiguous();
  const std::int64_t vocab = left.size(1);
  for (size_t row = 0; row < a.what.size(); ++row) {
    const auto other = static_cast<size_t>(
        std::find_if(b.what.begin(), b.what.end(),
                     [&](const HpdToken& token) { return same(token, a.what[row]); }) -
        b.what.begin());
    const double* x = left.data_ptr<double>() + static_cast<std::int64_t>(row) * vocab;
    const double* y = right.data_ptr<double>() + static_cast<std::int64_t>(other) * vocab;
    double largest = 0;
    for (std::int64_t i = 0; i < vocab; ++i) largest = std::max(largest, std::abs(y[i]));
    for (std::int64_t i = 0; i < vocab; ++i)
      if (const double relative = std::abs(x[i] - y[i]) / largest; !(relative <= worst.relative))
        worst = {relative, str("kind ", static_cast<int>(a.what[row].kind), " n ", a.what[row].n,
                               " i ", a.what[row].i, " id ", i, ": ", x[i], " against ", y[i])};
  }
  return worst;
}

HpdCase case_of(const HpdLayout& layout, const std::vector<Tokens>& segments,
                const std::vector<Tokens>& values, int products, const HpdOptions& options) {
  HpdCase c;
  c.prompt = layout.prompt_length;
  c.products = products;
  c.k_max = options.k_max;
  c.isolated = options.isolated;
  for (const auto& segment : segments) c.attributes.push_back(static_cast<int>(segment.size()));
  for (const auto& value : values) c.values.push_back(static_cast<int>(value.size()));
  return c;
}

Tokens random_tokens(int count, int vocab, Rng& rng) {
  Tokens tokens;
  for (int i = 0; i < count; ++i)
    tokens.push_back(static_cast<Token>(rng.below(static_cast<std::uint64_t>(vocab))));
  return tokens;
}

}  // namespace

TEST_CASE("training-order logits equal inference logits") {
  // fp64: sums of some hundred terms in another order, 2^-53 each, amplified by scores up to 40:
  // far below 1e-9. fp32: the same with 2^-24: 64 terms, scores of 40 and three layers give some
  // 1e-4 of the largest logit.
  const std::pair<Dtype, double> kinds[] = {{Dtype::fp64, 1e-9}, {Dtype::fp32, 2e-4}};
  Rng rng(99);
  for (const char* family : {"llama", "qwen3"}) {
    TinyNetwork network(family, 41);
    for (const auto& [dtype, tolerance] : kinds) {
      Model model = network.load(dtype);
      Worst worst;
      for (int round = 0; round < 30; ++round) {
        const int products = 1 + static_cast<int>(rng.below(3)),
                  fields = 1 + static_cast<int>(rng.below(5));
        const HpdOptions options{.k_max = 1 + static_cast<int>(rng.below(8)),
                                 .stack = products,
                                 .isolated = static_cast<HpdIsolation>(round % 3)};
        std::vector<Tokens> segments, values;
        for (int r = 0; r < products * fields; ++r) {
          segments.push_back(
              random_tokens(1 + static_cast<int>(rng.below(5)), model.config().vocab_size, rng));
          values.push_back(random_tokens(
              static_cast<int>(rng.below(static_cast<std::uint64_t>(options.k_max) + 1)),
              model.config().vocab_size, rng));
        }
        const HpdLayout layout = lay_out(
            random_tokens(1 + static_cast<int>(rng.below(20)), model.config().vocab_size, rng),
            segments, products, options);
        const HpdCase c = case_of(layout, segments, values, products, options);
        const Sequenced natural = arrange(natural_order(c), layout, values),
                        fed = arrange(feeding_order(c), layout, values);
        const Segments sees = segments_of(layout);
        const at::Tensor training =
            logits(model.network(), natural.tokens, natural.labels, sees).detach();
        const at::Tensor inference = fed_step_by_step(model, fed, sees);
        worst = compare(natural, training, fed, inference, worst);

        if (dtype == Dtype::fp64 && round < 6) {
          // The same by naive loops with the paper's formula, without labels.
          std::vector<int> positions;
          std::vector<std::vector<int>> visible;
          for (const HpdToken& q : natural.what) {
            positions.push_back(position(c, q));
            auto& seen = visible.emplace_back();
            for (size_t k = 0; k < natural.what.size(); ++k)
              if (attends_in_training(c, q, natural.what[k])) seen.push_back(static_cast<int>(k));
          }
          const auto slow = network.slow().logits(natural.tokens, positions, visible);
          double off = 0;
          const at::Tensor wide = training.contiguous();
          for (size_t row = 0; row < slow.size(); ++row)
            for (size_t id = 0; id < slow[row].size(); ++id)
              off = std::max(off, std::abs(slow[row][id] -
                                           wide.data_ptr<double>()[row * slow[row].size() + id]));
          INFO(family << " round " << round << " " << c.text() << ": off by " << off);
          CHECK(off <= 2e-4);  // rotary angles in float32, see replay_test.cpp
        }
      }
      INFO(family << " " << name(dtype) << ": worst element is off by " << worst.relative << " at "
                  << worst.where);
      CHECK(worst.relative <= tolerance);
    }
  }
}

TEST_CASE("the decoder's own answers in training order predict themselves, including terminators") {
  int targets = 0;
  for (const char* family : {"llama", "qwen3"}) {
    TinyNetwork network(family, 43);
    Model model = network.load(Dtype::fp64);
    for (const char* isolated : {"none", "values", "products"}) {
      const auto decoder =
          make_decoder("hpd", {{"k_max", 6}, {"stack", 2}, {"isolated", isolated}});
      const HpdOptions options{6, 2,
                               isolated == std::string("none")     ? HpdIsolation::none
                               : isolated == std::string("values") ? HpdIsolation::values
                                                                   : HpdIsolation::products};
      const Request request =
          make_request(random_job("own", 2, 4, 1), *decoder, network.tokenizer());
      const Answers answers = run(model, network.tokenizer(), *decoder, {request}).of();
      std::vector<Tokens> fed_values, chosen;
      for (const auto& value : flat(answers)) {
        chosen.push_back(value.tokens);
        fed_values.emplace_back(value.tokens.begin(), value.tokens.end() - 1);
      }
      const HpdLayout layout =
          lay_out(request.pieces.whole_prompt(), request.pieces.segments, 2, options);
      const HpdCase c = case_of(layout, request.pieces.segments, fed_values, 2, options);
      const Sequenced natural = arrange(natural_order(c), layout, fed_values);
      const at::Tensor training =
          logits(model.network(), natural.tokens, natural.labels, segments_of(layout)).detach();
      const at::Tensor best = at::argmax(training, 1);
      const at::Tensor top = std::get<0>(at::topk(training, 2, 1));
      const auto values = flat(answers);
      for (size_t row = 0; row < natural.what.size(); ++row) {
        const HpdToken& token = natural.what[row];
        // Targets: end(seg_r) -> v_{r,1}, v_{r,k} -> v_{r,k+1}.
        size_t k = 0;
        if (token.kind == HpdToken::Kind::prompt) continue;
        if (token.kind == HpdToken::Kind::attribute &&
            token.i + 1 != c.attributes[static_cast<size_t>(token.n - 1)])
          continue;
        if (token.kind == HpdToken::Kind::value) k = static_cast<size_t>(token.i);
        const auto i = static_cast<std::int64_t>(row);
        INFO(family << " isolated=" << isolated << " value " << token.n << " choice " << k + 1);
        CHECK(best[i].item<std::int64_t>() == chosen[static_cast<size_t>(token.n - 1)][k]);
        const double gap = (top[i][0] - top[i][1]).item<double>();
        // The engine gives float32 logits: each is rounded once, below 8, and their difference
        // once.
        CHECK(std::abs(gap - values[static_cast<size_t>(token.n - 1)].gaps[k]) <= 3 * 8 * 0x1p-24);
        ++targets;
      }
    }
  }
  CHECK(targets > 100);
}
