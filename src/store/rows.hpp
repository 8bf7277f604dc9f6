#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/support/counters.hpp"
#include "src/support/json.hpp"
#include "src/support/machine_use.hpp"
#include "src/support/types.hpp"

/// The rows of the store as plain structs, without types of decoders, datasets or models.
/// results/schema.sql has the same rows in SQL, and results/database.md explains them. Times are
/// nanoseconds of a monotonic clock; dates are UTC in ISO 8601. Text that is not valid UTF-8 is
/// repaired when it is stored; the token ids are always exact.
namespace pardec {

/// A row's id in its database; 0: not stored yet.
using RowId = std::int64_t;

/// Key in ExperimentRow::json: arms that do not run on a dataset, as a list of {"dataset", "arm",
/// "reason"}.
inline constexpr const char* kNotApplicable = "not_applicable";
/// Key in ExperimentRow::json: baselines that were added without being requested, as a list of
/// {"arm", "for": [arms]}.
inline constexpr const char* kAddedBaselines = "added_baselines";

/// The experiment that a run belongs to.
struct ExperimentRow {
  std::string name;
  Json json;  ///< the experiment file as it was run
};

/// A network, or the model of a service (ServiceArm::model_row).
struct ModelRow {
  /// folder of the network; for an adapter: folder of the adapter; for a service: its address and
  /// the name of the model
  std::string path;
  std::string hash;  ///< hash of its files
  /// sizes and times of its files; as long as they are equal, `hash` is not computed again
  std::string stamp;
  /// layers, width, heads, vocabulary, parameters, and the keys below
  Json shape;
};

/// Key in ModelRow::shape of an adapter: the folder of its base network.
inline constexpr const char* kBaseFolder = "base";

/// Key in ModelRow::shape of a trained network or adapter: the number of updates of its training
/// (TrainingRecord::updates).
inline constexpr const char* kTrainedUpdates = "updates";

/// Key in ModelRow::shape: a hash that is equal for tokenizers in which equal ids mean equal
/// tokens.
inline constexpr const char* kTokenizerHash = "tokenizer";

/// Whether equal ids mean equal tokens in both models: their tokenizers have equal hashes. If the
/// hash of a tokenizer is missing, equal models or equal vocabulary sizes are enough.
bool same_ids(const ModelRow& a, const ModelRow& b);

/// One split of a dataset.
struct DatasetRow {
  std::string name, split;
  std::string sha256;   ///< hash of the files that were read
  bool sample = false;  ///< the data are the project's own sample, not the publisher's
  /// the data are a stand-in: generated words with the published lengths of the texts
  bool standin = false;

