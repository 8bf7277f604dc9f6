// `pardec model fetch` and `convert`: brings a network from the Hub, makes safetensors of pickled
// weights.
#include <iostream>
#include <map>

#include "src/checkpoint/pickled_weights.hpp"
#include "src/cli/byte_progress.hpp"
#include "src/cli/model.hpp"
#include "src/cli/table_output.hpp"
#include "src/http/hub.hpp"
#include "src/support/error.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

Table fetched_table(const HubName& name, const HubSnapshot& snapshot) {
  Table table;
  table.title = str(name.repository, " in the cache");
  table.columns = {{"file"}, {"state"}, {"bytes", Align::right}, {"checked"}};
  for (const HubFile& file : snapshot.files) {
    const char* const state = file.there      ? "already there"
                              : file.kept > 0 ? "fetched, resumed"
                                              : "fetched";
    table.rows.push_back({{file.name, file.name},
                          state,
                          number_cell(file.bytes),
                          file.checked ? "SHA-256" : "length"});
  }
  table.notes = {str("folder: ", snapshot.folder.string()),
                 str("commit ", snapshot.commit, ", revision ", name.revision)};
  if (snapshot.pickled)
    table.notes.push_back(str("the weights are pickled by torch; 'pardec model convert ",
                              name.repository, name.revision == "main" ? "" : "@" + name.revision,
                              " --out OUT' makes safetensors of them"));
  return table;
}

}  // namespace

int fetch_model(const ModelVerbFlags& flags) {
  const TableFormat format = parse_table_format(flags.format);
  const ProgressStyle style = parse_progress_style(flags.progress);
  check(flags.download);
  auto name = parse_hub_name(flags.folder);
  if (!name)
    throw ConfigError(str("model fetch: has '", flags.folder, "', expected ORG/NAME[@REVISION]"));
  if (!flags.revision.empty()) {
    if (flags.folder.find('@') != std::string::npos)
      throw ConfigError(str("--revision is '", flags.revision, "' and the network is '",
                            flags.folder, "', expected one revision"));
    name = parse_hub_name(str(flags.folder, "@", flags.revision));
    if (!name)
      throw ConfigError(
          str("--revision is '", flags.revision, "', expected a branch, a tag or a commit"));
  }
  HubOptions options = hub_options();
  options.retries = flags.download.retries;
  options.timeout_seconds = flags.download.timeout_seconds;
  std::map<std::string, ByteProgress> bars;
  const HubSnapshot snapshot =
      fetch_from_hub(*name, flags.file, options, [&](const HubFile& file, std::int64_t done) {
        if (!bars.contains(file.name)) bars.clear();  // that of the file before is complete
        bars.try_emplace(file.name, style, file.name).first->second(done, file.bytes);
      });
  bars.clear();
  print_table(fetched_table(*name, snapshot), format);
  return 0;
}

int convert_model(const ModelVerbFlags& flags) {
  if (flags.out.empty()) throw ConfigError("model convert: expected --out DIR");
  convert_pickled_weights(flags.folder, flags.out);
  std::cerr << flags.out << ": " << flags.folder << " in safetensors\n";
  return 0;
}

}  // namespace pardec
