#pragma once
#include <cstdint>

namespace pardec {

// Attention products of few query rows against a bf16 cache, on the CPU. (oneDNN's bf16 product
// copies the whole cache where it is strided, and compiles a new kernel for every length, which is
// every step of a decode.) bf16 is the upper half of a float32; sums are float32. All rows are
// dense, `dim` apart.

/// scores[r, k] = sum of queries[r, :] * keys[k, :]. queries [rows, dim], keys [count, dim] ->
/// scores [rows, count]
void skinny_scores(const float* queries, const std::uint16_t* keys, std::int64_t rows,
                   std::int64_t count, std::int64_t dim, float* scores);

/// mixed[r, :] = sum over k of weights[r, k] * values[k, :]. weights [rows, count], values [count,
/// dim] -> mixed [rows, dim]
void skinny_mix(const float* weights, const std::uint16_t* values, std::int64_t rows,
                std::int64_t count, std::int64_t dim, float* mixed);

}  // namespace pardec
