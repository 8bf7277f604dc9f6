// Each kernel of each instruction set that this processor has, against the same sum in double.
// Tolerances: a float32 sum of n terms errs by at most n 2^-24 times the sum of their sizes (in any
// order, to first order), a result in bf16 by 2^-8 of itself beside that.
#include "src/kernels/kernels.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "src/kernels/bf16.hpp"
#include "src/kernels/weight_memory.hpp"
#include "src/support/rng.hpp"
#include "tests/support/catch.hpp"

using namespace pardec;

namespace {

constexpr double kFloat = 0x1p-24, kBf16 = 0x1p-8;
constexpr double kSmallest = 0x1p-120;  // below it bf16 products are flushed to zero

std::vector<std::uint16_t> random_bf16(Rng& rng, std::int64_t count) {
  std::vector<std::uint16_t> values;
  for (std::int64_t i = 0; i < count; ++i)
    values.push_back(narrow(static_cast<float>(rng.normal())));
  return values;
}
std::vector<float> random_floats(Rng& rng, std::int64_t count) {
  std::vector<float> values;
  for (std::int64_t i = 0; i < count; ++i) values.push_back(static_cast<float>(rng.normal()));
  return values;
}

constexpr WeightType kTypes[] = {WeightType::bf16, WeightType::int8, WeightType::nf4};

struct Matrix {
  std::vector<std::uint16_t> values;  // [outputs, inputs], before they are quantised
  std::vector<std::byte> panels;
  PackedMatrix packed;
  std::vector<float> weights;  // [outputs, inputs], as unpack_row says
  Matrix(const Kernels& kernels, Rng& rng, WeightType type, std::int64_t outputs,
         std::int64_t inputs)
      : Matrix(kernels, random_bf16(rng, outputs * inputs), type, outputs, inputs) {}
  Matrix(const Kernels& kernels, std::vector<std::uint16_t> from, WeightType type,
         std::int64_t outputs, std::int64_t inputs)
      : values(std::move(from)),
        panels(static_cast<size_t>(packed_bytes(outputs, inputs, type)), std::byte{0xFF}),  // NaN
        packed{panels.data(), outputs, inputs, type},
        weights(values.size()) {
    for (std::int64_t p = 0; p < packed.panel_count(); ++p) {
      const std::uint16_t* rows[kPanel];
      for (std::int64_t j = 0; j < kPanel; ++j)
        rows[j] = p * kPanel + j < outputs ? values.data() + (p * kPanel + j) * inputs : nullptr;
      kernels.pack_panel(type, rows, inputs, panels.data() + p * packed.panel_bytes());
    }
    for (std::int64_t o = 0; o < outputs; ++o) unpack_row(packed, o, weights.data() + o * inputs);
  }
};

/// The double sum of a product, and of the sizes of its terms.
struct Sum {
  double value = 0, sizes = 0;
  void add(double term) { value += term, sizes += std::abs(term); }
};
Sum product(const Matrix& w, std::int64_t output, const std::uint16_t* x, double bias) {
  Sum sum;
  const std::int64_t inputs = w.packed.inputs;
  for (std::int64_t i = 0; i < inputs; ++i)
    sum.add(double{widen(x[i])} * w.weights[static_cast<size_t>(output * inputs + i)]);
  sum.add(bias);
  return sum;
}

const std::vector<std::int64_t> kRows{1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12,
                                      13, 14, 15, 16, 17, 18, 19, 20, 33, 64, 65, 257};
struct Shape {
  std::int64_t outputs, inputs;
};
const Shape kShapes[] = {{32, 32}, {64, 512}, {1, 1},    {31, 33},   {33, 31},
                         {40, 2},  {17, 70},  {96, 514}, {50, 1027}, {3, 257}};

/// All shapes in bf16, those that differ otherwise in the others.
std::vector<std::pair<Shape, WeightType>> shapes_and_types() {
  std::vector<std::pair<Shape, WeightType>> all;
  for (const Shape& shape : kShapes) all.emplace_back(shape, WeightType::bf16);
  for (const WeightType type : {WeightType::int8, WeightType::nf4})
    for (const Shape& shape : {Shape{1, 1}, {31, 33}, {64, 512}, {17, 70}, {50, 1027}, {3, 257}})
      all.emplace_back(shape, type);
  return all;
}

template <typename Test>
void with_each_set(Test&& test) {
  for (const InstructionSet set : instruction_sets()) DYNAMIC_SECTION(name(set)) {
      test(kernels(set));
    }
}

}  // namespace

