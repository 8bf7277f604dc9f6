// What the papers' claims compare: arms, units, datasets and settings.
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>

#include "src/findings/roofline.hpp"
#include "src/reproduction/claims.hpp"
#include "src/reproduction/paper_differences.hpp"
#include "src/runs/record.hpp"
#include "src/support/error.hpp"
#include "src/support/processor.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/data.hpp"

using namespace pardec;

namespace {

/// Arms of known levels in every metric, measured to 1 % on one dataset.
class Planted : public NoEvidence {
 public:
  std::map<std::string, double> levels;
  std::string dataset = "vicuna-bench";

  explicit Planted(std::map<std::string, double> arms) : NoEvidence({}), levels(std::move(arms)) {}
  std::vector<std::string> places() const override { return {dataset}; }
  std::vector<std::string> places_of(const std::string& name) const override { return {name}; }
  Found level(const Scope&, const std::string& arm, const std::string&) const override {
    return about(levels.at(arm), true);
  }
  Found ratio(const Scope&, const std::string& arm, const std::string& other,
              const std::string&) const override {
    return about(levels.at(arm) / levels.at(other), true);
  }
  Found difference(const Scope&, const std::string& arm, const std::string& other,
                   const std::string&) const override {
    return about(levels.at(arm) - levels.at(other), false);
  }

 private:
  static Found about(double value, bool logarithmic) {
    const double off = logarithmic ? value * 0.01 : 0.002;
    return {Measured{{value, value - off, value + off}, 20, logarithmic, false}, ""};
  }
};

ClaimFinding tested(const PaperCatalogue& papers, const std::string& paper, const std::string& item,
                    const std::string& id, const Planted& evidence) {
  for (const Claim& claim : find_item(papers, paper, item).claims)
    if (claim.id == id) return test_claim(claim, "small", evidence);
  throw ConfigError("no claim " + id);
}

/// An item of one claim.
PaperItem item_of(const std::string& published, const std::string& match = "{}") {
  test::TemporaryFolder folder;
  const auto file = folder.path() / "item.json";
  std::ofstream(file) << R"({"name": "p-table1",
    "paper": {"id": "hpd", "item": "Table 1", "class": "A", "measures": "speed"},
    "published": {"unit": "ratio", "source": "printed",)"
                      << published << R"(, "doubts": []}, "match": )" << match
                      << R"(, "scales": {"small": {}}, "claims": []})";
  return read_paper_item(file);
}

ArmFinding arm_on(const std::string& device, const Json& environment) {
  ArmFinding arm;
  RunRow& run = arm.run.run;
  run.label = run.decoder = "hpd";
  run.device = device;
  run.environment = environment;
  run.threads = 2;
  run.dataset.name = "oa-mine";
  run.model.shape = Json::object();
  run.options = {{"stack", 6}};
  run.config = {{"temperature", 0.7}, {"top_k", 20}, {"top_p", 0.8}, {"max_new_tokens", 256}};
  return arm;
}

std::string difference(const PaperItem& item, const ArmFinding& arm, Difference::Of of) {
  Overview overview;
  overview.arms = {arm};
  for (const Difference& one : differences_from(item, overview, {}))
    if (one.of == of) return one.text;
  return "";
}

}  // namespace

TEST_CASE("a scale may be like another one of its own file, by either name") {
  test::TemporaryFolder folder;
  const auto file = folder.path() / "hpd" / "table1.json";
  std::filesystem::create_directories(file.parent_path());
  std::ofstream(file) << R"({"name": "hpd-table1",
    "paper": {"id": "hpd", "item": "Table 1", "class": "A", "measures": "speed"},
    "published": {"unit": "ratio", "source": "printed", "setting": {}, "keys": ["method"],
      "datasets": {"RACE": "race"}, "cells": [], "doubts": []},
    "match": {},
    "scales": {"small": {"limit": 3, "decoders": [{"name": "ar"}, {"name": "hpd"}]},
      "short": {"like": "small", "limit": 2}, "long": {"like": "hpd/table1#small", "limit": 4}},
    "claims": [{"id": "H", "says": "so", "scales": ["short", "long"], "test":
      {"kind": "ratio", "metric": "speed", "of": "hpd", "over": "ar", "op": ">", "than": 1}}]})";
  const PaperItem item = read_paper_item(file);
  CHECK(item.scale("short").value("limit", 0) == 2);
  CHECK(item.scale("long").value("limit", 0) == 4);
  CHECK(item.scale("long")["decoders"].size() == 2);
}

