// Decides which sequences the cache has room for in a forward pass.
#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <utility>

#include "src/engine/engine_parts.hpp"
#include "src/engine/prefix_cache.hpp"
#include "src/support/error.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

/// Whether the rows are one thread in natural order, so that recomputing them gives the same
/// result.
bool plainly_causal(std::span<const KvCache::Slot> slots, const RowLabel& newest,
                    const Segments& segments) {
  const RowLabel* last = nullptr;
  for (const KvCache::Slot& slot : slots) {
    if (!slot.alive) continue;
    if (slot.label.rank != 0 || !visible(newest, slot.label, segments) ||
        (last && (last->order >= slot.label.order || !visible(slot.label, *last, segments))))
      return false;
    last = &slot.label;
  }
  return true;
}

}  // namespace

void Engine::Packed::feed_again() {
  Tokens all;
  std::vector<RowLabel> all_labels;
  std::vector<Origin> all_origins;
  for (const KvCache::Slot& slot : sequence->evicted) {
    all.push_back(sequence->tokens[static_cast<size_t>(slot.row)]);
    all_labels.push_back(slot.label);
    all_origins.push_back(sequence->origins[static_cast<size_t>(slot.row)]);
  }
  again = static_cast<int>(all.size());
  for (OutputRequest& output : outputs) output.index += again;
  all.insert(all.end(), tokens.begin(), tokens.end());
  all_labels.insert(all_labels.end(), labels.begin(), labels.end());
  tokens = std::move(all);
  all_origins.insert(all_origins.end(), origins.begin(), origins.end());
  labels = std::move(all_labels);
  origins = std::move(all_origins);
}

std::int64_t Engine::blocks(std::int64_t rows) const {
  return (rows + budget_.block_rows - 1) / budget_.block_rows;
}

void Engine::set_aside(Packed& late) {
  Sequence::State& sequence = *late.sequence;
  sequence.aside = true;
  if (late.tokens.size() == 1 &&
      plainly_causal(sequence.cache.slots(), late.labels.front(), sequence.segments)) {
    sequence.evicted = sequence.cache.evict();
    ++report_.recomputed;
  } else if (budget_.swaps) {
    sequence.cache.move_to_host();
    ++report_.swapped;
  }
}

/// Whether the sequence's rows are in the cache.
bool Engine::holds(const Sequence::State& sequence) const {
  return !sequence.aside || (!budget_.swaps && sequence.evicted.empty());
}

/// The cost of all sequences in the cache. Shared memory counts once, even if its sequences are
/// preempted.
std::int64_t Engine::held(const std::function<std::int64_t(std::int64_t rows)>& cost) const {
  std::int64_t held = 0;
  std::map<const void*, int> shared;  // number of slots
  for (const Sequence::State* sequence : sequences_) {
    if (holds(*sequence)) held += cost(sequence->own_rows());
    for (const auto& [memory, slots] : sequence->cache.shared())
      shared[memory] = std::max(shared[memory], slots);
  }
  for (const auto& [memory, slots] : shared) held += cost(slots);
  return held;
}

std::int64_t Engine::held_blocks() const {
  if (budget_.blocks <= 0) return 0;  // no limit
  return held([this](std::int64_t rows) { return blocks(rows); });
}

std::int64_t Engine::held_rows() const {
  return held([](std::int64_t rows) { return rows; });
}

/// Keeps in `packed` the sequences that the cache has room for, and holds back the rest. Without a
/// limit, all block counts are 0 and everything fits.
void Engine::schedule(std::vector<Packed>& packed) {
  const auto own_blocks = [&](const Packed& p, std::int64_t more = 0) {
    return budget_.blocks > 0 ? blocks(p.sequence->own_rows() + more) : 0;
  };
  const auto after = [&](const Packed& p) { return own_blocks(p, std::ssize(p.tokens)); };
  // Blocks that the pass adds to a sequence in the cache.
  const auto added = [&](const Packed& p) { return after(p) - own_blocks(p); };
  std::vector<Packed> running, late, fresh;  // oldest first
  std::map<const Sequence::State*, Packed*> entering;
  for (Packed& p : packed) entering[p.sequence] = &p;
  for (const Sequence::State* sequence : sequences_)
    if (const auto found = entering.find(sequence); found != entering.end())
      (sequence->aside                    ? late
       : sequence->cache.rows_alive() > 0 ? running
                                          : fresh)
          .push_back(std::move(*found->second));
  packed.clear();
  const auto too_small = [&](Packed& p) {
    p.fail(std::make_exception_ptr(
        RunError(str("the cache budget of ", budget_.blocks, " blocks of ", budget_.block_rows,
                     " rows has no room for a sequence of ",
                     p.sequence->own_rows() + std::ssize(p.tokens), " rows; give more"))));
  };

  std::int64_t growth = 0;  // by admitted sequences, and by ending ones
  for (const Packed& p : running) growth += added(p);
  std::int64_t held = held_blocks() + growth;  // after the pass
  // idle prefixes are freed before any sequence is preempted
  const auto make_room = [&](std::int64_t allowed) {
    while (held > allowed && prefixes_->give_back()) held = held_blocks() + growth;
  };

  make_room(budget_.blocks);
  bool full = false;
  while (held > budget_.blocks && !running.empty()) {
    growth -= added(running.back());
    if (running.size() == 1) {
      growth -= own_blocks(running.back());  // the sequence ends
      too_small(running.back());
    } else {
      full = true;
      set_aside(running.back());
      running.back().hold();
    }
    running.pop_back();
    held = held_blocks() + growth;
  }
  packed = std::move(running);

  // Preempted sequences return first; no sequence overtakes another.
  std::int64_t prefill = 0;
  std::move(fresh.begin(), fresh.end(), std::back_inserter(late));
  for (Packed& p : late) {
    const bool first = packed.empty();
    const auto spare = first ? 0
                             : static_cast<std::int64_t>(std::ceil(
                                   budget_.watermark * static_cast<double>(budget_.blocks)));
    const std::int64_t fed = std::ssize(p.sequence->evicted) + std::ssize(p.tokens);
    const std::int64_t wanted = holds(*p.sequence) ? added(p) : after(p);
    if (!full) make_room(budget_.blocks - spare - wanted);
    const bool fits = held + wanted <= budget_.blocks - spare &&
                      (prefill == 0 || prefill + fed <= budget_.prefill_rows);
    if (first && !fits) {  // no running sequence could make room
      too_small(p);
      continue;
    }
    full = !first && (full || !fits);
    if (full) {
      p.hold();
      continue;
    }
    prefill += fed;
    if (!holds(*p.sequence) && p.sequence->evicted.empty()) p.sequence->cache.move_to_device();
    if (!p.sequence->evicted.empty()) {
      p.feed_again();
      report_.refed_rows += std::ssize(std::exchange(p.sequence->evicted, {}));
    }
    p.sequence->aside = false;
    growth += added(p);
    held += wanted;
    packed.push_back(std::move(p));
  }
  report_.peak_blocks = std::max(report_.peak_blocks, held);
}

}  // namespace pardec
