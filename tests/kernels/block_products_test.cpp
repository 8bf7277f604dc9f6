// Weights in the blocks of a GGUF file: packing and products. The truth is computed here, directly
// from the definitions of the types (ggml-common.h).
#include <algorithm>
#include <cstring>

#include "tests/kernels/against_double.hpp"

using namespace pardec;
using namespace pardec::test;

namespace {

constexpr WeightType kBlockTypes[] = {WeightType::q4_0, WeightType::q4_1, WeightType::q4_k,
                                      WeightType::q8_0};

/// A weight is scale * q + least.
struct Weight {
  double scale, q, least;
  double value() const { return scale * q + least; }
};

double half_value(const std::uint8_t* at) {
  const int bits = at[0] | at[1] << 8, exponent = bits >> 10 & 31, fraction = bits & 1023;
  const double size =
      exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
  return bits >> 15 ? -size : size;
}

/// Number i of a row.
Weight weight_of(WeightType type, const std::uint8_t* row, std::int64_t i) {
  const std::int64_t block = i / 32, place = i % 32;
  const auto nibble = [&](const std::uint8_t* codes) {
    return place < 16 ? codes[place] & 15 : codes[place - 16] >> 4;
  };
  if (type == WeightType::q4_0) {
    const std::uint8_t* at = row + block * 18;
    return {half_value(at), nibble(at + 2) - 8.0, 0};
  }
  if (type == WeightType::q4_1) {
    const std::uint8_t* at = row + block * 20;
    return {half_value(at), static_cast<double>(nibble(at + 4)), half_value(at + 2)};
  }
  if (type == WeightType::q8_0) {
    const std::uint8_t* at = row + block * 34;
    return {half_value(at), static_cast<double>(static_cast<std::int8_t>(at[2 + place])), 0};
  }
  const std::uint8_t* at = row + i / 256 * 144;
  const std::int64_t group = i % 256 / 32;
  const std::uint8_t *packed = at + 4, *codes = at + 16 + group / 2 * 32;
  const int scale =
      group < 4 ? packed[group] & 63 : (packed[group + 4] & 15) | (packed[group - 4] >> 6 << 4);
  const int least =
      group < 4 ? packed[group + 4] & 63 : packed[group + 4] >> 4 | (packed[group] >> 6 << 4);
  return {half_value(at) * scale,
          static_cast<double>(group % 2 == 0 ? codes[place] & 15 : codes[place] >> 4),
          -half_value(at + 2) * least};
}

std::int64_t file_bytes(WeightType type, std::int64_t inputs) {
  return type == WeightType::q4_0   ? inputs / 32 * 18
         : type == WeightType::q4_1 ? inputs / 32 * 20
         : type == WeightType::q8_0 ? inputs / 32 * 34
                                    : inputs / 256 * 144;
}

/// Random bytes, in which the float16 numbers are at most 8. Some are subnormal, some zero.
std::vector<std::uint8_t> random_rows(Rng& rng, WeightType type, std::int64_t outputs,
                                      std::int64_t inputs) {
  const std::int64_t bytes = file_bytes(type, inputs);
  std::vector<std::uint8_t> rows(static_cast<size_t>(outputs * bytes));
  for (std::uint8_t& byte : rows) byte = static_cast<std::uint8_t>(rng.below(256));
  const std::int64_t block = file_bytes(type, type == WeightType::q4_k ? 256 : 32);
  const bool two = type == WeightType::q4_1 || type == WeightType::q4_k;
  for (std::int64_t at = 0; at < std::ssize(rows); at += block)
    for (std::int64_t half = 0; half < (two ? 2 : 1); ++half) {
      const auto exponent = rng.below(8) == 0 ? 0 : 8 + rng.below(10);
      const auto fraction = rng.below(16) == 0 ? 0 : rng.below(1024);
      const auto bits = rng.below(2) << 15 | exponent << 10 | fraction;
      rows[static_cast<size_t>(at + 2 * half)] = static_cast<std::uint8_t>(bits & 255);
      rows[static_cast<size_t>(at + 2 * half + 1)] = static_cast<std::uint8_t>(bits >> 8);
    }
  return rows;
}

struct BlockMatrix {
  std::vector<std::uint8_t> file;
  std::vector<std::byte> panels;
  PackedMatrix packed;
  BlockMatrix(Rng& rng, WeightType type, std::int64_t outputs, std::int64_t inputs)
      : file(random_rows(rng, type, outputs, inputs)),
        panels(static_cast<size_t>(packed_bytes(outputs, inputs, type)), std::byte{0xFF}),
        packed{panels.data(), outputs, inputs, type} {
    for (std::int64_t p = 0; p < packed.panel_count(); ++p) {
      const std::byte* rows[kPanel];
      for (std::int64_t j = 0; j < kPanel; ++j)
        rows[j] = p * kPanel + j < outputs ? reinterpret_cast<const std::byte*>(row(p * kPanel + j))
                                           : nullptr;
      pack_blocks(type, rows, inputs, panels.data() + p * packed.panel_bytes());
    }
  }
  const std::uint8_t* row(std::int64_t output) const {
    return file.data() + output * file_bytes(packed.type, packed.inputs);
  }
  Weight weight(std::int64_t output, std::int64_t input) const {
    return weight_of(packed.type, row(output), input);
  }
  /// x times a row. The errors of codes and of minima are apart, so their magnitudes are, too.
  Sum product(std::int64_t output, const std::uint16_t* x, double bias) const {
    Sum sum;
    for (std::int64_t i = 0; i < packed.inputs; ++i) {
      const Weight w = weight(output, i);
      sum.add(w.scale * w.q * double{widen(x[i])});
      sum.add(w.least * double{widen(x[i])});
    }
    sum.add(bias);
    return sum;
  }
};

/// Sets x_sums, which must live as long as the product.
Product with_sums(const Kernels& k, Product product, std::vector<float>& sums) {
  const std::int64_t blocks = product.weights.inputs / 32;
  sums.resize(static_cast<size_t>(product.rows * blocks));
  for (std::int64_t r = 0; r < product.rows; ++r)
    k.sum_blocks(product.x + r * product.x_stride, product.weights.inputs,
                 sums.data() + r * blocks);
  product.x_sums = sums.data();
  return product;
}

// Within a block 32 products, the scale's roundings, and the sum of the block's inputs.
double allowed_share(std::int64_t inputs) { return static_cast<double>(inputs + 40) * kFloat; }

struct BlockShape {
  std::int64_t outputs, inputs;
};
std::vector<BlockShape> block_shapes(WeightType type) {
  if (type == WeightType::q4_k) return {{32, 256}, {3, 512}, {70, 768}};
  return {{32, 32}, {1, 64}, {33, 288}, {70, 800}};
}

}  // namespace

