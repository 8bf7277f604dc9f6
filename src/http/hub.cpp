#include "src/http/hub.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <optional>
#include <set>
#include <string_view>
#include <thread>
#include <utility>

#include "src/http/client.hpp"
#include "src/support/error.hpp"
#include "src/support/files.hpp"
#include "src/support/json.hpp"
#include "src/support/number_text.hpp"
#include "src/support/shard_index.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

namespace fs = std::filesystem;

// The requests are those of huggingface_hub:
//   GET  /api/models/ORG/NAME/revision/REVISION   JSON: `sha` (the commit), `siblings` (the files)
//   HEAD /ORG/NAME/resolve/COMMIT/FILE            ETag and Content-Length; for a file on another
//                                                 host a redirect, with X-Linked-Etag,
//                                                 X-Linked-Size
//   GET  /ORG/NAME/resolve/COMMIT/FILE            the file, perhaps after redirects

constexpr int kMostMoves = 5;
constexpr std::size_t kLargestList = 64 << 20;  // bytes of a list of files
constexpr std::int64_t kRoomLeft = 1 << 20;     // room that is left on the disk
constexpr const char* kIndex = "model.safetensors.index.json";
constexpr const char* kPickledIndex = "pytorch_model.bin.index.json";
constexpr std::array kSmallFiles{"config.json",         "generation_config.json",
                                 "tokenizer.json",      "tokenizer_config.json",
                                 "added_tokens.json",   "special_tokens_map.json",
                                 "chat_template.jinja", "chat_template.json",
                                 "adapter_config.json", "medusa_heads.safetensors"};

std::string percent_encoded(std::string_view text, bool slash_too) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte < 0x80 && std::isalnum(byte) != 0) || c == '-' || c == '.' || c == '_' || c == '~' ||
        (c == '/' && !slash_too))
      out += c;
    else
      out += str('%', kDigits[byte >> 4], kDigits[byte & 15]);
  }
  return out;
}

class Hub {
 public:
  Hub(const HubName& name, const HubOptions& options) : name_(name), options_(options) {
    headers_.emplace_back("User-Agent: pardec");
    if (!options.token.empty()) headers_.push_back("Authorization: Bearer " + options.token);
  }

  /// The commit, and the names of its files.
  std::pair<std::string, std::set<std::string>> files() {
    const std::string url = str(options_.endpoint, "/api/models/", name_.repository, "/revision/",
                                percent_encoded(name_.revision, true));
    const Json json = parse_json(answer(HttpMethod::get, url).body, url, 0);
    const Json commit = json.is_object() ? json.value("sha", Json()) : Json();
    const Json siblings = json.is_object() ? json.value("siblings", Json()) : Json();
    if (!commit.is_string() || !is_commit(commit.get<std::string>()) || !siblings.is_array())
      throw RunError(str(url, ": has no 'sha' of a commit with 'siblings', expected the list of ",
                         "the files of a network"));
    std::set<std::string> names;
    for (const Json& one : siblings)
      if (one.is_object() && one.value("rfilename", Json()).is_string())
        names.insert(one.at("rfilename").get<std::string>());
    return {commit.get<std::string>(), std::move(names)};
  }

  std::string address(const std::string& commit, const std::string& file) const {
    return str(options_.endpoint, "/", name_.repository, "/resolve/", commit, "/",
               percent_encoded(file, false));
  }

  /// Length and ETag of a file.
  HubFile head(const std::string& commit, const std::string& file) {
    const std::string url = address(commit, file);
    const HttpHeaders headers = answer(HttpMethod::head, url).headers;
    if (const std::string other = header(headers, "x-repo-commit");
        !other.empty() && other != commit)
      throw RunError(str(url, ": is of commit ", other, ", expected ", commit));
    const auto first = [&](const char* linked, const char* own) {
      const std::string value = header(headers, linked);
      return value.empty() ? header(headers, own) : value;
    };
    std::string etag = first("x-linked-etag", "etag");
    if (etag.starts_with("W/")) etag.erase(0, 2);
    if (etag.size() >= 2 && etag.starts_with('"') && etag.ends_with('"'))
      etag = etag.substr(1, etag.size() - 2);
    const bool plain = !etag.empty() && std::all_of(etag.begin(), etag.end(), [](unsigned char c) {
      return std::isalnum(c) != 0 || c == '-';
    });
    if (!plain)
      throw RunError(
          str(url, ": has ETag '", visible_text(etag), "', expected letters and digits"));
    const auto bytes = number_in<std::int64_t>(first("x-linked-size", "content-length"));
    if (!bytes || *bytes <= 0)
      throw RunError(str(url, ": has no length, expected one in Content-Length or X-Linked-Size"));
    return {.name = file, .etag = etag, .bytes = *bytes};
  }

