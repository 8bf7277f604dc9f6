#pragma once
#include <array>
#include <cstdint>
#include <string_view>

namespace pardec {

/// xoshiro256** (Blackman and Vigna 2018) seeded by splitmix64: the same numbers on every machine.
/// One generator belongs to one request, so that an answer does not depend on what else runs.
class Rng {
 public:
  explicit Rng(std::uint64_t seed);
  std::uint64_t next();
  /// Uniform in [0, 1), 53 bits.
  double uniform();
  /// Uniform in [0, bound). REQUIRES: bound > 0.
  std::uint64_t below(std::uint64_t bound);
  /// Standard normal (Box-Muller).
  double normal();

 private:
  std::array<std::uint64_t, 4> state_;
};

/// A seed for a part of a run, named by a text: equal inputs give equal seeds, other names
/// unrelated ones.
std::uint64_t derive_seed(std::uint64_t seed, std::string_view name);

}  // namespace pardec
