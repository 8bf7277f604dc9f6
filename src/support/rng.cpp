#include "src/support/rng.hpp"

#include <bit>
#include <cmath>
#include <numbers>

namespace pardec {

namespace {

std::uint64_t splitmix64(std::uint64_t& state) {
  std::uint64_t z = state += 0x9E3779B97F4A7C15u;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

}  // namespace

Rng::Rng(std::uint64_t seed) {
  for (auto& word : state_) word = splitmix64(seed);
}

std::uint64_t Rng::next() {
  const std::uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
  const std::uint64_t shifted = state_[1] << 17;
  state_[2] ^= state_[0];
  state_[3] ^= state_[1];
  state_[1] ^= state_[2];
  state_[0] ^= state_[3];
  state_[2] ^= shifted;
  state_[3] = std::rotl(state_[3], 45);
  return result;
}

double Rng::uniform() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }

std::uint64_t Rng::below(std::uint64_t bound) {
  // Values below the threshold would make some results more likely than others.
  const std::uint64_t threshold = (0 - bound) % bound;
  std::uint64_t value;
  do value = next();
  while (value < threshold);
  return value % bound;
}

double Rng::normal() {
  const double radius = std::sqrt(-2.0 * std::log(1.0 - uniform()));
  return radius * std::cos(2.0 * std::numbers::pi * uniform());
}

std::uint64_t derive_seed(std::uint64_t seed, std::string_view name) {
  std::uint64_t state = seed;
  for (const char c : name) {
    state ^= static_cast<unsigned char>(c);
    state = splitmix64(state);
  }
  return splitmix64(state);
}

}  // namespace pardec