  DownloadOptions download_options() const {
    return {options_.retries, options_.timeout_seconds, headers_,
            "set HF_HOME to a folder on another disk"};
  }

 private:
  /// Sends a request until it gets an answer. A redirect to another host counts as one: its headers
  /// say what there is.
  HttpResult answer(HttpMethod method, std::string url) {
    const double seconds = options_.timeout_seconds;
    int redirects = 0;
    for (int tries = 1;; ++tries) {
      client_.start(0,
                    {.method = method,
                     .url = url,
                     .headers = headers_,
                     .deadlines = {.connect = seconds, .first_byte = seconds, .stalled = seconds},
                     .body_cap = kLargestList});
      std::vector<HttpResult> ended;
      while (ended.empty()) ended = client_.wait(60);
      HttpResult result = std::move(ended.front());
      if (result.fault == HttpFault::unreachable)
        throw RunError(str(url, ": could not be reached: ", result.what));
      const bool whole = result.fault == HttpFault::none;
      if (whole && result.status >= 300 && result.status < 400) {
        const std::string to = header(result.headers, "location");
        const bool near = to.starts_with('/') && !to.starts_with("//");
        const bool same = to.starts_with(options_.endpoint + "/");
        if ((near || same) && ++redirects <= kMostMoves) {
          url = near ? origin() + to : to;
          tries = 0;
          continue;
        }
        if (method == HttpMethod::head && !header(result.headers, "x-linked-etag").empty())
          return result;
        throw RunError(str(url, ": leads to ", visible_text(to), ", expected an answer"));
      }
      if (whole && result.status >= 200 && result.status < 300) return result;
      if (result.fault == HttpFault::too_large) throw RunError(str(url, ": ", result.what));
      if (whole && !may_pass(result.status)) throw RunError(str(url, ": ", refusal(result)));
      const std::string fault =
          whole ? str("the server answered ", result.status) : std::string(result.what);
      if (tries > options_.retries)
        throw RunError(str(url, ": ", fault, "; given up after ", counted(tries, "attempt")));
      const auto asked = number_in<long>(header(result.headers, "retry-after")).value_or(0);
      std::this_thread::sleep_for(std::chrono::seconds(seconds_to_wait(tries, asked)));
    }
  }

  /// Scheme and host of the endpoint.
  std::string origin() const {
    const size_t host = options_.endpoint.find("://") + 3;
    return options_.endpoint.substr(0, options_.endpoint.find('/', host));
  }

  std::string refusal(const HttpResult& result) const {
    const std::string code = header(result.headers, "x-error-code");
    const std::string page = str(options_.endpoint, "/", name_.repository);
    const bool token = !options_.token.empty();
    const std::string said = str("the server answered ", result.status,
                                 code.empty() ? "" : str(" (", visible_text(code), ")"));
    if (code == "GatedRepo" || result.status == 403)
      return str(said, ": access must be granted at ", page, " first",
                 token ? "; the token of HF_TOKEN has no access"
                       : ", and HF_TOKEN must have the token of that account");
    if (result.status == 401)
      return str(said, ": there is no such network, or it is private; ",
                 token ? "the token of HF_TOKEN has no access" : "HF_TOKEN has no token");
    if (result.status == 404 || result.status == 410)
      return str(said, ": there is no ", name_.repository,
                 name_.revision == "main" ? "" : " with revision " + name_.revision, "; ", page,
                 " shows what there is");
    return said;
  }

  const HubName& name_;
  const HubOptions& options_;
  std::vector<std::string> headers_;
  HttpClient client_;
};

/// The shards that an index names. RunError: see read_shard_index; or the network does not have
/// one.
std::set<std::string> shards_of(const fs::path& index, const std::set<std::string>& there) try {
  std::set<std::string> shards = shard_files(read_shard_index(index));
  for (const std::string& name : shards)
    if (!there.contains(name))
      throw RunError(str(index.string(), ": names shard ", dump(Json(name)),
                         ", expected a file of the network"));
  return shards;
} catch (const DataError& error) {
  throw RunError(error.what());
}