TEST_CASE("bf16 is rounded to nearest even, and NaN stays NaN") {
  CHECK(narrow(1.0f) == 0x3F80);
  CHECK(narrow(1.0f + 0x1p-8f) == 0x3F80);            // a tie, to even
  CHECK(narrow(1.0f + 0x1p-7f + 0x1p-8f) == 0x3F82);  // a tie, to even
  CHECK(narrow(1.0f + 0x1p-8f + 0x1p-20f) == 0x3F81);
  CHECK(narrow(std::numeric_limits<float>::max()) == 0x7F80);
  CHECK(std::isnan(widen(narrow(std::numeric_limits<float>::quiet_NaN()))));
  CHECK(std::isnan(widen(narrow(__builtin_bit_cast(float, 0x7FFFFFFFu)))));
}

TEST_CASE("packing keeps every weight, and fills up with zeros") {
  with_each_set([](const Kernels& k) {
    Rng rng(1);
    for (const Shape& shape : kShapes) {
      const Matrix w(k, rng, WeightType::bf16, shape.outputs, shape.inputs);
      REQUIRE(std::equal(w.weights.begin(), w.weights.end(), w.values.begin(),
                         [](float got, std::uint16_t want) { return got == widen(want); }));
      const auto zeros = std::count(w.panels.begin(), w.panels.end(), std::byte{0});
      CHECK(zeros >= std::ssize(w.panels) - 2 * std::ssize(w.values));
    }
  });
}

namespace {

/// Numbers whose rows have sizes far apart; some rows, and stretches of a row, are zero.
std::vector<std::uint16_t> uneven(Rng& rng, const Shape& shape) {
  std::vector<std::uint16_t> values;
  for (std::int64_t o = 0; o < shape.outputs; ++o)
    for (std::int64_t i = 0; i < shape.inputs; ++i) {
      const bool zero = o % 7 == 3 || (o % 5 == 1 && i / 64 == 0);
      const double size = std::pow(10.0, static_cast<double>(o % 9) - 5);
      values.push_back(zero ? std::uint16_t{0} : narrow(static_cast<float>(rng.normal() * size)));
    }
  return values;
}

double largest_size(const Matrix& w, std::int64_t output, std::int64_t begin, std::int64_t end) {
  double largest = 0;
  for (std::int64_t i = begin; i < end; ++i)
    largest = std::max(
        largest,
        std::abs(double{widen(w.values[static_cast<size_t>(output * w.packed.inputs + i)])}));
  return largest;
}

}  // namespace

TEST_CASE("int8 gives the nearest of 255 steps of a row's largest size") {
  with_each_set([](const Kernels& k) {
    Rng rng(11);
    for (const Shape& shape : kShapes) {
      const Matrix w(k, uneven(rng, shape), WeightType::int8, shape.outputs, shape.inputs);
      double worst = 0;
      for (std::int64_t o = 0; o < shape.outputs; ++o) {
        const double scale = largest_size(w, o, 0, shape.inputs);
        for (std::int64_t i = 0; i < shape.inputs; ++i) {
          const auto at = static_cast<size_t>(o * shape.inputs + i);
          const double got = w.weights[at], want = widen(w.values[at]), step = scale / 127;
          if (scale == 0) {
            REQUIRE(got == 0);
            continue;
          }
          // A whole number of steps, up to three roundings; the middle between two up to three.
          const double steps = std::round(got / step);
          REQUIRE(std::abs(got - steps * step) <= 4 * kFloat * std::abs(got));
          worst = std::max(worst, std::abs(steps - want / step));
        }
      }
      CHECK(worst <= 0.5 + 127 * 3 * kFloat);
    }
  });
}

