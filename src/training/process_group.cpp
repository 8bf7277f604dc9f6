#include "src/training/process_group.hpp"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <memory>
#include <thread>

#include "src/model/torch.hpp"
#include "src/support/checks.hpp"
#include "src/support/error.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

using SteadyTime = std::chrono::steady_clock;

enum class Kind : std::uint32_t {
  hello,   // identifies the sender; first message of a connection
  data,    // requested data
  failure  // another process is gone; contains a text
};
// A message: this header, then `size` bytes.
struct Header {
  std::uint32_t magic;
  Kind kind;
  std::uint64_t size;
};
constexpr std::uint32_t kMagic = 0x64726170;  // "pard"
struct Hello {
  std::int32_t rank, world_size;
};
constexpr double kHelloSeconds = 10;          // the connection may come from an unrelated program
constexpr std::uint64_t kLongestText = 4096;  // in a failure message

template <typename T>
std::span<std::byte> bytes_of(T& value) {
  return std::as_writable_bytes(std::span(&value, 1));
}
std::span<std::byte> bytes_of(const at::Tensor& tensor) {
  return {static_cast<std::byte*>(tensor.mutable_data_ptr()), tensor.nbytes()};
}

std::string reason() { return std::strerror(errno); }

/// Whether the socket can be read (written) within the time.
bool ready(int fd, short events, double seconds) {
  const auto end = SteadyTime::now() + std::chrono::duration<double>(seconds);
  for (;;) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(end - SteadyTime::now()).count();
    pollfd one{fd, events, 0};
    const int found =
        ::poll(&one, 1, static_cast<int>(std::clamp<std::int64_t>(left + 1, 0, 1'000'000'000)));
    if (found > 0) return true;
    if (found == 0 || errno != EINTR) return false;
  }
}

/// Reads (writes) all bytes. Returns the error; empty: success. `seconds`: maximum time without
/// progress.
template <typename Bytes, typename Move>
std::string move_all(int fd, short events, Bytes bytes, double seconds, Move&& move) {
  while (!bytes.empty()) {
    if (!ready(fd, events, seconds))
      return str("did not answer within ", seconds, " s (`process_timeout`)");
    const ssize_t moved = move(fd, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (moved < 0 && (errno == EAGAIN || errno == EINTR)) continue;
    if (moved <= 0) return "ended; its own message says why, if it was not killed";
    bytes = bytes.subspan(static_cast<size_t>(moved));
  }
  return "";
}
std::string read_all(int fd, std::span<std::byte> bytes, double seconds) {
  return move_all(fd, POLLIN, bytes, seconds, ::recv);
}
std::string write_all(int fd, std::span<const std::byte> bytes, double seconds) {
  return move_all(fd, POLLOUT, bytes, seconds, ::send);
}

void tell_failure(int fd, const std::string& text) {
  const Header header{kMagic, Kind::failure, text.size()};
  constexpr double kBriefly = 1;  // a process that does not read this notices the closed connection
  if (write_all(fd, std::as_bytes(std::span(&header, 1)), kBriefly).empty())
    write_all(fd, std::as_bytes(std::span(text)), kBriefly);
}

using Addresses = std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)>;
Addresses addresses_of(const std::string& master, bool passive) {
  const size_t colon = master.rfind(':');
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = passive ? AI_PASSIVE : 0;
  addrinfo* found = nullptr;
  const int error = ::getaddrinfo(master.substr(0, colon).c_str(), master.substr(colon + 1).c_str(),
                                  &hints, &found);
  if (error != 0)
    throw ConfigError(str("`master` is '", master, "', which is no address: ",
                          ::gai_strerror(error), "; expected HOST:PORT of rank 0's machine"));
  return {found, &::freeaddrinfo};
}

int open_socket(const addrinfo& address) {
  const int fd =
      ::socket(address.ai_family, address.ai_socktype | SOCK_CLOEXEC, address.ai_protocol);
  if (fd < 0) throw RunError(str("no socket can be made: ", reason()));
  return fd;
}

void set_option(int fd, int level, int option) {
  const int on = 1;
  ::setsockopt(fd, level, option, &on, sizeof on);
}

/// Sends small messages at once, and detects machines that have vanished.
void prepare(int fd) {
  set_option(fd, IPPROTO_TCP, TCP_NODELAY);
  set_option(fd, SOL_SOCKET, SO_KEEPALIVE);
}

}  // namespace

void check(const ProcessGroupOptions& options) {
  check_at_least("world_size", options.world_size, 1);
  if (options.rank < 0 || options.rank >= options.world_size)
    throw ConfigError(str("`rank` is ", options.rank, ", expected 0 to ", options.world_size - 1,
                          ": `world_size` is ", options.world_size));
  if (!(options.timeout_seconds > 0))
    throw ConfigError(
        str("`process_timeout` is ", options.timeout_seconds, ", expected more than 0 seconds"));
  if (options.world_size == 1) return;
  const size_t colon = options.master.rfind(':');
  if (colon == std::string::npos || colon == 0 || colon + 1 == options.master.size())
    throw ConfigError(str("`master` is '", options.master,
                          "', expected HOST:PORT of rank 0's machine, the same for all ",
                          options.world_size, " processes"));
}

ProcessGroup::ProcessGroup(ProcessGroupOptions options)
    : options_(std::move(options)), sockets_(static_cast<size_t>(options_.world_size), -1) {
  check(options_);
  try {
    if (rank() == 0)
      listen();
    else
      connect();
    broadcast("all are there");
  } catch (...) {
    for (const int fd : sockets_)
      if (fd >= 0) ::close(fd);
    throw;
  }
}

ProcessGroup::~ProcessGroup() {
  for (const int fd : sockets_)
    if (fd >= 0) ::close(fd);
}

void ProcessGroup::listen() {
  const Addresses addresses = addresses_of(options_.master, /*passive=*/true);
  const int door = open_socket(*addresses);
  set_option(door, SOL_SOCKET, SO_REUSEADDR);
  const std::unique_ptr<const int, void (*)(const int*)> closing(
      &door, [](const int* fd) { ::close(*fd); });
  if (::bind(door, addresses->ai_addr, addresses->ai_addrlen) != 0 || ::listen(door, size()) != 0)
    throw ConfigError(
        str("`master` ", options_.master, " cannot be listened at: ", reason(),
            "; expected an address of this machine, and a port that nobody else listens at"));
  const auto end = SteadyTime::now() + std::chrono::duration<double>(options_.timeout_seconds);
  while (std::count(sockets_.begin(), sockets_.end(), -1) > 1) {
    const std::chrono::duration<double> left = end - SteadyTime::now();
    if (left.count() <= 0 || !ready(door, POLLIN, left.count())) {
      std::vector<std::string> missing;
      for (int other = 1; other < size(); ++other)
        if (socket(other) < 0) missing.push_back(std::to_string(other));
      throw RunError(str("the process of rank ", join(missing, ", "), " did not connect to ",
                         options_.master, " within ", options_.timeout_seconds,
                         " s; start it with the same flags except for `rank`"));
    }
    const int fd = ::accept4(door, nullptr, nullptr, SOCK_CLOEXEC);
    if (fd < 0) continue;
    Header header{};
    Hello who{};
    if (!read_all(fd, bytes_of(header), kHelloSeconds).empty() || header.magic != kMagic ||
        header.kind != Kind::hello || header.size != sizeof who ||
        !read_all(fd, bytes_of(who), kHelloSeconds).empty()) {
      ::close(fd);
      continue;
    }
    const bool fits = who.world_size == size() && who.rank > 0 && who.rank < size();
    if (!fits || socket(who.rank) >= 0) {
      const std::string text =
          str("a process of rank ", who.rank, " of ", who.world_size, " came to ", options_.master,
              fits ? ", where one of this rank is already" : str(", where ", size(), " meet"));
      tell_failure(fd, text);
      ::close(fd);
      throw ConfigError(text);
    }
    prepare(fd);
    socket(who.rank) = fd;
  }
}

void ProcessGroup::connect() {
  const Addresses addresses = addresses_of(options_.master, /*passive=*/false);
  const auto end = SteadyTime::now() + std::chrono::duration<double>(options_.timeout_seconds);
  for (;;) {
    for (const addrinfo* address = addresses.get(); address && socket(0) < 0;
         address = address->ai_next) {
      const int fd = open_socket(*address);
      const timeval most{.tv_sec = 10, .tv_usec = 0};  // per attempt
      ::setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &most, sizeof most);
      if (::connect(fd, address->ai_addr, address->ai_addrlen) == 0)
        socket(0) = fd;
      else
        ::close(fd);
    }
    if (socket(0) >= 0) break;
    if (SteadyTime::now() > end)
      throw RunError(str("the process of rank 0 could not be reached at ", options_.master,
                         " within ", options_.timeout_seconds, " s: ", reason()));
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  prepare(socket(0));
  const Header header{kMagic, Kind::hello, sizeof(Hello)};
  const Hello who{rank(), size()};
  std::byte both[sizeof header + sizeof who];
  std::memcpy(both, &header, sizeof header);
  std::memcpy(both + sizeof header, &who, sizeof who);
  if (const std::string how = write_all(socket(0), both, patience()); !how.empty()) lose(0, how);
}

double ProcessGroup::patience() const {
  return rank() == 0 ? options_.timeout_seconds : 2 * options_.timeout_seconds;
}

void ProcessGroup::lose(int lost, const std::string& how) {
  const std::string text = str("the process of rank ", lost, " (of ", size(), ") ", how);
  if (rank() == 0)
    for (int other = 1; other < size(); ++other)
      if (other != lost) tell_failure(socket(other), text);
  throw RunError(text);
}

void ProcessGroup::read(int from, std::span<std::byte> bytes) {
  if (const std::string how = read_all(socket(from), bytes, patience()); !how.empty())
    lose(from, how);
}

void ProcessGroup::send(int to, std::span<const std::byte> bytes) {
  const Header header{kMagic, Kind::data, bytes.size()};
  std::string how = write_all(socket(to), std::as_bytes(std::span(&header, 1)), patience());
  if (how.empty()) how = write_all(socket(to), bytes, patience());
  if (how.empty()) return;
  // Rank 0 may have reported which other process is gone.
  if (rank() != 0 && ready(socket(to), POLLIN, 0)) receive_size(to);
  lose(to, how);
}

size_t ProcessGroup::receive_size(int from) {
  Header header{};
  read(from, bytes_of(header));
  if (header.magic == kMagic && header.kind == Kind::failure && header.size <= kLongestText) {
    std::string text(header.size, '\0');
    read(from, std::as_writable_bytes(std::span(text)));
    throw RunError(text);
  }
  if (header.magic != kMagic || header.kind != Kind::data)
    lose(from, "sent what is no message; expected the same program everywhere");
  return header.size;
}

void ProcessGroup::receive(int from, std::span<std::byte> bytes) {
  if (const size_t size = receive_size(from); size != bytes.size())
    lose(from, str("sent ", size, " bytes, expected ", bytes.size(),
                   "; expected the same program and flags everywhere"));
  read(from, bytes);
}

void ProcessGroup::sum(std::span<const at::Tensor> tensors) {
  for (const at::Tensor& tensor : tensors) {
    if (rank() != 0) {  // one at a time: otherwise both sides could block in writing
      send(0, bytes_of(tensor));
      receive(0, bytes_of(tensor));
      continue;
    }
    const at::Tensor theirs = at::empty_like(tensor);
    for (int other = 1; other < size(); ++other) {
      receive(other, bytes_of(theirs));
      tensor.add_(theirs);
    }
    for (int other = 1; other < size(); ++other) send(other, bytes_of(tensor));
  }
}

void ProcessGroup::broadcast(std::span<const at::Tensor> tensors) {
  for (const at::Tensor& tensor : tensors)
    if (rank() != 0)
      receive(0, bytes_of(tensor));
    else
      for (int other = 1; other < size(); ++other) send(other, bytes_of(tensor));
}

std::string ProcessGroup::broadcast(const std::string& text) {
  if (rank() != 0) {
    std::string said(receive_size(0), '\0');
    read(0, std::as_writable_bytes(std::span(said)));
    return said;
  }
  for (int other = 1; other < size(); ++other) send(other, std::as_bytes(std::span(text)));
  return text;
}

}  // namespace pardec
