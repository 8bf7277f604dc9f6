#pragma once
#include <algorithm>
#include <cstdint>
#include <string>

/// The roofline model: a lower bound on the time of a forward pass on a machine. It is the largest
/// of three times: for reading and writing memory, for computing, and for communication between
/// devices. Pure functions.
namespace pardec {

/// The limits of a machine: one device, or several connected devices with tensor parallelism.
struct Hardware {
  std::string name, source;     ///< source: where the limits come from
  double bytes_per_second = 0;  ///< memory bandwidth of one device
  double flop_per_second = 0;   ///< of one device: dense matrix products in the network's dtype
  int devices = 1;
  double link_bytes_per_second = 0;  ///< from one device to the next; unused with one device
};

/// The size of a network, for the cost of a pass. Unless stated otherwise, members are numbers of
/// values.
struct NetworkSize {
  double layer_weights = 0;    ///< weights of all layers, but only of the experts that one row uses
  double head_weights = 0;     ///< weights of the head, tied or not
  double hidden = 0;           ///< values of a row of the embedding
  double cached_per_row = 0;   ///< keys and values of one row, over all layers
  double attention_flops = 0;  ///< FLOPs per query row and key row, over all layers
  double bytes_per_value = 0;  ///< of embeddings, cached keys and values, and exchanged sums
  double bytes_per_layer_weight = 0;  ///< smaller than bytes_per_value if the layers are quantised
  double bytes_per_head_weight = 0;   ///< smaller if the head is quantised
  double summed_per_row = 0;          ///< values per row that devices exchange: two sums per layer
  double expert_weights = 0;          ///< weights of one expert; not used by pass_bound
  double experts_of_row = 0;  ///< experts of one row, over all layers; not used by pass_bound
};

/// The work of one pass, summed over its sequences.
struct PassWork {
  std::int64_t rows = 0;       ///< number of new rows
  std::int64_t head_rows = 0;  ///< number of rows with logits
  std::int64_t cached = 0;     ///< number of cached rows that at least one new row sees
  std::int64_t pairs = 0;      ///< number of pairs of a new row and a row that it sees
  PassWork& operator+=(const PassWork& other);
};

/// The three times of one pass, and the lower bound, which is the largest of them.
struct PassBound {
  double memory_seconds = 0, compute_seconds = 0, link_seconds = 0;
  double seconds() const { return std::max({memory_seconds, compute_seconds, link_seconds}); }
  /// The resource that limits the pass; if times are equal, the first of memory, compute and link.
  const char* limit() const {
    return memory_seconds >= seconds()    ? "memory"
           : compute_seconds >= seconds() ? "compute"
                                          : "link";
  }
};

/// The lower bounds for one pass. Several devices share memory traffic and computation equally.
///   memory   the weights of the layers (NetworkSize::layer_weights) once, the weights of the head
///            once if there are rows with logits, the embedding of each row, the visible cached
///            keys and values, and the new rows' keys and values. Activations are assumed to stay
///            in caches.
///   compute  two operations per weight and row, and attention
///   link     with n > 1 devices, each sends 2 (n - 1) / n of the summed values (ring all-reduce)
///            while it reads and computes; latencies are not included
PassBound pass_bound(const PassWork& work, const NetworkSize& network, const Hardware& hardware);

}  // namespace pardec
