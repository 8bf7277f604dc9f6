// The kernels, built on the primitives of one instruction set. Each set's source includes this file
// inside namespace pardec, after defining these primitives in an unnamed namespace:
//   kMostRows                                   maximum number of rows of x in `accumulate`
//   accumulate(rows, panel, x, x_stride, pairs, sums, first, ahead, ahead_step)
//       sums[r][32] (= if first, else +=) x[r] times the panel. With each pair, prefetches
//       ahead_step bytes (at most two lines) from ahead, ahead + ahead_step, ...
//   gate(sums, gated)                           gated[j] = silu(sums[j]) * sums[16 + j], 16 values
//   soften(scores, mask, scale, largest)        turns 32 scores into e^(scale * score - largest),
//       or 0 if their mask bit is not set. First raises `largest` to the largest scaled score;
//       returns the sum
//   pack_bf16(rows, inputs, panel)              as Kernels::pack_panel
//   kBlockInputs                                inputs of a panel that stay in the cache between
//       rows
//   kExpanded, kFewExpanded                     inputs of a quantised panel that are expanded to
//       bf16 at once; kFewExpanded is used for at most kMostRows rows
//   accumulate_codes(rows, w, panel, x, x_stride, sums)
//       sums[r][32] = x[r] times a quantised panel (for int8 without its scales), for as many
//       inputs as the set supports without expanding the weights first. Returns their number, which
//       may be 0 with many rows
//   accumulate_blocks(w, panel, x, rows, x_stride, x_sums, sums)
//       sums[r][32] = x[r] times a panel of a type that is in_blocks: for each block of 32 inputs,
//       the codes times x, times the scale, plus x_sums[r][block] times the minimum
//   expand_int8(codes, pairs, out)              expands pairs of codes, one byte each, to bf16
//   expand_nf4(scales, lines, pairs, out)       expands pairs of one block, as in PackedMatrix, to
//       bf16
//   kMostMixed                                  maximum number of rows in `mix`
//   mix(rows, weights, values, stride, keys, width, mixed)
//       mixed[r][0 .. width) += sum over k < keys of weights[r][k] * values[k * stride + ...], in
//       the order of keys; weights [rows][32], mixed [rows][32] float32
// Plain loops: the compiler vectorises them with the flags of the source.

