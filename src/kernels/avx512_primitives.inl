// AVX-512 primitives shared by the instruction sets with bf16 dot products. Included inside an
// unnamed namespace, after <immintrin.h>.

constexpr std::uintptr_t kCodesAhead = 4096;  // prefetch distance of quantised weights in bytes

inline void prefetch_codes(const std::byte* at) {
  _mm_prefetch(reinterpret_cast<const char*>(reinterpret_cast<std::uintptr_t>(at) + kCodesAhead),
               _MM_HINT_T0);
}

// The weights of a panel as pairs of inputs. each(pairs, take) calls take(k, a, b) for each pair k,
// with its first and second 16 outputs, and prefetches the following memory.

struct Int8 {
  const std::byte* codes;

  template <typename Take>
  void each(std::int64_t pairs, Take&& take) {
    const auto wide = [](const std::byte* from) {
      __m128i bytes;
      __builtin_memcpy(&bytes, from, sizeof bytes);
      return _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(bytes));
    };
    for (std::int64_t k = 0; k < pairs; ++k, codes += 2 * kPanel) {
      prefetch_codes(codes);
      take(k, _mm512_cvtne2ps_pbh(wide(codes + 16), wide(codes)),
           _mm512_cvtne2ps_pbh(wide(codes + 48), wide(codes + 32)));
    }
  }
};

struct Nf4 {
  const float* scales;     // scales of the block that contains the first pair
  const std::byte* lines;  // lines from the first pair on, which starts a line

  template <typename Take>
  void each(std::int64_t pairs, Take&& take) {
    const __m512 levels = _mm512_loadu_ps(kNf4);
    // A vector has 8 outputs, with both inputs of a pair for each.
    const __m512i twice = _mm512_setr_epi32(0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7);
    for (std::int64_t k = 0; k < pairs;) {
      __m512 scale[4];
#pragma GCC unroll 4
      for (int v = 0; v < 4; ++v)
        scale[v] =
            _mm512_permutexvar_ps(twice, _mm512_castps256_ps512(_mm256_loadu_ps(scales + 8 * v)));
      const auto* block = reinterpret_cast<const std::byte*>(scales);
      const std::byte* end = block + kNf4Bytes;
      for (; k < pairs && lines < end; lines += 64) {
        __m512i words;
        __builtin_memcpy(&words, lines, sizeof words);
        prefetch_codes(lines);
#pragma GCC unroll 2
        for (int p = 0; p < 2; ++p, ++k) {
          if (k == pairs) break;
          __m512 weights[4];
#pragma GCC unroll 4
          for (int v = 0; v < 4; ++v)  // the permutation reads the lowest 4 bits of a word
            weights[v] = _mm512_mul_ps(
                _mm512_permutexvar_ps(_mm512_srli_epi32(words, 4 * (4 * p + v)), levels), scale[v]);
          take(k, _mm512_cvtne2ps_pbh(weights[1], weights[0]),
               _mm512_cvtne2ps_pbh(weights[3], weights[2]));
        }
      }
      scales = reinterpret_cast<const float*>(end);
      lines = end + kScaleBytes;
    }
  }
};

/// Calls take(weights) with the weights of a quantised panel.
template <typename Take>
void with_codes(WeightType type, const std::byte* panel, Take&& take) {
  if (type == WeightType::int8)
    take(Int8{panel + kScaleBytes});
  else
    take(Nf4{reinterpret_cast<const float*>(panel), panel + kScaleBytes});
}

/// As `exponential`, for 16 values of at most 88, and 0 where `kept` is not set. NaN stays NaN,
/// because max returns its second operand if one is NaN.
inline __m512 exponentials_up_to_88(__m512 x, __mmask16 kept) {
  x = _mm512_max_ps(_mm512_set1_ps(-87.0f), x);
  const __m512 n = _mm512_roundscale_ps(_mm512_mul_ps(x, _mm512_set1_ps(1.44269504f)),
                                        _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
  __m512 r = _mm512_fnmadd_ps(n, _mm512_set1_ps(0.693359375f), x);
  r = _mm512_fmadd_ps(n, _mm512_set1_ps(2.12194440e-4f), r);
  __m512 p = _mm512_set1_ps(1.0f / 5040);
  for (const float c : {1.0f / 720, 1.0f / 120, 1.0f / 24, 1.0f / 6, 0.5f, 1.0f, 1.0f})
    p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(c));
  return _mm512_maskz_scalef_ps(kept, p, n);
}

/// As `exponential`, for 16 values.
inline __m512 exponentials(__m512 x) {
  return exponentials_up_to_88(_mm512_min_ps(_mm512_set1_ps(88.0f), x), 0xFFFF);
}