TEST_CASE("items may refer to one another, but not in a circle") {
  test::TemporaryFolder folder;
  const auto papers = folder.path() / "hpd";
  std::filesystem::create_directories(papers);
  const auto write = [&](const std::string& name, const std::string& scales) {
    std::ofstream(papers / (name + ".json")) << R"({"name": "hpd-)" << name << R"(",
    "paper": {"id": "hpd", "item": "Table 1", "class": "A", "measures": "speed"},
    "published": {"unit": "ratio", "source": "printed", "setting": {}, "keys": ["method"],
      "datasets": {"RACE": "race"}, "cells": [], "doubts": []},
    "match": {}, "claims": [], "scales": )" << scales
                                             << "}";
    return papers / (name + ".json");
  };
  const std::string arms = R"("decoders": [{"name": "ar"}, {"name": "hpd"}]})";
  write("table2",
        R"({"small": {"limit": 3, )" + arms + R"(, "paper": {"like": "hpd/table1#paper"}})");
  const auto file = write("table1", R"({"paper": {"limit": 9, )" + arms +
                                        R"(, "small": {"like": "hpd/table2#small"}})");
  const PaperItem item = read_paper_item(file);
  CHECK(item.scale("small").value("limit", 0) == 3);
  CHECK(read_paper_item(papers / "table2.json").scale("paper").value("limit", 0) == 9);

  write("table2", R"({"small": {"like": "hpd/table1#small"}})");
  CHECK_THROWS_WITH(item.scale("small"), Catch::Contains("expected no circle"));
}

TEST_CASE("a run of as many examples as the paper's is not a smaller one") {
  PaperItem item;
  item.published.setting = {{"examples", 1000}};
  Overview all;
  RunRow& run = all.arms.emplace_back().run.run;
  run.model.shape = Json::object();
  run.config = {{"limit", 1000}};
  CHECK_FALSE(is_smaller(item, all));
  run.config = {{"limit", 999}};
  CHECK(is_smaller(item, all));
  run.config = {{"limit", 1000}};
  item.published.setting = Json::object();  // the whole dataset
  CHECK(is_smaller(item, all));
}

TEST_CASE("a worse adapter refutes what the papers say of it") {
  const PaperCatalogue papers = read_papers();
  const auto verdict = [&](const char* paper, const char* item, const char* id,
                           std::map<std::string, double> arms) {
    return tested(papers, paper, item, id, Planted(std::move(arms))).verdict;
  };
  using enum ClaimVerdict;
  CHECK(verdict("apar", "figure4", "A1", {{"apar", 1.4}, {"original", 1}}) == confirmed);
  CHECK(verdict("apar", "figure4", "A1", {{"apar", 0.9}, {"original", 1}}) == refuted);
  CHECK(verdict("apar", "table3", "A4", {{"apar", 6}, {"original", 6}}) == confirmed);
  CHECK(verdict("apar", "table3", "A4", {{"apar", 5}, {"original", 6}}) == refuted);
  CHECK(verdict("aspd", "table1", "D1q", {{"aspd", 7.8}, {"seq", 7.7}}) == confirmed);
  CHECK(verdict("aspd", "table1", "D1q", {{"aspd", 6}, {"seq", 7.7}}) == refuted);
  CHECK(verdict("aspd", "table3", "D1s", {{"aspd", 67.9}, {"ori", 50.2}}) == confirmed);
  CHECK(verdict("aspd", "table3", "D1s", {{"aspd", 45}, {"ori", 50.2}}) == refuted);
  CHECK(verdict("aspd", "figure7", "D1b", {{"aspd", 45}, {"seq", 50.5}}) == refuted);
  CHECK(verdict("space", "table8", "P6", {{"sar", 0.37}, {"sft", 0.38}}) == confirmed);
  CHECK(verdict("space", "table8", "P6", {{"sar", 0.3}, {"sft", 0.38}}) == refuted);
  // What a paper says against a method can be refuted, too.
  CHECK(verdict("aspd", "figure8", "D6v", {{"sot", 1.9}, {"aspd", 1.8}}) == confirmed);
  CHECK(verdict("aspd", "figure8", "D6v", {{"sot", 1.5}, {"aspd", 1.8}}) == refuted);
}

TEST_CASE("a claim that is tested on another dataset than the paper's says so") {
  const PaperCatalogue papers = read_papers();
  Planted evidence({{"apar", 1.4}, {"original", 1}});
  CHECK_FALSE(tested(papers, "apar", "figure4", "A1", evidence).qualifiers.other_data);
  evidence.dataset = "oa-mine";
  const ClaimFinding finding = tested(papers, "apar", "figure4", "A1", evidence);
  CHECK(finding.qualifiers.other_data);
  CHECK(finding.qualifiers.text() == "other data");
}

TEST_CASE("a published cell is of its own dataset") {
  const std::string keys = R"("setting": {}, "keys": ["dataset", "metric"], )";
  const PaperItem item = item_of(keys + R"("datasets": {"A": "squad", "B": null},
      "cells": [["A", "f1", 1], ["B", "f1", 2]])");
  CHECK(item.published.dataset_of(item.published.cells[1]) == "B");
  CHECK(item.published.datasets.at("A") == "squad");
  CHECK_FALSE(item.published.datasets.at("B"));
  CHECK_THROWS_AS(item_of(keys + R"("datasets": {"A": "squad"}, "cells": [["C", "f1", 1]])"),
                  ConfigError);
  CHECK_THROWS_AS(item_of(keys + R"("datasets": {"A": 1}, "cells": [["A", "f1", 1]])"),
                  ConfigError);
  CHECK_THROWS_AS(item_of(keys + R"("datasets": {"A": "squad"}, "cells": [["A", "f1", 1]])",
                          R"({"dataset": "race"})"),
                  ConfigError);
  const std::string alone = R"("setting": {}, "keys": ["metric"], )";
  const PaperItem one = item_of(alone + R"("datasets": {"A": "squad"}, "cells": [["f1", 1]])");
  CHECK(one.published.dataset_of(one.published.cells[0]) == "A");
  const PaperItem two =
      item_of(alone + R"("datasets": {"A": "squad", "B": "race"}, "cells": [["f1", 1]])");
  CHECK(two.published.dataset_of(two.published.cells[0]).empty());
}

TEST_CASE("differences name sampling, limits, stack and the device that ran") {
  const std::string cells = R"("keys": ["m"], "datasets": {"A": null}, "cells": [["f1", 1]])";
  const PaperItem item = item_of(R"("setting": {"sampling": "greedy", "stack": "6"}, )" + cells);
  const ArmFinding cpu = arm_on("cpu", {{"processor", "A CPU"}});
  using enum Difference::Of;
  CHECK(difference(item, cpu, sampling) ==
        "differs: sampling: temperature 0.7, top-k 20, top-p 0.8 (paper: greedy)");
  CHECK(difference(item, cpu, limit) == "differs: most new tokens: 256 (paper: not stated)");
  CHECK(difference(item, cpu, option).empty());  // the paper's stack
  CHECK(difference(item, cpu, machine) == "differs: machine: A CPU, 2 threads (paper: not stated)");
  const PaperItem other = item_of(R"("setting": {"stack": "1",
      "sampling": "temperature 0.7, top-k 20, top-p 0.8"}, )" +
                                  cells);
  CHECK(difference(other, cpu, sampling).empty());
  CHECK(difference(other, cpu, option) == "differs: examples in a job (stack): 6 (paper: 1)");
  const Json gpus = {{"processor", "A CPU"}, {"gpus", {"NVIDIA X", "NVIDIA Y"}}};
  CHECK(difference(item, arm_on("cuda", gpus), machine) ==
        "differs: machine: NVIDIA X (cuda) (paper: not stated)");
  CHECK(difference(item, arm_on("cuda:1", gpus), machine) ==
        "differs: machine: NVIDIA Y (cuda:1) (paper: not stated)");
  CHECK(difference(item, arm_on("cuda", {{"processor", "A CPU"}}), machine) ==
        "differs: machine: cuda (paper: not stated)");
}

