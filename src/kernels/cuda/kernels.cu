#include "src/kernels/cuda/kernels.hpp"

#ifdef __CUDACC__
#include <cuda_bf16.h>
#include <mma.h>

#define PARDEC_DYNAMIC_SHARED(name) extern __shared__ __align__(128) unsigned char name[]
#define PARDEC_LAUNCH(kernel, grid, threads, bytes, stream, ...) \
  kernel<<<grid, threads, bytes, static_cast<cudaStream_t>(stream)>>>(__VA_ARGS__)
#endif  // otherwise the test's header replaces the toolkit

namespace pardec::cuda {

namespace {

namespace wmma = nvcuda::wmma;

constexpr int kLanes = 32;
constexpr int kRows = 16;  // queries of a tile: the size of one matrix instruction
constexpr int kKeys = 32;  // keys of a block: one per lane
constexpr int kWarps = 2;  // tiles of a thread block, computed independently
constexpr float kNothing = -INFINITY;

/// Shared memory of one warp. Rows of scores and weights are 40 numbers apart; rows of queries and
/// `mixed` are dim + 8 apart. Thus neighbouring rows lie in different banks.
struct WarpMemory {
  static constexpr int kScores = kKeys + 8;
  int dim, width;          // width: distance of rows in `queries` and `mixed`
  float* mixed;            // [16][width]: sum of weight times value so far
  float* scores;           // [16][40]
  float *largest, *total;  // [16]: largest score so far, sum of weights so far
  unsigned* seen;          // [16]: bits of the block's keys visible to each token of the tile
  __nv_bfloat16* queries;  // [16][width]
  __nv_bfloat16* weights;  // [16][40]

