#pragma once
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/store/figures.hpp"
#include "src/store/rows.hpp"
#include "src/store/side_files.hpp"
#include "src/store/sqlite.hpp"

/// The record of all runs: one SQLite file (results/schema.sql). Errors are StoreErrors. Exit code
/// 2: the path is not one of our databases, or is not writable. Exit code 1: failures during a run
/// (disk full, I/O, locked for 30 s); the current transaction is then rolled back. Another process
/// may remove or replace the file at the path while it is open. The data of this process is then in
/// a file without a name. The store copies this data to a new file next to the path, and the error
/// names that file. It also removes the old log, because SQLite would apply it to the file that is
/// now at the path. The log of another database next to a file is refused (side_files.hpp), and so
/// is a database whose schema version is not schema_version().
namespace pardec {

/// `application_id` of our files: "PARD".
inline constexpr int kApplicationId = 0x50415244;

struct OpenOptions {
  bool read_only = false;       ///< the file must exist and is not changed
  bool create_folders = false;  ///< make missing parent folders (for the default path)
  /// whether error messages advise to continue the command with --resume
  bool resumes = false;
};

/// The effect of commit_job.
enum class Committed {
  inserted,
  replaced,  ///< a retry with fewer errors replaced the failed job
  kept,      ///< the job was already stored; only the number of attempts of a failed job changed
};

struct FinishedJob {
  JobKey key;
  int repeat;
  bool failed;        ///< the job or one of its generations has an error
  bool failed_whole;  ///< the job itself has an error
};

/// Empty members match everything.
struct RunFilter {
  std::string label, dataset, split, invocation;
  std::string uuid;  ///< or a prefix of it
  std::optional<RunStatus> status;
  std::optional<bool> standin = std::nullopt;  ///< whether the dataset is a stand-in
};

/// One metric of one example (or of one of its fields) for both arms. NaN: the stored value is not
/// a number.
struct ScorePair {
  std::string sample, cluster, category, field;
  int repeat;
  double baseline, method;
};

/// The answers of two arms to one example. Examples with an error in either answer are left out.
struct GenerationPair {
  RowId baseline_id, method_id;
  std::string sample;
  int repeat;
  std::string baseline_text, method_text;
  Tokens baseline_tokens, method_tokens;
};

/// Mean of one metric over a run. `mean` is NaN if there is no value.
struct ScoreMean {
  std::string metric, version;
  double mean;
  std::int64_t count, not_a_number;
};

/// Scores of one answer.
struct AnswerScores {
  RowId generation;
  std::vector<ScoreRow> scores;
};

/// A generation read from the store, without the cost of its job (see jobs()).
struct StoredGeneration {
  GenerationRow row;  ///< includes scores, of the newest version of each metric
  int repeat;
  JobKey job;
  std::string cluster, category;
};

/// Ids in table `sample`; none: all samples.
using SampleIds = std::optional<std::vector<RowId>>;

/// One connection, used by one thread. Several processes may have the same file open.
class Store {
 public:
  explicit Store(const std::filesystem::path& path, OpenOptions options = {});
  /// Whether a database exists at `path`. StoreError: there is none, and apparently none can be
  /// created there. Creates nothing.
  static bool exists(const std::filesystem::path& path, OpenOptions options = {});
  /// Closes the file. Merges the write-ahead log into it if no other process has it open.
  ~Store();
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;

  const std::filesystem::path& path() const { return path_; }
  /// For exports and ad-hoc queries.
  Database& database() { return db_; }

  // Objects that runs refer to. Each is inserted once and found afterwards.
  RowId put_experiment(const ExperimentRow& experiment);
  RowId put_environment(const Json& environment);
  /// Notes the machine of a process that will run blocks.
  void put_process(const std::string& process, const std::string& host, const Json& environment);
  RowId put_model(const ModelRow& model);
  RowId put_dataset(const DatasetRow& dataset);
  /// Samples that are already stored are not changed.
  void put_samples(RowId dataset, std::span<const SampleRow> samples);
  /// The hash stored for this path and stamp, if any.
  std::optional<std::string> model_hash(const std::string& path, const std::string& stamp);

  // Runs.
  /// Records the device's peak memory in the environment of an invocation's runs, unless an earlier
  /// process recorded a larger peak.
  void note_device_memory(const std::string& invocation, std::int64_t peak_bytes);
  /// Inserts the run and the objects that it refers to, in one transaction. A run whose uuid is
  /// already stored is resumed: its status becomes `running`.
  RowId begin_run(const RunRow& run);
  RowId dataset_of(RowId run);
  /// Latest first.
  std::vector<RunRow> find_runs(const RunFilter& filter);
  /// Sorted by repeat and key.
  std::vector<FinishedJob> finished_jobs(RowId run);
  void finish_run(RowId run, RunStatus status);
  /// StoreError: the file written to is no longer at `path()`. Every function that writes calls
  /// this. Callers call it once more before they report that all results are stored.
  void check_place();

