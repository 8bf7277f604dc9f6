// Attention.
#include <algorithm>
#include <limits>

#include "tests/kernels/against_double.hpp"

using namespace pardec;
using namespace pardec::test;

namespace {

struct Heads {
  std::int64_t tokens, group, dim, end;
  float cap = 0;
  std::vector<float> sinks;  // one per head of the group, or empty
  std::vector<std::uint16_t> queries, keys, values;
  std::vector<std::uint32_t> mask;
  std::int64_t words;

  Heads(Rng& rng, std::int64_t n, std::int64_t g, std::int64_t d, std::int64_t keys_count,
        double share)
      : tokens(n),
        group(g),
        dim(d),
        end(keys_count),
        queries(random_bf16(rng, n * g * d)),
        keys(random_bf16(rng, keys_count * d)),
        values(random_bf16(rng, keys_count * d)),
        mask(static_cast<size_t>(n * ((keys_count + 31) / 32)), 0),
        words((keys_count + 31) / 32) {
    for (std::int64_t t = 0; t < n; ++t)
      for (std::int64_t key = 0; key < keys_count; ++key)
        if (share >= 1 || rng.uniform() < share || key == (t * 7) % keys_count)
          mask[static_cast<size_t>(t * words + key / 32)] |= 1u << key % 32;
  }
  bool sees(std::int64_t t, std::int64_t key) const {
    return mask[static_cast<size_t>(t * words + key / 32)] >> key % 32 & 1u;
  }
  /// For `count` tokens; the keys in pieces that end at `cuts`, in panels.
  std::vector<std::uint16_t> attend(const Kernels& k, std::int64_t first, std::int64_t count,
                                    std::vector<std::int64_t> cuts = {}) const {
    // NaN beyond `end`: these values must not be used.
    std::vector<std::uint16_t> panels(static_cast<size_t>(words * kPanel * dim), 0x7FC0);
    for (std::int64_t key = 0; key < end; ++key)
      for (std::int64_t i = 0; i < dim; ++i)
        panels[static_cast<size_t>((key / 32 * dim / 2 + i / 2) * 64 + key % 32 * 2 + i % 2)] =
            keys[static_cast<size_t>(key * dim + i)];
    std::vector<std::uint16_t> out(queries.size());
    std::vector<float> scratch(static_cast<size_t>(attention_scratch(count, group, dim)),
                               std::numeric_limits<float>::quiet_NaN());
    std::vector<float> states(static_cast<size_t>(count * attention_state(group, dim)),
                              std::numeric_limits<float>::quiet_NaN());
    cuts.insert(cuts.begin(), 0);
    cuts.push_back(words);
    for (size_t piece = 0; piece + 1 < cuts.size(); ++piece) {
      const std::int64_t from = cuts[piece] * kPanel;
      std::vector<Attention::Token> rows;
      for (std::int64_t t = first; t < first + count; ++t)
        rows.push_back({.query = queries.data() + t * group * dim,
                        .out = out.data() + t * group * dim,
                        .mask = mask.data() + t * words + cuts[piece],
                        .state = states.data() + (t - first) * attention_state(group, dim)});
      std::vector<std::int32_t> blocks;
      for (std::int64_t block = 0; block < cuts[piece + 1] - cuts[piece]; ++block)
        if (std::any_of(rows.begin(), rows.end(),
                        [&](const Attention::Token& row) { return row.mask[block] != 0; }))
          blocks.push_back(static_cast<std::int32_t>(block));
      k.attend({.tokens = rows.data(),
                .count = count,
                .group = group,
                .dim = dim,
                .keys = panels.data() + from * dim,
                .values = values.data() + from * dim,
                .end = std::min(end, cuts[piece + 1] * kPanel) - from,
                .blocks = blocks.data(),
                .block_count = std::ssize(blocks),
                .scale = 0.7f / std::sqrt(static_cast<float>(dim)),
                .cap = cap,
                .sinks = sinks.empty() ? nullptr : sinks.data(),
                .first = piece == 0,
                .last = piece + 2 == cuts.size()},
               scratch.data());
    }
    return out;
  }
};

}  // namespace

