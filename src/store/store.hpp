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

/// The record of all runs: one SQLite file (results/schema.sql).
/// Errors are StoreErrors: exit code 2 for a path that holds no database of ours or may not be
/// written, 1 for what happens in mid-run (disk full, I/O, locked for 30 s); the transaction under
/// way is then rolled back. Where the path no longer leads to the open file, since somebody removed
/// or replaced that, what was written is in no file that has a name: it is saved beside, the error
/// says where, and the log is removed, which would destroy what has the name now. A log of another
/// database beside a file is refused (side_files.hpp), and so is a database of another schema
/// version than schema_version().
namespace pardec {

/// `application_id` of our files: "PARD".
inline constexpr int kApplicationId = 0x50415244;

struct OpenOptions {
  bool read_only = false;       ///< the file must exist and is left as it is
  bool create_folders = false;  ///< make missing parent folders (for the default path)
  bool resumes = false;         ///< whoever stores here goes on by --resume, as errors advise
};

/// What commit_job did.
enum class Committed {
  inserted,
  replaced,  ///< a retry that has fewer errors took the place of the failed job
  kept,      ///< the job was there; nothing changed but the number of attempts of a failed one
};

struct FinishedJob {
  JobKey key;
  int repeat;
  bool failed;        ///< the job or one of its generations has an error
  bool failed_whole;  ///< the job itself has
};

/// Empty members match everything.
struct RunFilter {
  std::string label, dataset, split, invocation;
  std::string uuid;  ///< or the first characters of it
  std::optional<RunStatus> status;
  std::optional<bool> standin = std::nullopt;  ///< of the dataset
};

/// One metric of one example (or one field of it) by both arms. NaN where a value is not a number.
struct ScorePair {
  std::string sample, cluster, category, field;
  int repeat;
  double baseline, method;
};

/// The answers of two arms to one example; those with an error are left out.
struct GenerationPair {
  RowId baseline_id, method_id;
  std::string sample;
  int repeat;
  std::string baseline_text, method_text;
  Tokens baseline_tokens, method_tokens;
};

/// Mean of one metric over a run; `mean` is NaN without any value.
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

/// A generation as read back, with what its Job cost left out (see jobs()).
struct StoredGeneration {
  GenerationRow row;  ///< scores included, those of each metric's newest version
  int repeat;
  JobKey job;
  std::string cluster, category;
};

/// Rows of table `sample`; none: all.
using SampleIds = std::optional<std::vector<RowId>>;

/// One connection, used by one thread. Several processes may have one file open at once.
class Store {
 public:
  explicit Store(const std::filesystem::path& path, OpenOptions options = {});
  /// Whether a database is at `path`. StoreError where none is, and none can be made there as far
  /// as can be seen; nothing is made.
  static bool exists(const std::filesystem::path& path, OpenOptions options = {});
  /// Closes; moves the write-ahead log into the file when no other process has it open.
  ~Store();
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;

  const std::filesystem::path& path() const { return path_; }
  /// For exports and ad-hoc queries.
  Database& database() { return db_; }

  // Things that runs refer to. Each is inserted once and found afterwards.
  RowId put_experiment(const ExperimentRow& experiment);
  RowId put_environment(const Json& environment);
  RowId put_model(const ModelRow& model);
  RowId put_dataset(const DatasetRow& dataset);
  /// A sample that is there already stays as it is.
  void put_samples(RowId dataset, std::span<const SampleRow> samples);
  /// The hash stored for this path and stamp, if any.
  std::optional<std::string> model_hash(const std::string& path, const std::string& stamp);

  // Runs.
  /// Inserts the run and what it refers to, in one transaction. A uuid that is there already is
  /// resumed: its status becomes `running`.
  RowId begin_run(const RunRow& run);
  RowId dataset_of(RowId run);
  /// Latest first.
  std::vector<RunRow> find_runs(const RunFilter& filter);
  /// Sorted by repeat and key.
  std::vector<FinishedJob> finished_jobs(RowId run);
  void finish_run(RowId run, RunStatus status);
  /// StoreError where the file that this wrote to is not at `path()` any more. Every function that
  /// writes checks it. A caller checks it once more before it reports that all is stored.
  void check_place();

