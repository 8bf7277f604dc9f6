// Kernels on rows, weight memory, and which processors have which kernels.
#include <algorithm>
#include <limits>

#include "src/kernels/weight_memory.hpp"
#include "tests/kernels/against_double.hpp"

using namespace pardec;
using namespace pardec::test;

TEST_CASE("bf16 is rounded to nearest even, and NaN stays NaN") {
  CHECK(narrow(1.0f) == 0x3F80);
  CHECK(narrow(1.0f + 0x1p-8f) == 0x3F80);            // a tie, to even
  CHECK(narrow(1.0f + 0x1p-7f + 0x1p-8f) == 0x3F82);  // a tie, to even
  CHECK(narrow(1.0f + 0x1p-8f + 0x1p-20f) == 0x3F81);
  CHECK(narrow(std::numeric_limits<float>::max()) == 0x7F80);
  CHECK(std::isnan(widen(narrow(std::numeric_limits<float>::quiet_NaN()))));
  CHECK(std::isnan(widen(narrow(__builtin_bit_cast(float, 0x7FFFFFFFu)))));
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
        // Half the error of the sum, for the root; and 6 roundings.
        const double error = std::abs(want) * (static_cast<double>(size) / 2 + 6) * kFloat;
        CHECK(std::abs(wide[i] - want) <= error);
        CHECK(std::abs(widen(rounded[i]) - want) <= error + kBf16 * (std::abs(want) + error));
      }
      k.narrow(x.data(), size, rounded.data());
      for (size_t i = 0; i < x.size(); ++i) CHECK(rounded[i] == narrow(x[i]));
    }
    // Heads that are rotated fully, and in part: pairs, and how many numbers there are.
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

TEST_CASE("if a value is NaN, the best one is NaN") {
  with_each_set([](const Kernels& k) {
    for (const std::int64_t size : {2, 3, 17, 256, 258, 259, 1000, 5001}) {
      std::vector<float> x(static_cast<size_t>(size), 1.0f);
      for (const std::int64_t at : {std::int64_t{0}, std::int64_t{1}, size / 2, size - 1}) {
        for (const float bad :
             {std::numeric_limits<float>::quiet_NaN(), -std::numeric_limits<float>::quiet_NaN()}) {
          x[static_cast<size_t>(at)] = bad;
          CHECK(std::isnan(k.top_two(x.data(), size).best_value));
        }
        x[static_cast<size_t>(at)] = std::numeric_limits<float>::infinity();
        const TopTwo top = k.top_two(x.data(), size);
        CHECK((top.best == at && std::isinf(top.best_value)));
        x[static_cast<size_t>(at)] = 1.0f;
      }
      CHECK(k.top_two(x.data(), size).best_value == 1.0f);
    }
  });
}

TEST_CASE("weight memory hands out cache lines, and no more than it has") {
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

TEST_CASE("an instruction set that does not exist is refused") {
  CHECK(instruction_sets().front() == InstructionSet::generic);
  CHECK(widest_instruction_set() == instruction_sets().back());
  CHECK_THROWS_AS(kernels(static_cast<InstructionSet>(99)), std::logic_error);
}
