#pragma once
#include <algorithm>
#include <cstdint>
#include <string>

/// What a forward pass takes at least on a machine: the larger of the time to move what it must
/// read and write, and the time to compute (the roofline). Pure functions.
namespace pardec {

/// A machine by its limits: one device, or several that share a network (tensor parallel).
struct Hardware {
  std::string name, source;
  double bytes_per_second = 0;  ///< of a device's memory
  double flop_per_second = 0;   ///< of a device: dense, of the network's type
  int devices = 1;
  double link_bytes_per_second = 0;  ///< from a device to the next; of one device without meaning
};

/// A network by what a pass over it moves and computes; counts of values.
struct NetworkSize {
  double layer_weights = 0;    ///< of all layers
  double head_weights = 0;     ///< of the head, tied or not
  double hidden = 0;           ///< read of the embedding for each row
  double cached_per_row = 0;   ///< keys and values of all layers
  double attention_flops = 0;  ///< for one query and one key, all layers and heads
  double bytes_per_value = 0;
  double bytes_per_layer_weight = 0;  ///< less than that where layers are quantised
  double summed_per_row = 0;          ///< what several devices add up: two sums a layer
};

/// What is fed and asked in one pass, summed over the sequences in it.
struct PassWork {
  std::int64_t rows = 0;       ///< fed
  std::int64_t head_rows = 0;  ///< of which logits are read
  std::int64_t cached = 0;     ///< rows of the cache that some row sees, once for each sequence
  std::int64_t pairs = 0;      ///< of a row and one that it sees
  PassWork& operator+=(const PassWork& other);
};

struct PassBound {
  double memory_seconds = 0, compute_seconds = 0, link_seconds = 0;
  double seconds() const { return std::max({memory_seconds, compute_seconds, link_seconds}); }
  /// What the pass cannot be faster than; of equals the first of these.
  const char* limit() const {
    return memory_seconds >= seconds()    ? "memory"
           : compute_seconds >= seconds() ? "compute"
                                          : "link";
  }
};

/// Memory: all weights once (the head's where logits are read), each row's embedding, the cached
/// keys and values that are seen, and those of the new rows written. Compute: two operations a
/// weight and row, and attention's. Activations are taken to stay in caches. Several devices have
/// equal shares of all that; link: each sends 2 (n - 1) / n of what is summed (ring all-reduce),
/// while it moves and computes. Latencies of the link are not counted.
PassBound pass_bound(const PassWork& work, const NetworkSize& network, const Hardware& hardware);

}  // namespace pardec
