#pragma once
#include <algorithm>
#include <cstdint>
#include <string>

/// Lower bound of the time of a forward pass on a machine: the larger of the time to move the data
/// that it must read and write, and the time to compute (the roofline model). Pure functions.
namespace pardec {

/// The limits of a machine: one device, or several connected devices (tensor parallel).
struct Hardware {
  std::string name, source;
  double bytes_per_second = 0;  ///< memory of one device
  double flop_per_second = 0;   ///< one device: dense, in the network's type
  int devices = 1;
  double link_bytes_per_second = 0;  ///< between neighbouring devices; not used with one device
};

/// The data moved and computed by a pass over a network, in numbers of values.
struct NetworkSize {
  double layer_weights = 0;    ///< of all layers
  double head_weights = 0;     ///< of the head, tied or not
  double hidden = 0;           ///< read from the embedding for each row
  double cached_per_row = 0;   ///< keys and values of all layers
  double attention_flops = 0;  ///< for one query and one key, over all layers and heads
  double bytes_per_value = 0;
  double bytes_per_layer_weight = 0;  ///< less than bytes_per_value if layers are quantised
  double summed_per_row = 0;          ///< exchanged between devices: two sums per layer
};

/// The work of one pass, summed over its sequences.
struct PassWork {
  std::int64_t rows = 0;       ///< new rows
  std::int64_t head_rows = 0;  ///< rows whose logits are read
  std::int64_t cached = 0;     ///< cached rows that some new row sees, counted once per sequence
  std::int64_t pairs = 0;      ///< pairs of a new row and a row that it sees
  PassWork& operator+=(const PassWork& other);
};

struct PassBound {
  double memory_seconds = 0, compute_seconds = 0, link_seconds = 0;
  double seconds() const { return std::max({memory_seconds, compute_seconds, link_seconds}); }
  /// The resource that limits the pass; the first of equal ones.
  const char* limit() const {
    return memory_seconds >= seconds()    ? "memory"
           : compute_seconds >= seconds() ? "compute"
                                          : "link";
  }
};

/// The lower bounds of one pass. Memory: all weights once (the head's only if logits are read), the
/// embedding of each row, the visible cached keys and values, and writing those of the new rows.
/// Compute: two operations per weight and row, and attention's. Activations are assumed to stay in
/// caches. Several devices share all of this equally. Link: each device sends 2 (n - 1) / n of the
/// summed values (ring all-reduce), in parallel with moving and computing. Link latencies are not
/// included.
PassBound pass_bound(const PassWork& work, const NetworkSize& network, const Hardware& hardware);

}  // namespace pardec
