#pragma once
#include <cstdint>
#include <list>
#include <memory>
#include <string>

#include "src/engine/engine.hpp"

namespace pardec {

/// A sequence that begins with a shared prefix.
struct Prefixed {
  Sequence sequence;  ///< its first rows are the prefix, at natural positions in segment 0
  Counters cost;      ///< cost of computing the prefix; all zero if it was cached or empty
};

/// Prefixes of several sequences: computed once, then copied (IPPD, section 4.4) or shared,
/// depending on the engine. The first request pays for the computation, in `cost`; requests during
/// the computation wait for its forward pass. The most recently used prefixes are kept while the
/// engine's cache budget has room.
class PrefixCache {
 public:
  /// `engine` must outlive the cache.
  explicit PrefixCache(Engine& engine) : engine_(engine) {}

  /// A sequence that continues after `prefix`, which may be empty. `request` and `decoder` are its
  /// names in traces. Its clock starts at the request. Throws what Sequence::forward throws.
  Task<Prefixed> begin(Tokens prefix, RequestName request, std::string decoder);

  /// Frees the least recently used prefix that no request waits for. False: there is none.
  bool give_back();

  void clear() { entries_.clear(); }

 private:
  struct Entry;
  std::shared_ptr<Entry> find(const Tokens& prefix, const std::string& decoder);

  Engine& engine_;
  std::list<std::shared_ptr<Entry>> entries_;  // most recently used first
};

}  // namespace pardec
