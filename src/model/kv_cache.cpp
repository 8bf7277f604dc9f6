#include "src/model/kv_cache.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "src/kernels/packed_matrix.hpp"
#include "src/model/network.hpp"
#include "src/model/ranks/ranks.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

constexpr std::int64_t kBlock = 64;        // slots; capacities are multiples of this
constexpr int kDeadBeforeCompaction = 64;  // fewer dead slots are not worth the copy

std::int64_t rounded_up(std::int64_t slots) { return (slots + kBlock - 1) / kBlock * kBlock; }

std::int64_t whole_panels(std::int64_t slots) { return slots / kPanel * kPanel; }

/// Slots that a copy of the first `used` ones includes: whole panels.
std::int64_t held(std::int64_t used) { return (used + kPanel - 1) / kPanel * kPanel; }
static_assert(kBlock % kPanel == 0);

/// A view of keys in panels with the dimensions of slots: [kv_heads, capacity / 32, 32, head_dim /
/// 2, 2].
at::Tensor by_slot(const at::Tensor& keys) {
  return keys.view({keys.size(0), keys.size(1) / kPanel, keys.size(2) / 2, kPanel, 2})
      .permute({0, 1, 3, 2, 4});
}

/// Moves the slots with indices `living` to the front.
void pack(const at::Tensor& rows, const at::Tensor& living) {
  rows.narrow(1, 0, living.size(0)).copy_(rows.index_select(1, living));
}

}  // namespace

KvCache::Storage::Storage(const Model::Network& network)
    : kv_heads(network.config.kv_heads),
      head_dim(network.config.head_dim),
      tensor_options(at::TensorOptions().dtype(network.type).device(network.device)),
      keys(static_cast<size_t>(network.config.layers)),
      values(keys.size()),
      form(network.backend->cache_form()),
      remote(network.remote ? network.remote->ranks.open_cache(*network.remote) : nullptr) {
  for (size_t layer = 0; layer < keys.size(); ++layer) {
    keys[layer] = memory(0);
    values[layer] = memory(0);
  }
}

at::Tensor KvCache::Storage::memory(std::int64_t slot_count) const {
  const std::vector<std::int64_t> sizes{kv_heads, slot_count, head_dim};
  return form.whole_blocks ? at::zeros(sizes, tensor_options) : at::empty(sizes, tensor_options);
}

void KvCache::Storage::reserve(int more) {
  const std::int64_t needed = own() + more;
  if (needed <= capacity) return;
  settle({std::move(keys), std::move(values)}, 0,
         rounded_up(
             std::max(needed, static_cast<std::int64_t>(kGrowth * static_cast<double>(capacity)))));
}

void KvCache::Storage::settle(SharedRows from, std::int64_t first, std::int64_t new_capacity) {
  const auto copy = [&](std::vector<at::Tensor>& tensors, std::vector<at::Tensor>& to) {
    to.resize(tensors.size());
    for (size_t layer = 0; layer < tensors.size(); ++layer) {
      at::Tensor own_memory = memory(new_capacity);
      own_memory.narrow(1, 0, held(own())).copy_(tensors[layer].narrow(1, first, held(own())));
      to[layer] = std::move(own_memory);
      tensors[layer].reset();  // frees the old memory before the next is allocated
    }
  };
  copy(from.keys, keys), copy(from.values, values);
  capacity = new_capacity;
}

void KvCache::Storage::append(std::span<const RowLabel> labels) {
  for (const RowLabel& label : labels) {
    int row = fed;
    if (returning.empty()) {
      ++fed;
    } else {
      row = returning.front();
      returning.pop_front();
    }
    slots.push_back({row, true, label});
  }
  alive += static_cast<int>(labels.size());
}

size_t KvCache::Storage::find_alive(int row) const {
  const auto at = std::lower_bound(slots.begin(), slots.end(), row,
                                   [](const Slot& slot, int r) { return slot.row < r; });
  if (at == slots.end() || at->row != row || !at->alive)
    throw std::logic_error(str("KvCache: row ", row, " is not alive"));
  return static_cast<size_t>(at - slots.begin());
}

void KvCache::Storage::reclaim() {
  while (!slots.empty() && !slots.back().alive) slots.pop_back();
  shorten();
  const auto crowded = [](std::int64_t dead, std::int64_t living) {
    return dead > kDeadBeforeCompaction && dead > living;
  };
  if (!crowded(std::ssize(slots) - alive, alive)) return;
  std::vector<std::int64_t> living;  // indices of the cache's own living slots
  for (std::int64_t i = shared_slots; i < std::ssize(slots); ++i)
    if (slots[static_cast<size_t>(i)].alive) living.push_back(i - shared_slots);
  if (!crowded(own() - std::ssize(living), std::ssize(living))) return;
  const at::Tensor index = at::tensor(living, at::kLong).to(tensor_options.device());
  for (at::Tensor& tensor : values) pack(tensor, index);
  for (at::Tensor& tensor : keys) {
    if (!form.key_panels) {
      pack(tensor, index);
    } else {
      const at::Tensor rows = by_slot(tensor).reshape(tensor.sizes());
      pack(rows, index);
      by_slot(tensor).copy_(rows.view(by_slot(tensor).sizes()));
    }
  }
  slots.erase(std::remove_if(slots.begin() + shared_slots, slots.end(),
                             [](const Slot& slot) { return !slot.alive; }),
              slots.end());
}

