#include "src/findings/warnings.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "src/findings/score_findings.hpp"
#include "src/support/machine_use.hpp"
#include "src/support/number_text.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

/// If the ratios of repeats differ by more than this factor, they did not measure the same thing.
constexpr double kSteady = 1.25;

/// Codes by effect: those that invalidate everything, then answers, then speed, then advice.
constexpr std::array<std::string_view, 25> kRanked{
    "broken",          "failed",     "unparsed",    "empty",       "untrained",
    "departs",         "untaught",   "acceptance",  "hit_limit",   "unpaired",
    "other_tokenizer", "unfinished", "unmeasured",  "machines",    "not_release",
    "few_blocks",      "disturbed",  "outliers",    "unsteady",    "oversubscribed",
    "traced",          "lengths",    "short_batch", "short_stack", "rouge_letters"};

auto rank_of(const Warning& warning) {
  return std::find(kRanked.begin(), kRanked.end(), warning.code) - kRanked.begin();
}

/// From this factor on, other processes slowed one arm more than the other.
constexpr double kSuffers = 1.02;

/// If the mean length of passes under an oracle differs by more than this share, the requested
/// length was not reached.
constexpr double kLengthReached = 0.05;

std::string disturbed_text(std::int64_t disturbed, std::int64_t measurements) {
  return str("other programs used the machine in ", disturbed, " of ",
             counted(measurements, "measurement"));
}

std::string interval_text(const Interval& interval) {
  return str(fixed(interval.estimate, 2),
             std::isfinite(interval.low)
                 ? str(" [", fixed(interval.low, 2), ", ", fixed(interval.high, 2), "]")
                 : "");
}

/// Advice if other processes take a share of the threads' time.
std::string disturbed_advice(const RunRow& run, double taken, const std::string& otherwise) {
  const int fitting = threads_that_fit((1 - taken) * run.threads, run.threads);
  if (fitting == run.threads) return otherwise;
  return str(otherwise, otherwise.empty() ? "" : "; ", "`threads` ", fitting,
             " fits the CPU time that other programs leave");
}

class Warnings {
 public:
  explicit Warnings(const Overview& comparison) : comparison_(comparison) {}

  std::vector<Warning> all() {
    for (const ArmFinding& arm : comparison_.arms) {
      arm_ = &arm;
      const bool forced = comparison_.forced();
      if (!forced) answers();
      training();
      acceptance();
      side_by_side();
      measurement();
      if (!forced) against_baseline();
    }
    return std::move(found_);
  }

 private:
  void add(std::string code, std::string found, std::string advice = "") {
    const RunRow& run = arm_->run.run;
    found_.push_back(
        {std::move(code), run.dataset.name, run.label, std::move(found), std::move(advice)});
  }

  void machines() {
    const std::vector<MachineRow>& all = comparison_.machines;
    if (all.size() < 2) return;
    std::vector<std::string> blocks, kinds;
    for (const MachineRow& machine : all) {
      blocks.push_back(str(machine.host, " (", counted(machine.blocks, "block"), ")"));
      const auto others = machine_differences(all.front().environment, machine.environment);
      if (!others.empty()) kinds.push_back(str(machine.host, ": ", join(others, ", ")));
    }
    add("machines",
        str("times of several machines: ", join(blocks, ", "),
            kinds.empty() ? "" : str("; they differ: ", join(kinds, "; "))),
        str("a speedup compares only times of the same machine",
            kinds.empty() ? "" : ", other numbers mix the times of all machines"));
  }

  void answers() {
    const AnswerState& state = arm_->state;
    const auto share = [&](const char* code, std::int64_t count, const char* what,
                           const std::string& advice = "") {
      if (count > 0 &&
          static_cast<double>(count) >= kWorthSaying * static_cast<double>(state.answers))
        add(code, str(count, " of ", counted(state.answers, "answer"), " ", what), advice);
    };
    if (arm_->broken())
      add("broken",
          str(state.broken, " of ", counted(state.answers, "answer"),
              " failed, unreadable, empty or cut"),
          "its speed and its scores mean nothing");
    if (state.failed > 0)
      add("failed", str(state.failed, " of ", counted(state.answers, "answer"), " failed"));
    share("unparsed", state.unparsed, "unreadable");
    share("empty", state.empty, "empty");
    std::vector<std::string> advice =
        arm_->run.run.config.value("unused_ends", std::vector<std::string>());
    advice.insert(advice.begin(), "raise `max_new_tokens` or `per_field`");
    share("hit_limit", state.hit_limit, "cut at the limit", join(advice, "; "));
    if (!state.outside_rouge.empty())
      add("rouge_letters", state.outside_rouge,
          "score `metric=rouge_unicode` counts words of all scripts");
  }

