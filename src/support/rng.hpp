#pragma once
#include <array>
#include <cstdint>
#include <string_view>

namespace pardec {

/// The random generator xoshiro256** (Blackman and Vigna 2018), seeded by splitmix64. The results
/// of `next`, `uniform` and `below` are the same on every machine. Each request has its own
/// generator, so that the answer to a request does not depend on other requests.
class Rng {
 public:
  explicit Rng(std::uint64_t seed);
  /// 64 random bits.
  std::uint64_t next();
  /// Uniform in [0, 1), a multiple of 2^-53.
  double uniform();
  /// Uniform in [0, bound). REQUIRES: bound > 0.
  std::uint64_t below(std::uint64_t bound);
  /// Standard normal (Box-Muller). The last bits may depend on the machine's log and cos.
  double normal();

 private:
  std::array<std::uint64_t, 4> state_;
};

/// Derives the seed of a named part of a run from the run's seed. Different names give unrelated
/// seeds.
std::uint64_t derive_seed(std::uint64_t seed, std::string_view name);

}  // namespace pardec
