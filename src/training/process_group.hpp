#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace at {
class Tensor;
}

namespace pardec {

/// How the processes of one run connect; ranks and sizes as in torch.distributed.
struct ProcessGroupOptions {
  int rank = 0;        ///< from 0
  int world_size = 1;  ///< number of processes
  std::string master;  ///< HOST:PORT at which rank 0 listens
  /// Maximum time that rank 0 waits for another process. Other processes wait for rank 0 twice as
  /// long, because it may be waiting itself.
  double timeout_seconds = 600;
};
/// ConfigError: the options do not describe a valid group.
void check(const ProcessGroupOptions& options);

/// Processes that train together, each with its share of every batch (data parallel). The others
/// communicate with rank 0 over TCP: it sums what they send and sends back the sum, so that all
/// have the same bits. If one process ends, the others end too: each call throws a RunError that
/// names the process that is gone or did not answer in time. (libtorch's own groups need headers of
/// gloo that its packages do not contain.)
class ProcessGroup {
 public:
  /// Returns when all processes are connected. ConfigError: an invalid address, or processes of
  /// different groups. RunError: a process does not connect.
  explicit ProcessGroup(ProcessGroupOptions options);
  ~ProcessGroup();
  ProcessGroup(const ProcessGroup&) = delete;
  ProcessGroup& operator=(const ProcessGroup&) = delete;

  int rank() const { return options_.rank; }
  int size() const { return options_.world_size; }

  /// Replaces each tensor with the sum over all processes, added in the order of ranks. REQUIRES:
  /// the same shapes and types in all processes; contiguous; on the CPU.
  void sum(std::span<const at::Tensor> tensors);
  /// Replaces each tensor with rank 0's. REQUIRES as above.
  void broadcast(std::span<const at::Tensor> tensors);
  /// Returns rank 0's text.
  std::string broadcast(const std::string& text);

 private:
  void listen();
  void connect();
  /// Sends or receives a message with these bytes.
  void send(int rank, std::span<const std::byte> bytes);
  void receive(int rank, std::span<std::byte> bytes);
  /// Receives the size of the next message, whose bytes follow.
  size_t receive_size(int rank);
  void read(int rank, std::span<std::byte> bytes);
  /// Reports to the others that process `rank` is gone, and throws.
  [[noreturn]] void lose(int rank, const std::string& how);
  double patience() const;
  int& socket(int rank) { return sockets_[static_cast<size_t>(rank)]; }

  ProcessGroupOptions options_;
  std::vector<int> sockets_;  // by rank; -1: none. Ranks other than 0 only have a socket to rank 0
};

}  // namespace pardec