void KvCache::Storage::shorten() {
  const std::int64_t left = std::ssize(slots);
  if (left >= shared_slots) return;
  const std::int64_t kept = whole_panels(left);
  while (shared_slots - shared.back().slots > kept) {
    shared_slots -= shared.back().slots;
    shared.pop_back();
  }
  // The remaining slots of the last panel are copied.
  Part& last = shared.back();
  const std::int64_t before = shared_slots - last.slots, from = kept - before;
  const std::shared_ptr<const SharedRows> rows = last.rows;
  last.slots = from;
  shared_slots = kept;
  if (from == 0) shared.pop_back();
  settle(*rows, from, rounded_up(own() + 1));
}

void KvCache::Storage::freeze() {
  const std::int64_t frozen = whole_panels(own());
  if (frozen == 0) return;
  const bool spare = capacity - frozen > kBlock;  // too much to keep allocated
  const auto rows = std::make_shared<SharedRows>(SharedRows{keys, values});
  shared.push_back({rows, frozen});
  shared_slots += frozen;
  settle(*rows, frozen, rounded_up(own() + 1));
  if (spare)
    for (auto* tensors : {&rows->keys, &rows->values})
      for (at::Tensor& tensor : *tensors) tensor = tensor.narrow(1, 0, frozen).clone();
}

std::unique_ptr<KvCache::Storage> KvCache::Storage::copied(bool shares) const {
  auto other = std::make_unique<Storage>(*this);  // still shares its tensors with this cache
  other->settle({std::move(other->keys), std::move(other->values)}, 0, rounded_up(own() + 1));
  if (remote) other->remote = remote->ranks.fork_cache(*remote, shares);
  return other;
}

KvCache::KvCache(const Model& model) : storage_(std::make_unique<Storage>(model.network())) {}
KvCache::KvCache(std::unique_ptr<Storage> storage) : storage_(std::move(storage)) {}
KvCache::KvCache(KvCache&&) noexcept = default;
KvCache& KvCache::operator=(KvCache&&) noexcept = default;
KvCache::~KvCache() = default;

KvCache KvCache::fork() const { return KvCache(storage_->copied(/*shares=*/false)); }

KvCache KvCache::share() {
  storage_->freeze();
  return KvCache(storage_->copied(/*shares=*/true));
}

std::vector<KvCache::Shared> KvCache::shared() const {
  std::vector<Shared> parts;
  for (const Storage::Part& part : storage_->shared)
    parts.push_back({part.rows.get(), static_cast<int>(part.slots)});
  return parts;
}

std::span<const KvCache::Slot> KvCache::slots() const { return storage_->slots; }
int KvCache::rows_fed() const { return storage_->fed; }
int KvCache::rows_alive() const { return storage_->alive; }
int KvCache::own_rows_alive() const {
  const auto first = storage_->slots.begin();
  return storage_->alive - static_cast<int>(std::count_if(first, first + storage_->shared_slots,
                                                          [](const Slot& s) { return s.alive; }));
}

void KvCache::drop(std::span<const int> rows) {
  for (const int row : rows) {
    storage_->slots[storage_->find_alive(row)].alive = false;
    --storage_->alive;
  }
  storage_->reclaim();
  if (storage_->remote) storage_->remote->ranks.drop(*storage_->remote, rows);
}

void KvCache::retract(int first) {
  if (first > storage_->fed)
    throw std::logic_error(
        str("KvCache::retract: from row ", first, " on, but ", storage_->fed, " were fed"));
  auto& slots = storage_->slots;
  for (; !slots.empty() && slots.back().row >= first; slots.pop_back())
    storage_->alive -= slots.back().alive;
  storage_->fed = first;
  storage_->shorten();
  if (storage_->remote) storage_->remote->ranks.retract(*storage_->remote, first);
}

void KvCache::relabel(int row, const RowLabel& label) {
  RowLabel& old = storage_->slots[storage_->find_alive(row)].label;
  if (label.position != old.position)
    throw std::logic_error(str("KvCache::relabel: row ", row, " has position ", old.position,
                               ", which cannot become ", label.position));
  old = label;
  if (storage_->remote) storage_->remote->ranks.relabel(*storage_->remote, row, label);
}

std::vector<KvCache::Slot> KvCache::evict() {
  std::vector<Slot> gone;
  for (const Slot& slot : storage_->slots)
    if (slot.alive) gone.push_back(slot);
  for (const Slot& slot : gone) storage_->returning.push_back(slot.row);
  storage_->slots.clear();
  storage_->alive = 0;
  storage_->shared.clear();
  storage_->shared_slots = 0;
  storage_->settle({std::move(storage_->keys), std::move(storage_->values)}, 0, 0);
  if (storage_->remote) storage_->remote->ranks.evict(*storage_->remote);
  return gone;
}

void KvCache::move_to_host() { storage_->move(at::kCPU); }
void KvCache::move_to_device() { storage_->move(storage_->tensor_options.device()); }

void KvCache::Storage::move(at::Device device) {
  for (auto* tensors : {&keys, &values})
    for (at::Tensor& tensor : *tensors) tensor = tensor.to(device);
}

std::int64_t KvCache::bytes() const {
  std::int64_t sum = 0;
  const auto add = [&](const auto& rows) {
    for (const auto* tensors : {&rows.keys, &rows.values})
      for (const at::Tensor& tensor : *tensors) sum += static_cast<std::int64_t>(tensor.nbytes());
  };
  add(*storage_);
  for (const Storage::Part& part : storage_->shared) add(*part.rows);
  return sum;
}

}  // namespace pardec
