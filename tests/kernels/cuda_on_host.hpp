#pragma once
// Replaces the CUDA toolkit when a .cu file is compiled as C++. The kernels then run on the host.
// The threads of a block are fibers that run one after another, each up to its next
// synchronisation. If a kernel lacks a synchronisation, a thread sees the writes of threads that
// ran before it, but not of threads that run after it; therefore tests run kernels in both orders.
// Only the parts of CUDA that src/kernels/cuda uses are here.
#include <ucontext.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <vector>

#define __global__
#define __device__
#define __host__

struct dim3 {
  unsigned x = 1, y = 1, z = 1;
};

namespace on_host {

/// The threads of a thread block, and the thread that is running.
class Block {
 public:
  /// `shared_bytes`: shared memory of the block. `backwards`: threads run in descending order.
  Block(int threads, std::size_t shared_bytes, bool backwards)
      : backwards_(backwards),
        threads_(static_cast<size_t>(threads)),
        shared_bytes_(shared_bytes),
        shared_(new (std::align_val_t{128}) unsigned char[shared_bytes + 1]) {
    for (Thread& thread : threads_) thread.stack.resize(64 * 1024);
  }

  /// Runs the kernel for the thread block with this index.
  void run(dim3 index, const std::function<void()>& kernel) {
    index_ = index;
    running_ = this;
    kernel_ = &kernel;
    std::memset(shared_.get(), 0xFF, shared_bytes_);  // NaN: reading unwritten values fails
    for (Thread& thread : threads_) {
      thread.ended = false;
      getcontext(&thread.context);
      thread.context.uc_stack.ss_sp = thread.stack.data();
      thread.context.uc_stack.ss_size = thread.stack.size();
      thread.context.uc_link = &main_;
      makecontext(&thread.context, &Block::enter, 0);
    }
    // Each round runs every thread to its next synchronisation.
    for (bool alive = true; alive;) {
      alive = false;
      for (size_t i = 0; i < threads_.size(); ++i) {
        current_ = backwards_ ? threads_.size() - 1 - i : i;
        if (threads_[current_].ended) continue;
        swapcontext(&main_, &threads_[current_].context);
        alive = alive || !threads_[current_].ended;
      }
    }
    running_ = nullptr;
  }

  /// A synchronisation: all threads arrive here before any of them continues.
  void meet() {
    const size_t me = current_;
    swapcontext(&threads_[me].context, &main_);
  }
  /// Returns the `value` of thread `from` of the block. All threads of the block must call this,
  /// and wait for each other (in CUDA, only those of the warp). REQUIRES: T has at most 8 bytes.
  template <typename T>
  T exchange(T value, std::size_t from) {
    std::memcpy(&threads_[current_].given, &value, sizeof value);
    meet();
    T taken;
    std::memcpy(&taken, &threads_[from].given, sizeof taken);
    meet();
    return taken;
  }
  /// Returns the votes of the 32 threads of the calling thread's warp, thread i in bit i. All
  /// threads of the block must call this, as for exchange().
  unsigned ballot(bool vote) {
    threads_[current_].given = vote;
    meet();
    unsigned votes = 0;
    for (size_t lane = 0; lane < 32; ++lane)
      votes |= static_cast<unsigned>(threads_[current_ / 32 * 32 + lane].given) << lane;
    meet();
    return votes;
  }

  static Block& running() { return *running_; }
  unsigned thread() const { return static_cast<unsigned>(current_); }
  unsigned size() const { return static_cast<unsigned>(threads_.size()); }
  dim3 index() const { return index_; }
  unsigned char* shared() { return shared_.get(); }

 private:
  struct Thread {
    ucontext_t context;
    std::vector<char> stack;
    std::uint64_t given = 0;
    bool ended = false;
  };
  struct Free {
    void operator()(unsigned char* at) const { ::operator delete[](at, std::align_val_t{128}); }
  };
  static void enter() {
    (*running_->kernel_)();
    running_->threads_[running_->current_].ended = true;
  }

  static inline thread_local Block* running_ = nullptr;
  dim3 index_;
  bool backwards_;
  std::vector<Thread> threads_;
  std::size_t shared_bytes_;
  std::unique_ptr<unsigned char[], Free> shared_;
  const std::function<void()>* kernel_ = nullptr;
  ucontext_t main_;
  size_t current_ = 0;
};

/// The order in which threads run. Tests pass it to launch() as `stream`.
struct Order {
  bool backwards = false;
};

/// Runs a kernel for all thread blocks of a grid. `threads`: threads per block. `bytes`: shared
/// memory per block. `stream`: points to an Order.
template <typename Kernel>
void launch(dim3 grid, int threads, std::size_t bytes, void* stream, Kernel&& kernel) {
  const std::function<void()> run = kernel;
  Block block(threads, bytes, static_cast<const Order*>(stream)->backwards);
  for (unsigned z = 0; z < grid.z; ++z)
    for (unsigned y = 0; y < grid.y; ++y)
      for (unsigned x = 0; x < grid.x; ++x) block.run({x, y, z}, run);
}

struct Index {
  struct X {
    operator int() const { return static_cast<int>(Block::running().thread()); }
  } x;
};
struct BlockIndex {
  template <unsigned dim3::*member>
  struct Part {
    operator int() const { return static_cast<int>(Block::running().index().*member); }
  };
  Part<&dim3::x> x;
  Part<&dim3::y> y;
  Part<&dim3::z> z;
};
struct BlockSize {
  struct X {
    operator int() const { return static_cast<int>(Block::running().size()); }
  } x;
};

}  // namespace on_host

