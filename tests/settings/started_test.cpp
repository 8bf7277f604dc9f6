// A Job, a run, a sweep and a training start from JSON and structs, without a command line.
#include <cstdlib>
#include <filesystem>
#include <map>

#include "decoders/decoder.hpp"
#include "src/finetune/finetune.hpp"
#include "src/runs/arm_sessions.hpp"
#include "src/runs/execute.hpp"
#include "src/settings/run_settings.hpp"
#include "src/settings/training_settings.hpp"
#include "src/support/files.hpp"
#include "src/support/text.hpp"
#include "src/tasks/conversation.hpp"
#include "src/tasks/given_requests.hpp"
#include "src/tasks/session.hpp"
#include "tests/support/catch.hpp"

#ifdef CLI11_VERSION
#error "a header of the libraries under the command line includes CLI11"
#endif

using namespace pardec;
namespace fs = std::filesystem;

namespace {

const fs::path kQuickstart = fs::path(PARDEC_SOURCE_DIR) / "experiments" / "quickstart";

/// A separate folder, removed at the end.
struct Scratch {
  Scratch() {
    std::string name = (fs::temp_directory_path() / "pardec-settings-XXXXXX").string();
    REQUIRE(::mkdtemp(name.data()) != nullptr);
    folder = name;
  }
  ~Scratch() {
    std::error_code ignored;
    fs::remove_all(folder, ignored);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  fs::path folder;
};

struct Done {
  RunCounts counts;
  std::map<std::string, RunRow> runs;  // by label
};

Done run(const RunSpec& spec) {
  const std::vector<Workload> workloads = load_workloads(spec);
  check_any_runs(spec, workloads);
  ArmSessions sessions(spec);
  const Execution ran = execute(spec, workloads, sessions, {.create_folders = true});
  Done done{ran.counts, {}};
  for (RunRow& row : ran.store->find_runs({})) done.runs.emplace(row.label, std::move(row));
  return done;
}

Json experiment(const fs::path& folder) {
  return {{"name", "from a program"},
          {"model", (kQuickstart / "model").string()},
          {"datasets", {"oa-mine"}},
          {"decoders", {{{"name", "ar"}}, {{"name", "hpd"}}}},
          {"limit", 2},
          {"warmup", 0},
          {"max_new_tokens", 8},
          {"threads", 1},
          {"progress", "none"},
          {"db", (folder / "made" / "r.sqlite").string()}};
}

Task<void> answer(const Decoder& decoder, const Request& request, const DecoderContext& context,
                  Answers& answers) {
  answers = co_await decode_request(decoder, request, context);
}

}  // namespace

TEST_CASE("a run starts from an experiment") {
  const Scratch scratch;
  const Done done = run(make_run_spec(read_run_settings(experiment(scratch.folder), "e.json")));
  CHECK(done.counts.finished == 4);
  CHECK(done.counts.failed == 0);
  REQUIRE(done.runs.size() == 2);
  CHECK(done.runs.at("hpd").status == RunStatus::done);
  REQUIRE(done.runs.at("ar").experiment);
  CHECK(done.runs.at("ar").experiment->name == "from a program");
}

TEST_CASE("a sweep starts from an experiment") {
  const Scratch scratch;
  Json json = experiment(scratch.folder);
  json["grid"] = {{"hpd.k_max", {4, 8}}};
  const Done done = run(make_run_spec(read_run_settings(json, "e.json", /*sweep=*/true)));
  CHECK(done.counts.finished == 6);
  CHECK(done.runs.size() == 3);
  CHECK(done.runs.contains("hpd,k_max=4"));
  CHECK(done.runs.contains("hpd,k_max=8"));
}

TEST_CASE("a run starts from a struct") {
  const Scratch scratch;
  RunSettings settings;
  settings.spec.model.model = (kQuickstart / "model").string();
  settings.spec.model.threads = 1;
  settings.decoders = {"ar"};
  settings.spec.datasets = {"oa-mine"};
  settings.spec.limit = 1;
  settings.spec.warmup = 0;
  settings.spec.decode.max_new_tokens = 4;
  settings.progress = "none";
  settings.spec.db = (scratch.folder / "r.sqlite").string();
  CHECK(run(make_run_spec(settings)).counts.finished == 1);
}

TEST_CASE("a training starts from JSON") {
  const Scratch scratch;
  const fs::path out = scratch.folder / "model";
  const Json json = {{"model", (kQuickstart / "model.json").string()},
                     {"tokenizer", (kQuickstart / "tokenizer.json").string()},
                     {"dataset", {"oa-mine"}},
                     {"format", {"ar", "hpd"}},
                     {"limit", 4},
                     {"validation", 0.25},
                     {"steps", 1},
                     {"batch_sequences", 2},
                     {"threads", 1},
                     {"progress", "none"},
                     {"out", out.string()}};
  const TrainingSpec spec = make_training_spec(read_training_settings(json, "t.json"));
  std::vector<std::string> said;
  finetune(spec, [&](const std::string& line) { said.push_back(line); });
  CHECK_FALSE(said.empty());
  CHECK(fs::exists(out / "model.safetensors"));
  const Json record = read_json(out / "training.json");
  CHECK(dump(record).find("oa-mine") != std::string::npos);
}

TEST_CASE("a Job starts from JSON") {
  Json json = {{"max_new_tokens", 100}, {"seed", 3}};
  DecodeOptions options;
  read_settings(decode_settings(options), json, "j.json");
  CHECK(options.max_new_tokens == 100);
  ModelOptions model;
  model.model = (kQuickstart / "model").string();
  model.threads = 1;
  Checkpoints loaded;
  Session session(model, options, {}, loaded);
  const auto decoder = make_decoder("ar", Json::object());
  const GivenRequests given = job_requests(read_jobs((kQuickstart / "job.json").string(), options),
                                           /*open=*/false, *decoder, options, session);
  Answers answers;
  session.engine.run(
      1, 1, [&](int) { return answer(*decoder, given.requests[0], session.context, answers); },
      [](const Ended& end) { end.rethrow(); });
  CHECK(answers.text.find("Pinafell") != std::string::npos);
}