TEST_CASE("attention is softmax of the scores of visible keys and of sinks, times the values") {
  with_each_set([](const Kernels& k) {
    Rng rng(5);
    for (const std::int64_t tokens : {1, 3, 20})
      for (const std::int64_t group : {1, 3})
        for (const std::int64_t dim : {2, 16, 64, 70, 128})
          for (const std::int64_t end : {1, 31, 32, 33, 200})
            for (const double share : {1.0, 0.5, 0.02}) {
              Heads h(rng, tokens, group, dim, end, share);
              h.cap = dim == 70 ? 1.5f : 0;
              if (dim >= 64)  // far below the scores, among them, far above
                for (std::int64_t i = 0; i < group; ++i)
                  h.sinks.push_back(static_cast<float>((tokens * 7 + end + i * 5) % 13) - 6.0f);
              const auto out = h.attend(k, 0, tokens);
              const double scale = 0.7f / std::sqrt(static_cast<float>(dim));
              double worst = 0;
              for (std::int64_t row = 0; row < tokens * group; ++row) {
                std::vector<double> score(static_cast<size_t>(end)), error(score);
                double largest = -1e30, score_error = 0, total = 0;
                for (std::int64_t key = 0; key < end; ++key) {
                  if (!h.sees(row / group, key)) continue;
                  Sum sum;
                  for (std::int64_t j = 0; j < dim; ++j)
                    sum.add(double{widen(h.queries[static_cast<size_t>(row * dim + j)])} *
                            widen(h.keys[static_cast<size_t>(key * dim + j)]));
                  const double scaled = scale * sum.value;
                  double& here = score[static_cast<size_t>(key)];
                  here = h.cap > 0 ? h.cap * std::tanh(scaled / h.cap) : scaled;
                  largest = std::max(largest, here);
                  // The sum; the product with the scale; the difference to the largest. The cap has
                  // an exponential of 12 roundings, times at most half the cap, and 4 more.
                  score_error = std::max(score_error,
                                         static_cast<double>(dim + 4) * kFloat * scale * sum.sizes +
                                             10 * kFloat * double{h.cap});
                }
                for (std::int64_t key = 0; key < end; ++key)
                  if (h.sees(row / group, key))
                    total += std::exp(score[static_cast<size_t>(key)] - largest);
                if (!h.sinks.empty())
                  total += std::exp(double{h.sinks[static_cast<size_t>(row % group)]} - largest);
                // Relative error of a weight: both scores, 12 roundings of the exponential, up to 7
                // rescalings by such an exponential.
                const double weight_error = 2 * score_error + 8 * (12 * kFloat + 2 * score_error);
                for (std::int64_t j = 0; j < dim; ++j) {
                  Sum mixed;
                  for (std::int64_t key = 0; key < end; ++key)
                    if (h.sees(row / group, key))
                      mixed.add(std::exp(score[static_cast<size_t>(key)] - largest) / total *
                                widen(h.values[static_cast<size_t>(key * dim + j)]));
                  const double wide =
                      mixed.sizes * (2 * weight_error + static_cast<double>(3 * end) * kFloat);
                  const double allowed = wide + kBf16 * (std::abs(mixed.value) + wide) + kSmallest;
                  const double got = widen(out[static_cast<size_t>(row * dim + j)]);
                  worst = std::max(worst,
                                   std::isnan(got) ? 1e9 : std::abs(got - mixed.value) / allowed);
                }
              }
              INFO(tokens << " tokens, group " << group << ", dim " << dim << ", " << end
                          << " keys, share " << share);
              CHECK(worst <= 1);
            }
  });
}

TEST_CASE("a key that is not finite makes only the rows that see it not finite") {
  with_each_set([](const Kernels& k) {
    for (const std::int64_t at : {0, 40, 149})
      for (const std::uint16_t bad : {0x7FC0, 0xFFC0, 0x7F80}) {  // NaN, -NaN, infinity
        Rng rng(6);
        Heads h(rng, 8, 2, 64, 150, 0.5);
        const auto good = h.attend(k, 0, 8);
        h.keys[static_cast<size_t>(at * 64 + 3)] = bad;
        const auto out = h.attend(k, 0, 8);
        for (std::int64_t row = 0; row < 16; ++row)
          for (std::int64_t j = 0; j < 64; ++j) {
            const auto i = static_cast<size_t>(row * 64 + j);
            // Minus infinity times a query is a score that is never chosen.
            const bool hidden =
                bad == 0x7F80 && widen(h.queries[static_cast<size_t>(row * 64 + 3)]) <= 0;
            if (!h.sees(row / 2, at))
              REQUIRE(out[i] == good[i]);
            else if (!hidden)
              REQUIRE(std::isnan(widen(out[i])));
          }
      }
  });
}

TEST_CASE("a row's attention does not depend on other rows") {
  with_each_set([](const Kernels& k) {
    Rng rng(6);
    const Heads h(rng, 21, 2, 64, 150, 0.3);
    const auto all = h.attend(k, 0, 21);
    for (const std::int64_t count : {1, 3, 7})
      for (std::int64_t first = 0; first < 21; first += count) {
        const auto some = h.attend(k, first, count);
        const auto begin = first * 128, size = count * 128;
        REQUIRE(std::equal(some.begin() + begin, some.begin() + begin + size, all.begin() + begin));
      }
  });
}

TEST_CASE("attention to keys in pieces is attention to all of them, bit by bit") {
  with_each_set([](const Kernels& k) {
    Rng rng(8);
    for (const double share : {1.0, 0.3, 0.01})
      for (const std::int64_t dim : {16, 64, 70}) {
        Heads h(rng, 9, 2, dim, 200, share);
        if (dim == 16) h.sinks = {0.5f, 2.0f};
        const auto all = h.attend(k, 0, 9);
        for (const auto& cuts :
             std::vector<std::vector<std::int64_t>>{{1}, {4}, {6}, {2, 3, 5}, {0}})
          REQUIRE(h.attend(k, 0, 9, cuts) == all);
      }
  });
}

TEST_CASE("attention takes scores of any size, and a token that sees nothing gets zeros") {
  with_each_set([](const Kernels& k) {
    Rng rng(7);
    Heads h(rng, 2, 1, 32, 64, 1.0);
    for (std::uint16_t& q : h.queries) q = narrow(widen(q) * 1e4f);
    h.mask[2] = h.mask[3] = 0;
    const auto out = h.attend(k, 0, 2);
    // The largest score takes everything.
    std::int64_t best = 0;
    double largest = -1e30;
    for (std::int64_t key = 0; key < 64; ++key) {
      double score = 0;
      for (std::int64_t j = 0; j < 32; ++j)
        score += double{widen(h.queries[static_cast<size_t>(j)])} *
                 widen(h.keys[static_cast<size_t>(key * 32 + j)]);
      if (score > largest) best = key, largest = score;
    }
    for (std::int64_t j = 0; j < 32; ++j) {
      CHECK(out[static_cast<size_t>(j)] == h.values[static_cast<size_t>(best * 32 + j)]);
      CHECK(out[static_cast<size_t>(32 + j)] == 0);
    }
  });
}
