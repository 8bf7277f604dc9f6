// `pardec doctor`: checks whether everything that a run needs is available.
#include <algorithm>
#include <filesystem>
#include <iostream>
#include <memory>
#include <set>
#include <thread>

#include "datasets/dataset.hpp"
#include "decoders/decoder.hpp"
#include "decoders/training_formats.hpp"
#include "src/checkpoint/checkpoint.hpp"
#include "src/cli/command_line.hpp"
#include "src/cli/machine_notes.hpp"
#include "src/cli/table_output.hpp"
#include "src/group/group.hpp"
#include "src/model/device.hpp"
#include "src/model/files/weight_check.hpp"
#include "src/prompt/prompt_choice.hpp"
#include "src/report/figure.hpp"
#include "src/report/table.hpp"
#include "src/sandbox/python_sandbox.hpp"
#include "src/store/store.hpp"
#include "src/support/error.hpp"
#include "src/support/hub_cache.hpp"
#include "src/support/number_text.hpp"
#include "src/support/progress.hpp"
#include "src/support/project_files.hpp"
#include "src/support/text.hpp"
#include "src/support/version.hpp"
#include "src/tasks/checkpoint_fit.hpp"
#include "src/tasks/request.hpp"
#include "src/tasks/session.hpp"

namespace pardec {

namespace {

struct DoctorFlags {
  std::string model, data_root, db, format = "text";
};

class Checks {
 public:
  Checks() { table_.columns = {{"check"}, {"state"}, {.header = "detail", .messages = true}}; }

  /// Runs one check; an error is reported as its result.
  void add(const std::string& name, const std::function<std::string()>& check) {
    try {
      row(name, "good", check());
    } catch (const Error& error) {
      ++failed_;
      row(name, "BAD", error.what());
    }
  }
  void row(const std::string& name, const std::string& state, const std::string& detail) {
    table_.rows.push_back({name, state, detail});
  }
  int failed() const { return failed_; }
  const Table& table() const { return table_; }

