#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "src/model/visibility.hpp"

namespace pardec {

class Model;

/// The KV cache of one sequence: keys, values and labels of its rows. Rows are numbered from 0 in
/// the order in which they are computed, and a row keeps its number permanently. A row is alive
/// until it is dropped; dropped rows are invisible to all later rows. The memory of dropped rows is
/// reclaimed when no live row follows them, or when they are many and outnumber the live rows. A
/// cache can be moved; only `fork` and `share` copy it.
class KvCache {
 public:
  /// When the cache is full, its capacity is multiplied by this factor, or grows to the needed size
  /// if the needed size is larger.
  static constexpr double kGrowth = 1.25;

  /// An empty cache for rows of `model`. REQUIRES: the model was loaded with weights
  /// (Model::Options::weights).
  explicit KvCache(const Model& model);
  KvCache(KvCache&&) noexcept;
  KvCache& operator=(KvCache&&) noexcept;
  ~KvCache();

  /// An independent copy with the same rows and row numbers.
  KvCache fork() const;

  /// Like `fork`, but the two caches use the same memory for the keys and values of the first n
  /// slots, where n is the number of slots, rounded down to a multiple of 32. Only the other slots
  /// are copied. A forward pass reads shared keys and values once for all of its sequences that
  /// share them.
  KvCache share();

  /// A slot of memory: the number of the row in it, whether that row is alive, and its label.
  struct Slot {
    int row;
    bool alive;
    RowLabel label;
  };
  /// All slots, in ascending order of rows. Slots that were reclaimed are missing. The result is
  /// valid until the cache changes.
  std::span<const Slot> slots() const;

  /// Number of rows computed so far, including dropped rows, but without retracted rows. The next
  /// new row has this number, except after `evict`.
  int rows_fed() const;
  /// Number of live rows.
  int rows_alive() const;
  /// Number of live rows in memory that is not shared.
  int own_rows_alive() const;

  /// Drops rows: later rows do not see them. REQUIRES: the rows are alive and differ from one
  /// another; otherwise std::logic_error.
  void drop(std::span<const int> rows);
  /// Removes all rows from `first` on, as if they had never been computed: the next new row is row
  /// `first`. std::logic_error: first > rows_fed(). REQUIRES: first >= 0; all rows that `evict`
  /// returned have been computed again.
  void retract(int first);
  /// Gives a row a new order, segment and rank. The position must stay the same, because the cached
  /// key is rotated by the position. std::logic_error: the row is not alive, or the position
  /// differs.
  void relabel(int row, const RowLabel& label);

  /// Frees all rows, and returns the slots of the rows that were alive, in ascending order of rows.
  /// The next rows that are computed get the numbers of these rows, in the returned order. So a
  /// caller can compute the same rows again under their old numbers. This object no longer uses
  /// shared memory.
  std::vector<Slot> evict();
  /// Moves the cache's own memory to the host (CPU). Shared memory stays where it is. A forward
  /// pass cannot use a cache on the host if the model is on a GPU.
  void move_to_host();
  /// Moves the cache's own memory back to the model's device.
  void move_to_device();

  /// Bytes of memory for keys and values, including spare capacity and shared memory.
  std::int64_t bytes() const;

  /// A piece of memory that other caches may share, and the number of this cache's slots in it.
  /// Shared slots precede all other slots.
  struct Shared {
    const void* memory;  ///< the same pointer in all caches that share this piece
    int slots;
  };
  /// The shared pieces of this cache, in the order of slots; empty: nothing is shared.
  std::vector<Shared> shared() const;

  struct Storage;  // the tensors; defined and used only in src/model
  Storage& storage() { return *storage_; }

 private:
  explicit KvCache(std::unique_ptr<Storage> storage);
  std::unique_ptr<Storage> storage_;
};

}  // namespace pardec
