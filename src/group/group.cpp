#include "src/group/group.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <exception>
#include <thread>

#include "src/support/error.hpp"
#include "src/support/launch.hpp"
#include "src/support/text.hpp"

#ifdef PARDEC_MPI
#include <mpi.h>
#endif

namespace pardec {

#ifdef PARDEC_MPI

namespace {

constexpr std::size_t kLongestCall = std::size_t{1} << 28;  // MPI counts in int
// Tags of messages: of meet(), send(), of the dealer's questions and answers, of sums, and of
// tell().
constexpr int kArrival = 1, kText = 2, kQuestion = 3, kAnswer = 4, kNumbers = 5, kTold = 6;
constexpr double kDealSeconds = 600;  // rank 0 answers at once, unless its machine is gone
constexpr int kBusyTests = 1000;      // before a process that waits leaves its core to others

void check_mpi(int code) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING];
  int size = 0;
  MPI_Error_string(code, text, &size);
  throw RunError("MPI: " + std::string(text, static_cast<std::size_t>(size)));
}

using GroupTime = std::chrono::steady_clock;
GroupTime::time_point after(double seconds) {
  return GroupTime::now() +
         std::chrono::duration_cast<GroupTime::duration>(std::chrono::duration<double>(seconds));
}

/// Waits until `test` returns true, at most until `end`. Returns whether it did. A process that
/// waits sleeps, so that others can use its core: first for a short time, later for up to 1 ms.
template <typename Test>
bool came(const Test& test, GroupTime::time_point end) {
  for (int tests = 0; tests < kBusyTests; ++tests) {
    if (test()) return true;
    std::this_thread::yield();
  }
  constexpr std::chrono::nanoseconds kShortest = std::chrono::microseconds(50),
                                     kLongest = std::chrono::milliseconds(1);
  const auto begin = GroupTime::now();
  while (!test()) {
    const auto now = GroupTime::now();
    if (now > end) return false;
    std::this_thread::sleep_for(
        std::clamp<std::chrono::nanoseconds>((now - begin) / 64, kShortest, kLongest));
  }
  return true;
}

/// Whether the operation ends before `end`.
bool finished(MPI_Request& request, GroupTime::time_point end) {
  return came(
      [&] {
        int done = 0;
        check_mpi(MPI_Test(&request, &done, MPI_STATUS_IGNORE));
        return done != 0;
      },
      end);
}

[[noreturn]] void no_answer(int rank, int size, double seconds) {
  throw RunError(str("the process of rank ", rank, " (of ", size, ") did not answer within ",
                     seconds, " s (`process_timeout`)"));
}

/// Waits for a call in which all have met.
void finish(MPI_Request& request, const Group& group, double seconds) {
  if (!finished(request, after(seconds))) {
    if (group.rank() > 0) no_answer(0, group.size(), seconds);
    throw RunError(str("a process other than rank 0 did not finish a call within ", seconds,
                       " s (`process_timeout`)"));
  }
}

template <typename Number, typename Call>
void in_parts(std::span<Number> all, Call&& call) {
  for (std::size_t at = 0; at < all.size(); at += kLongestCall)
    call(all.subspan(at, std::min(kLongestCall, all.size() - at)));
}

// A sum of more numbers is computed in parts.
constexpr std::size_t kLongestSum = std::size_t{1} << 20;
// If there are more numbers, each process adds a part of them.
constexpr std::size_t kShortSum = std::size_t{1} << 12;

MPI_Datatype type_of(float) { return MPI_FLOAT; }
MPI_Datatype type_of(double) { return MPI_DOUBLE; }

