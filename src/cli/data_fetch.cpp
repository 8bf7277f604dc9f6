// `pardec data fetch`: downloads datasets from their publishers.
#include <cstdio>
#include <iostream>

#include "datasets/sources.hpp"
#include "src/cli/byte_progress.hpp"
#include "src/cli/command_line.hpp"
#include "src/cli/data.hpp"
#include "src/cli/table_output.hpp"
#include "src/cli/with_flags.hpp"
#include "src/http/download.hpp"
#include "src/report/table.hpp"
#include "src/support/archive.hpp"
#include "src/support/error.hpp"
#include "src/support/hashing.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

namespace fs = std::filesystem;

/// One file to fetch.
struct Wanted {
  std::string dataset, url, sha256;
  fs::path folder;  // folder of its dataset
  fs::path file;    // the downloaded file
  fs::path result;  // the file to be read later: the same, or the unpacked one
  const SourceFile* source;
};

Wanted wanted(const DataFlags& flags, const DatasetEntry& entry, const SourceFile& source) {
  const fs::path root = flags.data_root;
  Wanted want;
  want.source = &source;
  want.dataset = std::string(entry.name);
  want.folder = dataset_folder(entry, root).value_or(root / entry.folders.front());
  const auto filled = [&](std::string_view text) {
    return replace_all(std::string(text), "{part}", flags.part);
  };
  want.url = filled(source.url);
  if (!flags.mirror.empty())
    want.url = str(rstrip(flags.mirror), flags.mirror.ends_with('/') ? "" : "/", entry.name, "/",
                   want.url.substr(want.url.rfind('/') + 1));
  want.sha256 = std::string(source.sha256);
  want.result = want.file = want.folder / filled(source.path);
  if (source.packing == Packing::gzip) want.file += ".gz";
  return want;
}

bool there(const Wanted& want) {
  std::error_code ignored;
  if (want.source->packing != Packing::tar)
    return fs::exists(want.result, ignored) && fs::file_size(want.result, ignored) > 0;
  for (const auto name : want.source->makes)
    if (!fs::exists(want.folder / name, ignored)) return false;
  return true;
}

/// Instructions for users without a network connection.
std::string by_hand(const Wanted& want) {
  const std::string get =
      str("by hand: download ", want.url, " on a machine that reaches it, and put it at ",
          fs::absolute(want.file).string());
  switch (want.source->packing) {
    case Packing::none:
      return get;
    case Packing::gzip:
      return str(get, ", then: gunzip ", fs::absolute(want.file).string());
    case Packing::tar:
      return str(get, ", then: tar -xf ", fs::absolute(want.file).string(), " -C ",
                 fs::absolute(want.folder).string(),
                 want.source->strip ? str(" --strip-components=", want.source->strip) : "");
  }
  return get;
}

void unpack(const Wanted& want, ProgressStyle style) {
  std::error_code ignored;
  const auto packed = static_cast<std::int64_t>(fs::file_size(want.file, ignored));
  ByteProgress progress(style, "unpacking " + want.file.filename().string());
  const UnpackProgress report = [&](std::int64_t done) { progress(done, packed); };
  try {
    if (want.source->packing == Packing::gzip)
      unpack_file(want.file, want.result, report);
    else
      unpack_tar(want.file, want.folder, want.source->strip, report);
  } catch (const BadArchive& error) {
    fs::remove(want.file, ignored);
    throw RunError(str(error.what(), "; it was deleted, and the same command fetches it again"));
  }
  fs::remove(want.file, ignored);
}