TEST_CASE("NF4 gives the nearest of 16 levels of a block's largest size, rounded to bf16") {
  with_each_set([](const Kernels& k) {
    Rng rng(12);
    for (const Shape& shape : kShapes) {
      const Matrix w(k, uneven(rng, shape), WeightType::nf4, shape.outputs, shape.inputs);
      for (std::int64_t o = 0; o < shape.outputs; ++o)
        for (std::int64_t begin = 0; begin < shape.inputs; begin += 64) {
          const std::int64_t end = std::min(shape.inputs, begin + 64);
          const double scale = largest_size(w, o, begin, end);
          for (std::int64_t i = begin; i < end; ++i) {
            const auto at = static_cast<size_t>(o * shape.inputs + i);
            const double want = widen(w.values[at]);
            double nearest = 1e300;
            std::vector<float> allowed;  // two where it is in the middle, but for 3 roundings
            for (const float level : kNf4)
              nearest = std::min(nearest, std::abs(level * scale - want));
            for (const float level : kNf4)
              if (std::abs(level * scale - want) <= nearest + 6 * kFloat * scale)
                allowed.push_back(widen(narrow(level * static_cast<float>(scale))));
            REQUIRE(std::find(allowed.begin(), allowed.end(), w.weights[at]) != allowed.end());
          }
        }
    }
  });
}

TEST_CASE("a packed matrix takes the bytes that its type says") {
  CHECK(packed_bytes(64, 128, WeightType::bf16) == 64 * 128 * 2);
  CHECK(packed_bytes(64, 128, WeightType::int8) == 64 * (128 + 4));
  CHECK(packed_bytes(64, 128, WeightType::nf4) == 64 * (128 / 2 + 2 * 4));
  CHECK(packed_bytes(33, 65, WeightType::nf4) == 64 * (128 / 2 + 2 * 4));
  for (const WeightType type : kTypes)
    CHECK(weight_bytes(64, 128, type) == packed_bytes(64, 128, type));
  CHECK(weight_bytes(3, 65, WeightType::bf16) == 3 * 65 * 2);
  CHECK(weight_bytes(3, 65, WeightType::int8) == 3 * (65 + 4));
  CHECK(weight_bytes(3, 65, WeightType::nf4) == 3 * (33 + 2 * 4));
}

TEST_CASE("products are those of double within the rounding of their sums") {
  with_each_set([](const Kernels& k) {
    Rng rng(2);
    for (const auto& [shape, type] : shapes_and_types()) {
      const Matrix w(k, rng, type, shape.outputs, shape.inputs);
      const std::int64_t panels = w.packed.panel_count();
      const std::vector<float> bias = random_floats(rng, panels * kPanel);
      for (const std::int64_t rows : kRows) {
        const std::int64_t stride = shape.inputs + rows % 3, out_stride = shape.outputs + rows % 2;
        const auto x = random_bf16(rng, (rows - 1) * stride + shape.inputs);  // nothing behind it
        const auto before = random_floats(rng, rows * out_stride);
        for (const bool biased : {false, true})
          for (const bool add : {false, true}) {
            std::vector<float> out = before;
            k.multiply({.weights = w.packed,
                        .x = x.data(),
                        .rows = rows,
                        .x_stride = stride,
                        .bias = biased ? bias.data() : nullptr,
                        .finish = add ? Product::Finish::add : Product::Finish::store,
                        .out = out.data(),
                        .out_stride = out_stride},
                       0, panels);
            double worst = 0;
            for (std::int64_t r = 0; r < rows; ++r)
              for (std::int64_t o = 0; o < out_stride; ++o) {
                const auto at = static_cast<size_t>(r * out_stride + o);
                if (o >= shape.outputs) {
                  REQUIRE(out[at] == before[at]);
                  continue;
                }
                Sum sum =
                    product(w, o, x.data() + r * stride, biased ? bias[static_cast<size_t>(o)] : 0);
                if (add) sum.add(before[at]);
                // int8: its scale twice, and a weight of the reference is rounded twice.
                const std::int64_t further = type == WeightType::int8 ? 5 : 0;
                const double allowed =
                    static_cast<double>(shape.inputs + 3 + further) * kFloat * sum.sizes +
                    kSmallest;
                worst = std::max(worst, std::abs(out[at] - sum.value) / allowed);
              }
            INFO(shape.outputs << " x " << shape.inputs << ", " << rows << " rows, type "
                               << static_cast<int>(type));
            CHECK(worst <= 1);
          }
      }
    }
  });
}