/// Messages of numbers between this process and each other one, all on their way together.
template <typename Number>
class Exchange {
 public:
  explicit Exchange(const Group& group) : group_(group) {}
  void send(std::span<const Number> numbers, int to) {
    Message& message = messages_.emplace_back(Message{to, {}});
    check_mpi(MPI_Isend(numbers.data(), static_cast<int>(numbers.size()), type_of(Number{}), to,
                        kNumbers, MPI_COMM_WORLD, &message.request));
  }
  void receive(std::span<Number> numbers, int from) {
    Message& message = messages_.emplace_back(Message{from, {}});
    check_mpi(MPI_Irecv(numbers.data(), static_cast<int>(numbers.size()), type_of(Number{}), from,
                        kNumbers, MPI_COMM_WORLD, &message.request));
  }
  /// Waits until all have arrived.
  void finish(double seconds) {
    const auto end = after(seconds);
    for (Message& message : messages_)
      if (!finished(message.request, end)) no_answer(message.other, group_.size(), seconds);
    messages_.clear();
  }

 private:
  struct Message {
    int other;
    MPI_Request request;
  };
  const Group& group_;
  std::vector<Message> messages_;
};

/// Writes the sums of equally long arrays to `to`, added in their order.
template <typename Number>
void add_in_order(const std::vector<std::vector<Number>>& arrays, std::span<Number> to) {
  std::copy(arrays.front().begin(), arrays.front().end(), to.begin());
  for (std::size_t i = 1; i < arrays.size(); ++i)
    for (std::size_t at = 0; at < to.size(); ++at) to[at] += arrays[i][at];
}

/// Part `rank` of the numbers.
template <typename Number>
std::span<Number> part_of_sum(std::span<Number> numbers, int rank, int size) {
  const auto border = [&](int at) {
    return numbers.size() * static_cast<std::size_t>(at) / static_cast<std::size_t>(size);
  };
  return numbers.subspan(border(rank), border(rank + 1) - border(rank));
}

}  // namespace

std::string mpi_library() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING];
  int size = 0;
  MPI_Get_library_version(text, &size);
  const std::string all(text, static_cast<std::size_t>(size));
  return all.substr(0, all.find_first_of(",\n"));
}

std::unique_ptr<Group> Group::join(double timeout_seconds) {
  // Without a launcher, MPI_Init would start a daemon for a group of one.
  if (!launch().together) return nullptr;
  std::unique_ptr<Group> group(new Group(timeout_seconds));
  return group->size() > 1 ? std::move(group) : nullptr;
}

Group::Group(double timeout_seconds) : timeout_seconds_(timeout_seconds) {
  int provided = 0;
  check_mpi(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided));
  if (provided < MPI_THREAD_SERIALIZED)
    throw RunError("this MPI allows no threads; expected MPI_THREAD_SERIALIZED");
  check_mpi(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
  check_mpi(MPI_Comm_rank(MPI_COMM_WORLD, &rank_));
  check_mpi(MPI_Comm_size(MPI_COMM_WORLD, &size_));
  MPI_Comm machine{};
  int rank_there = 0;
  check_mpi(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine));
  check_mpi(MPI_Comm_rank(machine, &rank_there));
  check_mpi(MPI_Comm_free(&machine));
  first_on_machine_ = rank_there == 0;
}

Group::~Group() {
  // MPI_Finalize waits for all. After an error the others would wait, too; when a process ends
  // without it, the launcher ends them.
  if (std::uncaught_exceptions() == 0) MPI_Finalize();
}

void Group::meet() {
  if (rank_ > 0) {
    check_mpi(MPI_Send(nullptr, 0, MPI_BYTE, 0, kArrival, MPI_COMM_WORLD));
    return;
  }
  const auto end = after(timeout_seconds_);
  for (int other = 1; other < size_; ++other) {
    MPI_Request request{};
    check_mpi(MPI_Irecv(nullptr, 0, MPI_BYTE, other, kArrival, MPI_COMM_WORLD, &request));
    if (!finished(request, end)) no_answer(other, size_, timeout_seconds_);
  }
}