namespace {

static inline std::int64_t smaller(std::int64_t a, std::int64_t b) { return a < b ? a : b; }
static inline std::int64_t divided_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

// ---- products ----

constexpr std::int64_t kRowBlock = 256;  // rows whose sums of a panel stay in the cache
constexpr std::int64_t kAhead = 4096;    // prefetch distance in bytes if all rows form one group

/// Memory to prefetch during the computation of a block.
struct Next {
  std::uintptr_t begin = 0;
  std::int64_t bytes = 0;
};

/// sums[rows][32] (= if first, else +=) over a block of inputs, with the rows in groups of nearly
/// equal size. Each group prefetches its share of the following memory, so that memory streams
/// during the computation.
void accumulate_block(const std::uint16_t* panel, const std::uint16_t* x, std::int64_t rows,
                      std::int64_t x_stride, std::int64_t pairs, float* sums, bool first,
                      const Next& next) {
  const std::int64_t groups = divided_up(rows, kMostRows);
  for (std::int64_t g = 0; g < groups; ++g) {
    const std::int64_t begin = rows * g / groups, end = rows * (g + 1) / groups;
    accumulate(end - begin, panel, x + begin * x_stride, x_stride, pairs, sums + begin * kPanel,
               first, next.begin + static_cast<std::uintptr_t>(next.bytes * g / groups),
               static_cast<std::uintptr_t>(next.bytes / pairs / groups));
  }
}

/// The same if the memory to prefetch directly follows the block.
void accumulate_block(const std::uint16_t* panel, const std::uint16_t* x, std::int64_t rows,
                      std::int64_t x_stride, std::int64_t pairs, float* sums, bool first) {
  const std::int64_t bytes = pairs * 4 * kPanel;
  const std::uintptr_t here = reinterpret_cast<std::uintptr_t>(panel);
  const std::int64_t ahead = rows <= kMostRows ? kAhead : bytes;
  accumulate_block(panel, x, rows, x_stride, pairs, sums, first,
                   Next{here + static_cast<std::uintptr_t>(ahead), bytes});
}

/// Expands some inputs of a quantised panel, from input k on, to bf16 (NF4: k is a multiple of 4).
/// Returns the memory to prefetch: the same number of bytes after them.
Next expand(const PackedMatrix& w, const std::byte* panel, std::int64_t k, std::int64_t pairs,
            std::uint16_t* out) {
  if (w.type == WeightType::int8) {
    const std::byte* codes = panel + kScaleBytes + k * kPanel;
    expand_int8(codes, pairs, out);
    return {reinterpret_cast<std::uintptr_t>(codes + pairs * 2 * kPanel), pairs * 2 * kPanel};
  }
  const std::byte* block = panel + k / kNf4Block * kNf4Bytes;
  std::int64_t within = k % kNf4Block / 2;  // in pairs
  for (std::int64_t left = pairs; left > 0; within = 0, block += kNf4Bytes) {
    const std::int64_t count = smaller(left, kNf4Block / 2 - within);
    expand_nf4(reinterpret_cast<const float*>(block), block + kScaleBytes + within * kPanel, count,
               out);
    left -= count, out += count * 2 * kPanel;
  }
  return {reinterpret_cast<std::uintptr_t>(block), pairs * 2 * kNf4Bytes / kNf4Block};
}

/// Computes a whole panel of a type that is not in_blocks: sums[rows][32] = x times the panel.
void accumulate_panel(const PackedMatrix& w, std::int64_t p, const std::uint16_t* x,
                      std::int64_t rows, std::int64_t x_stride, float* sums) {
  const std::byte* panel = w.panel(p);
  const bool quantised = w.type != WeightType::bf16;
  const bool few = rows <= kMostRows;
  const std::int64_t step = !quantised ? kBlockInputs : few ? kFewExpanded : kExpanded;
  alignas(64) std::uint16_t expanded[kExpanded * kPanel];
  const std::int64_t done = quantised ? accumulate_codes(rows, w, panel, x, x_stride, sums) : 0;
  for (std::int64_t k = done; k < w.inputs; k += step) {
    const std::int64_t count = smaller(step, w.inputs - k), pairs = count / 2;
    const std::uint16_t* block = reinterpret_cast<const std::uint16_t*>(panel) + k * kPanel;
    if (quantised) {
      Next next = expand(w, panel, k, divided_up(count, 2), expanded);
      if (few) next.begin += static_cast<std::uintptr_t>(kAhead);
      block = expanded;
      if (pairs > 0) accumulate_block(block, x + k, rows, x_stride, pairs, sums, k == 0, next);
    } else if (pairs > 0) {
      accumulate_block(block, x + k, rows, x_stride, pairs, sums, k == 0);
    }
    if (count % 2 == 0) continue;
    // The last input has no partner. The memory after it does not belong to x.
    for (std::int64_t r = 0; r < rows; ++r) {
      const std::uint16_t last[2] = {x[r * x_stride + k + count - 1], 0};
      accumulate_block(block + 2 * pairs * kPanel, last, 1, 2, 1, sums + r * kPanel,
                       k + pairs == 0);
    }
  }
  if (w.type != WeightType::int8) return;
  const auto* scales = reinterpret_cast<const float*>(panel);
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t j = 0; j < kPanel; ++j) sums[r * kPanel + j] *= scales[j] * (1.0f / 127);
}

void sum_blocks(const std::uint16_t* x, std::int64_t size, float* out) {
  for (std::int64_t b = 0; b < size / kSharedInputs; ++b) {
    float sum = 0;
#pragma omp simd reduction(+ : sum)
    for (std::int64_t i = 0; i < kSharedInputs; ++i) sum += widen(x[b * kSharedInputs + i]);
    out[b] = sum;
  }
}

// ---- packing ----

/// The largest absolute value of x.
static inline float largest_size(const std::uint16_t* x, std::int64_t count) {
  std::uint16_t most = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    const auto size = static_cast<std::uint16_t>(x[i] & 0x7FFFu);
    most = size > most ? size : most;
  }
  return widen(most);
}

