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

/// The values that are written to the store and read from it. They are plain values and use no
/// types of decoders, datasets or models. results/schema.sql defines the same in SQL;
/// results/database.md says how to read it. Times are nanoseconds of a monotonic clock; dates are
/// UTC in ISO 8601. Text that is not valid UTF-8 is repaired when it is written; token ids are the
/// exact record.
namespace pardec {

/// A row's id in its database; 0: not stored yet.
using RowId = std::int64_t;

/// Key in ExperimentRow::json: arms that do not run on a dataset, as a list of {"dataset", "arm",
/// "reason"}.
inline constexpr const char* kNotApplicable = "not_applicable";
/// Key in ExperimentRow::json: baselines that were added without being requested, as a list of
/// {"arm", "for": [arms]}.
inline constexpr const char* kAddedBaselines = "added_baselines";

struct ExperimentRow {
  std::string name;
  Json json;  ///< the experiment file as it was run
};

struct ModelRow {
  std::string path;
  std::string hash;   ///< hash of its files; equal for equal models
  std::string stamp;  ///< sizes and times of its files; while it is unchanged, so is `hash`
  Json shape;         ///< layers, width, heads, vocabulary, parameters, kTokenizerHash
};

/// Key in ModelRow::shape of an adapter: the folder of its base network.
inline constexpr const char* kBaseFolder = "base";

/// Key in ModelRow::shape: a hash that is equal for tokenizers whose ids mean the same tokens.
inline constexpr const char* kTokenizerHash = "tokenizer";

/// Whether equal ids of both models mean the same tokens, as far as is known.
bool same_ids(const ModelRow& a, const ModelRow& b);

struct DatasetRow {
  std::string name, split;
  std::string sha256;   ///< of the files that were read
  bool sample = false;  ///< the project's own small sample instead of the publisher's file
  /// generated words of the published lengths instead of the publisher's file
  bool standin = false;