TEST_CASE("a gated product is silu(a) * b, rounded once") {
  with_each_set([](const Kernels& k) {
    Rng rng(3);
    const std::pair<std::int64_t, WeightType> cases[] = {
        {32, WeightType::bf16}, {70, WeightType::bf16}, {7, WeightType::bf16},
        {70, WeightType::int8}, {70, WeightType::nf4},  {7, WeightType::nf4}};
    for (const std::int64_t width : {16, 48, 1, 19, 33})
      for (const auto& [inputs, type] : cases) {
        // As a network packs them: a panel has 16 rows of a and the same 16 of b.
        const std::int64_t panels = (width + 15) / 16;
        const Matrix a(k, rng, type, width, inputs), b(k, rng, type, width, inputs);
        std::vector<std::byte> packed(static_cast<size_t>(packed_bytes(panels * 32, inputs, type)));
        const PackedMatrix w{packed.data(), 2 * width, inputs, type};
        for (std::int64_t p = 0; p < panels; ++p) {
          const std::uint16_t* rows[kPanel];
          for (std::int64_t j = 0; j < 16; ++j) {
            const std::int64_t o = 16 * p + j;
            rows[j] = o < width ? a.values.data() + o * inputs : nullptr;
            rows[16 + j] = o < width ? b.values.data() + o * inputs : nullptr;
          }
          k.pack_panel(type, rows, inputs, packed.data() + p * w.panel_bytes());
        }
        const std::vector<float> bias = random_floats(rng, panels * kPanel);
        for (const std::int64_t rows : {1, 2, 17}) {
          const auto x = random_bf16(rng, rows * inputs);
          std::vector<std::uint16_t> out(static_cast<size_t>(rows * (width + 1)), 0x1234);
          k.multiply({.weights = w,
                      .x = x.data(),
                      .rows = rows,
                      .x_stride = inputs,
                      .bias = rows == 2 ? bias.data() : nullptr,
                      .finish = Product::Finish::swiglu,
                      .gated = out.data(),
                      .out_stride = width + 1},
                     0, panels);
          for (std::int64_t r = 0; r < rows; ++r) {
            REQUIRE(out[static_cast<size_t>(r * (width + 1) + width)] == 0x1234);
            for (std::int64_t o = 0; o < width; ++o) {
              const auto biased = static_cast<size_t>(o / 16 * kPanel + o % 16);
              const Sum sa = product(a, o, x.data() + r * inputs, rows == 2 ? bias[biased] : 0);
              const Sum sb =
                  product(b, o, x.data() + r * inputs, rows == 2 ? bias[biased + 16] : 0);
              const double silu = sa.value / (1 + std::exp(-sa.value)), want = silu * sb.value;
              const double n =
                  static_cast<double>(inputs + 2 + (type == WeightType::int8 ? 5 : 0)) * kFloat;
              // The slope of silu is below 1.1; 16 roundings in the exponential and the quotient.
              const double wide = 1.1 * n * sa.sizes * std::abs(sb.value) +
                                  std::abs(silu) * n * sb.sizes + 16 * kFloat * std::abs(want);
              const double got = widen(out[static_cast<size_t>(r * (width + 1) + o)]);
              CHECK(std::abs(got - want) <= wide + kBf16 * (std::abs(want) + wide) + kSmallest);
            }
          }
        }
      }
  });
}