  void training() {
    const RunRow& run = arm_->run.run;
    if (run.untrained)
      add("untrained", "random weights, or not trained for this decoder", "answers are noise");
    std::vector<std::string> untaught =
        run.config.value("options_beyond_training", std::vector<std::string>());
    if (std::string note = run.config.value("taught_otherwise", ""); !note.empty())
      untaught.push_back(std::move(note));
    if (!untaught.empty()) add("untaught", join(untaught, ", "), "answers may be worse");
  }

  void acceptance() {
    const double asked = arm_->run.run.config.value("accept_length", 0.0);
    if (asked == 0) return;
    const double reached = arm_->run.accept_length();
    if (std::abs(reached / asked - 1) <= kLengthReached) return;
    add("acceptance",
        str("passes that check guesses gave ",
            std::isfinite(reached) ? fixed(reached, 2) + " tokens" : "nothing", " on average, not ",
            fixed(asked, 2)),
        "longer answers (`max_new_tokens`, `ignore_eos`), or a decoder that always has guesses");
  }

  void side_by_side() {
    if (arm_->jobs.short_of_it())
      add("short_batch",
          str(fixed(arm_->jobs.reached, 1), " of ", counted(arm_->jobs.asked, "job"), " in flight"),
          "longer `block`, more examples or a smaller batch_size");
    if (arm_->stack.short_of_it())
      add("short_stack",
          str(fixed(arm_->stack.reached, 1), " of ", counted(arm_->stack.asked, "example"),
              " in a job"),
          str("a larger `limit` or a smaller ", find_decoder(arm_->run.run.decoder).stack_option));
  }

  void measurement() {
    const RunSummary& run = arm_->run;
    if (run.run.status == RunStatus::running)
      add("unfinished",
          str("running or killed",
              run.compared == 0 && arm_->baseline ? ", its answers not compared yet" : ""),
          "run `resume` finishes it");
    else if (run.measured_blocks < run.blocks)
      add("unmeasured",
          str("no measured time for ", run.blocks - run.measured_blocks, " of ",
              counted(run.blocks, "block")),
          "the run was stopped, or a job failed");
    machines();
    if (run.run.build_type != "Release")
      add("not_release", str("a ", run.run.build_type, " build"));
    const int cores = run.run.environment.value("cores", 0);
    if (run.run.device == "cpu" && cores > 0 && run.run.threads > cores)
      add("oversubscribed",
          str(counted(run.run.threads, "thread"), " on ", counted(cores, "core")));
    if (!arm_->speedup) {
      if (arm_->disturbed > 0)
        add("disturbed", disturbed_text(arm_->disturbed, arm_->measurements),
            disturbed_advice(run.run, arm_->taken, repair_advice()));
      return;
    }
    const Speedup& speedup = *arm_->speedup;
    if (speedup.blocks < kFewestBlocks)
      add("few_blocks", str("no interval over ", counted(speedup.blocks, "different block")),
          str(kFewestBlocks, " are needed: a larger `limit` or a shorter `block`"));
    if (speedup.disturbed > 0) disturbed(speedup);
    if (const std::int64_t outliers = speedup.slow_baseline + speedup.slow_method; outliers > 0)
      add("outliers",
          str("of ", counted(speedup.blocks, "block"), ", ", outliers,
              " took one arm far longer than the other blocks suggest (the baseline ",
              speedup.slow_baseline, ", this arm ", speedup.slow_method,
              "); the other blocks give ", interval_text(speedup.without_outliers)),
          "the interval covers both; measure more blocks, or on a quieter machine");
    if (const auto& ratios = speedup.of_repeats; !ratios.empty()) {
      const auto [least, most] = std::minmax_element(ratios.begin(), ratios.end());
      if (*most > kSteady * *least)
        add("unsteady",
            str("the repeats' ratios go from ", fixed(*least, 2), " to ", fixed(*most, 2)),
            "the interval is too narrow");
    }
    if (speedup.traced)
      add("traced", "a trace was written during the measurement", "writing it takes time");
  }

