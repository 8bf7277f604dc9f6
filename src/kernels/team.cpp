#include "src/kernels/team.hpp"

#include <algorithm>
#include <csignal>
#include <stdexcept>
#include <utility>

#include "src/support/clock.hpp"

namespace pardec {

namespace {

constexpr std::int64_t kPieces = 16;  // per member, if grains are small enough
constexpr int kEagerLooks = 4000;
constexpr std::int64_t kSpinNs = 100'000;  // longer than the time between most loops
// a piece takes less time, a time slice of the scheduler more
constexpr std::int64_t kLateNs = 1'000'000;
// presence in multiples of the loss; other programs may take half of the time
constexpr std::int64_t kWorth = 4;
constexpr std::int64_t kLongestRest = 1'000'000'000;

std::int64_t now_ns() { return SteadyClock().now_ns(); }

/// Whether `holds` became true within some time. The first checks follow each other directly,
/// because a pause takes as long as a cache line from core to core.
template <typename Condition>
bool spin(const Condition& holds) {
  for (int i = 0; i < kEagerLooks; ++i)
    if (holds()) return true;
  for (std::int64_t end = 0;;) {
    for (int i = 0; i < 64; ++i) {
      if (holds()) return true;
#if defined(__x86_64__)
      __builtin_ia32_pause();
#endif
    }
    const std::int64_t now = now_ns();
    if (end == 0) end = now + kSpinNs;
    if (now >= end) return false;
  }
}

/// Fetches a cache line for exclusive access, so that it can be written at once.
void fetch_to_write([[maybe_unused]] const void* line) {
#if defined(__x86_64__)
  asm volatile("prefetchw %0" : : "m"(*static_cast<const char*>(line)));
#endif
}

std::uint64_t packed(std::uint32_t number, std::uint64_t next, std::uint64_t end) {
  return std::uint64_t{number} << 32 | next << 16 | end;
}

std::uint32_t number_of(std::uint64_t pieces) { return static_cast<std::uint32_t>(pieces >> 32); }

}  // namespace

int Attendance::at(std::int64_t now_ns) {
  if (active_ < members_ && now_ns >= back_ns_) {
    become(active_ + 1, now_ns);
    if (active_ < members_) back_ns_ = now_ns + rest_ns_;
  }
  return active_;
}

void Attendance::waited(std::int64_t now_ns, std::int64_t worked_ns, std::int64_t waited_ns) {
  if (waited_ns < kLateNs || waited_ns < 2 * worked_ns || active_ == 1) return;
  const std::int64_t present = now_ns - waited_ns - back_ns_;
  back_ns_ = now_ns;
  if (present > kWorth * (members_ + 1) * waited_ns) {  // far more than the cost of waiting
    rest_ns_ = 0;
    return;
  }
  rest_ns_ = std::min(rest_ns_ > 0 ? 4 * rest_ns_ : 2 * waited_ns, kLongestRest);
  back_ns_ += rest_ns_;
  become(active_ - 1, now_ns);
}

std::int64_t Attendance::out_ns(std::int64_t now_ns) const {
  return out_ns_ + (members_ - active_) * (now_ns - since_ns_);
}

void Attendance::become(int active, std::int64_t now_ns) {
  out_ns_ = out_ns(now_ns);
  since_ns_ = now_ns;
  active_ = active;
}

void Team::resize(int members) {
  if (members < 1) throw std::logic_error("a team has one member at least");
  end_helpers();
  members_ = members;
  places_ = std::vector<Place>(static_cast<size_t>(members));
  attendance_ = std::make_unique<Attendance>(members);
}

void Team::end_helpers() {
  ends_ = true;
  ++number_;
  for (size_t m = 1; m <= helpers_.size(); ++m) call(places_[m], {}, 0, 0);
  std::atomic_thread_fence(std::memory_order_seq_cst);
  for (size_t m = 1; m <= helpers_.size(); ++m) wake(places_[m]);
  for (std::thread& helper : helpers_) helper.join();
  helpers_.clear();
  ends_ = false;
}

void Team::start() {
  sigset_t all, before;  // signals are for the program's other threads
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    for (int member = 1; member < members_; ++member)
      helpers_.emplace_back([this, member, seen = number_] { help(member, seen); });
  } catch (...) {
    end_helpers();
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    throw;
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

std::int64_t Team::pieces_of(std::int64_t count, std::int64_t grain) const {
  const std::int64_t most = std::min(count / std::max<std::int64_t>(grain, 1), kPieces * members_);
  return most > members_ ? most - most % members_ : most;  // the same number for each member
}

void Team::share_out(const Loop& loop) {
  try {
    if (helpers_.empty()) start();
  } catch (...) {
    release();
    throw;
  }
  std::int64_t active = attendance_->active();
  if (active < members_) active = attendance_->at(now_ns());
  active = std::min(active, loop.pieces);
  if (active == 1) {  // no slower than without a team
    release();
    loop.call(loop.context, 0, 0, loop.count);
    return;
  }
  done_.store(0, std::memory_order_relaxed);
  ++number_;
  for (std::int64_t m = active - 1; m > 0; --m) {
    Place& place = places_[static_cast<size_t>(m)];
    call(place, loop, loop.pieces * m / active, loop.pieces * (m + 1) / active);
    wake(place);
  }
  call(places_[0], loop, 1, loop.pieces / active);  // its first piece has begun
  const std::int64_t begin = now_ns();
  do_piece(loop, 0, 0);
  // A helper that has just gone to sleep may have missed the call; it is woken here.
  std::atomic_thread_fence(std::memory_order_seq_cst);
  for (std::int64_t m = active - 1; m > 0; --m) wake(places_[static_cast<size_t>(m)]);
  int own = 1;
  for (std::int64_t m = 0; m < active; ++m) own += take_all(places_[static_cast<size_t>(m)], 0);
  wait_for_others(static_cast<int>(loop.pieces) - own, begin);
  const std::exception_ptr failure = std::exchange(failure_, nullptr);
  failed_.store(false, std::memory_order_relaxed);
  release();
  if (failure) std::rethrow_exception(failure);
}

void Team::wait_for_others(int pieces, std::int64_t begin_ns) {
  const auto others = static_cast<std::uint32_t>(pieces);
  const auto ended = [&] { return done_.load(std::memory_order_acquire) == others; };
  for (int i = 0; i < 64; ++i)
    if (ended()) return;
  const std::int64_t waiting = now_ns();
  const bool sleeps = !spin(ended);
  for (std::uint32_t done; (done = done_.load(std::memory_order_acquire)) != others;)
    done_.wait(done, std::memory_order_acquire);
  const std::int64_t now = now_ns(), worked = waiting - begin_ns, waited = now - waiting;
  if (sleeps) slept_ns_ += std::min(waited, worked);
  attendance_->waited(now, worked, waited);
}

void Team::call(Place& place, const Loop& loop, std::int64_t begin, std::int64_t end) {
  place.loop = loop;
  place.pieces.store(
      packed(number_, static_cast<std::uint64_t>(begin), static_cast<std::uint64_t>(end)),
      std::memory_order_release);
}

void Team::wake(Place& place) {
  if (!place.asleep.load() || !place.asleep.exchange(false)) return;  // waking once is enough
  place.bell.fetch_add(1);
  place.bell.notify_one();
}

void Team::help(int member, std::uint32_t seen) {
  Place& place = places_[static_cast<size_t>(member)];
  const auto called = [&] {
    fetch_to_write(&place);  // a piece is taken as soon as it is seen
    return number_of(place.pieces.load(std::memory_order_acquire)) != seen;
  };
  for (;;) {
    if (!spin(called)) {
      const std::uint32_t bell = place.bell.load();
      place.asleep.store(true);
      std::atomic_thread_fence(std::memory_order_seq_cst);
      if (!called()) place.bell.wait(bell);
      place.asleep.store(false);
      if (!called()) continue;
    }
    seen = number_of(place.pieces.load(std::memory_order_acquire));
    if (ends_.load(std::memory_order_acquire)) return;
    for (int m = 0; m < members_; ++m) {
      const int done = take_all(places_[static_cast<size_t>((member + m) % members_)], member);
      if (done == 0) continue;
      done_.fetch_add(static_cast<std::uint32_t>(done));
      done_.notify_one();
    }
  }
}

int Team::take_piece(Place& place) {
  std::uint64_t pieces = place.pieces.load(std::memory_order_acquire);
  for (;;) {
    const auto next = static_cast<int>(pieces >> 16 & 0xFFFF);
    if (next >= static_cast<int>(pieces & 0xFFFF)) return -1;
    if (place.pieces.compare_exchange_weak(pieces, pieces + 0x10000, std::memory_order_acq_rel,
                                           std::memory_order_acquire))
      return next;
  }
}

int Team::take_all(Place& place, int member) {
  int done = 0;
  for (int piece = take_piece(place); piece >= 0; piece = take_piece(place), ++done)
    do_piece(place.loop, piece, member);  // the loop remains valid until the piece is done
  return done;
}

void Team::do_piece(const Loop& loop, int piece, int member) {
  if (failed_.load(std::memory_order_relaxed)) return;
  try {
    loop.call(loop.context, member, loop.count * piece / loop.pieces,
              loop.count * (piece + 1) / loop.pieces);
  } catch (...) {
    if (!failed_.exchange(true)) failure_ = std::current_exception();
  }
}

std::int64_t Team::left_out_ns() const { return attendance_->out_ns(now_ns()); }

int Team::sleeping() const {
  return static_cast<int>(std::count_if(places_.begin(), places_.end(),
                                        [](const Place& place) { return place.asleep.load(); }));
}

}  // namespace pardec