template <typename Number>
void Group::sum_numbers(std::span<Number> all) {
  for (std::size_t begin = 0; begin < all.size(); begin += kLongestSum) {
    const std::span<Number> numbers = all.subspan(begin, std::min(kLongestSum, all.size() - begin));
    // With two processes, or few numbers, each process adds all.
    const bool whole = size_ == 2 || numbers.size() <= kShortSum;
    const auto part = [&](int rank) { return whole ? numbers : part_of_sum(numbers, rank, size_); };
    Exchange<Number> exchange(*this);
    std::vector<std::vector<Number>> arrays(static_cast<std::size_t>(size_));
    for (int other = 0; other < size_; ++other) {
      std::vector<Number>& array = arrays[static_cast<std::size_t>(other)];
      const std::span<Number> own = part(rank_);
      if (other == rank_) {
        array.assign(own.begin(), own.end());
        continue;
      }
      array.resize(own.size());
      exchange.receive(array, other);
      exchange.send(part(other), other);
    }
    exchange.finish(patience());
    add_in_order(arrays, part(rank_));
    if (whole) continue;
    for (int other = 0; other < size_; ++other) {
      if (other == rank_) continue;
      exchange.receive(part(other), other);
      exchange.send(part(rank_), other);
    }
    exchange.finish(patience());
  }
}

void Group::sum(std::span<float> numbers) { sum_numbers(numbers); }
void Group::sum(std::span<double> numbers) { sum_numbers(numbers); }

void Group::broadcast(std::span<std::byte> bytes) {
  meet();
  in_parts(bytes, [&](std::span<std::byte> part) {
    MPI_Request request{};
    check_mpi(MPI_Ibcast(part.data(), static_cast<int>(part.size()), MPI_BYTE, 0, MPI_COMM_WORLD,
                         &request));
    finish(request, *this, 2 * timeout_seconds_);
  });
}

namespace {

// MPI_Send would keep a core busy until the other process receives.
void send_bytes(std::span<const std::byte> bytes, int to, int tag, const Group& group,
                double seconds) {
  in_parts(bytes, [&](std::span<const std::byte> part) {
    MPI_Request request{};
    check_mpi(MPI_Isend(part.data(), static_cast<int>(part.size()), MPI_BYTE, to, tag,
                        MPI_COMM_WORLD, &request));
    if (!finished(request, after(seconds))) no_answer(to, group.size(), seconds);
  });
}

void receive_bytes(std::span<std::byte> bytes, int from, int tag, const Group& group,
                   double seconds) {
  in_parts(bytes, [&](std::span<std::byte> part) {
    MPI_Request request{};
    check_mpi(MPI_Irecv(part.data(), static_cast<int>(part.size()), MPI_BYTE, from, tag,
                        MPI_COMM_WORLD, &request));
    if (!finished(request, after(seconds))) no_answer(from, group.size(), seconds);
  });
}

template <typename T>
std::span<std::byte> bytes_of_value(T& value) {
  return std::as_writable_bytes(std::span(&value, 1));
}

constexpr std::int64_t kNoMore = -1;
constexpr std::int64_t kAllDealt = std::int64_t{1} << 62;  // no number is as large

}  // namespace

void Group::send(const std::string& text) {
  std::uint64_t size = text.size();
  send_bytes(bytes_of_value(size), 0, kText, *this, 2 * timeout_seconds_);
  send_bytes(std::as_bytes(std::span(text)), 0, kText, *this, 2 * timeout_seconds_);
}

std::string Group::receive(int rank) {
  std::uint64_t size = 0;
  receive_bytes(bytes_of_value(size), rank, kText, *this, timeout_seconds_);
  std::string text(size, '\0');
  receive_bytes(std::as_writable_bytes(std::span(text)), rank, kText, *this, timeout_seconds_);
  return text;
}

std::vector<std::string> Group::gather(const std::string& text) {
  if (rank_ > 0) {
    send(text);
    return {};
  }
  std::vector<std::string> all{text};
  for (int rank = 1; rank < size_; ++rank) all.push_back(receive(rank));
  return all;
}

