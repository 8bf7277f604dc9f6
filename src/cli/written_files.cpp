#include "src/cli/written_files.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "src/support/text.hpp"

namespace pardec {
namespace {

bool holds(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// --trace, or folder for a positional argument.
std::string name_of(const CLI::Option& option) {
  return option.get_lnames().empty() ? option.get_name() : "--" + option.get_lnames().front();
}

/// The values of an option: from the command line, otherwise from the file of -c, otherwise the
/// default.
std::vector<std::string> values_of(const CLI::Option& option, const Json& config) {
  if (option.count() > 0) return option.results();
  const std::string key =
      option.get_lnames().empty() ? "" : replace_all(option.get_lnames().front(), "-", "_");
  if (config.contains(key)) {
    std::vector<std::string> texts;
    const Json& value = config[key];
    for (const Json& one : value.is_array() ? value : Json::array({value}))
      if (one.is_string()) texts.push_back(one.get<std::string>());
    return texts;
  }
  if (option.get_default_str().empty()) return {};
  return {option.get_default_str()};
}

/// The paths that a value may contain: the whole value, or a part of it (`model=DIR`, `@FILE`).
/// Values of other kinds are paths if they look like one, since a folder may have the name of a
/// decoder.
std::vector<std::string> paths_in(const CLI::Option& option, const std::string& value) {
  const std::string type = option.get_type_name();
  if (type == "FILE" || type == "DIR" || option.get_lnames().empty()) return {value};
  if (type.find('=') == std::string::npos && value.find_first_of("/.") == std::string::npos)
    return {};
  std::vector<std::string> paths{value};
  if (value.starts_with('@')) paths.push_back(value.substr(1));
  for (const std::string& part : split(value, ','))
    for (size_t at = 0; at != std::string::npos; at = part.find('=', at + 1))
      paths.push_back(part.substr(at == 0 ? 0 : at + 1));
  return paths;
}

void add_texts(ReadFiles& read, const Json& json) {
  if (json.is_string())
    read.add("-c", json.get<std::string>());
  else if (json.is_structured())
    for (const Json& part : json) add_texts(read, part);
}

/// ConfigError: the folder of an output file is missing. It would be noticed only at the end of the
/// work.
void check_folder_exists(const std::string& name, const std::filesystem::path& file) {
  const std::filesystem::path folder = file.parent_path();
  std::error_code unknown;
  if (!folder.empty() && !std::filesystem::is_directory(folder, unknown))
    throw ConfigError(str(name, " is '", file.string(),
                          "', expected a file in a folder that exists; there is no folder ",
                          folder.string()));
}

}  // namespace

ReadFiles files_read(const CLI::App& app, const Written& written, const Json& config) {
  ReadFiles read;
  for (const CLI::Option* option : app.get_options()) {
    const std::string name = name_of(*option);
    if (holds(written.files, name) || holds(written.folders, name) || name == "--data-root" ||
        name == "action" || (name.starts_with("--") && option->get_type_name() == "TEXT"))
      continue;
    for (const std::string& value : values_of(*option, config)) {
      if (name == "--db" && !value.empty()) read.add_database(value);
      for (const std::string& path : paths_in(*option, value))
        if (!path.empty()) read.add(name, path);
    }
  }
  return read;
}

void check_written(const CLI::App& app, const Written& written, const Json& config) {
  ReadFiles read = files_read(app, written, config);
  if (config.is_object())
    for (const auto& [key, value] : config.items())
      if (!holds(written.files, "--" + replace_all(key, "_", "-"))) add_texts(read, value);
  for (const CLI::Option* option : app.get_options()) {
    const std::string name = name_of(*option);
    for (const std::string& value : values_of(*option, config)) {
      if (value.empty()) continue;
      if (holds(written.folders, name)) read.check_folder(name, value);
      if (!holds(written.files, name)) continue;
      check_folder_exists(name, value);
      read.check(name, value);
      read.add_written(name, value);
    }
  }
}

}  // namespace pardec
