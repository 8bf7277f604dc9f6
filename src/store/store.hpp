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

/// The database of all runs: one SQLite file (results/schema.sql). Every function may throw a
/// StoreError. The exit code is 2 if the file is not a database of this program, has another schema
/// version, has the log of another database next to it (side_files.hpp), or is not writable. The
/// exit code is 1 for failures during a run (disk full, I/O error, locked for 30 s); the current
/// transaction is then rolled back. DataError: a stored value is not JSON where JSON is expected.
namespace pardec {

/// The SQLite `application_id` of this program's databases: "PARD".
inline constexpr int kApplicationId = 0x50415244;

/// Options of Store's constructor and of Store::exists.
struct OpenOptions {
  bool read_only = false;       ///< the file must exist, and is not changed
  bool create_folders = false;  ///< whether missing parent folders are created
  /// whether error messages advise the user to continue with --resume
  bool resumes = false;
};

/// What commit_job did.
enum class Committed {
  inserted,
  replaced,  ///< a retry with fewer errors replaced a failed job
  kept,      ///< the stored job was kept; if it had failed, its number of attempts was increased
};

/// A stored job.
struct FinishedJob {
  JobKey key;
  int repeat;
  bool failed;        ///< the job or one of its generations has an error
  bool failed_whole;  ///< the job itself has an error
};

/// Selects runs. An empty member matches everything.
struct RunFilter {
  std::string label, dataset, split, invocation;
  std::string uuid;  ///< a prefix of the uuid
  std::optional<RunStatus> status;
  std::optional<bool> standin = std::nullopt;  ///< whether the dataset is a stand-in
};

/// The scores of two arms by one metric, for one example or for one field. `sample`: key of the
/// example. `field`: empty for the whole example. NaN: the stored score is not a number.
struct ScorePair {
  std::string sample, cluster, category, field;
  int repeat;
  double baseline, method;
};

/// The answers of two arms to the example with the key `sample`. Neither answer has an error.
struct GenerationPair {
  RowId baseline_id, method_id;
  std::string sample;
  int repeat;
  std::string baseline_text, method_text;
  Tokens baseline_tokens, method_tokens;
};

/// The mean of one version of a metric over a run.
struct ScoreMean {
  std::string metric, version;
  double mean;  ///< over the scores that are not NaN; NaN: there are none
  /// count: number of scores that are not NaN. not_a_number: number of scores that are NaN.
  std::int64_t count, not_a_number;
};

/// Scores of one answer.
struct AnswerScores {
  RowId generation;
  std::vector<ScoreRow> scores;
};

/// A stored answer, without the counters of its job (see jobs()).
struct StoredGeneration {
  GenerationRow row;  ///< `scores` has only the newest version of each metric
  int repeat;
  JobKey job;
  std::string cluster, category;
};

/// Ids in table `sample`; none: all samples.
using SampleIds = std::optional<std::vector<RowId>>;

/// One connection to the database, for one thread. Several processes may have the same file open.
class Store {
 public:
  /// Opens the database at `path`. Unless `read_only`, creates the database if it does not exist,
  /// and adds the tables, columns and views that the file of an earlier pardec lacks
  /// (update_schema).
  explicit Store(const std::filesystem::path& path, OpenOptions options = {});
  /// Whether a file exists at `path`. Creates nothing, and does not open the file. StoreError: the
  /// path cannot be used for a database, or its folder is not writable or does not exist (unless
  /// `create_folders`).
  static bool exists(const std::filesystem::path& path, OpenOptions options = {});
  /// Closes the file. If no other process has it open, the write-ahead log is merged into it. If
  /// the database was removed or replaced, saves the data as check_place does, but throws nothing.
  ~Store();
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;

  const std::filesystem::path& path() const { return path_; }
  /// The connection, for exports and ad-hoc queries.
  Database& database() { return db_; }

  // Rows that runs refer to. A function that returns an id looks for an equal stored row. If there
  // is none, the function inserts the row.
  RowId put_experiment(const ExperimentRow& experiment);
  RowId put_environment(const Json& environment);
  /// Records a process that will run blocks. `process`: its uuid, which must be new. `host`: the
  /// name of its machine.
  void put_process(const std::string& process, const std::string& host, const Json& environment);
  /// A stored row with the same path and hash counts as equal; its stamp and shape are replaced.
  RowId put_model(const ModelRow& model);
  RowId put_dataset(const DatasetRow& dataset);
  /// Stores samples of a dataset. Samples that are already stored are not changed.
  void put_samples(RowId dataset, std::span<const SampleRow> samples);
  /// The stored hash of the model at this path. `stamp`: see ModelRow::stamp (sizes and times of
  /// the files). None: no hash is stored for this path and stamp.
  std::optional<std::string> model_hash(const std::string& path, const std::string& stamp);