/// Fetches one file, unless it exists. Returns a row of the table.
std::vector<Cell> fetch_file(const DataFlags& flags, const Wanted& want) {
  const auto row = [&](const std::string& state, std::int64_t bytes, const std::string& sha256) {
    return std::vector<Cell>{want.dataset,
                             want.result.filename().string(),
                             state,
                             bytes < 0 ? Cell("-", Json()) : number_cell(bytes),
                             sha256.empty() ? Cell("-", Json()) : Cell(sha256),
                             sha256.empty() || want.sha256.empty() ? "-" : "as published",
                             want.url};
  };
  std::error_code error;
  if (fs::exists(want.folder / kStandinNote, error))
    throw RunError(
        str(want.folder.string(),
            ": holds a stand-in; expected another --data-root for the publisher's files"));
  if (there(want) && !flags.force) {
    if (want.source->packing == Packing::tar) return row("already there", -1, "");
    const auto bytes = static_cast<std::int64_t>(fs::file_size(want.result));
    if (want.source->packing != Packing::none || want.sha256.empty())
      return row("already there", bytes, "");
    const std::string sha256 = sha256_file(want.result);
    if (sha256 == want.sha256) return row("already there", bytes, sha256);
    throw RunError(str(want.result.string(), ": is there with SHA-256 ", sha256,
                       ", the publisher's has ", want.sha256, "; --force fetches it again"));
  }
  fs::create_directories(want.file.parent_path(), error);
  if (error)
    throw RunError(str(want.file.parent_path().string(), ": cannot be made: ", error.message()));
  const ProgressStyle style = parse_progress_style(flags.progress);
  Downloaded got;
  // The file was put here by hand, or left by a call that had no space to unpack it.
  if (want.source->packing != Packing::none && !flags.force && fs::exists(want.file, error))
    got = {static_cast<std::int64_t>(fs::file_size(want.file)), 0, sha256_file(want.file)};
  if (got.sha256.empty() || (!want.sha256.empty() && got.sha256 != want.sha256)) {
    ByteProgress progress(style, str(want.dataset, "/", want.file.filename().string()));
    got = download(want.url, want.file, want.sha256, flags.download,
                   [&](std::int64_t done, std::int64_t total) { progress(done, total); });
  }
  if (want.source->packing != Packing::none) unpack(want, style);
  return row(got.kept > 0 ? "fetched, resumed" : "fetched", got.bytes, got.sha256);
}

void check_flags(const DataFlags& flags) {
  std::vector<std::string> names;
  for (const auto& source : sources()) names.emplace_back(source.dataset);
  check_targets(flags, "fetch", names);
  parse_progress_style(flags.progress);
  check(flags.download);
  if (!flags.mirror.empty() && !flags.mirror.starts_with("http://") &&
      !flags.mirror.starts_with("https://"))
    throw ConfigError(
        str("--mirror is '", flags.mirror, "', expected an address with http:// or https://"));
  if (flags.part.find_first_of("/\\{}") != std::string::npos)
    throw ConfigError(str("--part is '", flags.part, "', expected a name such as All_Beauty"));
  bool parts = false;
  for (const auto& name : flags.datasets) {
    const Source* source = find_source(find_dataset(name).name);
    if (!source)
      throw ConfigError(
          str("data fetch: '", name, "' is for your own records; known: ", join(names, ", ")));
    if (source->files.empty())
      throw ConfigError(str("data fetch: '", name,
                            "' cannot be fetched as it is: ", source->by_hand, " (", source->page,
                            "); put it into ", (fs::path(flags.data_root) / name).string()));
    for (const auto& file : source->files)
      if (file.url.find("{part}") != std::string_view::npos) {
        parts = true;
        if (flags.part.empty())
          throw ConfigError(str("data fetch: '", name,
                                "' comes in parts; give --part NAME, e.g. "
                                "--part All_Beauty (",
                                source->page, " lists them)"));
      }
  }
  if (!parts && !flags.part.empty())
    throw ConfigError(str("--part is '", flags.part, "', but no dataset named comes in parts"));
}

}  // namespace

int fetch_data(const DataFlags& flags) {
  const TableFormat format = parse_table_format(flags.format);
  check_flags(flags);
  Table table;
  table.title = "Fetched into " + flags.data_root;
  table.columns = {{"dataset"},
                   {"file"},
                   {"state"},
                   {"bytes", Align::right},
                   {"SHA-256", Align::left, "sha256"},
                   {"checked"},
                   {"address"}};
  bool failed = false;
  for (const auto& name : flags.datasets) {
    const DatasetEntry& entry = find_dataset(name);
    const Source& source = *find_source(entry.name);
    for (const SourceFile& file : source.files) {
      if (!flags.split.empty() && !file.split.empty() && file.split != flags.split) continue;
      const Wanted want = wanted(flags, entry, file);
      try {
        table.rows.push_back(fetch_file(flags, want));
      } catch (const RunError& error) {
        failed = true;
        table.rows.push_back({want.dataset, want.result.filename().string(), "FAILED",
                              Cell("-", Json()), Cell("-", Json()), "-", want.url});
        std::fprintf(stderr, "pardec: %s\npardec: %s\n",
                     visible_text(with_flags(error.what())).c_str(),
                     visible_text(by_hand(want)).c_str());
      }
    }
    table.notes.push_back(str(name, ": ", source.page, "; licence: ", source.licence,
                              source.by_hand.empty() ? "" : str("; ", source.by_hand)));
    if (!source.verified && flags.mirror.empty())
      table.notes.back() += "; addresses unverified: they have not been used with pardec yet";
  }
  table.notes.push_back(
      "checked: SHA-256 against the publisher's, where that is known; 'pardec data "
      "check' reads the records. ~: a licence that was not checked.");
  print_table(table, format);
  return failed ? 1 : 0;
}

}  // namespace pardec
