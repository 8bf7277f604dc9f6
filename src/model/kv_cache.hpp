#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "src/model/visibility.hpp"

namespace pardec {

class Model;

/// Keys and values of one sequence, and the labels of its rows. A row's name is its order of
/// arrival: the n-th row ever computed for the sequence is row n, permanently. Dropped rows are
/// invisible at once. Their memory is reclaimed when they are the last ones, or when they outnumber
/// the rows alive. Movable; copied only explicitly, by `fork` and, as far as necessary, by `share`.
class KvCache {
 public:
  /// When the cache is full, its capacity is multiplied by this factor, or set to the needed size
  /// if that is larger.
  static constexpr double kGrowth = 1.25;

  explicit KvCache(const Model& model);
  KvCache(KvCache&&) noexcept;
  KvCache& operator=(KvCache&&) noexcept;
  ~KvCache();

  /// An independent copy with the same rows and names.
  KvCache fork() const;

  /// Like `fork`, but whole blocks of 32 rows become shared: both caches refer to the same keys and
  /// values, and a forward pass reads them once for all caches that get new rows.
  KvCache share();

  /// A slot of memory: the row in it, and whether that row is alive.
  struct Slot {
    int row;
    bool alive;
    RowLabel label;
  };
  std::span<const Slot> slots() const;

  /// Number of rows ever computed, and of rows alive now.
  int rows_fed() const;
  int rows_alive() const;
  /// Number of rows alive in memory that is not shared.
  int own_rows_alive() const;

  /// REQUIRES: the rows are alive; otherwise std::logic_error.
  void drop(std::span<const int> rows);
  /// Removes all rows from `first` on, as if they had never been computed: the next new row is row
  /// `first`. REQUIRES: first <= rows_fed().
  void retract(int first);
  /// Gives a row new order, segment and rank. Its position cannot change: it is part of the cached
  /// key. REQUIRES: the row is alive; otherwise std::logic_error.
  void relabel(int row, const RowLabel& label);

  /// Frees all rows to make room, and returns those that were alive. If they are computed again in
  /// this order, they get their names back.
  std::vector<Slot> evict();
  /// Moves the memory that is not shared; shared memory stays where it is. New rows need a cache on
  /// the model's device.
  void move_to_host();
  void move_to_device();

  /// Bytes of memory for keys and values, including spare capacity and shared memory.
  std::int64_t bytes() const;

  /// Memory that several caches may share, and the number of this cache's slots in it. These are
  /// the first slots.
  struct Shared {
    const void* memory;
    int slots;
  };
  std::vector<Shared> shared() const;

  struct Storage;  // the tensors; defined and used only in src/model
  Storage& storage() { return *storage_; }

 private:
  explicit KvCache(std::unique_ptr<Storage> storage);
  std::unique_ptr<Storage> storage_;
};

}  // namespace pardec