TEST_CASE(
    "a row's product does not depend on the rows beside it, nor on who computes which panel") {
  with_each_set([](const Kernels& k) {
    Rng rng(4);
    for (const WeightType type : kTypes) {
      const Matrix w(k, rng, type, 100, 1100);
      const auto x = random_bf16(rng, 65 * 1100);
      const auto multiply = [&](std::int64_t first, std::int64_t rows, std::int64_t cut) {
        std::vector<float> out(static_cast<size_t>(rows * 100));
        const Product p{.weights = w.packed,
                        .x = x.data() + first * 1100,
                        .rows = rows,
                        .x_stride = 1100,
                        .out = out.data(),
                        .out_stride = 100};
        k.multiply(p, 0, cut);
        k.multiply(p, cut, 4);
        return out;
      };
      const auto all = multiply(0, 65, 4);
      for (const std::int64_t rows : {1, 2, 5, 13, 16, 40})
        for (std::int64_t first = 0; first + rows <= 65; first += rows) {
          const auto some = multiply(first, rows, first % 5);
          REQUIRE(std::memcmp(some.data(), all.data() + first * 100, some.size() * 4) == 0);
        }
    }
  });
}

namespace {

struct Heads {
  std::int64_t tokens, group, dim, end;
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
  /// Of `count` tokens; the keys in pieces that end at `cuts`, in panels.
  std::vector<std::uint16_t> attend(const Kernels& k, std::int64_t first, std::int64_t count,
                                    std::vector<std::int64_t> cuts = {}) const {
    // Beyond `end` NaN: what is there is nobody's.
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
                .first = piece == 0,
                .last = piece + 2 == cuts.size()},
               scratch.data());
    }
    return out;
  }
};

}  // namespace