/// Rounds as bitsandbytes' int8_vectorwise_quant. A row of zeros has scale 0.
void pack_int8(const std::uint16_t* const* rows, std::int64_t inputs, std::byte* panel) {
  auto* codes = reinterpret_cast<signed char*>(panel + kScaleBytes);
  for (std::int64_t i = 0; i < divided_up(inputs, 2) * 2 * kPanel; ++i) codes[i] = 0;
  for (std::int64_t o = 0; o < kPanel; ++o) {
    const float scale = rows[o] ? largest_size(rows[o], inputs) : 0.0f;
    __builtin_memcpy(panel + 4 * o, &scale, 4);
    if (scale < 1e-36f) continue;  // the factor would be infinite; all codes are 0
    // in the same order as torch's division of a number by a tensor
    const float factor = 1.0f / scale * 127.0f;
    for (std::int64_t i = 0; i < inputs; ++i)
      codes[i / 2 * 2 * kPanel + 2 * o + i % 2] =
          static_cast<signed char>(__builtin_rintf(widen(rows[o][i]) * factor));
  }
}

/// Rounds as bitsandbytes' quantize_4bit: to the nearest level, and to the lower one in the middle.
/// Each row starts a block.
void pack_nf4(const std::uint16_t* const* rows, std::int64_t inputs, std::byte* panel) {
  for (std::int64_t begin = 0; begin < inputs; begin += kNf4Block, panel += kNf4Bytes) {
    const std::int64_t count = smaller(kNf4Block, inputs - begin);
    std::uint32_t words[kNf4Block / 4 * 16] = {};
    for (std::int64_t o = 0; o < kPanel; ++o) {
      const std::uint16_t* x = rows[o] ? rows[o] + begin : nullptr;
      const float scale = x ? largest_size(x, count) : 0.0f;
      __builtin_memcpy(panel + 4 * o, &scale, 4);
      const float factor = 1.0f / (scale > 1e-38f ? scale : 1e-38f);
      std::uint32_t q[kNf4Block];
      for (std::int64_t i = 0; i < kNf4Block; ++i) {
        const float value = x && i < count ? widen(x[i]) * factor : 0.0f;
        q[i] = 0;
        for (int level = 0; level < 15; ++level)
          q[i] += value > (kNf4[level] + kNf4[level + 1]) / 2;
      }
      for (std::int64_t i = 0; i < kNf4Block; ++i)
        words[i / 4 * 16 + 2 * (o % 8) + i % 2] |= q[i] << 4 * (i / 2 % 2 * 4 + o / 8);
    }
    __builtin_memcpy(panel + kScaleBytes, words, sizeof words);
  }
}

void pack_panel(WeightType type, const std::uint16_t* const* rows, std::int64_t inputs,
                std::byte* panel) {
  if (type == WeightType::int8)
    pack_int8(rows, inputs, panel);
  else if (type == WeightType::nf4)
    pack_nf4(rows, inputs, panel);
  else
    pack_bf16(rows, inputs, reinterpret_cast<std::uint16_t*>(panel));
}

/// gated[j] = gelu(sums[j]) * sums[16 + j], 16 values.
void gate_gelu(const float* sums, std::uint16_t* gated) {
  constexpr float kSlope = -1.5957691216f;  // -2 sqrt(2 / pi)
  for (std::int64_t j = 0; j < kPanel / 2; ++j) {
    const float a = sums[j], u = kSlope * (a + 0.044715f * a * a * a);
    gated[j] = narrow(a / (1.0f + exponential(u)) * sums[kPanel / 2 + j]);
  }
}

/// gated[j] = a / (1 + e^(-slope a)) * (b + 1) of clamped a and b, 16 values.
void gate_clamped(const float* sums, float limit, float slope, std::uint16_t* gated) {
  for (std::int64_t j = 0; j < kPanel / 2; ++j) {
    // A NaN stays: each comparison with it is false.
    float a = sums[j], b = sums[kPanel / 2 + j];
    a = a > limit ? limit : a;
    b = b > limit ? limit : b < -limit ? -limit : b;
    gated[j] = narrow(a / (1.0f + exponential(-slope * a)) * (b + 1.0f));
  }
}

