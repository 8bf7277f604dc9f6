#include "src/engine/prefix_cache.hpp"

#include <algorithm>
#include <iterator>

namespace pardec {

namespace {

constexpr std::size_t kKept = 8;  // jobs of one dataset use few instructions, in sequence

}  // namespace

struct PrefixCache::Entry {
  Tokens prefix;
  std::string decoder;
  Sequence base;           // never finished, and therefore without a trace
  bool computing = false;  // some request is computing its rows

  bool computed() const { return base.rows_fed() > 0; }
};

std::shared_ptr<PrefixCache::Entry> PrefixCache::find(const Tokens& prefix,
                                                      const std::string& decoder) {
  const auto found = std::find_if(entries_.begin(), entries_.end(), [&](const auto& entry) {
    return entry->prefix == prefix && entry->decoder == decoder;  // forks keep the decoder's name
  });
  if (found != entries_.end())
    entries_.splice(entries_.begin(), entries_, found);
  else
    entries_.push_front(
        std::make_shared<Entry>(Entry{prefix, decoder, engine_.open("prefix", decoder), false}));
  if (entries_.size() > kKept) entries_.pop_back();
  return entries_.front();
}

bool PrefixCache::give_back() {
  for (auto entry = entries_.rbegin(); entry != entries_.rend(); ++entry) {
    if (entry->use_count() > 1 || !(*entry)->computed()) continue;  // a `begin` is using it
    entries_.erase(std::next(entry).base());
    return true;
  }
  return false;
}

Task<Prefixed> PrefixCache::begin(Tokens prefix, RequestName request, std::string decoder) {
  const std::int64_t asked = engine_.clock().now_ns();
  if (prefix.empty()) co_return Prefixed{engine_.open(request, decoder), {}};
  const std::shared_ptr<Entry> entry = find(prefix, decoder);
  Counters cost;
  while (!entry->computed()) {
    if (entry->computing) {
      // Rows of one sequence enter a pass together, so a step without rows waits for the pass that
      // computes the prefix. If that step is withdrawn before, the next request computes the
      // prefix.
      co_await entry->base.forward(Step{});
      continue;
    }
    struct Computing {
      Entry& entry;
      explicit Computing(Entry& e) : entry(e) { entry.computing = true; }
      ~Computing() { entry.computing = false; }
    } computing(*entry);
    co_await entry->base.forward(prompt_step(prefix, 0));
    cost = entry->base.counters();
    ++cost.emitted[0];  // the pass chooses no tokens
  }
  Prefixed result{entry->base.fork(request), cost};
  result.sequence.start_clock_at(asked);
  co_return result;
}

}  // namespace pardec