void Group::tell(const std::string& text) {
  const std::span<const std::byte> bytes = std::as_bytes(std::span(text));
  if (bytes.size() > kLongestCall)
    throw RunError(str("a message of ", bytes.size(),
                       " bytes is too long for MPI, expected at most ", kLongestCall));
  std::vector<MPI_Request> requests(static_cast<std::size_t>(size_));
  for (int rank = 1; rank < size_; ++rank)
    check_mpi(MPI_Isend(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, rank, kTold,
                        MPI_COMM_WORLD, &requests[static_cast<std::size_t>(rank)]));
  const auto end = after(patience());
  for (int rank = 1; rank < size_; ++rank)
    if (!finished(requests[static_cast<std::size_t>(rank)], end))
      no_answer(rank, size_, patience());
}

std::string Group::hear() {
  MPI_Status status{};
  came(
      [&] {
        int there = 0;
        check_mpi(MPI_Iprobe(0, kTold, MPI_COMM_WORLD, &there, &status));
        return there != 0;
      },
      GroupTime::time_point::max());
  int size = 0;
  check_mpi(MPI_Get_count(&status, MPI_BYTE, &size));
  std::string text(static_cast<std::size_t>(size), '\0');
  receive_bytes(std::as_writable_bytes(std::span(text)), 0, kTold, *this, patience());
  return text;
}

Dealer::Dealer(Group& group) : group_(group) {
  if (group_.rank() == 0)
    thread_ = std::jthread([this](const std::stop_token& stop) { answer(stop); });
}

Dealer::~Dealer() {
  if (std::uncaught_exceptions() > 0) return;  // the launcher ends all others
  if (group_.rank() > 0) {
    const std::int64_t told = kNoMore;
    MPI_Send(&told, 1, MPI_INT64_T, 0, kQuestion, MPI_COMM_WORLD);
  } else {
    next_ = kAllDealt;
    thread_.join();
  }
}

void Dealer::answer(const std::stop_token& stop) {
  for (int left = group_.size() - 1; left > 0;) {
    std::int64_t asked = 0;
    MPI_Request request{};
    MPI_Irecv(&asked, 1, MPI_INT64_T, MPI_ANY_SOURCE, kQuestion, MPI_COMM_WORLD, &request);
    MPI_Status status{};
    for (int done = 0;;) {
      MPI_Test(&request, &done, &status);
      if (done) break;
      if (stop.stop_requested()) return;
      std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
    if (asked == kNoMore) {
      --left;
      continue;
    }
    std::int64_t number = next_++;
    MPI_Send(&number, 1, MPI_INT64_T, status.MPI_SOURCE, kAnswer, MPI_COMM_WORLD);
  }
}

std::int64_t Dealer::next() {
  if (group_.rank() == 0) return next_++;
  std::int64_t number = 0;
  send_bytes(bytes_of_value(number), 0, kQuestion, group_, kDealSeconds);
  receive_bytes(bytes_of_value(number), 0, kAnswer, group_, kDealSeconds);
  return number;
}

#else

std::string mpi_library() { return ""; }

std::unique_ptr<Group> Group::join(double) {
  if (launch().size > 1)
    throw ConfigError(
        "this process was started as one of several, but pardec was built without MPI; install "
        "libopenmpi-dev and build again, or start one process");
  return nullptr;
}

// There is no group without MPI.
Group::Group(double timeout_seconds) : timeout_seconds_(timeout_seconds) {}
Group::~Group() = default;
void Group::meet() {}
void Group::sum(std::span<float>) {}
void Group::sum(std::span<double>) {}
void Group::broadcast(std::span<std::byte>) {}
void Group::send(const std::string&) {}
std::string Group::receive(int) { return ""; }
std::vector<std::string> Group::gather(const std::string&) { return {}; }
void Group::tell(const std::string&) {}
std::string Group::hear() { return ""; }
Dealer::Dealer(Group& group) : group_(group) {}
Dealer::~Dealer() = default;
std::int64_t Dealer::next() { return next_++; }

#endif

std::string Group::broadcast(const std::string& text) {
  std::uint64_t size = text.size();
  broadcast(std::as_writable_bytes(std::span(&size, 1)));
  std::string said = rank_ == 0 ? text : std::string(size, '\0');
  broadcast(std::as_writable_bytes(std::span(said)));
  return said;
}

}  // namespace pardec
