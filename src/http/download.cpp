#include "src/http/download.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <memory>
#include <optional>
#include <thread>

#include "src/http/curl.hpp"
#include "src/http/headers.hpp"
#include "src/support/error.hpp"
#include "src/support/files.hpp"
#include "src/support/hashing.hpp"
#include "src/support/json.hpp"
#include "src/support/number_text.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

namespace fs = std::filesystem;

constexpr int kMostRedirects = 10;
constexpr long kLongestWaitSeconds = 60;  // maximum wait that a server may request
constexpr std::int64_t kSlack = 1 << 20;  // room that is left on the disk

/// How the server identifies the version of its file.
struct Version {
  std::string etag, modified;
  std::int64_t total = 0;  // bytes; 0: unknown

  bool known() const { return total > 0 || !etag.empty() || !modified.empty(); }
  /// Weak ETags do not guarantee equal bytes.
  std::string if_range() const { return etag.empty() || etag.starts_with("W/") ? modified : etag; }
};

/// `file.part` with its version; locked while open.
class Part {
 public:
  Part(const std::string& url, const fs::path& file, std::string elsewhere)
      : path_(file.string() + ".part"),
        notes_(file.string() + ".part.json"),
        url_(url),
        elsewhere_(std::move(elsewhere)) {
    fd_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (fd_ < 0) fail("cannot be opened");
    if (::flock(fd_, LOCK_EX | LOCK_NB) != 0) {
      ::close(fd_);
      throw RunError(str(path_.string(), " is being written by another call; wait for its end"));
    }
    kept_ = have_ = ::lseek(fd_, 0, SEEK_END);
    if (have_ > 0) read_notes();
    if (have_ > 0 && (!version_.known() || (version_.total > 0 && have_ > version_.total))) clear();
  }
  ~Part() { ::close(fd_); }
  Part(const Part&) = delete;
  Part& operator=(const Part&) = delete;

  std::int64_t have() const { return have_; }
  /// How many bytes of an earlier call are still there.
  std::int64_t kept() const { return kept_; }
  const Version& version() const { return version_; }
  bool whole() const { return version_.total > 0 && have_ == version_.total; }
  const fs::path& path() const { return path_; }
  const std::string& elsewhere() const { return elsewhere_; }

  void clear() {
    if (::ftruncate(fd_, 0) != 0 || ::lseek(fd_, 0, SEEK_SET) != 0) fail("cannot be emptied");
    kept_ = have_ = 0, version_ = {};
  }
  void note(const Version& version) {
    version_ = version;
    write_file(notes_, dump(Json{{"url", url_},
                                 {"etag", version.etag},
                                 {"modified", version.modified},
                                 {"bytes", version.total}}));
  }
  void append(const char* bytes, std::size_t count) {
    while (count > 0) {
      const ssize_t written = ::write(fd_, bytes, count);
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) fail(str("cannot be written after byte ", have_));
      bytes += written, count -= static_cast<std::size_t>(written), have_ += written;
    }
  }
  void sync() {
    if (::fsync(fd_) != 0) fail("cannot be written to the disk");
  }
  void move_to(const fs::path& file) {
    if (::rename(path_.c_str(), file.c_str()) != 0) fail("cannot be renamed");
    ::unlink(notes_.c_str());
  }
  void remove() {
    ::unlink(path_.c_str());
    ::unlink(notes_.c_str());
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    const int error = errno;
    throw RunError(str(path_.string(), " ", what, ": ", std::strerror(error),
                       error == ENOSPC || error == EFBIG || error == EDQUOT
                           ? "; make room, and the same command continues after what is there"
                           : ""));
  }
  void read_notes() {
    try {
      const Json notes = read_json(notes_);
      if (notes.at("url").get<std::string>() != url_) return;
      version_ = {notes.at("etag").get<std::string>(), notes.at("modified").get<std::string>(),
                  notes.at("bytes").get<std::int64_t>()};
    } catch (const DataError&) {  // no notes: the version of the part is unknown
    } catch (const nlohmann::json::exception&) {
    }
  }

  fs::path path_, notes_;
  std::string url_, elsewhere_;
  int fd_ = -1;
  std::int64_t have_ = 0, kept_ = 0;
  Version version_;
};

/// The part belongs to another version of the server's file; the download must start again.
struct Changed {};