  // Runs.
  /// Records the device's peak memory in the environment of an invocation's runs, unless an earlier
  /// process recorded a larger peak.
  void note_device_memory(const std::string& invocation, std::int64_t peak_bytes);
  /// Inserts the run and the rows that it refers to, in one transaction, and returns its id. If the
  /// uuid is already stored, the run is resumed: its status becomes `running`.
  RowId begin_run(const RunRow& run);
  /// The id of the run's dataset; 0: there is no such run.
  RowId dataset_of(RowId run);
  /// The matching runs, the newest first.
  std::vector<RunRow> find_runs(const RunFilter& filter);
  /// All stored jobs of a run, sorted by repeat and key.
  std::vector<FinishedJob> finished_jobs(RowId run);
  /// Sets the status of a run, and its end time (none for `running`).
  void finish_run(RowId run, RunStatus status);
  /// Checks that the open file is still at `path()`. StoreError (exit code 1): another process
  /// removed or replaced the file. The store then copies its data to a new file next to the path,
  /// and the message names that file. The old log is removed, because SQLite would apply it to the
  /// file that is now at the path. Functions that store runs, jobs, scores or votes call
  /// check_place; callers call it once more before they report that all results are stored.
  void check_place();

  // Blocks and jobs.
  /// Finds or inserts the block with this run, repeat and position, and returns its id. StoreError
  /// (exit code 2): the stored block has other examples.
  RowId begin_block(const BlockRow& block);
  /// Stores a job, its histogram of tokens per pass (Counters::emitted), its generations and their
  /// scores in one transaction. If the job has an error, this error is also stored for the
  /// generations that have no error of their own. If a retry replaces a job, its block counts as
  /// not measured, and comparisons of other arms' answers with the old answers are deleted.
  /// StoreError (exit code 1): an example is not stored (put_samples), or an answer of a run with
  /// an oracle has scores.
  Committed commit_job(const JobRow& job, std::span<const GenerationRow> generations);
  /// Stores the time in which `process` ran all jobs of the block, the occupancy of the passes, the
  /// load over this time (`load` in table `block`, results/schema.sql; null: it was not measured),
  /// and the conditions of the measurement (`use`). An earlier time is replaced, and its second
  /// measurement (repair_block) is deleted. If a job of the block failed as a whole, or is not
  /// stored, this function stores nothing and returns false; otherwise it returns true. The stored
  /// answers may come from an earlier process: if a stop left the block without a time, a later
  /// process computes the same answers again to measure the block.
  bool finish_block(RowId block, const std::string& process, std::int64_t wall_ns,
                    const BlockOccupancy& occupancy = {}, const Json& load = {},
                    const BlockUse& use = {});
  /// The loads of a run's measured blocks (finish_block), sorted by repeat and position. Blocks
  /// without a load are left out.
  std::vector<Json> loads_of(RowId run);
  /// Stores a second measurement of the block. The first measurement is kept; an earlier second
  /// measurement is replaced. Does nothing if the block has no first measurement.
  void repair_block(RowId block, const std::string& process, std::int64_t wall_ns,
                    const MachineUse& use);
  /// Stores comparisons of answers in one transaction. Each pair has the id of the answer
  /// (GenerationRow::id) and its comparison.
  void mark_identities(std::span<const std::pair<RowId, Identity>> of_generations);
  /// Stores scores in one transaction. A score replaces a stored one with the same metric, field
  /// and version. StoreError (exit code 1): the run has an oracle; such runs have no scores.
  void put_scores(std::span<const AnswerScores> scores);
  /// In one transaction, calls `current`, which may read the database, and replaces all scores of a
  /// metric in these runs by the scores that `current` returns. If `current` returns no value
  /// (nullopt), nothing is changed.
  void replace_scores(const std::string& metric, std::span<const RowId> runs,
                      const std::function<std::optional<std::vector<AnswerScores>>()>& current);

