#pragma once
#include <cstdint>
#include <list>
#include <memory>
#include <string>

#include "src/engine/engine.hpp"

namespace pardec {

/// A new sequence whose prefix has been computed.
struct Prefixed {
  Sequence sequence;  ///< its rows are the prefix, labelled by text_label
  /// Cost of computing the prefix; all zero if the prefix is empty or another request computed it.
  Counters cost;
};

/// Computes the common prefix of several sequences of a decoder once, then copies it (IPPD, section
/// 4.4) or shares its memory (Engine::set_cascade). The first request for a prefix is charged with
/// the computation (Prefixed::cost). Other requests for this prefix that arrive during the
/// computation wait for its end. The cache holds at most 8 prefixes. If there are more, the least
/// recently used prefix is dropped. The engine also frees prefixes when its cache budget needs
/// their blocks (give_back).
class PrefixCache {
 public:
  /// `engine` must outlive the cache.
  explicit PrefixCache(Engine& engine) : engine_(engine) {}

  /// Opens a sequence that begins with `prefix`, which may be empty. `request` and `decoder` are
  /// the names of the sequence in traces. Decoders with different names do not share prefixes. The
  /// sequence's clock starts when this task starts. Errors: see Sequence::forward.
  Task<Prefixed> begin(Tokens prefix, RequestName request, std::string decoder);

  /// Frees one prefix whose rows are computed and for which no request is waiting: the least
  /// recently used one. Returns false if there is no such prefix.
  bool give_back();

  /// Drops all prefixes. Sequences that were opened from them keep their rows.
  void clear() { entries_.clear(); }

 private:
  struct Entry;
  std::shared_ptr<Entry> find(const Tokens& prefix, const std::string& decoder);

  Engine& engine_;
  std::list<std::shared_ptr<Entry>> entries_;  // most recently used first
};

}  // namespace pardec
