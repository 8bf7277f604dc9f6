// Which arm other programs disturbed more, and how that changes the speedup: compared with the
// speedup of the same blocks without the others, which is known here.
#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <string>

#include "src/findings/speed_findings.hpp"
#include "src/findings/warnings.hpp"
#include "tests/support/catch.hpp"

using namespace pardec;

namespace {

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr int kThreads = 2;
constexpr int kBlocks = 8;

/// Blocks that take this many seconds alone, each prolonged by time in which other programs used
/// the cores.
MeasuredBlocks blocks(double seconds, double longer_by) {
  MeasuredBlocks measured;
  for (int i = 0; i < kBlocks; ++i) {
    const auto added = static_cast<std::int64_t>(longer_by * kSecond);
    BlockFigures block{.id = i,
                       .key = i,
                       .process = 0,
                       .repeat = 0,
                       .position = i,
                       .examples = 1,
                       .time = {.wall_ns = static_cast<std::int64_t>(seconds * kSecond) + added}};
    block.time.use.machine.waited_ns = kThreads * added;
    measured.blocks.push_back(block);
  }
  return measured;
}

ArmFinding arm(const char* label, const char* decoder, const MeasuredBlocks& measured) {
  ArmFinding finding;
  RunRow& run = finding.run.run;
  run.label = label;
  run.decoder = decoder;
  run.model.hash = "a";
  run.dataset.name = "oa-mine";
  run.status = RunStatus::done;
  run.build_type = "Release";
  run.threads = kThreads;
  finding.state.answers = kBlocks;
  add_examples_per_second(finding, measured, 0.95);
  return finding;
}

struct Told {
  double speedup;    ///< as it was measured
  std::string text;  ///< of the only warning of this kind
  std::string advice;
};

/// Alone, AR takes 4 seconds for a block and HPD 1, so the true speedup is 4; other programs
/// prolong both. `processes`: how many processes measured the blocks.
Told told(double ar_longer_by, double hpd_longer_by, int processes = 1) {
  const MeasuredBlocks theirs = blocks(4, ar_longer_by), ours = blocks(1, hpd_longer_by);
  Comparison comparison;
  comparison.machines = {{"a", {}, kBlocks, processes}};
  comparison.arms = {arm("slow-arm", "ar", theirs), arm("fast-arm", "hpd", ours)};
  ArmFinding &baseline = comparison.arms[0], &method = comparison.arms[1];
  method.baseline = 0;
  method.speedup = speedup_of({baseline.run.run, theirs}, {method.run.run, ours}, 0.95);
  REQUIRE(method.speedup);
  const std::vector<Warning> warnings = warnings_of(comparison);
  const auto is_it = [](const Warning& warning) {
    return warning.code == "disturbed" && warning.arm == "fast-arm";
  };
  REQUIRE(std::count_if(warnings.begin(), warnings.end(), is_it) == 1);
  const Warning& warning = *std::find_if(warnings.begin(), warnings.end(), is_it);
  return {method.speedup->ratio.estimate, warning.found, warning.advice};
}

bool says(const std::string& text, std::initializer_list<const char*> words) {
  return std::all_of(words.begin(), words.end(),
                     [&](const char* word) { return text.find(word) != std::string::npos; });
}

}  // namespace

TEST_CASE("disturbed: other programs on the baseline's cores inflate the speedup") {
  const Told baseline_alone = told(4, 0);
  CHECK(baseline_alone.speedup > 4);
  CHECK(says(baseline_alone.text,
             {"50.0 % of the time of slow-arm", "and 0.0 % of the time of fast-arm",
              "slow-arm was slowed more", "the speedup is too high"}));
  const Told both = told(12, 1);  // both suffer, the baseline more
  CHECK(both.speedup > 4);
  CHECK(says(both.text, {"75.0 % of the time of slow-arm", "50.0 % of the time of fast-arm",
                         "slow-arm was slowed more", "the speedup is too high"}));
}

TEST_CASE("disturbed: other programs on the arm's own cores deflate the speedup") {
  const Told method_alone = told(0, 1);
  CHECK(method_alone.speedup < 4);
  CHECK(says(method_alone.text, {" 0.0 % of the time of slow-arm", "50.0 % of the time of fast-arm",
                                 "fast-arm was slowed more", "the speedup is too low"}));
  // The baseline lost more seconds, but a smaller share of its time.
  const Told both = told(2, 1);
  CHECK(both.speedup < 4);
  CHECK(says(both.text, {"fast-arm was slowed more", "the speedup is too low"}));
}

TEST_CASE(
    "disturbed: other programs that took the same share of both arms' time change no speedup") {
  const Told same = told(4, 1);
  CHECK(std::abs(same.speedup - 4) < 1e-9);
  CHECK(says(same.text, {"both were slowed equally"}));
  CHECK(!says(same.text, {"inflated"}));
  CHECK(!says(same.text, {"deflated"}));
}

TEST_CASE("disturbed: several processes do not repair, so one process is asked to") {
  const std::string one = told(0, 1).advice, several = told(0, 1, 2).advice;
  CHECK(says(one, {"the same command with `resume` `repair=N` measures again"}));
  CHECK(says(several, {"the same command in one process with `resume` `repair=N`"}));
}