TEST_CASE("packed blocks have the numbers of the file, and padding is zero") {
  Rng rng(21);
  for (const WeightType type : kBlockTypes)
    for (const auto& [outputs, inputs] : block_shapes(type)) {
      const BlockMatrix w(rng, type, outputs, inputs);
      std::vector<float> row(static_cast<size_t>(inputs));
      for (std::int64_t o = 0; o < outputs; ++o) {
        unpack_row(w.packed, o, row.data());
        for (std::int64_t i = 0; i < inputs; ++i) {
          const Weight want = w.weight(o, i);
          const double sizes = std::abs(want.scale * want.q) + std::abs(want.least);
          REQUIRE(std::abs(row[static_cast<size_t>(i)] - want.value()) <= 3 * kFloat * sizes);
        }
      }
      PackedMatrix whole = w.packed;
      whole.outputs = whole.panel_count() * kPanel;
      for (std::int64_t o = outputs; o < whole.outputs; ++o) {
        unpack_row(whole, o, row.data());
        REQUIRE(std::all_of(row.begin(), row.end(), [](float value) { return value == 0; }));
      }
      CHECK(weight_bytes(outputs, inputs, type) == std::ssize(w.file));
    }
  CHECK(packed_bytes(64, 96, WeightType::q4_0) == 64 * 3 * 18);
  CHECK(packed_bytes(64, 96, WeightType::q4_1) == 64 * 3 * 20);
  CHECK(packed_bytes(33, 96, WeightType::q8_0) == 64 * 3 * 34);
  CHECK(packed_bytes(64, 512, WeightType::q4_k) == 64 * 2 * (128 + 4 + 2 * 8));
}

TEST_CASE("the sum of each 32 numbers") {
  with_each_set([](const Kernels& k) {
    Rng rng(22);
    const auto x = random_bf16(rng, 96);
    std::vector<float> sums(3);
    k.sum_blocks(x.data(), 96, sums.data());
    for (size_t b = 0; b < 3; ++b) {
      Sum want;
      for (size_t i = 0; i < 32; ++i) want.add(widen(x[32 * b + i]));
      CHECK(std::abs(sums[b] - want.value) <= 32 * kFloat * want.sizes);
    }
  });
}

TEST_CASE("products of weights in blocks equal those in double within the rounding of their sums") {
  with_each_set([](const Kernels& k) {
    Rng rng(23);
    for (const WeightType type : kBlockTypes)
      for (const auto& [outputs, inputs] : block_shapes(type)) {
        const BlockMatrix w(rng, type, outputs, inputs);
        const std::int64_t panels = w.packed.panel_count();
        const std::vector<float> bias = random_floats(rng, panels * kPanel);
        for (const std::int64_t rows : {1, 2, 5, 8, 9, 14, 15, 30, 257}) {
          const std::int64_t stride = inputs + rows % 3, out_stride = outputs + rows % 2;
          const auto x = random_bf16(rng, (rows - 1) * stride + inputs);  // nothing after it
          const auto before = random_floats(rng, rows * out_stride);
          const bool add = rows % 2 == 0;
          std::vector<float> out = before, sums;
          k.multiply(with_sums(k,
                               {.weights = w.packed,
                                .x = x.data(),
                                .rows = rows,
                                .x_stride = stride,
                                .bias = add ? nullptr : bias.data(),
                                .finish = add ? Product::Finish::add : Product::Finish::store,
                                .out = out.data(),
                                .out_stride = out_stride},
                               sums),
                     0, panels);
          double worst = 0;
          for (std::int64_t r = 0; r < rows; ++r)
            for (std::int64_t o = 0; o < out_stride; ++o) {
              const auto at = static_cast<size_t>(r * out_stride + o);
              if (o >= outputs) {
                REQUIRE(out[at] == before[at]);
                continue;
              }
              Sum sum = w.product(o, x.data() + r * stride, add ? 0 : bias[static_cast<size_t>(o)]);
              if (add) sum.add(before[at]);
              const double allowed = allowed_share(inputs) * sum.sizes + kSmallest;
              worst = std::max(worst, std::abs(out[at] - sum.value) / allowed);
            }
          INFO(outputs << " x " << inputs << ", " << rows << " rows, type "
                       << static_cast<int>(type));
          CHECK(worst <= 1);
        }
      }
  });
}