/// As specified in kernels_body.inl.
void gate(const float* sums, std::uint16_t* gated) {
  const __m512 a = _mm512_loadu_ps(sums), b = _mm512_loadu_ps(sums + 16);
  const __m512 below =
      _mm512_add_ps(_mm512_set1_ps(1.0f), exponentials(_mm512_sub_ps(_mm512_setzero_ps(), a)));
  const __m256bh rounded = _mm512_cvtneps_pbh(_mm512_mul_ps(_mm512_div_ps(a, below), b));
  __builtin_memcpy(gated, &rounded, sizeof rounded);
}

float soften(float* scores, std::uint32_t mask, float scale, float& largest) {
  const auto low = static_cast<__mmask16>(mask), high = static_cast<__mmask16>(mask >> 16);
  const __m512 nothing = _mm512_set1_ps(kNothing), factor = _mm512_set1_ps(scale);
  const __m512 a = _mm512_mask_mul_ps(nothing, low, _mm512_loadu_ps(scores), factor);
  const __m512 b = _mm512_mask_mul_ps(nothing, high, _mm512_loadu_ps(scores + 16), factor);
  const __m512 most = _mm512_max_ps(a, b);
  // Few blocks raise the largest score.
  if (_mm512_cmp_ps_mask(most, _mm512_set1_ps(largest), _CMP_GT_OQ) != 0) {
    const float here = _mm512_reduce_max_ps(most);
    largest = here > largest ? here : largest;
  }
  const __m512 base = _mm512_set1_ps(largest);
  const __m512 c = exponentials_up_to_88(_mm512_sub_ps(a, base), low);
  const __m512 d = exponentials_up_to_88(_mm512_sub_ps(b, base), high);
  _mm512_storeu_ps(scores, c);
  _mm512_storeu_ps(scores + 16, d);
  return _mm512_reduce_add_ps(_mm512_add_ps(c, d));
}

/// Transposes 16 x 16 values of 32 bits in place.
inline void transpose(__m512i (&m)[16]) {
  __m512i t[16];
  for (int i = 0; i < 16; i += 2) {
    t[i] = _mm512_unpacklo_epi32(m[i], m[i + 1]);
    t[i + 1] = _mm512_unpackhi_epi32(m[i], m[i + 1]);
  }
  for (int i = 0; i < 16; i += 4)
    for (int j = 0; j < 2; ++j) {
      m[i + 2 * j] = _mm512_unpacklo_epi64(t[i + j], t[i + 2 + j]);
      m[i + 2 * j + 1] = _mm512_unpackhi_epi64(t[i + j], t[i + 2 + j]);
    }
  // m[4 i + j] contains, in quarter q, column 4 q + j of rows 4 i .. 4 i + 3.
  for (int j = 0; j < 4; ++j) {
    const __m512i ab02 = _mm512_shuffle_i32x4(m[j], m[4 + j], 0x88);
    const __m512i ab13 = _mm512_shuffle_i32x4(m[j], m[4 + j], 0xDD);
    const __m512i cd02 = _mm512_shuffle_i32x4(m[8 + j], m[12 + j], 0x88);
    const __m512i cd13 = _mm512_shuffle_i32x4(m[8 + j], m[12 + j], 0xDD);
    t[j] = _mm512_shuffle_i32x4(ab02, cd02, 0x88);
    t[8 + j] = _mm512_shuffle_i32x4(ab02, cd02, 0xDD);
    t[4 + j] = _mm512_shuffle_i32x4(ab13, cd13, 0x88);
    t[12 + j] = _mm512_shuffle_i32x4(ab13, cd13, 0xDD);
  }
  for (int i = 0; i < 16; ++i) m[i] = t[i];
}

/// As specified in kernels_body.inl. 16 rows of 16 pairs are one transposition.
void pack_bf16(const std::uint16_t* const* rows, std::int64_t inputs, std::uint16_t* panel) {
  for (std::int64_t half = 0; half < kPanel; half += 16)
    for (std::int64_t k = 0; k < inputs; k += 32) {
      const std::int64_t count = inputs - k < 32 ? inputs - k : 32;
      const auto present = static_cast<__mmask32>((std::uint64_t{1} << count) - 1);
      __m512i m[16];
      for (int i = 0; i < 16; ++i)
        m[i] = rows[half + i] ? _mm512_maskz_loadu_epi16(present, rows[half + i] + k)
                              : _mm512_setzero_si512();
      transpose(m);
      for (int i = 0; i < (count + 1) / 2; ++i)
        _mm512_storeu_si512(panel + (k + 2 * i) * kPanel + 2 * half, m[i]);
    }
}

