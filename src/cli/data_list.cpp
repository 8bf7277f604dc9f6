// `pardec data list`: datasets, their locations, and the sources for fetch.
#include <filesystem>
#include <iostream>

#include "datasets/sources.hpp"
#include "src/cli/data.hpp"
#include "src/cli/table_output.hpp"
#include "src/report/table.hpp"
#include "src/support/error.hpp"
#include "src/support/number_text.hpp"
#include "src/support/project_files.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

std::vector<const DatasetEntry*> named_or_all(const DataFlags& flags) {
  std::vector<const DatasetEntry*> chosen;
  for (const auto& name : flags.datasets) chosen.push_back(&find_dataset(name));
  if (chosen.empty())
    for (const auto& entry : datasets()) chosen.push_back(&entry);
  return chosen;
}

std::string_view reached(const Source& source) {
  return source.verified ? "reached" : "unverified";
}

/// What `fetch` would do for a dataset.
Cell fetch_cell(const DatasetEntry& entry) {
  const Source* source = find_source(entry.name);
  if (!source) return Cell("-", Json());
  if (source->files.empty()) return Cell("by hand");
  return Cell(str(counted(std::ssize(source->files), "file"), ", ", reached(*source)));
}

/// The source of each file.
int list_addresses(const DataFlags& flags) {
  Table table;
  table.title = "Addresses of datasets";
  table.columns = {{"dataset"}, {"file"}, {"state"},  {"SHA-256", Align::left, "sha256"},
                   {"licence"}, {"page"}, {"address"}};
  for (const DatasetEntry* entry : named_or_all(flags)) {
    const Source* source = find_source(entry->name);
    if (!source) continue;
    for (const SourceFile& file : source->files)
      table.rows.push_back(
          {std::string(entry->name), std::string(file.path), std::string(reached(*source)),
           file.sha256.empty() ? Cell("-", Json()) : Cell(std::string(file.sha256)),
           std::string(source->licence), std::string(source->page), std::string(file.url)});
    if (!source->by_hand.empty())
      table.notes.push_back(str(entry->name, ", by hand: ", source->by_hand));
  }
  table.notes.push_back(
      "unverified: the address has not been used with pardec yet; if it is wrong, see the page. "
      "~: a licence that was not checked. {part}: the part that --part names.");
  print_table(table, parse_table_format(flags.format));
  return 0;
}

}  // namespace

int list_data(const DataFlags& flags) {
  const TableFormat format = parse_table_format(flags.format);
  if (flags.addresses) return list_addresses(flags);
  const std::filesystem::path root = flags.data_root.empty()
                                         ? project_file("datasets/samples")
                                         : std::filesystem::path(flags.data_root);
  if (std::error_code ignored; !std::filesystem::is_directory(root, ignored))
    throw ConfigError(str("--data-root ", root.string(),
                          " is no folder, expected one with a folder for each dataset"));
  Table table;
  table.title = flags.data_root.empty() ? "Datasets: the project's own samples"
                                        : str("Datasets under ", flags.data_root);
  table.columns = {{"dataset"},
                   {"unit"},
                   {"splits"},
                   {"metrics"},
                   {"folder"},
                   {"files", Align::right},
                   {"bytes", Align::right},
                   {"fetch"}};
  const auto joined = [](const auto& names) {
    return join(std::vector<std::string>(names.begin(), names.end()), ", ");
  };
  for (const DatasetEntry* entry : named_or_all(flags)) {
    const auto folder = dataset_folder(*entry, root);
    std::int64_t files = 0, bytes = 0;
    if (folder)
      for (const auto& file : std::filesystem::recursive_directory_iterator(*folder))
        if (file.is_regular_file()) ++files, bytes += static_cast<std::int64_t>(file.file_size());
    table.rows.push_back({std::string(entry->name), std::string(entry->unit), joined(entry->splits),
                          joined(entry->metrics),
                          folder ? Cell(folder->filename().string()) : Cell("-", Json()),
                          number_cell(files), number_cell(bytes), fetch_cell(*entry)});
  }
  table.notes = {
      "splits: the first is read unless you name another. fetch: what 'pardec data fetch NAME' "
      "gets; --addresses lists it. datasets/README.md says how the files are named."};
  print_table(table, format);
  return 0;
}

}  // namespace pardec