TEST_CASE("attention is softmax of the scores of what is seen, times the values") {
  with_each_set([](const Kernels& k) {
    Rng rng(5);
    for (const std::int64_t tokens : {1, 3, 20})
      for (const std::int64_t group : {1, 3})
        for (const std::int64_t dim : {2, 16, 64, 70, 128})
          for (const std::int64_t end : {1, 31, 32, 33, 200})
            for (const double share : {1.0, 0.5, 0.02}) {
              const Heads h(rng, tokens, group, dim, end, share);
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
                  score[static_cast<size_t>(key)] = scale * sum.value;
                  largest = std::max(largest, scale * sum.value);
                  // The sum; the product with the scale, the difference to the largest.
                  score_error = std::max(score_error,
                                         static_cast<double>(dim + 4) * kFloat * scale * sum.sizes);
                }
                for (std::int64_t key = 0; key < end; ++key)
                  if (h.sees(row / group, key))
                    total += std::exp(score[static_cast<size_t>(key)] - largest);
                // Of a weight, relative: both scores, 12 roundings of the exponential, up to 7
                // fadings by such an exponential.
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

TEST_CASE("a row's attention does not depend on the rows beside it") {
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
        const Heads h(rng, 9, 2, dim, 200, share);
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
    // The largest score takes all.
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

TEST_CASE("norms, rotation and rounding of rows") {
  with_each_set([](const Kernels& k) {
    Rng rng(8);
    for (const std::int64_t size : {2, 16, 31, 64, 100, 1024}) {
      const auto x = random_floats(rng, size), weight = random_floats(rng, size);
      std::vector<std::uint16_t> rounded(x.size());
      std::vector<float> wide(x.size());
      k.rms_norm(x.data(), weight.data(), size, 1e-5f, rounded.data());
      k.rms_norm_wide(x.data(), weight.data(), size, 1e-5f, wide.data());
      double square = 0;
      for (const float value : x) square += double{value} * value;
      const double factor = 1 / std::sqrt(square / static_cast<double>(size) + 1e-5);
      for (size_t i = 0; i < x.size(); ++i) {
        const double want = weight[i] * (x[i] * factor);
        // Half the sum's error, for the root; 6 roundings beside it.
        const double error = std::abs(want) * (static_cast<double>(size) / 2 + 6) * kFloat;
        CHECK(std::abs(wide[i] - want) <= error);
        CHECK(std::abs(widen(rounded[i]) - want) <= error + kBf16 * (std::abs(want) + error));
      }
      k.narrow(x.data(), size, rounded.data());
      for (size_t i = 0; i < x.size(); ++i) CHECK(rounded[i] == narrow(x[i]));
    }
    // Heads that turn as a whole, and in part: pairs, and how many numbers there are.
    const std::pair<std::int64_t, std::int64_t> heads[] = {{1, 2},    {8, 16},  {15, 30}, {32, 64},
                                                           {50, 100}, {12, 32}, {3, 18},  {1, 128}};
    for (const auto& [pairs, size] : heads) {
      const auto x = random_floats(rng, size);
      const auto half = static_cast<size_t>(pairs);
      const auto angle = random_floats(rng, pairs);
      std::vector<float> cos, sin;
      for (const float a : angle) cos.push_back(std::cos(a)), sin.push_back(std::sin(a));
      std::vector<std::uint16_t> turned(x.size());
      k.rotate(x.data(), cos.data(), sin.data(), pairs, size, turned.data());
      std::vector<std::uint16_t> panel(x.size() * 32, 0x1234);
      k.rotate_key(x.data(), cos.data(), sin.data(), pairs, size, panel.data() + 2 * 5);
      for (size_t i = 0; i < panel.size(); ++i)
        CHECK(panel[i] == (i % 64 / 2 == 5 ? turned[i / 64 * 2 + i % 2] : 0x1234));
      for (size_t i = 0; i < half; ++i) {
        const double a = x[i], b = x[half + i], c = cos[i], s = sin[i];
        const double error = 3 * kFloat * (std::abs(a) + std::abs(b));
        CHECK(std::abs(widen(turned[i]) - (a * c - b * s)) <=
              error + kBf16 * (std::abs(a * c - b * s) + error));
        CHECK(std::abs(widen(turned[half + i]) - (b * c + a * s)) <=
              error + kBf16 * (std::abs(b * c + a * s) + error));
      }
      for (size_t i = 2 * half; i < x.size(); ++i) CHECK(turned[i] == narrow(x[i]));
    }
  });
}

TEST_CASE("the two largest, and the first among equals") {
  with_each_set([](const Kernels& k) {
    Rng rng(9);
    for (const std::int64_t size : {2, 3, 17, 256, 258, 259, 1000, 5001})
      for (int round = 0; round < 30; ++round) {
        std::vector<float> x = random_floats(rng, size);
        if (round % 3 == 1)
          for (float& value : x) value = std::round(value);  // many equals
        if (round % 3 == 2)
          for (float& value : x) value = -std::numeric_limits<float>::infinity();
        std::vector<std::int64_t> order(x.size());
        for (size_t i = 0; i < x.size(); ++i) order[i] = static_cast<std::int64_t>(i);
        std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
          return x[static_cast<size_t>(a)] > x[static_cast<size_t>(b)];
        });
        const TopTwo top = k.top_two(x.data(), size);
        CHECK((top.best == order[0] && top.second == order[1]));
        CHECK((top.best_value == x[static_cast<size_t>(order[0])] &&
               top.second_value == x[static_cast<size_t>(order[1])]));
      }
  });
}

TEST_CASE("weight memory deals out cache lines, and no more than it has") {
  WeightMemory memory(WeightMemory::taken(65) + WeightMemory::taken(1));
  CHECK(memory.bytes() == 128 + 64);
  std::byte* first = memory.take(65);
  std::byte* second = memory.take(1);
  CHECK(second == first + 128);
  CHECK(reinterpret_cast<std::uintptr_t>(first) % 64 == 0);
  CHECK((first[0] == std::byte{0} && second[63] == std::byte{0}));
  CHECK_THROWS_AS(memory.take(1), std::logic_error);
  WeightMemory moved = std::move(memory);
  first[0] = std::byte{7};
  CHECK(moved.bytes() == 192);
}

TEST_CASE("an instruction set that is not there is refused") {
  CHECK(instruction_sets().front() == InstructionSet::generic);
  CHECK(widest_instruction_set() == instruction_sets().back());
  CHECK_THROWS_AS(kernels(static_cast<InstructionSet>(99)), std::logic_error);
}
