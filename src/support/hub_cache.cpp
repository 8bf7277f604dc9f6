#include "src/support/hub_cache.hpp"

#include <algorithm>
#include <cstdlib>

#include "src/support/error.hpp"
#include "src/support/files.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

constexpr std::string_view kPrefix = "models--", kSnapshots = "snapshots";

bool is_name(std::string_view part) {
  return !part.empty() && part.front() != '.' && part.front() != '-' &&
         part.find("--") == std::string_view::npos && part.find("..") == std::string_view::npos &&
         std::all_of(part.begin(), part.end(), [](unsigned char c) {
           return std::isalnum(c) != 0 || c == '-' || c == '_' || c == '.';
         });
}

bool is_revision(std::string_view text) {
  if (text.empty() || text.starts_with('/') || text.ends_with('/')) return false;
  const std::vector<std::string> parts = split(text, '/');
  return std::all_of(parts.begin(), parts.end(), [](const std::string& part) {
    return !part.empty() && part.front() != '.' &&
           std::all_of(part.begin(), part.end(), [](unsigned char c) {
             return std::isalnum(c) != 0 || c == '-' || c == '_' || c == '.' || c == '+';
           });
  });
}

std::string variable(const std::string& name) {
  const char* const value = std::getenv(name.c_str());
  return value ? value : "";
}

/// Replaces $NAME and ${NAME} by the variable, and ~ at the beginning by the home folder.
std::string expanded(const std::string& text) {
  std::string out;
  for (size_t at = 0; at < text.size(); ++at) {
    const auto is_letter = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; };
    if (text[at] == '~' && at == 0 && (text.size() == 1 || text[1] == '/')) {
      out += variable("HOME");
      continue;
    }
    const bool braced = text.compare(at, 2, "${") == 0;
    const size_t begin = at + (braced ? 2 : 1);
    size_t end = begin;
    while (text[at] == '$' && end < text.size() && is_letter(static_cast<unsigned char>(text[end])))
      ++end;
    const bool closed = !braced || (end < text.size() && text[end] == '}');
    const std::string name = text.substr(begin, end - begin);
    if (text[at] != '$' || name.empty() || !closed || !std::getenv(name.c_str())) {
      out += text[at];
      continue;
    }
    out += variable(name);
    at = end - (braced ? 0 : 1);
  }
  return out;
}

/// The commit of a revision; empty: it is not in the cache.
std::string commit_of(const HubName& name) {
  if (is_commit(name.revision)) return name.revision;
  std::error_code ignored;
  const std::filesystem::path ref = hub_folder(name.repository) / "refs" / name.revision;
  if (!std::filesystem::is_regular_file(ref, ignored)) return "";
  std::string commit(strip(read_file(ref)));
  return is_commit(commit) ? commit : "";
}

}  // namespace

std::optional<HubName> parse_hub_name(std::string_view text) {
  const size_t at = text.find('@');
  HubName name{std::string(text.substr(0, at)), "main"};
  if (at != std::string_view::npos) name.revision = text.substr(at + 1);
  const size_t slash = name.repository.find('/');
  if (slash == std::string::npos || !is_name(name.repository.substr(0, slash)) ||
      !is_name(name.repository.substr(slash + 1)) || !is_revision(name.revision))
    return std::nullopt;
  return name;
}

bool is_commit(std::string_view text) {
  return text.size() == 40 && std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

std::filesystem::path hub_cache() {
  if (const std::string own = variable("HF_HUB_CACHE"); !own.empty()) return expanded(own);
  if (const std::string home = variable("HF_HOME"); !home.empty())
    return std::filesystem::path(expanded(home)) / "hub";
  const std::string caches = variable("XDG_CACHE_HOME");
  return std::filesystem::path(caches.empty() ? variable("HOME") + "/.cache" : caches) /
         "huggingface" / "hub";
}

std::filesystem::path hub_folder(const std::string& repository) {
  return hub_cache() / (std::string(kPrefix) + replace_all(repository, "/", "--"));
}

std::optional<std::filesystem::path> hub_snapshot(const HubName& name) {
  const std::string commit = commit_of(name);
  if (commit.empty()) return std::nullopt;
  std::error_code ignored;
  std::filesystem::path folder = hub_folder(name.repository) / kSnapshots / commit;
  if (!std::filesystem::is_directory(folder, ignored)) return std::nullopt;
  return folder;
}

std::string why_no_snapshot(const HubName& name) {
  const std::filesystem::path folder = hub_folder(name.repository);
  const std::string commit = commit_of(name);
  const std::filesystem::path looked =
      commit.empty() ? folder / "refs" / name.revision : folder / kSnapshots / commit;
  return str("is not in the cache of Hugging Face: there is no ", looked.string(),
             "; 'pardec model fetch ", name.repository,
             name.revision == "main" ? "" : "@" + name.revision,
             "' fetches it, and HF_HUB_CACHE or HF_HOME names another cache");
}

std::string checkpoint_path(const std::string& text) {
  std::error_code ignored;
  if (std::filesystem::exists(text, ignored)) return text;
  const auto name = parse_hub_name(text);
  const auto snapshot = name ? hub_snapshot(*name) : std::nullopt;
  return snapshot ? snapshot->string() : text;
}

std::optional<HubName> hub_name_of(const std::filesystem::path& snapshot) {
  const std::string commit = snapshot.filename().string();
  const std::filesystem::path snapshots = snapshot.parent_path();
  const std::string folder = snapshots.parent_path().filename().string();
  if (!is_commit(commit) || snapshots.filename() != kSnapshots || !folder.starts_with(kPrefix))
    return std::nullopt;
  return parse_hub_name(str(replace_all(folder.substr(kPrefix.size()), "--", "/"), "@", commit));
}

std::string checkpoint_name(const std::filesystem::path& path) {
  if (const auto name = hub_name_of(path))
    return str(name->repository, "@", name->revision.substr(0, 8));
  return path.filename().string();
}

}  // namespace pardec
