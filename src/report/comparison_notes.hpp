#pragma once
#include <string>
#include <vector>

#include "src/findings/comparison.hpp"
#include "src/report/table.hpp"

/// Texts that several tables of runs share.
namespace pardec {

/// The settings that all arms of an invocation share: model (or the number of models), device etc.
std::string title_of(const Comparison& comparison);

/// Whether arms ran on different networks; a table then names them.
bool several_networks(const std::vector<RunSummary>& runs);
std::vector<RunSummary> runs_of(const Comparison& comparison);

/// Whether arms of one dataset have different baselines, as in a sweep.
bool several_baselines(const Comparison& comparison);

/// The last part of a checkpoint's path.
std::string network_name(const ModelRow& model);
/// An arm's network and its draft network.
std::string networks_text(const RunRow& run);

/// The size of the measurement, e.g. "n 36 to 38, 2 threads, 3 repeats".
std::string size_of(const std::vector<RunSummary>& runs);

/// What the oracles of the arms forced, and what the numbers mean; one or two sentences for each.
std::vector<std::string> oracle_notes(const Comparison& comparison);

/// Which arms' answers are noise, and why; empty: none.
std::string untrained_note(const std::vector<RunSummary>& runs);

/// Which shards a table covers, listed as in Store::join_shards, and whether some are missing.
std::string shard_note(const std::string& shards);

/// Adds arms that could not be run on a dataset, with the reason.
void add_not_applicable_notes(Table& table, const Comparison& comparison);

/// A note that this baseline was added without being requested, and for which arms.
std::string added_baseline_note(const std::string& label, const std::vector<std::string>& serves);
void add_added_baseline_notes(Table& table, const Comparison& comparison);

/// Explains shares of a roofline, and names the machine, if they were requested.
void add_roofline_notes(Table& table, const Comparison& comparison);
/// The judge of judged scores, the number of verdicts, and further judges; one line for all arms of
/// a dataset.
std::vector<std::string> judged_notes(const std::vector<JudgedShare>& judged);
/// Adds the number of answers with verdicts, and the metrics that were not computed, with the
/// command that computes them.
void add_uncomputed_notes(Table& table, const Comparison& comparison);
/// One argument, quoted for a shell if necessary.
std::string shell_word(const std::string& argument);

/// Adds all warnings of the comparison.
void add_warnings(Table& table, const Comparison& comparison);
/// Adds the notes under every table of scores and speeds: training, data, shards, commit.
void add_origin_notes(Table& table, const Comparison& comparison);

}  // namespace pardec