  __host__ __device__ static int bytes(int dim) {
    const int width = dim + 8;
    return 4 * (kRows * width + kRows * kScores + 3 * kRows) +
           2 * (kRows * width + kRows * kScores);
  }
  __device__ WarpMemory(unsigned char* at, int dim_) : dim(dim_), width(dim_ + 8) {
    mixed = reinterpret_cast<float*>(at);
    scores = mixed + kRows * width;
    largest = scores + kRows * kScores;
    total = largest + kRows;
    seen = reinterpret_cast<unsigned*>(total + kRows);
    queries = reinterpret_cast<__nv_bfloat16*>(seen + kRows);
    weights = queries + kRows * width;
  }
};

/// The visibility rule (visibility.hpp), with a window.
__device__ bool visible(const Attention& a, const Sequence& s, const KeyLabel& q,
                        const KeyLabel& k) {
  if (k.segment < 0 || k.order > q.order || k.rank > q.rank) return false;
  if (a.window > 0 && q.position - k.position >= a.window) return false;
  return a.sees[s.first_word + q.segment * s.segment_words + k.segment / 32] >> k.segment % 32 & 1u;
}

/// scores = queries times the keys of a block.
__device__ void score(const WarpMemory& m, const __nv_bfloat16* keys) {
  for (int half = 0; half < kKeys; half += 16) {
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
    wmma::fill_fragment(sum, 0.0f);
    for (int d = 0; d < m.dim; d += 16) {
      wmma::fragment<wmma::matrix_a, 16, 16, 16, __nv_bfloat16, wmma::row_major> q;
      wmma::fragment<wmma::matrix_b, 16, 16, 16, __nv_bfloat16, wmma::col_major> k;
      wmma::load_matrix_sync(q, m.queries + d, m.width);
      wmma::load_matrix_sync(k, keys + half * m.dim + d, m.dim);
      wmma::mma_sync(sum, q, k, sum);
    }
    wmma::store_matrix_sync(m.scores + half, sum, WarpMemory::kScores, wmma::mem_row_major);
  }
}

/// Turns scores into weights, and rescales `mixed` to the new largest score. Two lanes share a row.
__device__ void weigh(const WarpMemory& m, int lane, unsigned word, float scale) {
  const int row = lane / 2, first = lane % 2 * 16;
  float* scores = m.scores + row * WarpMemory::kScores + first;
  __nv_bfloat16* weights = m.weights + row * WarpMemory::kScores + first;
  const unsigned mine = word >> first;
  float most = kNothing;
  for (int k = 0; k < 16; ++k)
    if (mine >> k & 1u) most = fmaxf(most, scores[k] * scale);
  most = fmaxf(most, __shfl_xor_sync(~0u, most, 1));
  const float before = m.largest[row], largest = fmaxf(before, most);
  float sum = 0;
  for (int k = 0; k < 16; ++k) {
    const float weight = mine >> k & 1u ? expf(scores[k] * scale - largest) : 0.0f;
    weights[k] = __float2bfloat16(weight);
    sum += weight;
  }
  sum += __shfl_xor_sync(~0u, sum, 1);
  const float fade = before == kNothing ? 0.0f : expf(before - largest);
  __syncwarp();  // both lanes have read the row's largest score
  if (lane % 2 == 0) {
    m.largest[row] = largest;
    m.total[row] = m.total[row] * fade + sum;
  }
  if (largest > before)
    for (int j = lane % 2; j < m.dim; j += 2) m.mixed[row * m.width + j] *= fade;
}

/// mixed += weights times the values of a block.
__device__ void mix(const WarpMemory& m, const __nv_bfloat16* values) {
  for (int d = 0; d < m.dim; d += 16) {
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
    wmma::load_matrix_sync(sum, m.mixed + d, m.width, wmma::mem_row_major);
    for (int half = 0; half < kKeys; half += 16) {
      wmma::fragment<wmma::matrix_a, 16, 16, 16, __nv_bfloat16, wmma::row_major> w;
      wmma::fragment<wmma::matrix_b, 16, 16, 16, __nv_bfloat16, wmma::row_major> v;
      wmma::load_matrix_sync(w, m.weights + half, WarpMemory::kScores);
      wmma::load_matrix_sync(v, values + half * m.dim + d, m.dim);
      wmma::mma_sync(sum, w, v, sum);
    }
    wmma::store_matrix_sync(m.mixed + d, sum, m.width, wmma::mem_row_major);
  }
}

/// Grid: pairs of tiles, key heads, splits. One warp computes one tile.
__global__ void attend_tiles(Attention a) {
  PARDEC_DYNAMIC_SHARED(memory);
  const int warp = threadIdx.x / kLanes, lane = threadIdx.x % kLanes;
  const int tile_index = blockIdx.x * kWarps + warp, head = blockIdx.y, split = blockIdx.z;
  if (tile_index >= a.tile_count) return;
  const WarpMemory m(memory + warp * WarpMemory::bytes(a.dim), a.dim);
  const Tile tile = a.tiles[tile_index];
  if (tile.sequence < 0) return;
  const Sequence s = a.sequences[tile.sequence];
  const int group = a.heads / a.kv_heads;
  const int left = s.queries * group - tile.first_row, rows = left < kRows ? left : kRows;
  const int first_token = tile.first_row / group, last_token = (tile.first_row + rows - 1) / group;
  const auto place = [&](int row) {  // index of a row in `queries` and `out`, in units of heads
    const int pair = tile.first_row + row;
    return static_cast<long long>(s.first_query + pair / group) * a.heads + head * group +
           pair % group;
  };

  const auto* queries = reinterpret_cast<const __nv_bfloat16*>(a.queries);
  for (int i = lane; i < kRows * a.dim; i += kLanes) {
    const int row = i / a.dim, j = i % a.dim;
    m.queries[row * m.width + j] =
        row < rows ? queries[place(row) * a.dim + j] : __float2bfloat16(0.0f);
    m.mixed[row * m.width + j] = 0;
  }
  if (lane < kRows) {
    m.largest[lane] = kNothing;
    m.total[lane] = 0;
  }
  __syncwarp();

  const int blocks = (s.keys + kKeys - 1) / kKeys;
  int piece = s.first_piece;
  for (int block = blocks * split / a.splits; block < blocks * (split + 1) / a.splits; ++block) {
    while (block * kKeys >= a.piece_ends[piece]) ++piece;
    const int key = block * kKeys + lane;
    KeyLabel k{0, 0, -1, 0};
    if (key < s.keys) k = a.labels[s.first_label + key];
    unsigned any = 0;
    for (int token = first_token; token <= last_token; ++token) {
      const KeyLabel q = a.labels[s.first_label + s.keys - s.queries + token];
      const unsigned word = __ballot_sync(~0u, visible(a, s, q, k));
      if (lane == 0) m.seen[token - first_token] = word;
      any |= word;
    }
    if (any == 0) continue;
    const int piece_begin = piece == s.first_piece ? 0 : a.piece_ends[piece - 1];
    const long long from = head * a.pieces[piece].head_stride +
                           static_cast<long long>(block * kKeys - piece_begin) * a.dim;
    score(m, reinterpret_cast<const __nv_bfloat16*>(a.pieces[piece].keys) + from);
    __syncwarp();
    const int row = lane / 2;
    weigh(m, lane, row < rows ? m.seen[(tile.first_row + row) / group - first_token] : 0, a.scale);
    __syncwarp();
    mix(m, reinterpret_cast<const __nv_bfloat16*>(a.pieces[piece].values) + from);
    __syncwarp();
  }

  auto* out = reinterpret_cast<__nv_bfloat16*>(a.out);
  for (int i = lane; i < rows * a.dim; i += kLanes) {
    const int row = i / a.dim, j = i % a.dim;
    const float mixed = m.mixed[row * m.width + j], total = m.total[row];
    if (a.splits == 1)
      out[place(row) * a.dim + j] = __float2bfloat16(total == 0 ? 0.0f : mixed / total);
    else
      a.partial[(place(row) * a.splits + split) * (a.dim + 2) + 2 + j] = mixed;
  }
  if (a.splits > 1 && lane < rows) {
    float* part = a.partial + (place(lane) * a.splits + split) * (a.dim + 2);
    part[0] = m.largest[lane];
    part[1] = m.total[lane];
  }
}

/// Grid: rows times heads. Combines the results of the splits.
__global__ void join_splits(Attention a) {
  const long long row = blockIdx.x;
  if (a.row_sequences[row / a.heads] < 0) return;
  const float* parts = a.partial + row * a.splits * (a.dim + 2);
  float largest = kNothing;
  for (int s = 0; s < a.splits; ++s) largest = fmaxf(largest, parts[s * (a.dim + 2)]);
  for (int j = threadIdx.x; j < a.dim; j += blockDim.x) {
    float mixed = 0, total = 0;
    for (int s = 0; s < a.splits; ++s) {
      const float* part = parts + s * (a.dim + 2);
      if (part[1] == 0) continue;  // no visible key in this split
      const float fade = expf(part[0] - largest);
      mixed += fade * part[2 + j];
      total += fade * part[1];
    }
    reinterpret_cast<__nv_bfloat16*>(a.out)[row * a.dim + j] =
        __float2bfloat16(total == 0 ? 0.0f : mixed / total);
  }
}

/// Grid: rows, key heads.
__global__ void store_rows(Attention a, const std::uint16_t* keys, const std::uint16_t* values) {
  const int row = blockIdx.x, head = blockIdx.y;
  const int sequence = a.row_sequences[row];
  if (sequence < 0) return;
  const Sequence s = a.sequences[sequence];
  const int last = s.first_piece + s.pieces - 1;
  // number of slots in the other pieces
  const int before = s.pieces > 1 ? a.piece_ends[last - 1] : 0;
  const int slot = s.keys - s.queries + row - s.first_query - before;
  const Piece piece = a.pieces[last];
  const long long to = head * piece.head_stride + static_cast<long long>(slot) * a.dim;
  const long long from = (static_cast<long long>(row) * a.kv_heads + head) * a.dim;
  for (int j = threadIdx.x; j < a.dim; j += blockDim.x) {
    piece.keys[to + j] = keys[from + j];
    piece.values[to + j] = values[from + j];
  }
}

struct Candidate {
  float value;
  int id;
  /// NaN counts as larger than any number.
  __device__ bool beats(const Candidate& other) const {
    const bool nan = value != value, other_nan = other.value != other.value;
    if (nan || other_nan) return nan && (!other_nan || id < other.id);
    return value > other.value || (value == other.value && id < other.id);
  }
};

constexpr int kBestThreads = 256;

/// Grid: rows. Each round finds the best candidate after that of the last round.
__global__ void best_of_row(const float* logits, long long vocab, int count, int* ids,
                            float* values) {
  PARDEC_DYNAMIC_SHARED(memory);
  // [kBestThreads / 32], followed by the best of all
  auto* best_of_warp = reinterpret_cast<Candidate*>(memory);
  Candidate& best_of_all = best_of_warp[kBestThreads / kLanes];
  const float* row = logits + blockIdx.x * vocab;
  const Candidate none{kNothing, 0x7FFFFFFF};
  Candidate last{NAN, -1};
  for (int round = 0; round < count; ++round) {
    Candidate best = none;
    for (int id = threadIdx.x; id < vocab; id += kBestThreads) {
      const Candidate here{row[id], id};
      if (last.beats(here) && here.beats(best)) best = here;
    }
    for (int distance = 16; distance > 0; distance /= 2) {
      const Candidate other{__shfl_xor_sync(~0u, best.value, distance),
                            __shfl_xor_sync(~0u, best.id, distance)};
      if (other.beats(best)) best = other;
    }
    if (threadIdx.x % kLanes == 0) best_of_warp[threadIdx.x / kLanes] = best;
    __syncthreads();
    if (threadIdx.x == 0) {
      for (int w = 1; w < kBestThreads / kLanes; ++w)
        if (best_of_warp[w].beats(best)) best = best_of_warp[w];
      best_of_all = best;
      ids[blockIdx.x * count + round] = best.id;
      values[blockIdx.x * count + round] = best.value;
    }
    __syncthreads();
    last = best_of_all;
  }
}

const char* launch_error() {
  const cudaError_t error = cudaGetLastError();
  return error == cudaSuccess ? nullptr : cudaGetErrorString(error);
}

}  // namespace

const char* attend(const Attention& a, void* stream) {
  const int bytes = kWarps * WarpMemory::bytes(a.dim);
  if (bytes > 48 * 1024)
    cudaFuncSetAttribute(attend_tiles, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
  const dim3 grid((a.tile_count + kWarps - 1) / kWarps, a.kv_heads, a.splits);
  PARDEC_LAUNCH(attend_tiles, grid, kWarps * kLanes, bytes, stream, a);
  if (a.splits > 1) PARDEC_LAUNCH(join_splits, dim3(a.rows * a.heads), 64, 0, stream, a);
  return launch_error();
}

const char* store(const Attention& a, const std::uint16_t* keys, const std::uint16_t* values,
                  void* stream) {
  PARDEC_LAUNCH(store_rows, dim3(a.rows, a.kv_heads), 64, 0, stream, a, keys, values);
  return launch_error();
}

const char* best_ids(const float* logits, std::int64_t rows, std::int64_t vocab, std::int32_t count,
                     std::int32_t* ids, float* values, void* stream) {
  const int bytes = (kBestThreads / kLanes + 1) * static_cast<int>(sizeof(Candidate));
  PARDEC_LAUNCH(best_of_row, dim3(static_cast<unsigned>(rows)), kBestThreads, bytes, stream, logits,
                vocab, count, ids, values);
  return launch_error();
}

}  // namespace pardec::cuda
