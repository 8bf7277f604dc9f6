// Packing and products.
#include <algorithm>
#include <cstring>
#include <numbers>

#include "tests/kernels/against_double.hpp"

using namespace pardec;
using namespace pardec::test;

namespace {

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
double gelu_tanh(double x) {
  return 0.5 * x * (1 + std::tanh(std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x)));
}

struct Shape {
  std::int64_t outputs, inputs;
};
const Shape kShapes[] = {{32, 32}, {64, 512}, {1, 1},     {31, 33}, {33, 31},  {40, 2},
                         {17, 70}, {96, 514}, {50, 1027}, {3, 257}, {33, 2083}};

/// All shapes in bf16; in the other types only those that behave differently.
std::vector<std::pair<Shape, WeightType>> shapes_and_types() {
  std::vector<std::pair<Shape, WeightType>> all;
  for (const Shape& shape : kShapes) all.emplace_back(shape, WeightType::bf16);
  for (const WeightType type : {WeightType::int8, WeightType::nf4})
    for (const Shape& shape : {Shape{1, 1}, {31, 33}, {64, 512}, {17, 70}, {50, 1027}, {3, 257}})
      all.emplace_back(shape, type);
  return all;
}

}  // namespace

TEST_CASE("packing keeps every weight, and pads with zeros") {
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

/// Numbers whose rows have very different magnitudes; some rows, and parts of rows, are zero.
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

TEST_CASE("int8 gives the nearest of 255 steps of a row's largest magnitude") {
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
          // A whole number of steps, up to three roundings; also for the middle between two.
          const double steps = std::round(got / step);
          REQUIRE(std::abs(got - steps * step) <= 4 * kFloat * std::abs(got));
          worst = std::max(worst, std::abs(steps - want / step));
        }
      }
      CHECK(worst <= 0.5 + 127 * 3 * kFloat);
    }
  });
}

TEST_CASE("NF4 gives the nearest of 16 levels of a block's largest magnitude, rounded to bf16") {
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
            std::vector<float>
                allowed;  // two candidates if it is in the middle, within 3 roundings
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

TEST_CASE("a packed matrix takes the bytes that its type states") {
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

TEST_CASE("products equal those in double within the rounding of their sums") {
  with_each_set([](const Kernels& k) {
    Rng rng(2);
    for (const auto& [shape, type] : shapes_and_types()) {
      const Matrix w(k, rng, type, shape.outputs, shape.inputs);
      const std::int64_t panels = w.packed.panel_count();
      const std::vector<float> bias = random_floats(rng, panels * kPanel);
      for (const std::int64_t rows : kRows) {
        const std::int64_t stride = shape.inputs + rows % 3, out_stride = shape.outputs + rows % 2;
        const auto x = random_bf16(rng, (rows - 1) * stride + shape.inputs);  // nothing after it
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

TEST_CASE("a gated product is silu(a) * b or gelu(a) * b, or clamped, rounded once") {
  with_each_set([](const Kernels& k) {
    Rng rng(3);
    const std::pair<std::int64_t, WeightType> cases[] = {
        {32, WeightType::bf16}, {70, WeightType::bf16}, {7, WeightType::bf16},
        {70, WeightType::int8}, {70, WeightType::nf4},  {7, WeightType::nf4}};
    for (const std::int64_t width : {16, 48, 1, 19, 33})
      for (const auto& [inputs, type] : cases) {
        // As in a network's packing: a panel has 16 rows of a and the same 16 of b.
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
        for (const std::int64_t rows : {1, 2, 17, 3}) {
          const bool gelu = rows == 3, clamped = rows == 17;
          constexpr float kLimit = 1.5f, kSlope = 1.702f;
          const auto x = random_bf16(rng, rows * inputs);
          std::vector<std::uint16_t> out(static_cast<size_t>(rows * (width + 1)), 0x1234);
          k.multiply({.weights = w,
                      .x = x.data(),
                      .rows = rows,
                      .x_stride = inputs,
                      .bias = rows == 2 ? bias.data() : nullptr,
                      .finish = gelu      ? Product::Finish::geglu
                                : clamped ? Product::Finish::clamped
                                          : Product::Finish::swiglu,
                      .limit = kLimit,
                      .slope = kSlope,
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
              const double g = clamped ? std::min(sa.value, double{kLimit}) : sa.value;
              const double u =
                  clamped ? std::clamp(sb.value, -double{kLimit}, double{kLimit}) + 1 : sb.value;
              const double act = gelu ? gelu_tanh(g)
                                      : g / (1 + std::exp((clamped ? -double{kSlope} : -1) * g)),
                           want = act * u;
              const double n =
                  static_cast<double>(inputs + 2 + (type == WeightType::int8 ? 5 : 0)) * kFloat;
              // The slopes of silu and gelu are below 1.14; 16 roundings in the exponential and
              // the quotient. The exponent of gelu, 2u, has 6 roundings more.
              const double exponent =
                  gelu ? 1.6 * (std::abs(sa.value) + 0.045 * std::pow(std::abs(sa.value), 3)) : 0;
              const double wide = 1.14 * n * sa.sizes * std::abs(u) +
                                  std::abs(act) * (n * sb.sizes + (clamped ? 4 * kFloat : 0)) +
                                  (16 + 6 * exponent) * kFloat * std::abs(want);
              const double got = widen(out[static_cast<size_t>(r * (width + 1) + o)]);
              CHECK(std::abs(got - want) <= wide + kBf16 * (std::abs(want) + wide) + kSmallest);
            }
          }
        }
      }
  });
}

TEST_CASE(
    "a row's product does not depend on other rows, nor on which thread computes which panel") {
  with_each_set([](const Kernels& k) {
    Rng rng(4);
    for (const auto& [type, inputs] :
         std::vector<std::pair<WeightType, std::int64_t>>{{WeightType::bf16, 1100},
                                                          {WeightType::int8, 1100},
                                                          {WeightType::nf4, 1100},
                                                          {WeightType::bf16, 2083},
                                                          {WeightType::int8, 1027},
                                                          {WeightType::nf4, 1027},
                                                          {WeightType::bf16, 31},
                                                          {WeightType::int8, 31},
                                                          {WeightType::nf4, 33}}) {
      const Matrix w(k, rng, type, 100, inputs);
      auto x = random_bf16(rng, 65 * inputs);
      for (size_t i = 0; i < x.size(); ++i)  // a third of the rows, where numbers become subnormal
        if (i / static_cast<size_t>(inputs) % 3 == 2) x[i] = narrow(widen(x[i]) * 0x1p-126f);
      const auto multiply = [&](std::int64_t first, std::int64_t rows, std::int64_t cut) {
        std::vector<float> out(static_cast<size_t>(rows * 100));
        const Product p{.weights = w.packed,
                        .x = x.data() + first * inputs,
                        .rows = rows,
                        .x_stride = inputs,
                        .out = out.data(),
                        .out_stride = 100};
        k.multiply(p, 0, cut);
        k.multiply(p, cut, 4);
        return out;
      };
      const auto all = multiply(0, 65, 4);
      for (const std::int64_t rows : {1, 2, 3, 4, 5, 13, 16, 17, 31, 40})
        for (std::int64_t first = 0; first + rows <= 65; first += rows) {
          const auto some = multiply(first, rows, first % 5);
          REQUIRE(std::memcmp(some.data(), all.data() + first * 100, some.size() * 4) == 0);
        }
    }
  });
}
