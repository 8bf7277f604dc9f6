#include "src/model/skinny_attention.hpp"

#include <algorithm>
#include <bit>

// One binary for all machines: the loader picks the widest version. (A sanitizer is not ready yet
// when it does.)
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)
#define PARDEC_WIDEST __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define PARDEC_WIDEST
#endif

namespace pardec {

PARDEC_WIDEST
void skinny_scores(const float* queries, const std::uint16_t* keys, std::int64_t rows,
                   std::int64_t count, std::int64_t dim, float* scores) {
  for (std::int64_t k = 0; k < count; ++k) {
    const std::uint16_t* key = keys + k * dim;
    for (std::int64_t r = 0; r < rows; ++r) {
      const float* query = queries + r * dim;
      float sum = 0;
#pragma omp simd reduction(+ : sum)
      for (std::int64_t j = 0; j < dim; ++j)
        sum += query[j] * std::bit_cast<float>(std::uint32_t{key[j]} << 16);
      scores[r * count + k] = sum;
    }
  }
}

PARDEC_WIDEST
void skinny_mix(const float* weights, const std::uint16_t* values, std::int64_t rows,
                std::int64_t count, std::int64_t dim, float* mixed) {
  std::fill(mixed, mixed + rows * dim, 0.0f);
  for (std::int64_t k = 0; k < count; ++k) {
    const std::uint16_t* value = values + k * dim;
    for (std::int64_t r = 0; r < rows; ++r) {
      const float weight = weights[r * count + k];
      if (weight == 0) continue;  // hidden, as a rule
      float* out = mixed + r * dim;
#pragma omp simd
      for (std::int64_t j = 0; j < dim; ++j)
        out[j] += weight * std::bit_cast<float>(std::uint32_t{value[j]} << 16);
    }
  }
}

}  // namespace pardec
