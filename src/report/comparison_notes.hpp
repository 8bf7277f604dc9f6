#pragma once
#include <string>
#include <vector>

#include "src/findings/comparison.hpp"
#include "src/report/table.hpp"

/// What several tables of runs say in words.
namespace pardec {

/// Model (or how many), device and the like, which all arms of an invocation share.
std::string title_of(const Comparison& comparison);

/// Whether arms ran on different networks; a table then says which.
bool several_networks(const std::vector<RunSummary>& runs);
std::vector<RunSummary> runs_of(const Comparison& comparison);

/// Whether arms of one dataset are compared with different ones, as those of a sweep are.
bool several_baselines(const Comparison& comparison);

/// A checkpoint's folder without where it lies.
std::string network_name(const ModelRow& model);
/// An arm's network, and the one that drafts for it.
std::string networks_text(const RunRow& run);

/// How much was measured, e.g. "n 36 to 38, 2 threads, 3 repeats".
std::string size_of(const std::vector<RunSummary>& runs);

/// What the oracles of its arms forced, and what its numbers are of; a sentence or two each.
std::vector<std::string> oracle_notes(const Comparison& comparison);

/// Which arms' answers are noise, and why; empty: none are.
std::string untrained_note(const std::vector<RunSummary>& runs);

/// Which shards a table is of, listed as Store::join_shards does, and whether some are missing.
std::string shard_note(const std::string& shards);

/// Arms that could not be run on a dataset, with the reason.
void add_not_applicable_notes(Table& table, const Comparison& comparison);

/// That a baseline was added which nobody named, and for which arms.
std::string added_baseline_note(const std::string& label, const std::vector<std::string>& serves);
void add_added_baseline_notes(Table& table, const Comparison& comparison);

/// What the shares of a roofline are of, and of which machine, where they were asked for.
void add_roofline_notes(Table& table, const Comparison& comparison);
/// Whose verdicts judged scores are of, of how many, and who else judged; one line for all arms of
/// a dataset.
std::vector<std::string> judged_notes(const std::vector<JudgedShare>& judged);
/// Of how many answers judges gave verdicts; metrics that were not computed, and what computes
/// them.
void add_uncomputed_notes(Table& table, const Comparison& comparison);
/// One argument as a shell would need it.
std::string shell_word(const std::string& argument);

/// All warnings of the comparison.
void add_warnings(Table& table, const Comparison& comparison);
/// What stands under every table of scores and speeds: training, data, shards, commit.
void add_origin_notes(Table& table, const Comparison& comparison);

}  // namespace pardec
