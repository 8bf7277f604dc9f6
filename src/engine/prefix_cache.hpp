#pragma once
#include <cstdint>
#include <list>
#include <memory>
#include <string>

#include "src/engine/engine.hpp"

namespace pardec {

/// A sequence that begins with a shared prefix.
struct Prefixed {
  Sequence sequence;  ///< its first rows are the prefix: natural positions, segment 0
  Counters cost;  ///< of computing the prefix; all zero where it was there, or nothing to compute
};

/// Prefixes that several sequences begin with, computed once, then copied (IPPD, section 4.4) or
/// shared, as the engine is set. The one who asks first pays for the computing, in `cost`; who asks
/// while it is computed waits for that forward pass. The prefixes asked for last are kept, while
/// the engine's cache budget has room.
class PrefixCache {
 public:
  /// `engine` outlives the cache.
  explicit PrefixCache(Engine& engine) : engine_(engine) {}

  /// A sequence behind `prefix`, which may be empty; `request` and `decoder` name it in traces. Its
  /// clock runs from the asking on. Throws what Sequence::forward throws.
  Task<Prefixed> begin(Tokens prefix, std::string request, std::string decoder);

  /// Gives up the prefix that was asked for longest ago, of those that nobody waits for. False:
  /// there is none.
  bool give_back();

  void clear() { entries_.clear(); }

 private:
  struct Entry;
  std::shared_ptr<Entry> find(const Tokens& prefix, const std::string& decoder);

  Engine& engine_;
  std::list<std::shared_ptr<Entry>> entries_;  // asked for last comes first
};

}  // namespace pardec