/// The files of the cache for one commit.
class Snapshot {
 public:
  Snapshot(const HubName& name, const std::string& commit)
      : repository_(hub_folder(name.repository)), folder_(repository_ / "snapshots" / commit) {
    make(folder_);
    make(repository_ / "blobs");
  }

  const fs::path& folder() const { return folder_; }
  fs::path blob(const HubFile& file) const { return repository_ / "blobs" / file.etag; }

  /// Whether the blob is complete. A blob appears only when it is, but its disk may have failed.
  bool has(const HubFile& file) const {
    std::error_code none;
    return fs::is_regular_file(blob(file), none) &&
           static_cast<std::int64_t>(fs::file_size(blob(file), none)) == file.bytes;
  }
  /// Bytes of an incomplete download.
  std::int64_t received(const HubFile& file) const {
    std::error_code none;
    const auto bytes = fs::file_size(blob(file).string() + ".part", none);
    return none ? 0 : static_cast<std::int64_t>(bytes);
  }
  /// Puts a link to the blob into the snapshot, as relative path.
  void link(const HubFile& file) const {
    const fs::path at = folder_ / file.name, fresh = at.string() + ".part";
    make(at.parent_path());
    const fs::path to = fs::relative(blob(file), at.parent_path());
    std::error_code error;
    if (fs::read_symlink(at, error) == to && !error) return;
    fs::remove(fresh, error);
    fs::create_symlink(to, fresh, error);
    if (!error) fs::rename(fresh, at, error);
    if (error) throw RunError(str(at.string(), ": cannot be made: ", error.message()));
  }
  void name_commit(const HubName& name, const std::string& commit) const {
    if (name.revision == commit) return;
    const fs::path ref = repository_ / "refs" / name.revision;
    make(ref.parent_path());
    write_file(ref, commit);
  }
  /// RunError: the disk has no room for so many bytes.
  void check_room(std::int64_t bytes) const {
    std::error_code unknown;
    const auto space = fs::space(folder_, unknown);
    if (!unknown && bytes + kRoomLeft > static_cast<std::int64_t>(space.available))
      throw RunError(str("needs ", bytes, " bytes, the disk of ", repository_.string(), " has ",
                         space.available,
                         " free; make room, or set HF_HOME to a folder on another disk"));
  }

 private:
  static void make(const fs::path& folder) {
    std::error_code error;
    fs::create_directories(folder, error);
    if (error) throw RunError(str(folder.string(), ": cannot be made: ", error.message()));
  }

  fs::path repository_, folder_;
};

/// Fetches files of one commit, one after the other.
class Fetch {
 public:
  Fetch(Hub& hub, const Snapshot& snapshot, const std::string& commit, const HubProgress& progress)
      : hub_(hub), snapshot_(snapshot), commit_(commit), progress_(progress) {}

  void fetch(const std::set<std::string>& names) {
    std::vector<HubFile> files;
    std::int64_t missing = 0;
    for (const std::string& name : names) {
      files.push_back(hub_.head(commit_, name));
      if (!snapshot_.has(files.back()))
        missing +=
            files.back().bytes - std::min(files.back().bytes, snapshot_.received(files.back()));
    }
    if (missing > 0) snapshot_.check_room(missing);
    for (HubFile& file : files) {
      fetch(file);
      snapshot_.link(file);
      fetched.push_back(file);
    }
  }

  std::vector<HubFile> fetched;

 private:
  void fetch(HubFile& file) const {
    const fs::path blob = snapshot_.blob(file);
    file.there = snapshot_.has(file);
    if (file.there) return;
    const std::string url = hub_.address(commit_, file.name);
    // Of large files, the ETag is the SHA-256; of others, git's hash.
    const bool sha256 = file.etag.size() == 64;
    const Downloaded got =
        download(url, blob, sha256 ? file.etag : "", hub_.download_options(),
                 [&](std::int64_t done, std::int64_t) { progress_(file, done); });
    file.kept = got.kept, file.checked = sha256;
    if (got.bytes == file.bytes) return;
    std::error_code ignored;
    fs::remove(blob, ignored);
    throw RunError(str(url, ": ", got.bytes, " bytes came, expected ", file.bytes));
  }