void finish_gated(const Product& product, std::int64_t p, std::int64_t row, std::int64_t rows,
                   const float* sums) {
  constexpr std::int64_t kHalf = kPanel / 2;
  const float* bias = product.bias ? product.bias + p * kPanel : nullptr;
  const std::int64_t width = smaller(kHalf, product.weights.outputs / 2 - p * kHalf);
  for (std::int64_t r = 0; r < rows; ++r) {
    float sum[kPanel];
    for (std::int64_t j = 0; j < kPanel; ++j) sum[j] = sums[r * kPanel + j];
    if (bias)
      for (std::int64_t j = 0; j < kPanel; ++j) sum[j] += bias[j];
    std::uint16_t result[kHalf];
    if (product.finish == Product::Finish::geglu)
      gate_gelu(sum, result);
    else if (product.finish == Product::Finish::clamped)
      gate_clamped(sum, product.limit, product.slope, result);
    else
      gate(sum, result);
    std::uint16_t* out = product.gated + (row + r) * product.out_stride + p * kHalf;
    if (width == kHalf)
      __builtin_memcpy(out, result, sizeof result);
    else
      for (std::int64_t j = 0; j < width; ++j) out[j] = result[j];
  }
}

void finish_wide(const Product& product, std::int64_t p, std::int64_t row, std::int64_t rows,
                 const float* sums) {
  const float* bias = product.bias ? product.bias + p * kPanel : nullptr;
  const std::int64_t width = smaller(kPanel, product.weights.outputs - p * kPanel);
  const bool add = product.finish == Product::Finish::add;
  for (std::int64_t r = 0; r < rows; ++r) {
    const float* sum = sums + r * kPanel;
    float* out = product.out + (row + r) * product.out_stride + p * kPanel;
    if (bias && add)
      for (std::int64_t j = 0; j < width; ++j) out[j] += sum[j] + bias[j];
    else if (bias)
      for (std::int64_t j = 0; j < width; ++j) out[j] = sum[j] + bias[j];
    else if (add)
      for (std::int64_t j = 0; j < width; ++j) out[j] += sum[j];
    else
      for (std::int64_t j = 0; j < width; ++j) out[j] = sum[j];
  }
}

void multiply(const Product& product, std::int64_t begin, std::int64_t end) {
  alignas(64) float sums[kRowBlock * kPanel];
  for (std::int64_t row = 0; row < product.rows; row += kRowBlock) {
    const std::int64_t rows = smaller(kRowBlock, product.rows - row);
    for (std::int64_t p = begin; p < end; ++p) {
      const std::uint16_t* x = product.x + row * product.x_stride;
      if (in_blocks(product.weights.type))
        accumulate_blocks(
            product.weights, product.weights.panel(p), x, rows, product.x_stride,
            product.x_sums ? product.x_sums + row * (product.weights.inputs / kSharedInputs)
                           : nullptr,
            sums);
      else
        accumulate_panel(product.weights, p, x, rows, product.x_stride, sums);
      if (product.gated)
        finish_gated(product, p, row, rows, sums);
      else
        finish_wide(product, p, row, rows, sums);
    }
  }
}

// ---- attention ----

/// Scratch memory of an Attention, all parts in one allocation. `rows` = count * group; `panels` of
/// `dim`.
struct AttentionScratch {
  std::int64_t rows, panels;
  float* mixed;            // [panels][rows][32]: sum of weight times value so far
  float* scores;           // [rows][32], later weights
  float *largest, *total;  // [rows]: largest score so far, sum of weights so far
  std::uint16_t* queries;  // [rows][dim]

  AttentionScratch(const Attention& a, float* at)
      : rows(a.count * a.group), panels(divided_up(a.dim, kPanel)) {
    mixed = at, at += panels * rows * kPanel;
    scores = at, at += rows * kPanel;
    queries = reinterpret_cast<std::uint16_t*>(at), at += rows * a.dim / 2;
    largest = at, at += rows;
    total = at;
  }
};

/// Scores x become cap * tanh(scale * x / cap), 32 values.
void cap_scores(float* scores, float scale, float cap) {
  const float twice = 2 * scale / cap;
  for (std::int64_t k = 0; k < kPanel; ++k)
    scores[k] = cap - 2 * cap / (1.0f + exponential(twice * scores[k]));
}