/// Writes the weights to memory as bf16, for products of many rows.
template <typename Weights>
void expand(Weights weights, std::int64_t pairs, std::uint16_t* out) {
  weights.each(
      pairs, [&](std::int64_t k, __m512bh a, __m512bh b) __attribute__((always_inline)) {
        __builtin_memcpy(out + 2 * k * kPanel, &a, sizeof a);
        __builtin_memcpy(out + (2 * k + 1) * kPanel, &b, sizeof b);
      });
}
void expand_int8(const std::byte* codes, std::int64_t pairs, std::uint16_t* out) {
  expand(Int8{codes}, pairs, out);
}
void expand_nf4(const float* scales, const std::byte* lines, std::int64_t pairs,
                std::uint16_t* out) {
  expand(Nf4{scales, lines}, pairs, out);
}

constexpr std::int64_t kMostMixed = 14;  // 28 registers of sums, 2 of values, 1 of weights

template <int kRows>
void mix_rows(const float* weights, const std::uint16_t* values, std::int64_t stride,
              std::int64_t keys, std::int64_t width, float* mixed) {
  const auto present = static_cast<__mmask32>((std::uint64_t{1} << width) - 1);
  const auto low = static_cast<__mmask16>(present), high = static_cast<__mmask16>(present >> 16);
  const auto wide = [](__mmask16 there, const std::uint16_t* from) {
    const __m256i bits = _mm256_maskz_loadu_epi16(there, from);
    return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(bits), 16));
  };
  // The same columns of the next block.
  std::uintptr_t next = reinterpret_cast<std::uintptr_t>(values) + kPanel * stride * 2;
  __m512 sum[kRows][2];
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r)
#pragma GCC unroll 2
    for (int j = 0; j < 2; ++j) sum[r][j] = _mm512_loadu_ps(mixed + r * kPanel + 16 * j);
  for (std::int64_t k = 0; k < keys; ++k, values += stride) {
    const __m512 a = wide(low, values), b = wide(high, values + 16);
    _mm_prefetch(reinterpret_cast<const char*>(next), _MM_HINT_T0);
    next += stride * 2;
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r) {
      const __m512 weight = _mm512_set1_ps(weights[r * kPanel + k]);
      sum[r][0] = _mm512_fmadd_ps(weight, a, sum[r][0]);
      sum[r][1] = _mm512_fmadd_ps(weight, b, sum[r][1]);
    }
  }
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r)
#pragma GCC unroll 2
    for (int j = 0; j < 2; ++j) _mm512_storeu_ps(mixed + r * kPanel + 16 * j, sum[r][j]);
}

/// As specified in kernels_body.inl.
void mix(std::int64_t rows, const float* weights, const std::uint16_t* values, std::int64_t stride,
         std::int64_t keys, std::int64_t width, float* mixed) {
  constexpr decltype(&mix_rows<1>) kByRows[] = {
      mix_rows<1>,  mix_rows<2>,  mix_rows<3>,  mix_rows<4>, mix_rows<5>,
      mix_rows<6>,  mix_rows<7>,  mix_rows<8>,  mix_rows<9>, mix_rows<10>,
      mix_rows<11>, mix_rows<12>, mix_rows<13>, mix_rows<14>};
  kByRows[rows - 1](weights, values, stride, keys, width, mixed);
}

// ---- weights in blocks ----

constexpr std::int64_t kBlockPairs = kSharedInputs / 2;

/// Two rounds of the 16 values of a code of 4 bits, in bf16: a permutation of words reads the
/// lowest 5 bits.
struct alignas(64) NibbleTable {
  std::uint16_t values[32] = {};
  explicit constexpr NibbleTable(int middle) {
    for (int i = 0; i < 32; ++i)
      values[i] = static_cast<std::uint16_t>(
          __builtin_bit_cast(std::uint32_t, static_cast<float>(i % 16 - middle)) >> 16);
  }
};
constexpr NibbleTable kNibbles(0), kCentredNibbles(8);

/// 16 numbers.
inline __m512 wide_halves(const std::byte* from) {
  __m256i bits;
  __builtin_memcpy(&bits, from, sizeof bits);
  return _mm512_cvtph_ps(bits);
}
inline __m512 wide_bytes(const std::byte* from) {
  __m128i bytes;
  __builtin_memcpy(&bytes, from, sizeof bytes);
  return _mm512_cvtepi32_ps(_mm512_cvtepu8_epi32(bytes));
}

/// Of one block, for the first and the second 16 outputs.
struct BlockScales {
  __m512 scale[2], least[2];
};