  /// Which arm other processes slowed more, and the effect on the speedup.
  std::string suffers() const {
    const ArmFinding* baseline = comparison_.baseline_of(*arm_);
    if (!baseline || arm_->taken >= 1 || baseline->taken >= 1) return "";
    const std::string ours = arm_->run.run.label, theirs = baseline->run.run.label;
    const double factor = (1 - arm_->taken) / (1 - baseline->taken);
    return str(", they took ", percent(baseline->taken), " of the time of ", theirs, " and ",
               percent(arm_->taken), " of the time of ", ours,
               factor > kSuffers ? str(": ", theirs, " was slowed more, the speedup is too high")
               : factor < 1 / kSuffers ? str(": ", ours, " was slowed more, the speedup is too low")
                                       : ": both were slowed equally");
  }

  /// The command that repeats the measurements.
  std::string repair_advice() const {
    const auto& experiment = arm_->run.run.experiment;
    // a sweep resumes without the flag
    const bool sweep = experiment && experiment->json.contains("grid");
    std::int64_t processes = 0;
    for (const MachineRow& machine : comparison_.machines) processes += machine.processes;
    return str("the same command", processes > 1 ? " in one process" : "", " with ",
               sweep ? "" : "`resume` ", "`repair=N` measures again");
  }

  void disturbed(const Speedup& speedup) {
    std::string text = disturbed_text(speedup.disturbed, speedup.measurements) + suffers();
    if (speedup.repaired > 0) text += str(", ", speedup.repaired, " measured again");
    if (speedup.disturbed_again > 0)
      text +=
          str(", ",
              speedup.disturbed_again == speedup.repaired ? "all"
                                                          : std::to_string(speedup.disturbed_again),
              " disturbed again");
    if (speedup.quiet && std::isfinite(speedup.quiet->estimate))
      text += ", the undisturbed ones give " + interval_text(*speedup.quiet);
    const ArmFinding* baseline = comparison_.baseline_of(*arm_);
    add("disturbed", text,
        disturbed_advice(arm_->run.run, std::max(arm_->taken, baseline ? baseline->taken : 0),
                         speedup.repaired == speedup.disturbed && speedup.disturbed_again == 0 ? ""
                         : speedup.disturbed_again > 0 ? "run again when the machine is idle"
                                                       : repair_advice()));
  }

  void against_baseline() {
    const ArmFinding* baseline = comparison_.baseline_of(*arm_);
    if (!baseline) return;
    if (const auto score = arm_->scores.find(headline_score(*arm_));
        score != arm_->scores.end() && score->second.left_out > 0)
      add("unpaired",
          str("the difference of scores is over the ", counted(score->second.pairs, "answer"),
              " that both arms have; ", score->second.left_out, " of only one arm are left out"),
          "run `resume`, or `retry_errors`, adds the missing answers");
    const double ours = arm_->state.tokens, theirs = baseline->state.tokens;
    const auto open = [](const ArmFinding& arm) { return arm.run.run.form == "free"; };
    const RunRow& run = arm_->run.run;
    const bool ids = same_ids(baseline->run.run.model, run.model);
    if (!ids)
      add("other_tokenizer", "another tokenizer than the baseline's",
          "counts of tokens cannot be compared");
    if (ids && arm_->speedup && open(*arm_) && open(*baseline) && ours > 0 && theirs > 0 &&
        std::abs(ours / theirs - 1) > kSameLength)
      add("lengths",
          str("answers of ", fixed(ours, 0), " tokens, the baseline's ", fixed(theirs, 0),
              ": per token, this arm is ", fixed(arm_->speedup->ratio.estimate * ours / theirs, 2),
              " times as fast"));
    const bool greedy = run.config.value("temperature", 0.0) == 0;
    if (arm_->departure && baseline->run.run.model.hash == run.model.hash && greedy &&
        run.dtype == "fp32" && find_decoder(run.decoder).exact &&
        run.form == baseline->run.run.form)
      add("departs", str(arm_->departure->departed, " of ", arm_->departure->compared,
                         " answers differ, though this decoder gives the baseline's tokens"));
  }

  const Overview& comparison_;
  const ArmFinding* arm_ = nullptr;
  std::vector<Warning> found_;
};

}  // namespace

std::vector<Warning> warnings_of(const Overview& comparison) {
  std::vector<Warning> all = Warnings(comparison).all();
  std::stable_sort(all.begin(), all.end(),
                   [](const Warning& a, const Warning& b) { return rank_of(a) < rank_of(b); });
  return all;
}

}  // namespace pardec
