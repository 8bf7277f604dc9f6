// Primitives without intrinsics, for the instruction sets without better ones. Included inside an
// unnamed namespace.

/// As specified in kernels_body.inl.
void pack_bf16(const std::uint16_t* const* rows, std::int64_t inputs, std::uint16_t* panel) {
  for (std::int64_t k = 0; k < inputs; k += 2, panel += 2 * kPanel)
    for (std::int64_t j = 0; j < kPanel; ++j) {
      panel[2 * j] = rows[j] ? rows[j][k] : 0;
      panel[2 * j + 1] = rows[j] && k + 1 < inputs ? rows[j][k + 1] : 0;
    }
}

std::int64_t accumulate_codes(std::int64_t, const PackedMatrix&, const std::byte*,
                              const std::uint16_t*, std::int64_t, float*) {
  return 0;
}

void expand_int8(const std::byte* codes, std::int64_t pairs, std::uint16_t* out) {
  const auto* q = reinterpret_cast<const signed char*>(codes);
  for (std::int64_t i = 0; i < pairs * 2 * kPanel; ++i)
    out[i] = static_cast<std::uint16_t>(
        __builtin_bit_cast(std::uint32_t, static_cast<float>(q[i])) >> 16);  // exact
}

/// As specified in kernels_body.inl.
void mix(std::int64_t rows, const float* weights, const std::uint16_t* values, std::int64_t stride,
         std::int64_t keys, std::int64_t width, float* mixed) {
  for (std::int64_t k = 0; k < keys; ++k) {
    float value[kPanel];
    for (std::int64_t j = 0; j < width; ++j) value[j] = widen(values[k * stride + j]);
    for (std::int64_t r = 0; r < rows; ++r)
      for (std::int64_t j = 0; j < width; ++j)
        mixed[r * kPanel + j] += weights[r * kPanel + k] * value[j];
  }
}

/// As specified in kernels_body.inl.
void gate(const float* sums, std::uint16_t* gated) {
  float result[kPanel / 2];
  for (std::int64_t j = 0; j < kPanel / 2; ++j)
    result[j] = sums[j] / (1.0f + exponential(-sums[j])) * sums[kPanel / 2 + j];
#pragma omp simd
  for (std::int64_t j = 0; j < kPanel / 2; ++j) gated[j] = narrow(result[j]);
}

float soften(float* scores, std::uint32_t mask, float scale, float& largest) {
  for (std::uint32_t k = 0; k < kPanel; ++k)
    scores[k] = mask >> k & 1u ? scores[k] * scale : kNothing;
  float most = largest;
#pragma omp simd reduction(max : most)
  for (std::int64_t k = 0; k < kPanel; ++k) most = scores[k] > most ? scores[k] : most;
  float sum = 0;
#pragma omp simd reduction(+ : sum)
  for (std::int64_t k = 0; k < kPanel; ++k) {
    scores[k] = scores[k] == kNothing ? 0.0f : exponential(scores[k] - most);
    sum += scores[k];
  }
  largest = most;
  return sum;
}