/// Weights as they are packed.
template <WeightType kType>
struct Coded {
  static constexpr bool kLeast = has_least(kType);
  const std::byte* panel;

  BlockScales scales(std::int64_t b) const {
    const PackedBlock block = packed_block(kType, panel, b);
    BlockScales s;
    for (int h = 0; h < 2; ++h) {
      const std::int64_t at = 32 * h;
      if constexpr (kType == WeightType::q4_k) {
        s.scale[h] =
            _mm512_mul_ps(wide_halves(block.shared + at), wide_bytes(block.scales + at / 2));
        s.least[h] = _mm512_sub_ps(_mm512_setzero_ps(),
                                   _mm512_mul_ps(wide_halves(block.shared + kHalfBytes + at),
                                                 wide_bytes(block.scales + kPanel + at / 2)));
      } else {
        s.scale[h] = wide_halves(block.scales + at);
        s.least[h] = kLeast ? wide_halves(block.scales + kHalfBytes + at) : _mm512_setzero_ps();
      }
    }
    return s;
  }

  /// Calls take(k, a, b) for each pair k of the block: codes without scales of its first and second
  /// 16 outputs, which are exact in bf16.
  template <typename Take>
  void each(std::int64_t b, Take&& take) const {
    const std::byte* codes = packed_block(kType, panel, b).codes;
    if constexpr (kType == WeightType::q8_0) {
      Int8{codes}.each(kBlockPairs, take);
    } else {
      const __m512i table = _mm512_load_si512(
          (kType == WeightType::q4_0 ? kCentredNibbles : kNibbles).values);
      const auto values = [&](__m512i q) {
        return reinterpret_cast<__m512bh>(_mm512_permutexvar_epi16(q, table));
      };
      for (std::int64_t k = 0; k < kBlockPairs; k += 2, codes += 64) {
        __m512i words;
        __builtin_memcpy(&words, codes, sizeof words);
        prefetch_codes(codes);
        take(k, values(words), values(_mm512_srli_epi16(words, 4)));
        take(k + 1, values(_mm512_srli_epi16(words, 8)), values(_mm512_srli_epi16(words, 12)));
      }
    }
  }
};

/// Weights of some blocks, expanded for products of many rows.
template <bool kHasLeast>
struct Expanded {
  static constexpr bool kLeast = kHasLeast;
  const std::uint16_t* codes;  // [blocks][pairs][2][32]
  const float* numbers;        // [blocks][2][32]: scales, minima

  BlockScales scales(std::int64_t b) const {
    const float* at = numbers + b * 2 * kPanel;
    return {{_mm512_load_ps(at), _mm512_load_ps(at + 16)},
            {_mm512_load_ps(at + 32), _mm512_load_ps(at + 48)}};
  }
  template <typename Take>
  void each(std::int64_t b, Take&& take) const {
    const std::uint16_t* at = codes + b * kSharedInputs * kPanel;
    for (std::int64_t k = 0; k < kBlockPairs; ++k, at += 2 * kPanel)
      take(k, reinterpret_cast<__m512bh>(_mm512_load_si512(at)),
           reinterpret_cast<__m512bh>(_mm512_load_si512(at + kPanel)));
  }
};

/// sums[r][32] += x[r] times some blocks; x_sums points to the first block's.
template <int kRows, typename Weights>
void add_blocks(const Weights& weights, std::int64_t blocks, const std::uint16_t* x,
                std::int64_t x_stride, const float* x_sums, std::int64_t sums_stride, float* sums) {
  __m512 sum[kRows][2];
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r)
#pragma GCC unroll 2
    for (int j = 0; j < 2; ++j) sum[r][j] = _mm512_loadu_ps(sums + r * kPanel + 16 * j);
  for (std::int64_t block = 0; block < blocks; ++block, x += kSharedInputs) {
    __m512 part[kRows][2];
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r) part[r][0] = part[r][1] = _mm512_setzero_ps();
    weights.each(
        block, [&](std::int64_t k, __m512bh a, __m512bh b) __attribute__((always_inline)) {
#pragma GCC unroll 16
          for (int r = 0; r < kRows; ++r) {
            int pair;
            __builtin_memcpy(&pair, x + r * x_stride + 2 * k, sizeof pair);
            const auto both = reinterpret_cast<__m512bh>(_mm512_set1_epi32(pair));
            part[r][0] = _mm512_dpbf16_ps(part[r][0], a, both);
            part[r][1] = _mm512_dpbf16_ps(part[r][1], b, both);
          }
        });
    const BlockScales s = weights.scales(block);
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r)
#pragma GCC unroll 2
      for (int j = 0; j < 2; ++j) {
        sum[r][j] = _mm512_fmadd_ps(s.scale[j], part[r][j], sum[r][j]);
        if constexpr (Weights::kLeast)
          sum[r][j] = _mm512_fmadd_ps(
              s.least[j], _mm512_set1_ps(x_sums[r * sums_stride + block]), sum[r][j]);
      }
  }
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r)
#pragma GCC unroll 2
    for (int j = 0; j < 2; ++j) _mm512_storeu_ps(sums + r * kPanel + 16 * j, sum[r][j]);
}