/// One request, and its result.
struct Transfer {
  Part& part;
  const DownloadProgress& progress;
  const CurlHandle& curl;
  HttpHeaders headers = {};  // of the last answer, not of redirects
  bool begun = false;
  std::exception_ptr error = nullptr;  // from a callback, because it cannot pass through C code

  /// Before the first byte is accepted: checks that it continues the part.
  void begin();
};

void Transfer::begin() {
  begun = true;
  Version now{header(headers, "etag"), header(headers, "last-modified"), 0};
  if (curl.status() == 206) {  // Content-Range: bytes 100-199/200
    const std::string range = header(headers, "content-range");
    const size_t space = range.find(' '), dash = range.find('-'), slash = range.find('/');
    std::optional<std::int64_t> first;
    if (space < dash && dash < slash && slash != std::string::npos) {
      first = number_in<std::int64_t>(std::string_view(range).substr(space + 1, dash - space - 1));
      now.total = number_in<std::int64_t>(std::string_view(range).substr(slash + 1)).value_or(0);
    }
    const std::int64_t noted = part.version().total;
    if (first != part.have() || (noted > 0 && now.total != noted)) throw Changed{};
  } else {
    part.clear();
    now.total = number_in<std::int64_t>(header(headers, "content-length")).value_or(0);
  }
  std::error_code unknown;
  const auto space = fs::space(part.path(), unknown);
  const std::int64_t needed = now.total - part.have();
  if (!unknown && now.total > 0 && needed + kSlack > static_cast<std::int64_t>(space.available))
    throw RunError(str("needs ", needed, " bytes, the disk of ", part.path().parent_path().string(),
                       " has ", space.available, " free; make room or ", part.elsewhere()));
  part.note(now);
}

/// Runs the body of a callback. An exception is stored, and ends the transfer.
template <typename Body>
size_t guarded_callback(Transfer& transfer, size_t count, Body body) {
  try {
    body();
    return count;
  } catch (...) {
    transfer.error = std::current_exception();
    return count + 1;  // any other number makes curl give up
  }
}

size_t on_header(char* text, size_t, size_t count, void* data) {
  auto& transfer = *static_cast<Transfer*>(data);
  return guarded_callback(
      transfer, count, [&] { take_header_line(std::string_view(text, count), transfer.headers); });
}

size_t on_body(char* bytes, size_t, size_t count, void* data) {
  auto& transfer = *static_cast<Transfer*>(data);
  return guarded_callback(transfer, count, [&] {
    if (!transfer.begun) transfer.begin();
    transfer.part.append(bytes, count);
    transfer.progress(transfer.part.have(), transfer.part.version().total);
  });
}

enum class Outcome { good, changed, may_pass };

