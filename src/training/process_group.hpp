#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace at {
class Tensor;
}

namespace pardec {

/// Where the processes of one run meet; ranks and sizes as in torch.distributed.
struct ProcessGroupOptions {
  int rank = 0;        ///< from 0
  int world_size = 1;  ///< processes in all
  std::string master;  ///< HOST:PORT at which rank 0 listens
  /// That rank 0 waits for another at most. They wait for it twice as long: it may be waiting
  /// itself.
  double timeout_seconds = 600;
};
/// ConfigError for what no group can be made of.
void check(const ProcessGroupOptions& options);

/// Processes that train together, each on its share of every batch (data parallel). The others talk
/// to rank 0, over TCP: it adds up what they send and sends the sum back, so that all have the same
/// bits. Where one ends, the others end: each call is a RunError that says which is gone, or did
/// not answer in time. (libtorch's own groups need headers of gloo, which its packages leave out.)
class ProcessGroup {
 public:
  /// Returns when all are there. ConfigError: an address that is none, processes that are not of
  /// one group; RunError: one does not come.
  explicit ProcessGroup(ProcessGroupOptions options);
  ~ProcessGroup();
  ProcessGroup(const ProcessGroup&) = delete;
  ProcessGroup& operator=(const ProcessGroup&) = delete;

  int rank() const { return options_.rank; }
  int size() const { return options_.world_size; }

  /// Each tensor becomes the sum of all processes', in the order of ranks. REQUIRES: the same
  /// shapes and types in all, contiguous, on the CPU.
  void sum(std::span<const at::Tensor> tensors);
  /// Each tensor becomes rank 0's. REQUIRES as above.
  void broadcast(std::span<const at::Tensor> tensors);
  /// What rank 0 says.
  std::string broadcast(const std::string& text);

 private:
  void listen();
  void connect();
  /// A message of these bytes, to or from that process.
  void send(int rank, std::span<const std::byte> bytes);
  void receive(int rank, std::span<std::byte> bytes);
  /// Of how many bytes its next message is, which comes next.
  size_t receive_size(int rank);
  void read(int rank, std::span<std::byte> bytes);
  /// That process is gone: tells the others, and throws.
  [[noreturn]] void lose(int rank, const std::string& how);
  double patience() const;
  int& socket(int rank) { return sockets_[static_cast<size_t>(rank)]; }

  ProcessGroupOptions options_;
  std::vector<int> sockets_;  // by rank; -1: none. All but rank 0 have that to rank 0 alone
};

}  // namespace pardec