  /// The split as shown to the user, e.g. "test, stand-in".
  std::string split_text() const { return split + (standin ? ", stand-in" : ""); }
};

/// Whether both rows are the same split of the same dataset. A stand-in never equals real data.
bool same_split(const DatasetRow& a, const DatasetRow& b);

/// One example of a dataset. `key` is unique within the dataset. Examples that share a text have
/// the same `cluster`.
struct SampleRow {
  std::string key, cluster, category;
  std::string text;  ///< the text that decoders read
  /// One object per field, {"name", "annotated", "references"}. `references` are the answers that
  /// count as right. `annotated` is whether annotators labelled the field.
  Json fields = Json::array();
};

/// For an arm that a service answered: the value of RunRow::device, and the key in RunRow::config
/// for {"url", "model", "prompts", "ids", "parameters"} (ServiceArm::description).
inline constexpr const char* kService = "service";

/// The status of a run. No run of this program ends with `failed`, but databases may contain this
/// status.
enum class RunStatus {
  running,  ///< still running, stopped or killed
  done,
  failed,
};

/// Key in RunRow::environment: the peak memory of the device, in bytes.
inline constexpr const char* kDeviceMemory = "device_memory_peak";

/// One arm on one dataset in one invocation.
struct RunRow {
  RowId id = 0;
  std::string uuid;        ///< see make_uuid(); empty: begin_run makes one
  std::string invocation;  ///< uuid shared by all arms and datasets of one call of `run`
  std::string label;       ///< label of the arm
  std::string decoder;
  Json options = Json::object();  ///< decoder options, including defaults
  /// the form of the answers: json (one JSON object with all fields), value (the value of one
  /// field) or free (answers to open prompts)
  std::string form;
  std::optional<std::string> baseline;  ///< label of the baseline arm; none: there is no baseline
  std::optional<ExperimentRow> experiment;
  DatasetRow dataset;
  ModelRow model;
  std::optional<ModelRow> draft;      ///< the draft network; none: there is none
  Json config = Json::object();       ///< all settings of the run, by name
  std::string config_hash;            ///< empty: begin_run stores the SHA-256 of `config`
  std::optional<std::string> oracle;  ///< e.g. "references"; a run with an oracle has no scores
  bool untrained = false;             ///< whether the network is not trained for the decoder
  std::uint64_t seed = 1;
  std::string device, dtype;  ///< e.g. cpu, bf16; for a service: kService, -
  int threads = 0, batch_size = 1;
  int repeats = 1;  ///< --runs
  /// interleaved: the arms took turns block by block; blocked: each arm ran all its blocks before
  /// the next arm began
  std::string order = "interleaved";
  std::string shard;  ///< "I/N"; empty: not sharded
  /// commit: version of the program's source. build_type: e.g. Release. prompt_hash: SHA-256 of the
  /// wording.
  std::string commit, build_type, prompt_hash;
  std::vector<std::string> argv;
  Json environment = Json::object();  ///< machine, clocks, governor, driver, versions
  RunStatus status = RunStatus::running;
  std::string started_utc;               ///< empty: begin_run stores the current time
  std::optional<std::string> ended_utc;  ///< none: not ended
};

/// A block: an ordered list of examples that every arm of an invocation answers, one arm after
/// another.
struct BlockRow {
  RowId id = 0, run = 0;
  int repeat = 0;
  int position = 0;                    ///< index of the block in the run
  std::vector<std::string> samples;    ///< keys of the examples, in order
  std::vector<std::string> arm_order;  ///< labels of the arms, in the order of running
  std::string key;                     ///< set by the store: block_key(samples)
  /// the process that measured the block as a whole; none: no process did
  std::optional<std::string> process;
  /// time from the start of the first job to the end of the last job; none: not measured as a whole
  std::optional<std::int64_t> wall_ns;
};

/// Occupancy of the forward passes of a block.
struct BlockOccupancy {
  std::int64_t passes = 0;  ///< number of passes
  /// the number of jobs in a pass, and the number of streams in a pass, each summed over all passes
  std::int64_t job_passes = 0, stream_passes = 0;
  /// number of experts whose weights a pass read, summed over layers and passes
  std::int64_t experts_read = 0;
};

/// Conditions of a block's measurement.
struct BlockUse {
  MachineUse machine;
  bool traced = false;  ///< whether a trace was written during the measurement, which takes time
};

/// The ids of a job's examples, in order. Ids may contain any characters.
using JobKey = std::vector<std::string>;

/// A machine on which processes measured blocks of an invocation.
struct MachineRow {
  std::string host;
  Json environment;        ///< the environment of the latest process on this machine
  std::int64_t blocks;     ///< number of blocks measured there
  std::int64_t processes;  ///< number of processes that measured them
};

/// A job: one call of a decoder, e.g. for a stack of 6 products. Each job is committed as a whole.
/// Counters and latency belong to the job and not to its examples, so that a sum over jobs counts
/// each token once.
struct JobRow {
  RowId id = 0, run = 0, block = 0;  ///< block 0: the job is in no block
  int repeat = 0;
  JobKey key;           ///< unique within run and repeat, and the same in every process
  std::string process;  ///< uuid of the process that ran the job
  std::string text;     ///< the whole answer, if it is a single stream
  Tokens tokens;        ///< all generated tokens, if the answer is a single stream
  std::string stop;     ///< why the single stream ended (Stop)
  /// the error if the job as a whole failed; all its generations have this error
  std::optional<std::string> error;
  Counters counters;
  /// for a conversation: [turn], only the counters with Counter::of_turns; otherwise empty
  std::vector<Counts> turns;
  /// Under an oracle: the ids that the network itself would have chosen, as a JSON object of the
  /// form {"fields": [context][field][token], "stream": [token]}; otherwise null.
  Json unforced;
  /// For each token: the gap between the two largest logits, in an object with the same keys and
  /// lists as `unforced`. Empty lists: the gaps are not known. Null: nothing was recorded.
  Json top2;
  int attempts = 1;  ///< set by the store
};

/// The thinking that a network wrote before an answer, e.g. between <think> and </think>.
struct FieldThought {
  std::int64_t tokens = 0;  ///< number of token ids, including the marks
  /// length in bytes within the answer's text; 0: the text does not contain the thinking, or the
  /// thinking counts as a part of the answer
  std::int64_t bytes = 0;
  bool open = false;  ///< the thinking did not end, so there is no answer
};

/// The answer to one field.
struct FieldAnswer {
  std::string name, text;  ///< text as generated; with an open prompt, it includes the thinking
  Tokens tokens;
  std::string stop;  ///< why the answer ended (Stop)
  /// Whether the answer is empty or unreadable: neither a text nor an explicit absence (null, n/a).
  bool no_value = false;
  /// none: there is no thinking, or it was not looked for
  std::optional<FieldThought> thought = std::nullopt;
};

/// A comparison of an answer with the baseline's answer to the same example in the same repeat.
struct Identity {
  bool identical = false;
  /// index of the first different token; none: the answers are identical, or the networks'
  /// tokenizers differ
  std::optional<std::int64_t> first_difference;
  /// gap between the two best logits of this arm at the first difference; none: not recorded
  std::optional<double> gap;
};

/// A value of one metric. NaN is stored as NULL with is_nan = 1.
struct ScoreRow {
  std::string metric;
  double value = 0;
  std::string field;          ///< empty: the score belongs to the whole example
  std::string version = "1";  ///< version of the metric's definition
  Json details;               ///< e.g. the counts from which the value is computed; null: none
};

/// The answer to one example.
struct GenerationRow {
  RowId id = 0;
  std::string sample;  ///< key of the example
  /// JobRow::text, or, if the job has several examples, a JSON object that maps this example's
  /// fields to answers
  std::string text;
  Tokens tokens;                     ///< token ids of the answer to this example
  std::vector<FieldAnswer> fields;   ///< in the order of the example's fields
  std::string stop;                  ///< JobRow::stop; "error" if the job failed
  std::optional<std::string> error;  ///< why there is no answer; none: there is an answer
  std::optional<Identity> identity;  ///< none: not compared
  std::vector<ScoreRow> scores;
};

}  // namespace pardec