  // Reading.
  /// The summaries of the matching runs, the newest first.
  std::vector<RunSummary> summaries(const RunFilter& filter);
  /// The machines whose processes measured blocks of an invocation, the machine with the most
  /// blocks first. Blocks of an older pardec, which did not store the machine, are not counted.
  std::vector<MachineRow> machines(const std::string& invocation);
  /// The numbers of these runs for statistics (figures.hpp), in the order of `runs`.
  Figures figures(std::vector<RunRow> runs);
  /// Like figures(), but reads only blocks. It sets RunFigures::measured, and in the summaries only
  /// the numbers of blocks and, over the measured blocks, the sums of times, examples and
  /// occupancy.
  Figures blocks(std::vector<RunRow> runs);
  /// The jobs of a run, sorted by repeat and id. `only`: jobs with answers to these samples.
  std::vector<JobRow> jobs(RowId run, const SampleIds& only = std::nullopt);
  /// The answers of a run, sorted by repeat and id. `only`: answers to these samples.
  std::vector<StoredGeneration> generations(RowId run, const SampleIds& only = std::nullopt);
  /// The token ids of one answer; none: the answer is not stored.
  std::optional<Tokens> answer_ids(RowId run, int repeat, const std::string& sample);
  /// The samples of a dataset, in the order of insertion. `only`: these samples.
  std::vector<SampleRow> samples(RowId dataset, const SampleIds& only = std::nullopt);
  /// The mean of each version of each metric, sorted by metric and version.
  std::vector<ScoreMean> score_means(RowId run);
  // The pairs of two runs on the same dataset, sorted by repeat and sample. A pair has an answer of
  // each run to the same sample in the same repeat. The two scores of a ScorePair also have the
  // same field and the same version of the metric.
  std::vector<ScorePair> score_pairs(RowId baseline, RowId method, const std::string& metric);
  std::vector<GenerationPair> generation_pairs(RowId baseline, RowId method);

  /// The invocations that ran shards of the same experiment as `invocation`, including itself,
  /// sorted by shard index. If another shard was run twice, only the newer invocation is included.
  /// If `invocation` is not a shard, the result is only itself.
  std::vector<std::string> shards_of(const std::string& invocation);
  /// A copy in memory, for reading, in which the shards of a run are joined into one invocation.
  /// This invocation has the id of the newest shard, or of `keep` if that is one of the shards.
  /// RunRow::shard lists all shards, e.g. "0/3, 2/3". Null: no run in the store is a shard.
  std::unique_ptr<Store> join_shards(const std::string& keep);

  /// Copies the runs of another database into this one, in one transaction: all runs, or, if
  /// `invocation` is not empty, only the runs of this invocation. Merging twice has the same effect
  /// as merging once. If both databases have a row, the more advanced one is kept: a job with fewer
  /// errors, a vote with a verdict, an attempt with a known outcome. If two invocations have the
  /// same name, a number is appended to the name of the copied invocation. Returns a message about
  /// each changed name. StoreError (exit code 2): `other` is this database, or is not a database of
  /// this program.
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
  /// Whether the open file is no longer at the path.
  bool is_lost() const;
  /// Handles a lost database (see check_place). Returns a text that says where the data was saved,
  /// or why that failed.
  std::string rescue();
  /// Removes a job, all rows that belong to it, and data that is invalid without it.
  void drop_job(RowId job);

  std::filesystem::path path_;
  Database db_;
  FilePlace place_;  // of the open file; zeros if read-only
  SideFiles side_files_;
  bool resumes_ = false;
  unsigned mode_ = 0600;  // permissions of the open file
  bool saved_ = false;    // whether the lost data was saved next to the path
  std::filesystem::path recovered_;
};

/// The reasons why `now` cannot continue `old`, one line each, e.g. "hpd.k_max: 30, now 16". Empty:
/// `now` can continue `old`. Compares decoder, options, form, config (key by key), dataset, hashes
/// of model, draft and dataset, prompt hash, commit, build type, seed, device, dtype, threads,
/// batch size, repeats, order, shard, oracle, and whether the network is untrained. If all of these
/// are equal, compares the config hash.
std::vector<std::string> differences(const RunRow& old, const RunRow& now);

/// The differences between two environments (machines and builds), in lines like those of
/// `differences`. The current clock frequency and the peak memory of the device are not compared.
std::vector<std::string> machine_differences(const Json& old, const Json& now);

/// The key of a block, derived from the ordered keys of its examples.
std::string block_key(const std::vector<std::string>& samples);

/// A random UUID (version 4).
std::string make_uuid();
/// The current time, e.g. "2025-01-31T23:59:59.123Z".
std::string utc_now();

std::string_view name(RunStatus status);

}  // namespace pardec
