#pragma once
#include <string>
#include <vector>

#include "src/findings/comparison.hpp"
#include "src/report/table.hpp"

/// Texts that several tables of runs share.
namespace pardec {

/// A title with the main settings of an invocation: the network (or "several networks"), dtype,
/// device, threads, "untrained" if all arms are untrained, and the oracles. REQUIRES: the
/// comparison has at least one arm.
std::string title_of(const Comparison& comparison);

/// Whether the arms ran on different networks. If so, tables name the networks.
bool several_networks(const std::vector<RunSummary>& runs);
/// ArmFinding::run of each arm, in the order of the arms.
std::vector<RunSummary> runs_of(const Comparison& comparison);

/// Whether arms of one dataset have different baselines, as in a sweep.
bool several_baselines(const Comparison& comparison);

/// A short name of a network's checkpoint (checkpoint_name).
std::string network_name(const ModelRow& model);
/// The name of an arm's network, followed by " + draft NAME" if the arm has a draft network.
std::string networks_text(const RunRow& run);

/// The size of the measurement as text, e.g. "n 36 to 38, 2 threads, 3 repeats"; n is the number of
/// distinct examples of a run. REQUIRES: `runs` is not empty.
std::string size_of(const std::vector<RunSummary>& runs);

/// One note for each oracle of the comparison: what the oracle forced or decided, and what the
/// numbers of such a run mean.
std::vector<std::string> oracle_notes(const Comparison& comparison);

/// A note about the arms whose answers are noise because their network is untrained. Empty: there
/// are no such arms.
std::string untrained_note(const std::vector<RunSummary>& runs);

/// A note that names the shards that a table covers, and says whether other shards are missing.
/// `shards`: as in Store::join_shards, e.g. "0/3, 2/3". REQUIRES: `shards` is not empty.
std::string shard_note(const std::string& shards);

/// Adds notes about arms that could not be run on a dataset, with the reasons.
void add_not_applicable_notes(Table& table, const Comparison& comparison);

/// A note that the baseline `label` was added automatically. `serves`: labels of the arms that are
/// compared with this baseline.
std::string added_baseline_note(const std::string& label, const std::vector<std::string>& serves);
/// Adds a note for each baseline of the comparison that was added automatically.
void add_added_baseline_notes(Table& table, const Comparison& comparison);

/// Adds notes that explain the shares of the roofline and the largest possible speedups, and name
/// the machines. Adds nothing if no machine was requested (CompareOptions::hardware).
void add_roofline_notes(Table& table, const Comparison& comparison);
/// Notes about judged scores: the judge, the number of verdicts on each arm, and the names of other
/// judges, whose verdicts are not in the table. There is one note, about all arms, for each metric,
/// dataset, judge and protocol.
std::vector<std::string> judged_notes(const std::vector<JudgedShare>& judged);
/// Adds judged_notes, and notes about metrics that were not computed yet (Comparison::uncomputed),
/// with the command that computes them.
void add_uncomputed_notes(Table& table, const Comparison& comparison);
/// The argument as a word for a shell, in single quotes if necessary.
std::string shell_word(const std::string& argument);

/// Adds all warnings of the comparison, and sets Table::arms.
void add_warnings(Table& table, const Comparison& comparison);
/// Adds the notes that every table of scores and speeds has: training, sampling rules of the
/// checkpoint, services, arms on other networks than their baselines, data, shards, and commit.
/// REQUIRES: the comparison has at least one arm.
void add_origin_notes(Table& table, const Comparison& comparison);

}  // namespace pardec