constexpr on_host::Index threadIdx{};
constexpr on_host::BlockIndex blockIdx{};
constexpr on_host::BlockSize blockDim{};

#define PARDEC_DYNAMIC_SHARED(name) unsigned char* name = on_host::Block::running().shared()
#define PARDEC_LAUNCH(kernel, grid, threads, bytes, stream, ...)          \
  on_host::launch(grid, threads, static_cast<std::size_t>(bytes), stream, \
                  [=] { kernel(__VA_ARGS__); })

inline void __syncthreads() { on_host::Block::running().meet(); }
inline void __syncwarp() { on_host::Block::running().meet(); }
inline unsigned __ballot_sync(unsigned, bool vote) {
  return on_host::Block::running().ballot(vote);
}
template <typename T>
T __shfl_xor_sync(unsigned, T value, int mask) {
  on_host::Block& block = on_host::Block::running();
  return block.exchange(value, block.thread() ^ static_cast<unsigned>(mask));
}

struct __nv_bfloat16 {
  std::uint16_t bits;
};
inline __nv_bfloat16 __float2bfloat16(float x) {
  std::uint32_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  return {static_cast<std::uint16_t>((bits + 0x7FFF + (bits >> 16 & 1)) >> 16)};
}
inline float on_host_float(float x) { return x; }
inline float on_host_float(__nv_bfloat16 x) {
  const std::uint32_t bits = std::uint32_t{x.bits} << 16;
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

/// The matrix functions of a warp. Lane 0 does the work of all lanes.
namespace nvcuda::wmma {

struct matrix_a {};
struct matrix_b {};
struct accumulator {};
struct row_major {};
struct col_major {};
enum layout_t { mem_row_major };

template <typename Use, int, int, int, typename T, typename Layout = row_major>
struct fragment {
  float at[16][16];
};
inline bool at_work() { return on_host::Block::running().thread() % 32 == 0; }

template <typename Use, typename T, typename Layout>
void load_matrix_sync(fragment<Use, 16, 16, 16, T, Layout>& f, const T* from, int stride) {
  if (!at_work()) return;
  for (int i = 0; i < 16; ++i)
    for (int j = 0; j < 16; ++j)
      f.at[i][j] = on_host_float(std::is_same_v<Layout, row_major> ? from[i * stride + j]
                                                                   : from[j * stride + i]);
}
template <typename T>
void load_matrix_sync(fragment<accumulator, 16, 16, 16, T>& f, const T* from, int stride,
                      layout_t) {
  if (!at_work()) return;
  for (int i = 0; i < 16; ++i)
    for (int j = 0; j < 16; ++j) f.at[i][j] = from[i * stride + j];
}
template <typename T>
void fill_fragment(fragment<accumulator, 16, 16, 16, T>& f, T value) {
  for (auto& row : f.at)
    for (float& x : row) x = value;
}
template <typename A, typename B>
void mma_sync(fragment<accumulator, 16, 16, 16, float>& d, const A& a, const B& b,
              const fragment<accumulator, 16, 16, 16, float>& c) {
  if (!at_work()) return;
  for (int i = 0; i < 16; ++i)
    for (int j = 0; j < 16; ++j) {
      float sum = c.at[i][j];
      for (int k = 0; k < 16; ++k) sum += a.at[i][k] * b.at[k][j];
      d.at[i][j] = sum;
    }
}
inline void store_matrix_sync(float* to, const fragment<accumulator, 16, 16, 16, float>& f,
                              int stride, layout_t) {
  if (!at_work()) return;
  for (int i = 0; i < 16; ++i)
    for (int j = 0; j < 16; ++j) to[i * stride + j] = f.at[i][j];
}

}  // namespace nvcuda::wmma

// The CUDA runtime.
enum cudaError_t { cudaSuccess };
inline cudaError_t cudaGetLastError() { return cudaSuccess; }
inline const char* cudaGetErrorString(cudaError_t) { return "no error"; }
enum { cudaFuncAttributeMaxDynamicSharedMemorySize };
template <typename Kernel>
void cudaFuncSetAttribute(Kernel, int, int) {}