 private:
  Table table_;
  int failed_ = 0;
};

/// Checks programs that some verbs start (runs need none of them), and disk space for the output of
/// runs.
void add_tools(Checks& checks, const std::string& db) {
  const bool draws = can_draw();
  checks.row("gnuplot", draws ? "good" : "absent",
             draws ? "report and plot draw figures"
                   : "report and plot cannot draw figures; apt-get install gnuplot-nox");
  try {
    const SandboxResult ran =
        PythonSandbox().run({"def one():\n    return 1\n", "def one():\n", "assert one() == 1\n"});
    const bool passed = ran.verdict == SandboxVerdict::passed;
    checks.row("bubblewrap", passed ? "good" : "absent",
               passed ? "score judges programs (pass_at_k)" : "a program in it: " + ran.reason);
  } catch (const Error& error) {
    checks.row("bubblewrap", "absent", str("score judges no programs: ", error.what()));
  }
  checks.add("disk", [&] {
    std::filesystem::path folder = std::filesystem::path(db).parent_path();
    std::error_code error;
    if (!std::filesystem::is_directory(folder, error)) folder = ".";
    const auto space = std::filesystem::space(folder, error);
    if (error) throw ConfigError(str(folder.string(), ": ", error.message()));
    return str(space.available / 1'000'000, " MB free in ",
               std::filesystem::absolute(folder).lexically_normal().string());
  });
}

/// Reports what each decoder does on each shape of data, and whether the checkpoint meets its
/// requirements, before reading weights. A decoder whose requirements are not met is not an error
/// of the installation.
void add_decoders(Checks& checks, const std::string& model) {
  std::optional<CheckpointFace> face;
  try {
    face = read_face(model);
  } catch (const Error&) {  // reported by the check of the model
  }
  TrainingRecord taught;
  try {
    taught = read_training_record(model);
  } catch (const Error&) {
  }
  for (const auto& entry : decoders()) {
    const auto decoder = make_decoder(entry.name, Json::object());
    std::vector<std::string> parts;
    for (const auto& [shape, said] :
         {std::pair{Shape::attributes, "attributes"}, std::pair{Shape::questions, "questions"},
          std::pair{Shape::open, "open prompts"}}) {
      const bool fits = not_applicable(shape, *decoder).empty();
      parts.push_back(str(said, ": ", fits ? name(form_on(shape, *decoder)) : "n/a"));
    }
    const Needs needs = needs_of(*decoder, face ? &*face : nullptr, "");
    const bool lacking = needs.lacking || decoder->drafts_with_model();
    if (needs.text != "-") parts.push_back(str(lacking ? "lacks: " : "needs: ", needs.text));
    const bool was_taught =
        taught.formats &&
        std::any_of(taught.formats->begin(), taught.formats->end(),
                    [&](const std::string& format) { return format.starts_with(entry.name); });
    if (was_taught) {
      std::vector<std::string> how;
      const Json options = trained_options(entry, taught.settings);
      for (const auto& [option, value] : options.items()) how.push_back(option_text(option, value));
      parts.push_back(str("trained", how.empty() ? "" : ": ", join(how, ", ")));
    } else if (entry.trained) {
      parts.emplace_back(taught.formats ? "not trained: its answers are noise"
                                        : "noise on a network that was not trained for it");
    }
    // the properties of the model cannot be determined
    const bool unknown = !model.empty() && !face;
    checks.row(str("decoder ", entry.name), lacking || unknown ? "n/a" : "good", join(parts, "; "));
  }
}

int doctor(const DoctorFlags& flags) {
  Checks checks;
  const Version& v = version();
  checks.row("build", v.build_type == "Release" ? "good" : "slow",
             str("pardec ", v.version, " ", v.commit, ", ", v.build_type, ", ", v.compiler));
  checks.row("libtorch", "good",
             str(libtorch_version(), " ", v.torch_kind,
                 cuda_available() ? ", a GPU can be used" : ", no GPU here"));
  const std::string mpi = mpi_library();
  checks.row("MPI", mpi.empty() ? "absent" : "good",
             mpi.empty()
                 ? "several processes cannot work together; apt-get install "
                   "libopenmpi-dev, and build again"
                 : mpi + ": mpirun -n N pardec run, sweep, reproduce, score, generate or train");
  checks.row("processor", "good",
             str(counted(std::thread::hardware_concurrency(), "core"), ", ",
                 counted(threads(), "thread"), " used, ", available_memory()));
  const LeftByOthers left = left_by_others(threads());
  checks.row("other programs", !left.known ? "n/a" : left.fits ? "good" : "busy", left.text);
  add_tools(checks, flags.db);
  checks.add("prompts", [] {
    std::set<std::string> names;
    for (const auto& entry : datasets()) names.insert(load_prompt(std::string(entry.prompt)).name);
    return join({names.begin(), names.end()}, ", ");
  });
  const auto root = flags.data_root.empty() ? std::nullopt
                                            : std::optional<std::filesystem::path>(flags.data_root);
  if (root)
    checks.add("data root", [&] {
      if (std::error_code ignored; !std::filesystem::is_directory(*root, ignored))
        throw ConfigError(
            str(flags.data_root, " is no folder, expected one with a folder for each dataset"));
      return flags.data_root;
    });
  for (const auto& entry : datasets()) {
    if (root && !dataset_folder(entry, *root)) {
      checks.row(str("dataset ", entry.name), "absent", str("no folder ", entry.folders.front()));
      continue;
    }
    checks.add("dataset " + std::string(entry.name), [&] {
      const Dataset dataset = load_dataset(entry, root, "", project_file("datasets/samples"));
      return str(dataset.examples.size(), " ", entry.unit,
                 dataset.sample    ? " (own sample; --data-root names the real ones)"
                 : dataset.standin ? " (stand-in: generated words of the published lengths)"
                                   : "");
    });
  }
  // Requirements can only be checked for a network.
  const std::string quickstart = project_file("experiments/quickstart/model").string();
  add_decoders(checks, flags.model.empty() ? quickstart : flags.model);
  std::vector<std::string> notes;
  if (!flags.model.empty())
    checks.add("model", [&] {
      Checkpoints loaded;
      const Session session({.model = flags.model}, {}, {}, loaded);
      Checkpoint& checkpoint = session.checkpoint;
      notes = session.file_notes();
      if (!session.note.empty()) notes.push_back(session.note);
      const SteadyClock& clock = session.clock;
      KvCache cache(checkpoint.model);
      const Segments segments;
      const Tokens token{0};
      const std::vector<RowLabel> label(1);
      const std::vector<OutputRequest> output(1);
      const SequenceStep step{&cache, &segments, token, label, output};
      const std::int64_t begin = clock.now_ns();
      if (!checkpoint.model.forward({&step, 1}).front().front().finite())
        throw ModelError(flags.model, "the logits of its first token are not finite");
      return str(parameter_count(checkpoint.model.config()), " parameters, one token in ",
                 fixed(static_cast<double>(clock.now_ns() - begin) * 1e-6, 1), " ms",
                 checkpoint.note.empty() ? "" : "; " + checkpoint.note);
    });
  for (const std::string& note : notes) checks.row("model", "note", note);
  if (!flags.model.empty())
    checks.add("weights", [&] {
      const WeightCheck found = check_weights(flags.model);
      if (found.not_finite.empty())
        return str(counted(found.tensors, "tensor"), " of finite numbers");
      const NotFinite& first = found.not_finite.front();
      throw ModelError(first.file,
                       str("tensor '", repair_utf8(first.tensor), "' has ", first.text(),
                           found.not_finite.size() > 1
                               ? str(", as ", counted(std::ssize(found.not_finite) - 1, "other"),
                                     " do, too ('pardec model inspect --weights')")
                               : "",
                           "; expected finite ones: fetch or convert the checkpoint again"));
    });
  if (!flags.db.empty())
    checks.add("database", [&] {
      Store store(flags.db, {.read_only = true});
      std::set<std::string> runs;
      const auto arms = store.find_runs({});
      for (const RunRow& arm : arms) runs.insert(arm.invocation);
      return str(counted(std::ssize(runs), "run"), ", ", counted(std::ssize(arms), "arm"));
    });
  Table table = checks.table();
  table.notes.push_back(str("decoders: in which form each asks on each kind of data, and whether ",
                            flags.model.empty() ? "the quickstart model" : flags.model,
                            " has what it needs",
                            flags.model.empty() ? "; --model checks another network." : "."));
  print_table(table, parse_table_format(flags.format));
  return checks.failed() ? 1 : 0;
}

}  // namespace

Verb doctor_verb() {
  return {
      "doctor",
      "check the machine, a checkpoint, data and a database before a run",
      "pardec doctor --model DIR --data-root data --db r.sqlite",
      [](CLI::App& app) -> std::function<int()> {
        auto flags = std::make_shared<DoctorFlags>();
        app.add_option("--model", flags->model,
                       "also check this checkpoint: load it, read all weights, generate one token")
            ->transform(checkpoint_path)
            ->type_name("DIR");
        app.add_option("--data-root", flags->data_root, "also check the datasets in this folder")
            ->type_name("DIR");
        app.add_option("--db", flags->db, "also open this database")->type_name("FILE");
        add_format(app, flags->format);
        return [flags] { return doctor(*flags); };
      },
      {},
      {},
      {},
      /*several_processes=*/true};
}

}  // namespace pardec