/// Turns the scores of 32 keys into weights, and rescales `mixed` to the new largest score.
void weigh(const AttentionScratch& s, std::int64_t row, std::uint32_t mask, float scale,
           float cap) {
  float* scores = s.scores + row * kPanel;
  if (mask == 0) {
    for (std::int64_t k = 0; k < kPanel; ++k) scores[k] = 0;
    return;
  }
  if (cap > 0) {
    cap_scores(scores, scale, cap);
    scale = 1;
  }
  float largest = s.largest[row];
  const float sum = soften(scores, mask, scale, largest);
  if (largest > s.largest[row]) {
    const float fade = s.largest[row] == kNothing ? 0.0f : exponential(s.largest[row] - largest);
    s.largest[row] = largest;
    s.total[row] *= fade;
    for (std::int64_t p = 0; p < s.panels; ++p) {
      float* mixed = s.mixed + (p * s.rows + row) * kPanel;
      for (std::int64_t j = 0; j < kPanel; ++j) mixed[j] *= fade;
    }
  }
  s.total[row] += sum;
}

void mix_block(std::int64_t rows, const float* weights, const std::uint16_t* values,
               std::int64_t stride, std::int64_t keys, std::int64_t width, float* mixed) {
  const std::int64_t groups = divided_up(rows, kMostMixed);
  for (std::int64_t g = 0; g < groups; ++g) {
    const std::int64_t begin = rows * g / groups, end = rows * (g + 1) / groups;
    mix(end - begin, weights + begin * kPanel, values, stride, keys, width, mixed + begin * kPanel);
  }
}

/// Calls take(row, state of the row) for each row of queries.
template <typename Take>
void each_state(const Attention& a, const AttentionScratch& s, Take&& take) {
  for (std::int64_t row = 0; row < s.rows; ++row)
    take(row, a.tokens[row / a.group].state + row % a.group * (s.panels * kPanel + 2));
}

void begin_rows(const Attention& a, const AttentionScratch& s) {
  for (std::int64_t row = 0; row < s.rows; ++row) {
    const std::uint16_t* query = a.tokens[row / a.group].query + row % a.group * a.dim;
    for (std::int64_t j = 0; j < a.dim; ++j) s.queries[row * a.dim + j] = query[j];
    s.largest[row] = kNothing;
    s.total[row] = 0;
  }
  if (a.first) {
    for (std::int64_t i = 0; i < s.panels * s.rows * kPanel; ++i) s.mixed[i] = 0;
    return;
  }
  each_state(a, s, [&](std::int64_t row, const float* state) {
    s.largest[row] = *state++;
    s.total[row] = *state++;
    for (std::int64_t p = 0; p < s.panels; ++p, state += kPanel)
      __builtin_memcpy(s.mixed + (p * s.rows + row) * kPanel, state, kPanel * sizeof(float));
  });
}

void end_rows(const Attention& a, const AttentionScratch& s) {
  if (!a.last) {
    each_state(a, s, [&](std::int64_t row, float* state) {
      *state++ = s.largest[row];
      *state++ = s.total[row];
      for (std::int64_t p = 0; p < s.panels; ++p, state += kPanel)
        __builtin_memcpy(state, s.mixed + (p * s.rows + row) * kPanel, kPanel * sizeof(float));
    });
    return;
  }
  for (std::int64_t row = 0; row < s.rows; ++row) {
    float total = s.total[row];
    if (total > 0 && a.sinks) total += exponential(a.sinks[row % a.group] - s.largest[row]);
    const float share = total > 0 ? 1.0f / total : 0.0f;
    std::uint16_t* out = a.tokens[row / a.group].out + row % a.group * a.dim;
    for (std::int64_t p = 0; p < s.panels; ++p) {
      const float* mixed = s.mixed + (p * s.rows + row) * kPanel;
      for (std::int64_t j = 0; j < smaller(kPanel, a.dim - p * kPanel); ++j)
        out[p * kPanel + j] = narrow(mixed[j] * share);
    }
  }
}

