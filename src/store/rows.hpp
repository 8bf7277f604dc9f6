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

/// What goes into the store and comes out of it: plain values, no decoder, dataset or model types.
/// results/schema.sql says the same in SQL, results/README.md how to read it. Times are nanoseconds
/// of a monotonic clock, dates UTC in ISO 8601. Text that is no UTF-8 is repaired on the way in;
/// token ids are the record.
namespace pardec {

/// A row's id in its database; 0 where there is none yet.
using RowId = std::int64_t;

/// Key in ExperimentRow::json: arms that do not run on a dataset, as a list of {"dataset", "arm",
/// "reason"}.
inline constexpr const char* kNotApplicable = "not_applicable";
/// Another: baselines that nobody named and that were added, as a list of {"arm", "for": [arms]}.
inline constexpr const char* kAddedBaselines = "added_baselines";

struct ExperimentRow {
  std::string name;
  Json json;  ///< the experiment file as it was run
};

struct ModelRow {
  std::string path;
  std::string hash;   ///< of its files; what makes two models the same
  std::string stamp;  ///< sizes and times of its files: unchanged, so is `hash`
  Json shape;         ///< layers, width, heads, vocabulary, parameters, kTokenizerHash
};

/// Key in ModelRow::shape of an adapter: the folder of the network that it is of.
inline constexpr const char* kBaseFolder = "base";

/// Key in ModelRow::shape: equal for tokenizers whose ids stand for the same tokens.
inline constexpr const char* kTokenizerHash = "tokenizer";

/// Whether ids of the two stand for the same tokens, as far as is known.
bool same_ids(const ModelRow& a, const ModelRow& b);

struct DatasetRow {
  std::string name, split;
  std::string sha256;    ///< of the files that were read
  bool sample = false;   ///< the project's own small sample, not the publisher's file
  bool standin = false;  ///< generated words of the published lengths, no publisher's file either

  std::string split_text() const { return split + (standin ? ", stand-in" : ""); }
};

/// Whether both are the same split, or stand-ins of it.
bool same_split(const DatasetRow& a, const DatasetRow& b);

/// One example of a dataset. `key` is unique in it.
struct SampleRow {
  std::string key, cluster, category;
  std::string text;             ///< what the decoders read
  Json fields = Json::array();  ///< [{"name", "annotated", "references"}]: what counts as right
};

enum class RunStatus {
  running,  ///< going on, or killed
  done,
  failed,
};

/// One arm of one dataset of one invocation.
struct RunRow {
  RowId id = 0;
  std::string uuid;        ///< see make_uuid()
  std::string invocation;  ///< uuid shared by all arms and datasets of one call of `run`
  std::string label;       ///< the arm
  std::string decoder;
  Json options = Json::object();        ///< of the decoder, defaults included
  std::string form;                     ///< json, value or free
  std::optional<std::string> baseline;  ///< label of the arm compared with; none: it is one
  std::optional<ExperimentRow> experiment;
  DatasetRow dataset;
  ModelRow model;
  std::optional<ModelRow> draft;
  Json config = Json::object();       ///< all settings of the run by name
  std::string config_hash;            ///< empty: SHA-256 of `config`
  std::optional<std::string> oracle;  ///< e.g. "references"; such a run never carries a score
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

/// An ordered list of examples that every arm of an invocation does, one arm after the other.
struct BlockRow {
  RowId id = 0, run = 0;
  int repeat = 0;
  int position = 0;                    ///< index of the block in the run
  std::vector<std::string> samples;    ///< keys in order
  std::vector<std::string> arm_order;  ///< labels in the order in which this block was measured
  std::string key;                     ///< set by the store: block_key(samples)
  std::optional<std::string> process;  ///< who measured it whole; none: nobody
  std::optional<std::int64_t>
      wall_ns;  ///< from its first job's start to its last job's end; none: not measured whole
};

/// What shared the forward passes of a block.
struct BlockOccupancy {
  std::int64_t passes = 0;
  std::int64_t job_passes = 0,
               stream_passes = 0;  ///< jobs and streams of choices, summed over passes
};

/// How a block was measured, beside its time.
struct BlockUse {
  MachineUse machine;
  bool traced = false;  ///< a trace was written meanwhile, which takes time
};

/// The ids of a job's examples in order, of whatever characters.
using JobKey = std::vector<std::string>;

/// What a decoder was given at once (e.g. a stack of 6 products), and the unit of commit. Counters
/// and latency belong to it, never to the examples in it, so a sum over jobs counts each token
/// once.
struct JobRow {
  RowId id = 0, run = 0, block = 0;  ///< block 0: in none
  int repeat = 0;
  JobKey key;           ///< unique in (run, repeat); the same in every process that forms it
  std::string process;  ///< uuid of the process that ran it
  std::string text;     ///< the whole stream, where there is one
  Tokens tokens;        ///< all chosen ids
  std::string stop;
  std::optional<std::string> error;  ///< the job as a whole failed; all its generations carry it
  Counters counters;
  std::vector<Counts> turns;  ///< of a conversation, those that kCounters keeps of each turn
  Json unforced;              ///< under an oracle: the ids that the network itself chose; else null
  Json top2;         ///< gaps of the two best logits, one a greedy row; null where not kept
  int attempts = 1;  ///< set by the store
};

/// What a network wrote before an answer, e.g. between <think> and </think>.
struct FieldThought {
  std::int64_t tokens = 0;  ///< ids of it, marks included
  std::int64_t bytes = 0;   ///< of the answer's text; 0: the text is without it, or it is to count
  bool open = false;        ///< it has no end: there is no answer
};

struct FieldAnswer {
  std::string name, text;  ///< as it was generated, with its thought where it is an open answer's
  Tokens tokens;
  std::string stop;
  /// Neither a text nor a word for absence (null, n/a): empty, or not to be read.
  bool no_value = false;
  std::optional<FieldThought> thought = std::nullopt;  ///< none: there is none, or nobody looked
};

/// How an answer compares with the baseline's for the same example and repeat.
struct Identity {
  bool identical = false;
  std::optional<std::int64_t> first_difference;  ///< index of the first token that differs
  std::optional<double> gap;                     ///< of the two best logits there
};

/// A value of one metric. NaN is stored as NULL with is_nan = 1.
struct ScoreRow {
  std::string metric;
  double value = 0;
  std::string field;          ///< empty: of the whole example
  std::string version = "1";  ///< of the metric's definition
  Json details;               ///< e.g. counts that the value comes from; null: none
};

/// The answer to one example.
struct GenerationRow {
  RowId id = 0;
  std::string sample;  ///< key
  std::string text;
  Tokens tokens;  ///< ids of this example's answer
  std::vector<FieldAnswer> fields;
  std::string stop;
  std::optional<std::string> error;
  std::optional<Identity> identity;
  std::vector<ScoreRow> scores;
};

}  // namespace pardec