TEST_CASE("GPUs have the names that the driver tells, by their bus addresses") {
  test::TemporaryFolder folder;
  for (const auto& [bus, model] : {std::pair{"0000:41:00.0", "NVIDIA Y"},
                                   std::pair{"0000:01:00.0", "NVIDIA H100 80GB HBM3"}}) {
    std::filesystem::create_directories(folder.path() / bus);
    std::ofstream(folder.path() / bus / "information")
        << "Model: \t\t " << model << "\nIRQ:   \t\t 161\n";
  }
  CHECK(gpu_names(folder.path()) == std::vector<std::string>{"NVIDIA H100 80GB HBM3", "NVIDIA Y"});
  CHECK(gpu_names(folder.path() / "nowhere").empty());
}

TEST_CASE("a run keeps its GPU, driver, CUDA, and the roofline of that GPU") {
  test::TemporaryFolder folder;
  std::ofstream(folder.path() / "version")
      << "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.15  Tue Mar  5 22:23:56 UTC 2024\n"
      << "GCC version:  gcc version 12.2.0\n";
  CHECK(gpu_driver(folder.path() / "version") == "550.54.15");
  CHECK(gpu_driver(folder.path() / "nowhere").empty());
  CHECK(hardware_of_gpu("NVIDIA H100 80GB HBM3") == "h100");
  CHECK(hardware_of_gpu("NVIDIA A100-SXM4-80GB") == "a100");
  CHECK(hardware_of_gpu("NVIDIA GeForce 9000").empty());

  const GpuFacts h100{"NVIDIA H100 80GB HBM3", "12.4", "9.0", 85'000'000'000};
  const Json gpu = environment_json(h100, Dtype::bf16).at("gpu");
  CHECK(gpu.at("name") == h100.name);
  CHECK(gpu.at("cuda") == "12.4");
  CHECK(gpu.at("memory_bytes") == h100.memory_bytes);
  CHECK(gpu.at("roofline").at("hardware") == "h100");
  CHECK(gpu.at("roofline").at("bytes_per_second") == 3350e9);
  CHECK(gpu.at("roofline").at("flop_per_second") == 989.4e12);
  CHECK_FALSE(environment_json("cpu", Dtype::fp32).contains("gpu"));
  CHECK_FALSE(device_memory_peak("cpu"));
}

TEST_CASE("weights of another training than the paper's decide nothing") {
  test::TemporaryFolder folder;
  std::ofstream(folder.path() / "training.json")
      << R"({"settings": {"format": ["space"], "space": {"k": 3, "ar_share": 0.0}}})";
  const PaperItem item = item_of(R"("setting": {"training": {"k": 3, "ar_share": 0.5}},
      "keys": ["m"], "datasets": {"A": null}, "cells": [["f1", 1]])");
  ArmFinding arm = arm_on("cpu", Json::object());
  arm.run.run.decoder = "space";
  arm.run.run.model.path = folder.path().string();
  Overview overview;
  overview.arms = {arm};
  const auto warnings = unlike_papers_training(item, overview);
  REQUIRE(warnings.size() == 1);
  CHECK(warnings[0].code == "untaught");
  CHECK(warnings[0].found == "trained with ar_share 0.0, in the paper 0.5");
  const auto caveats = caveats_of(overview, "oa-mine", {"hpd"}, "tokens_per_forward", warnings);
  REQUIRE(caveats.size() == 1);
  CHECK(caveats[0].effect == Effect::unfit);
  overview.arms[0].run.run.oracle = "references";
  CHECK(unlike_papers_training(item, overview).empty());
  overview.arms[0].run.run.oracle.reset();
  overview.arms[0].run.run.decoder = "ar";  // needs no such training
  CHECK(unlike_papers_training(item, overview).empty());
}
