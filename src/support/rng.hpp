#pragma once
#include <array>
#include <cstdint>
#include <string_view>

namespace pardec {

/// xoshiro256** (Blackman and Vigna 2018), seeded by splitmix64: the same numbers on every machine.
/// Each request has its own generator, so that its answer does not depend on other requests.
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

/// A seed for a named part of a run. Equal inputs give equal seeds; different names give unrelated
/// ones.
std::uint64_t derive_seed(std::uint64_t seed, std::string_view name);

}  // namespace pardec