template <typename Weights, int... kRowsLessOne>
void add_blocks_by_rows(std::integer_sequence<int, kRowsLessOne...> /*all*/, std::int64_t rows,
                        const Weights& weights, std::int64_t blocks, const std::uint16_t* x,
                        std::int64_t x_stride, const float* x_sums, std::int64_t sums_stride,
                        float* sums) {
  constexpr decltype(&add_blocks<1, Weights>) kByRows[] = {
      add_blocks<kRowsLessOne + 1, Weights>...};
  kByRows[rows - 1](weights, blocks, x, x_stride, x_sums, sums_stride, sums);
}

template <WeightType kType>
void accumulate_coded(const Coded<kType>& coded, std::int64_t blocks, const std::uint16_t* x,
                      std::int64_t rows, std::int64_t x_stride, const float* x_sums, float* sums) {
  constexpr int kMostCoded = 8;      // with more rows, the codes are expanded first
  constexpr int kMostExpanded = 14;  // 28 registers of sums, 2 of weights, 1 of x
  if (rows <= kMostCoded) {
    add_blocks_by_rows(std::make_integer_sequence<int, kMostCoded>(), rows, coded, blocks, x,
                       x_stride, x_sums, blocks, sums);
    return;
  }
  constexpr std::int64_t kAtOnce = 8;  // blocks
  alignas(64) std::uint16_t codes[kAtOnce * kSharedInputs * kPanel];
  alignas(64) float numbers[kAtOnce * 2 * kPanel];
  const std::int64_t groups = (rows + kMostExpanded - 1) / kMostExpanded;
  for (std::int64_t first = 0; first < blocks; first += kAtOnce) {
    const std::int64_t count = blocks - first < kAtOnce ? blocks - first : kAtOnce;
    for (std::int64_t b = 0; b < count; ++b) {
      std::uint16_t* to = codes + b * kSharedInputs * kPanel;
      coded.each(first + b, [&](std::int64_t k, __m512bh low, __m512bh high) {
        __builtin_memcpy(to + 2 * k * kPanel, &low, sizeof low);
        __builtin_memcpy(to + (2 * k + 1) * kPanel, &high, sizeof high);
      });
      const BlockScales s = coded.scales(first + b);
      for (int h = 0; h < 2; ++h) {
        _mm512_store_ps(numbers + b * 2 * kPanel + 16 * h, s.scale[h]);
        _mm512_store_ps(numbers + b * 2 * kPanel + kPanel + 16 * h, s.least[h]);
      }
    }
    const Expanded<Coded<kType>::kLeast> weights{codes, numbers};
    for (std::int64_t g = 0; g < groups; ++g) {
      const std::int64_t begin = rows * g / groups, end = rows * (g + 1) / groups;
      add_blocks_by_rows(std::make_integer_sequence<int, kMostExpanded>(), end - begin,
                         weights, count, x + begin * x_stride + first * kSharedInputs, x_stride,
                         x_sums ? x_sums + begin * blocks + first : nullptr, blocks,
                         sums + begin * kPanel);
    }
  }
}

/// As specified in kernels_body.inl. Also with AMX: its tiles would need 16 rows.
void accumulate_blocks(const PackedMatrix& w, const std::byte* panel, const std::uint16_t* x,
                       std::int64_t rows, std::int64_t x_stride, const float* x_sums, float* sums) {
  for (std::int64_t i = 0; i < rows * kPanel; ++i) sums[i] = 0;
  const auto of_type = [&](const auto& coded) {
    accumulate_coded(coded, w.inputs / kSharedInputs, x, rows, x_stride, x_sums, sums);
  };
  switch (w.type) {
    case WeightType::q4_0:
      return of_type(Coded<WeightType::q4_0>{panel});
    case WeightType::q4_1:
      return of_type(Coded<WeightType::q4_1>{panel});
    case WeightType::q4_k:
      return of_type(Coded<WeightType::q4_k>{panel});
    default:
      return of_type(Coded<WeightType::q8_0>{panel});
  }
}
