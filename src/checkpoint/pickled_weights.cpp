#include "src/checkpoint/pickled_weights.hpp"

#include <set>
#include <string>

#include "src/checkpoint/derived_checkpoint.hpp"
#include "src/model/files/checkpoint_files.hpp"
#include "src/support/child_program.hpp"
#include "src/support/error.hpp"
#include "src/support/json.hpp"
#include "src/support/project_files.hpp"
#include "src/support/shard_index.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

namespace fs = std::filesystem;

/// The pickled files of a checkpoint folder.
std::set<std::string> pickled_files(const fs::path& folder) {
  std::error_code ignored;
  if (fs::exists(folder / "pytorch_model.bin", ignored)) return {"pytorch_model.bin"};
  const fs::path index = folder / "pytorch_model.bin.index.json";
  if (!fs::exists(index, ignored))
    throw ModelError(folder.string(),
                     "has neither pytorch_model.bin nor pytorch_model.bin.index.json, expected "
                     "weights that torch has pickled");
  return shard_files(shards_by_tensor(index));
}

}  // namespace

void convert_pickled_weights(const fs::path& folder, const fs::path& out) {
  Json files = Json::array();
  for (const std::string& file : pickled_files(folder)) files.push_back((folder / file).string());
  make_checkpoint_folder(out);
  const fs::path weights = out / "model.safetensors";
  const ChildRun run =
      run_child({project_python(), "-I", project_file("src/checkpoint/from_pickled.py").string()},
                dump(Json{{"files", files}, {"out", fs::absolute(weights).string()}}));
  if (run.error != 0)
    throw RunError(str(project_python(), ": cannot be started; scripts/setup makes it"));
  if (!run.good()) {
    // "FILE: what" of the program; of a failure in Python, the last line says what it is.
    const std::string said(strip(run.complaint));
    const std::string last = said.substr(said.find_last_of('\n') + 1);
    for (const Json& file : files)
      if (const std::string start = file.get<std::string>() + ": "; last.starts_with(start))
        throw ModelError(file.get<std::string>(), last.substr(start.size()));
    throw RunError(str("model convert: ", last.empty() ? "Python was ended" : visible_text(last)));
  }
  copy_beside_weights(folder, out, {"pytorch_model.bin.index.json"});
}

}  // namespace pardec