/// Processes one block of 32 keys after another, with a running largest score.
void attend(const Attention& a, float* scratch) {
  const AttentionScratch s(a, scratch);
  begin_rows(a, s);
  for (std::int64_t i = 0; i < a.block_count; ++i) {
    const std::int64_t block = a.blocks[i];
    const std::int64_t first = block * kPanel;
    accumulate_block(a.keys + first * a.dim, s.queries, s.rows, a.dim, a.dim / 2, s.scores, true);
    for (std::int64_t row = 0; row < s.rows; ++row)
      weigh(s, row, a.tokens[row / a.group].mask[block], a.scale, a.cap);
    for (std::int64_t p = 0; p < s.panels; ++p)
      mix_block(s.rows, s.scores, a.values + first * a.dim + p * kPanel, a.dim,
                smaller(kPanel, a.end - first), smaller(kPanel, a.dim - p * kPanel),
                s.mixed + p * s.rows * kPanel);
  }
  end_rows(a, s);
}

// ---- rows ----

static inline float norm_factor(const float* x, std::int64_t size, float eps) {
  float sum = 0;
#pragma omp simd reduction(+ : sum)
  for (std::int64_t i = 0; i < size; ++i) sum += x[i] * x[i];
  return 1.0f / __builtin_sqrtf(sum / static_cast<float>(size) + eps);
}

void rms_norm(const float* x, const float* weight, std::int64_t size, float eps,
              std::uint16_t* out) {
  const float factor = norm_factor(x, size, eps);
  for (std::int64_t i = 0; i < size; ++i) out[i] = narrow(weight[i] * (x[i] * factor));
}

void rms_norm_wide(const float* x, const float* weight, std::int64_t size, float eps, float* out) {
  const float factor = norm_factor(x, size, eps);
  for (std::int64_t i = 0; i < size; ++i) out[i] = weight[i] * (x[i] * factor);
}

void narrow_row(const float* x, std::int64_t size, std::uint16_t* out) {
  for (std::int64_t i = 0; i < size; ++i) out[i] = narrow(x[i]);
}

void rotate(const float* x, const float* cos, const float* sin, std::int64_t half,
            std::int64_t size, std::uint16_t* out) {
  for (std::int64_t i = 0; i < half; ++i) out[i] = narrow(x[i] * cos[i] - x[half + i] * sin[i]);
  for (std::int64_t i = 0; i < half; ++i)
    out[half + i] = narrow(x[half + i] * cos[i] + x[i] * sin[i]);
  narrow_row(x + 2 * half, size - 2 * half, out + 2 * half);
}

void rotate_key(const float* x, const float* cos, const float* sin, std::int64_t half,
                std::int64_t size, std::uint16_t* lane) {
  const auto place = [](std::int64_t i) { return i / 2 * 2 * kPanel + i % 2; };
  for (std::int64_t i = 0; i < 2 * half; ++i) {
    const std::int64_t j = i < half ? i : i - half;
    const float turned =
        i < half ? x[i] * cos[j] - x[half + i] * sin[j] : x[i] * cos[j] + x[j] * sin[j];
    lane[place(i)] = narrow(turned);
  }
  for (std::int64_t i = 2 * half; i < size; ++i) lane[place(i)] = narrow(x[i]);
}

TopTwo top_two(const float* x, std::int64_t size) {
  TopTwo top{0, 1, x[0], x[1]};
  if (x[1] > x[0]) top = {1, 0, x[1], x[0]};
  constexpr std::int64_t kStride = 256;
  int unordered = x[0] != x[0] || x[1] != x[1];
  for (std::int64_t begin = 2; begin < size; begin += kStride) {
    const std::int64_t end = smaller(size, begin + kStride);
    float largest = x[begin];
#pragma omp simd reduction(max : largest) reduction(| : unordered)
    for (std::int64_t i = begin; i < end; ++i) {
      largest = x[i] > largest ? x[i] : largest;
      unordered |= x[i] != x[i];
    }
    if (largest <= top.second_value) continue;  // few stretches contain one of the two
    for (std::int64_t i = begin; i < end; ++i) {
      if (x[i] > top.best_value)
        top = {i, top.best, x[i], top.best_value};
      else if (x[i] > top.second_value)
        top.second = i, top.second_value = x[i];
    }
  }
  if (unordered) top.best_value = __builtin_nanf("");
  return top;
}

}  // namespace