  // Blocks and jobs.
  /// Finds or inserts the block of (run, repeat, position). StoreError: it is stored with other
  /// examples.
  RowId begin_block(const BlockRow& block);
  /// Stores a job, its histogram, generations and scores in one transaction. See Committed. A job's
  /// error is copied to its generations without an error. If a retry replaces a job, its block
  /// counts as not measured, and comparisons of other arms' answers with its answers are deleted.
  Committed commit_job(const JobRow& job, std::span<const GenerationRow> generations);
  /// Stores the time in which `process` ran all jobs of the block together, and the occupancy of
  /// the passes. Returns false, and stores nothing, unless every job is stored and none failed.
  /// Replaces an earlier time and its repair. The stored answers may be from an earlier process: a
  /// run that stopped left the block without a time, and a later process computed the same answers
  /// again to measure it.
  bool finish_block(RowId block, const std::string& process, std::int64_t wall_ns,
                    const BlockOccupancy& occupancy = {}, const BlockUse& use = {});
  /// Stores a second measurement of the block; the first one is kept. Does nothing if the block was
  /// not measured before.
  void repair_block(RowId block, const std::string& process, std::int64_t wall_ns,
                    const MachineUse& use);
  /// Stores the comparisons of several answers in one transaction, so that readers see all of them
  /// or none.
  void mark_identities(std::span<const std::pair<RowId, Identity>> of_generations);
  /// Adds scores, or replaces those with equal (metric, field, version), in one transaction.
  void put_scores(std::span<const AnswerScores> scores);
  /// In one transaction, replaces all scores of a metric in these runs by the result of `current`,
  /// which may read the database. No result: the scores are not changed.
  void replace_scores(const std::string& metric, std::span<const RowId> runs,
                      const std::function<std::optional<std::vector<AnswerScores>>()>& current);

  // Reading.
  std::vector<RunSummary> summaries(const RunFilter& filter);
  /// The machines whose processes measured blocks of an invocation, the most blocks first. Blocks
  /// measured by an older pardec, which did not note the machine, are not counted.
  std::vector<MachineRow> machines(const std::string& invocation);
  /// In the order of `runs`.
  Figures figures(std::vector<RunRow> runs);
  /// Only their measured blocks.
  Figures blocks(std::vector<RunRow> runs);
  /// All jobs, or those with answers to these samples.
  std::vector<JobRow> jobs(RowId run, const SampleIds& only = std::nullopt);
  std::vector<StoredGeneration> generations(RowId run, const SampleIds& only = std::nullopt);
  /// The ids of one answer; none: the answer is not stored.
  std::optional<Tokens> answer_ids(RowId run, int repeat, const std::string& sample);
  /// In the order of insertion.
  std::vector<SampleRow> samples(RowId dataset, const SampleIds& only = std::nullopt);
  std::vector<ScoreMean> score_means(RowId run);
  std::vector<ScorePair> score_pairs(RowId baseline, RowId method, const std::string& metric);
  std::vector<GenerationPair> generation_pairs(RowId baseline, RowId method);

  /// The invocations that computed shards of the same experiment as this one, including itself,
  /// ordered by shard index. If a shard was run twice: the newer invocation. If it is not a shard:
  /// only this invocation.
  std::vector<std::string> shards_of(const std::string& invocation);
  /// An in-memory copy for reading, in which the shards of one run are joined into one invocation.
  /// This is the newest of the shards' invocations, or `keep` if that is one of them. Its `shard`
  /// lists all shards, e.g. "0/3, 2/3". Null: no run is a shard.
  std::unique_ptr<Store> join_shards(const std::string& keep);

  /// Copies the runs of another database into this one, in one transaction: all, or those of one
  /// invocation. Rows that are already
  /// here are not changed, so merging twice changes nothing. If both files have a run, the more
  /// advanced state counts, whichever file it is in: a failed job is replaced by one with fewer
  /// errors, a vote without a verdict by a verdict, an attempt of unknown outcome by its outcome.
  /// Returns messages about names that two runs share.
  std::vector<std::string> merge(const std::filesystem::path& other,
                                 const std::string& invocation = "");

 private:
  Store() = default;
  void open(OpenOptions options);
  void open_read_only();
  void read_copy();
  void create_tables();
  Committed put_job(const JobRow& job, std::span<const GenerationRow> generations);
  std::filesystem::path save_beside(const std::string& ending);
  void copy_into(const std::filesystem::path& file) const;
  /// Whether the path no longer leads to the open file.
  bool is_lost() const;
  /// Saves a lost database next to the path, and removes the lost database's log, which the file
  /// that now has the name must not use. Returns where it was saved, or why it could not be.
  std::string rescue();
  /// Removes a job, all rows that belong to it, and data that is not valid without it.
  void drop_job(RowId job);

  std::filesystem::path path_;
  Database db_;
  FilePlace place_;  // of the open file; zeros if it is only read
  SideFiles side_files_;
  bool resumes_ = false;
  unsigned mode_ = 0600;  // permissions of the open file
  bool saved_ = false;    // the file was saved next to the path, because it was lost
  std::filesystem::path recovered_;
};

/// The reasons why `now` cannot continue `old`: one line each, e.g. "hpd.k_max: 30, now 16".
/// Compares decoder, options, config (key by key), hashes of model, draft and dataset, prompt hash,
/// commit, build type, seed, device, dtype, threads, batch size, repeats, order, shard and oracle.
/// Empty: the run can be resumed.
std::vector<std::string> differences(const RunRow& old, const RunRow& now);

/// The differences between two environments (machines and programs), in the same form.
std::vector<std::string> machine_differences(const Json& old, const Json& now);

/// Equal for equal ordered lists of keys.
std::string block_key(const std::vector<std::string>& samples);

/// A random UUID (version 4).
std::string make_uuid();
/// Now, e.g. "2025-01-31T23:59:59.123Z".
std::string utc_now();

std::string_view name(RunStatus status);

}  // namespace pardec
