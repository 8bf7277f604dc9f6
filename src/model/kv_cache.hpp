#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "src/model/visibility.hpp"

namespace pardec {

class Model;

/// Keys and values of one sequence, and the labels of its rows. Rows are named by arrival: the n-th
/// row ever fed to the sequence is row n, for good. Rows that were dropped are invisible at once;
/// their memory is reclaimed when they are the last ones, or when they outweigh the living. Moves,
/// never copies silently; `fork` copies, `share` does where it must.
class KvCache {
 public:
  /// Where it is full, memory for so many times its rows is taken, or for what is needed.
  static constexpr double kGrowth = 1.25;

  explicit KvCache(const Model& model);
  KvCache(KvCache&&) noexcept;
  KvCache& operator=(KvCache&&) noexcept;
  ~KvCache();

  /// An independent copy with the same rows and names.
  KvCache fork() const;

  /// The same, but for the keys and values of whole blocks of 32 rows, which both have in common
  /// from now on, and which forward passes read once for all that feed new rows.
  KvCache share();

  /// One slot of memory: which row it holds, and whether that row is alive.
  struct Slot {
    int row;
    bool alive;
    RowLabel label;
  };
  std::span<const Slot> slots() const;

  /// Rows ever fed, and rows alive now.
  int rows_fed() const;
  int rows_alive() const;
  /// Rows alive in memory that is not shared.
  int own_rows_alive() const;

  /// REQUIRES: the rows are alive; otherwise std::logic_error.
  void drop(std::span<const int> rows);
  /// The rows from `first` on were never fed: their names are given again. REQUIRES: first <=
  /// rows_fed().
  void retract(int first);
  /// Gives a row new order, segment and rank. Its position cannot change: it is part of the cached
  /// key. REQUIRES: the row is alive; otherwise std::logic_error.
  void relabel(int row, const RowLabel& label);

  /// Gives up all rows to make room, and returns those that were alive: fed again in this order,
  /// they get their names back.
  std::vector<Slot> evict();
  /// Where its memory is, but for what is shared, which stays. Only a cache on the model's device
  /// can be fed.
  void move_to_host();
  void move_to_device();

  /// Bytes of key and value memory held, spare capacity and what others share included.
  std::int64_t bytes() const;

  /// Memory that several caches may have in common, and how many of this cache's slots lie in it.
  /// They are the first ones.
  struct Shared {
    const void* memory;
    int slots;
  };
  std::vector<Shared> shared() const;

  struct Storage;  // the tensors; defined and used in src/model alone
  Storage& storage() { return *storage_; }

 private:
  explicit KvCache(std::unique_ptr<Storage> storage);
  std::unique_ptr<Storage> storage_;
};

}  // namespace pardec
