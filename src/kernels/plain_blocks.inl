// Products of weights in blocks, on these primitives of the instruction set. Included inside an
// unnamed namespace, after them.
//   accumulate, expand_int8                     see kernels_body.inl
//   expand_nibbles(codes, middle, out)          expands a block's codes of 4 bits, less `middle`, to
//       bf16
//   multiply_codes(type, rows, codes, x, x_stride, part)
//       part[r][32] = x[r] times the codes of a block, with the bits that `accumulate` gives. Returns
//       whether the set computes so few rows without expanding the codes first

/// 32 numbers.
void wide_halves(const std::byte* from, float* out) {
  std::uint16_t halves[kPanel];
  __builtin_memcpy(halves, from, sizeof halves);
#pragma omp simd
  for (std::int64_t j = 0; j < kPanel; ++j) out[j] = widen_half(halves[j]);
}

/// The scales and minima of a block, 32 each.
void block_scales(WeightType type, const PackedBlock& block, float* scale, float* least) {
  if (type != WeightType::q4_k) {
    wide_halves(block.scales, scale);
    if (has_least(type)) wide_halves(block.scales + kHalfBytes, least);
    return;
  }
  wide_halves(block.shared, scale);
  wide_halves(block.shared + kHalfBytes, least);
  const auto* small = reinterpret_cast<const std::uint8_t*>(block.scales);
  for (std::int64_t j = 0; j < kPanel; ++j) scale[j] *= static_cast<float>(small[j]);
  for (std::int64_t j = 0; j < kPanel; ++j)
    least[j] = -(least[j] * static_cast<float>(small[kPanel + j]));
}

/// The codes of a block as bf16, without scales; exact.
void expand_block(WeightType type, const std::byte* codes, std::uint16_t* out) {
  if (type == WeightType::q8_0)
    expand_int8(codes, kSharedInputs / 2, out);
  else
    expand_nibbles(codes, type == WeightType::q4_0 ? 8 : 0, out);
}

/// As specified in kernels_body.inl.
void accumulate_blocks(const PackedMatrix& w, const std::byte* panel, const std::uint16_t* x,
                       std::int64_t rows, std::int64_t x_stride, const float* x_sums, float* sums) {
  constexpr std::uintptr_t kCodesAhead = 4096;  // prefetch distance in bytes
  const std::int64_t blocks = w.inputs / kSharedInputs;
  alignas(64) std::uint16_t expanded[kSharedInputs * kPanel];
  float scale[kPanel], least[kPanel], part[kMostRows * kPanel];
  for (std::int64_t i = 0; i < rows * kPanel; ++i) sums[i] = 0;
  for (std::int64_t b = 0; b < blocks; ++b) {
    const PackedBlock block = packed_block(w.type, panel, b);
    block_scales(w.type, block, scale, least);
    const bool coded =
        multiply_codes(w.type, rows, block.codes, x + b * kSharedInputs, x_stride, part);
    if (!coded) expand_block(w.type, block.codes, expanded);
    for (std::int64_t first = 0; first < rows; first += kMostRows) {
      const std::int64_t count = rows - first < kMostRows ? rows - first : kMostRows;
      if (!coded)
        accumulate(count, expanded, x + first * x_stride + b * kSharedInputs, x_stride,
                   kSharedInputs / 2, part, true,
                   reinterpret_cast<std::uintptr_t>(block.codes) + kCodesAhead,
                   static_cast<std::uintptr_t>(2 * kPanel));
      for (std::int64_t r = 0; r < count; ++r) {
        float* sum = sums + (first + r) * kPanel;
        for (std::int64_t j = 0; j < kPanel; ++j) sum[j] += scale[j] * part[r * kPanel + j];
        if (!has_least(w.type)) continue;
        const float all = x_sums[(first + r) * blocks + b];
        for (std::int64_t j = 0; j < kPanel; ++j) sum[j] += least[j] * all;
      }
    }
  }
}