TEST_CASE("a gated product of weights in blocks is silu(a) * b") {
  with_each_set([](const Kernels& k) {
    Rng rng(24);
    for (const WeightType type : kBlockTypes) {
      const std::int64_t width = 19, panels = 2, inputs = 256;
      const BlockMatrix a(rng, type, width, inputs), b(rng, type, width, inputs);
      std::vector<std::byte> packed(static_cast<size_t>(packed_bytes(panels * 32, inputs, type)));
      const PackedMatrix w{packed.data(), 2 * width, inputs, type};
      for (std::int64_t p = 0; p < panels; ++p) {
        const std::byte* rows[kPanel];
        for (std::int64_t j = 0; j < 16; ++j) {
          const std::int64_t o = 16 * p + j;
          rows[j] = o < width ? reinterpret_cast<const std::byte*>(a.row(o)) : nullptr;
          rows[16 + j] = o < width ? reinterpret_cast<const std::byte*>(b.row(o)) : nullptr;
        }
        pack_blocks(type, rows, inputs, packed.data() + p * w.panel_bytes());
      }
      const std::int64_t rows = 2;
      auto x = random_bf16(rng, rows * inputs);
      for (std::uint16_t& one : x) one = narrow(widen(one) / 256);  // where silu is not flat
      std::vector<std::uint16_t> out(static_cast<size_t>(rows * width));
      std::vector<float> sums;
      k.multiply(with_sums(k,
                           {.weights = w,
                            .x = x.data(),
                            .rows = rows,
                            .x_stride = inputs,
                            .finish = Product::Finish::swiglu,
                            .gated = out.data(),
                            .out_stride = width},
                           sums),
                 0, panels);
      for (std::int64_t r = 0; r < rows; ++r)
        for (std::int64_t o = 0; o < width; ++o) {
          const Sum sa = a.product(o, x.data() + r * inputs, 0);
          const Sum sb = b.product(o, x.data() + r * inputs, 0);
          const double act = sa.value / (1 + std::exp(-sa.value)), want = act * sb.value;
          const double n = allowed_share(inputs);
          const double wide = 1.14 * n * sa.sizes * std::abs(sb.value) +
                              std::abs(act) * n * sb.sizes + 16 * kFloat * std::abs(want);
          const double got = widen(out[static_cast<size_t>(r * width + o)]);
          CHECK(std::abs(got - want) <= wide + kBf16 * (std::abs(want) + wide) + kSmallest);
        }
    }
  });
}

TEST_CASE("a row's product with weights in blocks does not depend on other rows or on the split") {
  with_each_set([](const Kernels& k) {
    Rng rng(25);
    for (const WeightType type : kBlockTypes) {
      const std::int64_t inputs = 768, outputs = 100, all_rows = 65;
      const BlockMatrix w(rng, type, outputs, inputs);
      auto x = random_bf16(rng, all_rows * inputs);
      for (size_t i = 0; i < x.size(); ++i)  // a third of the rows, where numbers become subnormal
        if (i / static_cast<size_t>(inputs) % 3 == 2) x[i] = narrow(widen(x[i]) * 0x1p-126f);
      const auto multiply = [&](std::int64_t first, std::int64_t rows, std::int64_t cut) {
        std::vector<float> out(static_cast<size_t>(rows * outputs)), sums;
        const Product p = with_sums(k,
                                    {.weights = w.packed,
                                     .x = x.data() + first * inputs,
                                     .rows = rows,
                                     .x_stride = inputs,
                                     .out = out.data(),
                                     .out_stride = outputs},
                                    sums);
        k.multiply(p, 0, cut);
        k.multiply(p, cut, w.packed.panel_count());
        return out;
      };
      const std::vector<float> all = multiply(0, all_rows, 4);
      for (const std::int64_t rows : {1, 2, 3, 8, 9, 14, 15, 31}) {
        const std::int64_t first = rows % 5;
        const std::vector<float> some = multiply(first, rows, 1);
        REQUIRE(std::memcmp(some.data(), all.data() + first * outputs, some.size() * 4) == 0);
      }
    }
  });
}