/// One request for the missing bytes. `fault`: the problem, if it is temporary. `wait`: the wait
/// that the server requests.
Outcome request(const std::string& url, Part& part, const DownloadOptions& options,
                const DownloadProgress& progress, std::string& fault, long& wait) {
  CurlHandle curl(url);
  Transfer transfer{part, progress, curl};
  curl.set(CURLOPT_USERAGENT, "pardec");
  curl.set(CURLOPT_REDIR_PROTOCOLS_STR, url.starts_with("https:") ? "https" : "http,https");
  curl.set(CURLOPT_FOLLOWLOCATION, 1L);
  curl.set(CURLOPT_MAXREDIRS, static_cast<long>(kMostRedirects));
  curl.set(CURLOPT_FAILONERROR, 1L);
  curl.set(CURLOPT_CONNECTTIMEOUT, static_cast<long>(options.timeout_seconds));
  curl.set(CURLOPT_LOW_SPEED_LIMIT, 1L);
  curl.set(CURLOPT_LOW_SPEED_TIME, static_cast<long>(options.timeout_seconds));
  curl.set(CURLOPT_HEADERFUNCTION, &on_header);
  curl.set(CURLOPT_HEADERDATA, &transfer);
  curl.set(CURLOPT_WRITEFUNCTION, &on_body);
  curl.set(CURLOPT_WRITEDATA, &transfer);
  std::vector<std::string> lines = options.headers;
  if (part.have() > 0) {
    curl.set(CURLOPT_RANGE, str(part.have(), "-").c_str());  // curl copies the text
    if (const std::string same = part.version().if_range(); !same.empty())
      lines.push_back("If-Range: " + same);
  }
  const CurlLines extra = curl_lines(lines);
  curl.set(CURLOPT_HTTPHEADER, extra.get());

  const CURLcode code = curl_easy_perform(curl.get());
  const long status = curl.status();
  try {
    if (transfer.error) std::rethrow_exception(transfer.error);
    if (code == CURLE_OK && !transfer.begun) transfer.begin();  // an empty body
  } catch (const Changed&) {
    return Outcome::changed;
  }
  if (code == CURLE_OK) return Outcome::good;
  if (code == CURLE_HTTP_RETURNED_ERROR) {
    if (status == 416) return Outcome::changed;  // the file is shorter than the part
    fault = str("the server answered ", status,
                status == 404 || status == 410   ? " (there is no such file)"
                : status == 401 || status == 403 ? " (access is not permitted)"
                                                 : "");
    curl_off_t asked = 0;
    curl_easy_getinfo(curl.get(), CURLINFO_RETRY_AFTER, &asked);
    wait = static_cast<long>(asked);
    if (may_pass(static_cast<int>(status))) return Outcome::may_pass;
    throw RunError(str(url, ": ", fault));
  }
  fault = curl.fault(code);
  switch (code) {
    case CURLE_OPERATION_TIMEDOUT:
    case CURLE_PARTIAL_FILE:
    case CURLE_RECV_ERROR:
    case CURLE_SEND_ERROR:
    case CURLE_GOT_NOTHING:
    case CURLE_HTTP2:
    case CURLE_HTTP2_STREAM:
      return Outcome::may_pass;
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_RESOLVE_PROXY:
    case CURLE_COULDNT_CONNECT:
      throw RunError(str(url, ": could not be reached: ", fault));
    default:
      throw RunError(str(url, ": ", fault));
  }
}

/// Sends requests until the part is complete.
void complete(const std::string& url, Part& part, const DownloadOptions& options,
              const DownloadProgress& progress) {
  bool anew = false;
  for (int tries = 0; !part.whole();) {
    std::string fault;
    long asked = 0;
    const Outcome outcome = request(url, part, options, progress, fault, asked);
    if (outcome == Outcome::good && (part.version().total == 0 || part.whole())) return;
    if (outcome == Outcome::good) fault = "fewer bytes came than were announced";
    if (outcome == Outcome::changed) {
      if (std::exchange(anew, true))
        throw RunError(str(url, ": the server sends another piece than it was asked for"));
      part.clear();
      continue;
    }
    if (tries++ >= options.retries)
      throw RunError(str(url, ": ", fault, "; given up after ", counted(tries, "attempt"),
                         ", with ", part.have(), " bytes kept for the next call"));
    std::this_thread::sleep_for(std::chrono::seconds(seconds_to_wait(tries, asked)));
  }
}

}  // namespace

bool may_pass(int status) {
  return status == 408 || status == 429 || (status >= 500 && status != 501);
}

long seconds_to_wait(int tries, long asked) {
  return std::clamp(asked, std::min(1L << (std::min(tries, 5) - 1), 16L), kLongestWaitSeconds);
}

Downloaded download(const std::string& url, const fs::path& file, const std::string& sha256,
                    const DownloadOptions& options, const DownloadProgress& progress) {
  Part part(url, file, options.elsewhere);
  Downloaded result;
  try {
    for (;;) {
      complete(url, part, options, progress);
      part.sync();
      result.kept = part.kept();
      result.bytes = part.have();
      if (result.bytes == 0) throw RunError(str(url, ": an empty answer came, expected a file"));
      result.sha256 = sha256_file(part.path());
      if (sha256.empty() || result.sha256 == sha256) break;
      if (result.kept == 0) {
        part.remove();
        throw RunError(str(url, ": ", result.bytes, " bytes came with SHA-256 ", result.sha256,
                           ", expected ", sha256,
                           "; the publisher's file has changed, or something else came in its "
                           "place"));
      }
      part.clear();  // the kept bytes may be wrong
    }
  } catch (const RunError&) {
    if (part.have() == 0) part.remove();
    throw;
  }
  part.move_to(file);
  return result;
}

}  // namespace pardec