  std::string split_text() const { return split + (standin ? ", stand-in" : ""); }
};

/// Whether both are the same split. A stand-in never equals a split with real data.
bool same_split(const DatasetRow& a, const DatasetRow& b);

/// One example of a dataset. `key` is unique within the dataset.
struct SampleRow {
  std::string key, cluster, category;
  std::string text;  ///< the text that decoders read
  /// [{"name", "annotated", "references"}]: the answers that count as right
  Json fields = Json::array();
};

/// RunRow::device of an arm that a service answered, and the key of the service in RunRow::config:
/// {"url", "model", "prompts", "ids", "parameters"}.
inline constexpr const char* kService = "service";

enum class RunStatus {
  running,  ///< still running, or killed
  done,
  failed,
};

/// Key in RunRow::environment: peak memory of the device, in bytes.
inline constexpr const char* kDeviceMemory = "device_memory_peak";

/// One arm on one dataset in one invocation.
struct RunRow {
  RowId id = 0;
  std::string uuid;        ///< see make_uuid()
  std::string invocation;  ///< uuid shared by all arms and datasets of one call of `run`
  std::string label;       ///< the arm
  std::string decoder;
  Json options = Json::object();        ///< options of the decoder, including defaults
  std::string form;                     ///< json, value or free
  std::optional<std::string> baseline;  ///< label of the baseline arm; none: this arm is a baseline
  std::optional<ExperimentRow> experiment;
  DatasetRow dataset;
  ModelRow model;
  std::optional<ModelRow> draft;
  Json config = Json::object();       ///< all settings of the run, by name
  std::string config_hash;            ///< empty: SHA-256 of `config`
  std::optional<std::string> oracle;  ///< e.g. "references"; runs with an oracle have no scores
  bool untrained = false;             ///< the network's weights are random
  std::uint64_t seed = 1;
  std::string device, dtype;
  int threads = 0, batch_size = 1;
  int repeats = 1;                    ///< --runs
  std::string order = "interleaved";  ///< interleaved or blocked
  std::string shard;                  ///< "I/N"; empty: not sharded
  std::string commit, build_type, prompt_hash;
  std::vector<std::string> argv;
  Json environment = Json::object();  ///< machine, clocks, governor, driver, versions
  RunStatus status = RunStatus::running;
  std::string started_utc;  ///< empty: now
  std::optional<std::string> ended_utc;
};

/// An ordered list of examples that every arm of an invocation computes, one arm after the other.
struct BlockRow {
  RowId id = 0, run = 0;
  int repeat = 0;
  int position = 0;                    ///< index of the block in the run
  std::vector<std::string> samples;    ///< keys in order
  std::vector<std::string> arm_order;  ///< labels in the order in which this block was measured
  std::string key;                     ///< set by the store: block_key(samples)
  /// the process that measured the whole block; none: no process did
  std::optional<std::string> process;
  /// from the start of its first job to the end of its last job; none: not measured as a whole
  std::optional<std::int64_t> wall_ns;
};

/// Occupancy of the forward passes of a block.
struct BlockOccupancy {
  std::int64_t passes = 0;
  std::int64_t job_passes = 0,
               stream_passes = 0;  ///< jobs and streams of choices, summed over passes
};

/// Conditions of a block's measurement.
struct BlockUse {
  MachineUse machine;
  bool traced = false;  ///< a trace was written during the measurement, which takes time
};

/// The ids of a job's examples, in order. Ids may contain any characters.
using JobKey = std::vector<std::string>;

/// One call of a decoder (e.g. a stack of 6 products), and the unit of commit. Counters and latency
/// belong to the job, not to its examples, so that a sum over jobs counts each token once.
/// A machine on which processes measured blocks of an invocation.
struct MachineRow {
  std::string host;
  Json environment;  ///< of its latest process
  std::int64_t blocks;
};

struct JobRow {
  RowId id = 0, run = 0, block = 0;  ///< block 0: the job is in no block
  int repeat = 0;
  JobKey key;  ///< unique in (run, repeat); every process that forms this job gives it the same key
  std::string process;  ///< uuid of the process that ran it
  std::string text;     ///< the whole answer, if it is a single stream
  Tokens tokens;        ///< all generated tokens
  std::string stop;
  /// the job as a whole failed; all its generations have this error
  std::optional<std::string> error;
  Counters counters;
  /// for a conversation: the counters of each turn that kCounters marks as kept
  std::vector<Counts> turns;
  Json unforced;     ///< under an oracle: the network's own choices, as ids; otherwise null
  Json top2;         ///< gaps between the two best logits, one per greedy row; null: not kept
  int attempts = 1;  ///< set by the store
};

/// Reasoning that a network wrote before an answer, e.g. between <think> and </think>.
struct FieldThought {
  std::int64_t tokens = 0;  ///< number of its ids, including marks
  /// length in bytes in the answer's text; 0: the text does not contain it, or it counts as a part
  /// of the answer
  std::int64_t bytes = 0;
  bool open = false;  ///< it has no end, so there is no answer
};

struct FieldAnswer {
  std::string name, text;  ///< as generated; for an open answer, including its thought
  Tokens tokens;
  std::string stop;
  /// Neither a text nor an explicit absence (null, n/a): empty or unreadable.
  bool no_value = false;
  /// none: there is none, or the answer was not searched for one
  std::optional<FieldThought> thought = std::nullopt;
};

/// Comparison of an answer with the baseline's answer to the same example and repeat.
struct Identity {
  bool identical = false;
  std::optional<std::int64_t> first_difference;  ///< index of the first different token
  std::optional<double> gap;                     ///< gap between the two best logits there
};

/// A value of one metric. NaN is stored as NULL with is_nan = 1.
struct ScoreRow {
  std::string metric;
  double value = 0;
  std::string field;          ///< empty: the score is of the whole example
  std::string version = "1";  ///< version of the metric's definition
  Json details;               ///< e.g. counts that the value is computed from; null: none
};

/// The answer to one example.
struct GenerationRow {
  RowId id = 0;
  std::string sample;  ///< key
  std::string text;
  Tokens tokens;  ///< ids of the answer to this example
  std::vector<FieldAnswer> fields;
  std::string stop;
  std::optional<std::string> error;
  std::optional<Identity> identity;
  std::vector<ScoreRow> scores;
};

}  // namespace pardec