  Hub& hub_;
  const Snapshot& snapshot_;
  const std::string& commit_;
  const HubProgress& progress_;
};

/// The files beside the weights.
std::set<std::string> small_files(const std::set<std::string>& there) {
  std::set<std::string> names;
  for (const char* file : kSmallFiles)
    if (there.contains(file)) names.insert(file);
  if (!there.contains("tokenizer.json") && there.contains("tokenizer.model"))
    names.insert("tokenizer.model");
  for (const std::string& file : there) {
    constexpr std::string_view kTemplates = "additional_chat_templates/";
    if (file.starts_with(kTemplates) && file.ends_with(".jinja") &&
        file.find_first_of("/\\", kTemplates.size()) == std::string::npos)
      names.insert(file);
  }
  return names;
}

/// The file that has the weights or lists their shards. RunError: there is none.
std::string weights_file(const HubName& name, const std::set<std::string>& there) {
  for (const char* file : {"model.safetensors", kIndex, "adapter_model.safetensors"})
    if (there.contains(file)) return file;
  std::vector<std::string> gguf;
  for (const std::string& file : there)
    if (file.ends_with(".gguf") && file.find('/') == std::string::npos) gguf.push_back(file);
  if (gguf.size() == 1) return gguf.front();
  if (gguf.size() > 1)
    throw RunError(str(name.repository, ": has ", join(gguf, ", "), "; name one with `file`"));
  for (const char* file : {kPickledIndex, "pytorch_model.bin"})
    if (there.contains(file)) return file;
  throw RunError(str(name.repository,
                     ": has no weights in safetensors, GGUF or pytorch_model.bin; it has ",
                     shortened(join({there.begin(), there.end()}, ", "), 300)));
}

}  // namespace

HubOptions hub_options() {
  const auto variable = [](const char* name) {
    const char* const value = std::getenv(name);
    return std::string(strip(value ? value : ""));
  };
  // As huggingface_hub reads it.
  const std::string offline = lower_ascii(variable("HF_HUB_OFFLINE"));
  if (offline == "1" || offline == "true" || offline == "yes" || offline == "on")
    throw ConfigError(
        "HF_HUB_OFFLINE is set, so nothing is fetched from the Hub; unset it, or copy the "
        "checkpoint into the cache");
  HubOptions options{variable("HF_ENDPOINT"), variable("HF_TOKEN")};
  if (options.endpoint.empty()) options.endpoint = "https://huggingface.co";
  while (options.endpoint.ends_with('/')) options.endpoint.pop_back();
  if (!options.endpoint.starts_with("https://") && !options.endpoint.starts_with("http://"))
    throw ConfigError(str("HF_ENDPOINT is '", options.endpoint,
                          "', expected an address with https:// or http://"));
  if (!std::all_of(options.token.begin(), options.token.end(),
                   [](unsigned char c) { return c > 0x20 && c < 0x7F; }))
    throw ConfigError("HF_TOKEN has characters that no token has, expected letters and digits");
  return options;
}

HubSnapshot fetch_from_hub(const HubName& name, const std::string& only, const HubOptions& options,
                           const HubProgress& progress) {
  Hub hub(name, options);
  const auto [commit, there] = hub.files();
  if (!only.empty() && (!there.contains(only) || !fs::path(only).lexically_normal().is_relative() ||
                        fs::path(only).lexically_normal() != only || only.starts_with("..")))
    throw RunError(str(name.repository, ": has no file '", only, "'",
                       known_names(only, {there.begin(), there.end()})));
  const std::string weights = only.empty() ? weights_file(name, there) : only;
  const Snapshot snapshot(name, commit);
  Fetch fetch(hub, snapshot, commit, progress);
  std::set<std::string> first{weights};
  const bool index = weights == kIndex || weights == kPickledIndex;
  const bool gguf = weights.ends_with(".gguf");
  if (only.empty() && !gguf) first.merge(small_files(there));
  if (!index && only.empty()) first.erase(weights);
  if (!first.empty()) fetch.fetch(first);
  if (only.empty())
    fetch.fetch(index ? shards_of(snapshot.folder() / weights, there) : std::set{weights});
  snapshot.name_commit(name, commit);
  return {snapshot.folder(), commit, std::move(fetch.fetched),
          only.empty() && weights.starts_with("pytorch_model.bin")};
}

}  // namespace pardec