  // Blocks and jobs.
  /// Finds or inserts the block of (run, repeat, position). StoreError when it is there with other
  /// examples.
  RowId begin_block(const BlockRow& block);
  /// Stores a job, its histogram, generations and scores in one transaction. See Committed. A job's
  /// error is copied to those of its generations that have none. When a retry replaces a job, its
  /// block counts as not measured, and what other arms' answers were found to be against it is
  /// forgotten.
  Committed commit_job(const JobRow& job, std::span<const GenerationRow> generations);
  /// Stores the time in which `process` ran all jobs of the block together, and what shared its
  /// passes, where each of them is there and none failed; else false comes back. It takes the place
  /// of an earlier time and of its repair. Answers may be of an earlier process: a stop cost the
  /// block its time, and a pass that gave the same ones was measured.
  bool finish_block(RowId block, const std::string& process, std::int64_t wall_ns,
                    const BlockOccupancy& occupancy = {}, const BlockUse& use = {});
  /// The block's time once more; the first one stays. Nothing happens where the block was not
  /// measured before.
  void repair_block(RowId block, const std::string& process, std::int64_t wall_ns,
                    const MachineUse& use);
  /// Of several answers in one transaction, so that nobody reads a part.
  void mark_identities(std::span<const std::pair<RowId, Identity>> of_generations);
  /// Adds scores, or replaces those of equal (metric, field, version), in one transaction.
  void put_scores(std::span<const AnswerScores> scores);
  /// In one transaction: what `current` finds in the database becomes all that there is of a metric
  /// in these runs. None: it stays as it is.
  void replace_scores(const std::string& metric, std::span<const RowId> runs,
                      const std::function<std::optional<std::vector<AnswerScores>>()>& current);

  // Reading.
  std::vector<RunSummary> summaries(const RunFilter& filter);
  /// In the order of `runs`.
  Figures figures(std::vector<RunRow> runs);
  /// Their measured blocks alone.
  Figures blocks(std::vector<RunRow> runs);
  /// All, or those with answers to these samples.
  std::vector<JobRow> jobs(RowId run, const SampleIds& only = std::nullopt);
  std::vector<StoredGeneration> generations(RowId run, const SampleIds& only = std::nullopt);
  /// The ids of one answer; none: it is not there.
  std::optional<Tokens> answer_ids(RowId run, int repeat, const std::string& sample);
  /// In the order in which they were put.
  std::vector<SampleRow> samples(RowId dataset, const SampleIds& only = std::nullopt);
  std::vector<ScoreMean> score_means(RowId run);
  std::vector<ScorePair> score_pairs(RowId baseline, RowId method, const std::string& metric);
  std::vector<GenerationPair> generation_pairs(RowId baseline, RowId method);

  /// The invocations that did shards of the same as this one, itself included, by their index; of a
  /// shard that was run twice the newer time. This one alone, where it is no shard.
  std::vector<std::string> shards_of(const std::string& invocation);
  /// A copy in memory, to be read, in which shards of one run are one: their invocations become the
  /// newest one (`keep`, where it is theirs), and its `shard` lists theirs, e.g. "0/3, 2/3". Null
  /// where no run is a shard.
  std::unique_ptr<Store> join_shards(const std::string& keep);

  /// Copies all runs of another database into this one, in one transaction; rows that are here
  /// already stay as they are, so merging twice changes nothing. Of two states of one run the
  /// further one counts, whichever file it is in: a failed job gives way to one with fewer errors,
  /// a vote without a verdict to a verdict, an attempt of unknown outcome to its outcome. Returns
  /// what became of names that two runs have, in words.
  std::vector<std::string> merge(const std::filesystem::path& other);

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
  /// Saves a lost database beside, and takes its log away from the file that has the name now.
  /// Returns where it is saved, or why it is not.
  std::string rescue();
  /// Removes a job with all that belongs to it, and what no longer holds without it.
  void drop_job(RowId job);

  std::filesystem::path path_;
  Database db_;
  FilePlace place_;  // of the open file; zeros where it is only read
  SideFiles side_files_;
  bool resumes_ = false;
  unsigned mode_ = 0600;  // permissions of the open file
  bool saved_ = false;    // beside, since that was lost
  std::filesystem::path recovered_;
};

/// What keeps `now` from continuing `old`: one line each, e.g. "hpd.k_max: 30, now 16". Compares
/// decoder, options, config (key by key), hashes of model, draft and dataset, prompt hash, commit,
/// build type, seed, device, dtype, threads, batch size, repeats, order, shard and oracle. Empty:
/// it may be resumed.
std::vector<std::string> differences(const RunRow& old, const RunRow& now);

/// In what the machines and programs differ that measured them, in the same words.
std::vector<std::string> machine_differences(const RunRow& old, const RunRow& now);

/// Equal for equal ordered lists of keys.
std::string block_key(const std::vector<std::string>& samples);

/// A random UUID (version 4).
std::string make_uuid();
/// Now, e.g. "2025-01-31T23:59:59.123Z".
std::string utc_now();

std::string_view name(RunStatus status);

}  // namespace pardec
