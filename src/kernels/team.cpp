#include "src/kernels/team.hpp"

#include <algorithm>
#include <csignal>
#include <stdexcept>
#include <utility>

#include "src/support/clock.hpp"

namespace pardec {

namespace {

constexpr std::int64_t kPieces = 8;          // of a member, where grains are small enough
constexpr std::int64_t kSpinNs = 100'000;    // longer than what lies between most loops
constexpr std::int64_t kLateNs = 1'000'000;  // a piece takes less, a turn of the scheduler more
constexpr std::int64_t kLongestRest = 1'000'000'000;
constexpr std::int64_t kSoon = 4;  // rests within which being late again is no coincidence

std::int64_t now_ns() { return SteadyClock().now_ns(); }

/// Whether `holds` did within some time.
template <typename Condition>
bool spin(const Condition& holds) {
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

std::uint64_t packed(std::uint32_t number, std::uint64_t next, std::uint64_t end) {
  return std::uint64_t{number} << 32 | next << 16 | end;
}

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
  const bool again = rest_ns_ > 0 && now_ns - waited_ns - back_ns_ < kSoon * rest_ns_;
  rest_ns_ = std::min(again ? 4 * rest_ns_ : 2 * waited_ns, kLongestRest);
  back_ns_ = now_ns + rest_ns_;
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
  ends_ = true;
  for (size_t m = 1; m <= helpers_.size(); ++m) ring(places_[m], ++number_);
  for (std::thread& helper : helpers_) helper.join();
  helpers_.clear();
  ends_ = false;
  members_ = members;
  places_ = std::vector<Place>(static_cast<size_t>(members));
  attendance_ = std::make_unique<Attendance>(members);
}

void Team::start() {
  sigset_t all, before;  // signals are the program's
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  for (int member = 1; member < members_; ++member)
    helpers_.emplace_back([this, member, seen = number_] { help(member, seen); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

std::int64_t Team::pieces_of(std::int64_t count, std::int64_t grain) const {
  const std::int64_t most = std::min(count / std::max<std::int64_t>(grain, 1), kPieces * members_);
  return most > members_ ? most - most % members_ : most;  // as many for each
}

void Team::share_out(const Loop& loop) {
  if (helpers_.empty()) start();
  const std::int64_t begin = now_ns();
  const std::int64_t active = std::min<std::int64_t>(attendance_->at(begin), loop.pieces);
  if (active == 1) {  // as fast as without a team
    taken_.store(false, std::memory_order_release);
    loop.call(loop.context, 0, 0, loop.count);
    return;
  }
  loop_ = loop;
  done_.store(0, std::memory_order_relaxed);
  ++number_;
  for (std::int64_t m = active - 1; m >= 0; --m) {
    Place& place = places_[static_cast<size_t>(m)];
    place.pieces.store(packed(number_, static_cast<std::uint64_t>(loop.pieces * m / active),
                              static_cast<std::uint64_t>(loop.pieces * (m + 1) / active)),
                       std::memory_order_release);
    if (m > 0) ring(place, number_);
  }
  const int own = take_part(0);
  wait_for_others(static_cast<int>(loop.pieces) - own, begin);
  const std::exception_ptr failure = std::exchange(failure_, nullptr);
  failed_.store(false, std::memory_order_relaxed);
  taken_.store(false, std::memory_order_release);
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

void Team::ring(Place& place, std::uint32_t number) {
  place.bell.store(number);
  if (place.asleep.load()) place.bell.notify_one();
}

void Team::help(int member, std::uint32_t seen) {
  Place& place = places_[static_cast<size_t>(member)];
  const auto called = [&] { return place.bell.load(std::memory_order_acquire) != seen; };
  for (;;) {
    if (!spin(called)) {
      place.asleep.store(true);
      place.bell.wait(seen);
      place.asleep.store(false);
    }
    seen = place.bell.load(std::memory_order_acquire);
    if (ends_.load(std::memory_order_acquire)) return;
    if (const int done = take_part(member)) {
      done_.fetch_add(static_cast<std::uint32_t>(done));
      done_.notify_one();
    }
  }
}

int Team::take(Place& place) {
  std::uint64_t pieces = place.pieces.load(std::memory_order_acquire);
  for (;;) {
    const auto next = static_cast<int>(pieces >> 16 & 0xFFFF);
    if (next >= static_cast<int>(pieces & 0xFFFF)) return -1;
    if (place.pieces.compare_exchange_weak(pieces, pieces + 0x10000, std::memory_order_acq_rel,
                                           std::memory_order_acquire))
      return next;
  }
}

int Team::take_part(int member) {
  int done = 0;
  for (int m = 0; m < members_; ++m) {
    Place& place = places_[static_cast<size_t>((member + m) % members_)];
    for (int piece = take(place); piece >= 0; piece = take(place), ++done) {
      if (failed_.load(std::memory_order_relaxed)) continue;
      try {
        loop_.call(loop_.context, member, loop_.count * piece / loop_.pieces,
                   loop_.count * (piece + 1) / loop_.pieces);
      } catch (...) {
        if (!failed_.exchange(true)) failure_ = std::current_exception();
      }
    }
  }
  return done;
}

std::int64_t Team::left_out_ns() const { return attendance_->out_ns(now_ns()); }

int Team::sleeping() const {
  return static_cast<int>(std::count_if(places_.begin(), places_.end(),
                                        [](const Place& place) { return place.asleep.load(); }));
}

}  // namespace pardec
