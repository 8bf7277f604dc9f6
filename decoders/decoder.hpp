#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "decoders/options.hpp"
#include "decoders/own_columns.hpp"
#include "decoders/speculation/acceptance.hpp"
#include "src/engine/engine.hpp"
#include "src/engine/sampler.hpp"
#include "src/prompt/job.hpp"
#include "src/prompt/pieces.hpp"
#include "src/prompt/prompt_file.hpp"
#include "src/support/thought.hpp"

namespace pardec {

/// Why a stream of choices ended.
enum class Stop {
  terminator,   ///< the decoder's own end was chosen: a line break (hpd), `</result>` (ar
                ///< ask=together)
  eos,          ///< the network's end of sequence was chosen
  limit,        ///< max_new_tokens, per_field or K_max was reached
  context,      ///< the network has no further position
  interrupted,  ///< whoever asked wants no more (DecoderContext::stop)
};
std::string_view name(Stop stop);

/// The answer to one field of one context.
struct FieldResult {
  std::optional<std::string> text;  ///< the value as read; empty: absent, or none could be read
  bool said_absent = false;         ///< the answer says that there is none: null or n/a
  Tokens tokens;                    ///< ids chosen for it, from behind its key up to its terminator
  Tokens unforced;          ///< under an oracle: what the network itself chose, one per token
  std::vector<float> gaps;  ///< best logit minus second best, one per token
  Stop stop = Stop::limit;
  /// What was written before the answer; empty: nothing, or the thought is kept as a part of it.
  struct Written {
    std::size_t bytes = 0;       ///< of all that was written, marks included
    std::size_t text_bytes = 0;  ///< of `text`, which has it where it is as it was written
    std::optional<std::int64_t> tokens = std::nullopt;  ///< none: those of `tokens` that hold it
    bool open = false;                                  ///< it has no end
  };
  std::optional<Written> thought = std::nullopt;
};

/// What a decoder gives back.
struct Answers {
  std::vector<std::vector<FieldResult>> fields;  ///< [context][field]
  std::string text;                              ///< the whole answer as one text
  Tokens tokens;                                 ///< its chosen ids, where it is one stream
  Tokens unforced;                               ///< under an oracle: of those, the network's own
  std::vector<float> gaps;                       ///< of those
  Stop stop = Stop::limit;                       ///< of those
  std::vector<bool> parsed;  ///< json form: per context, whether its object could be read
  Counters counters;
  std::vector<Counters> turns;  ///< of a conversation, each turn's
};

/// Ids that are chosen whatever the network says, so that speed can be measured with an untrained
/// network of the true shape: references in the decoder's own answer form, terminators included
/// (`--oracle references`), or what a stored run chose (`recorded:RUN`).
struct Oracle {
  std::vector<Tokens>
      streams;  ///< one per stream, in the order of the decoder's fields; ar ask=together: one
  /// ar ask=together: where each value's ids stand in the one stream, [begin, end), terminators
  /// apart; empty: they are looked for.
  std::vector<std::pair<int, int>> values;
  /// Recorded: ids of each branch that the streams hold, as in Counters; empty: a branch goes to
  /// its own terminator.
  std::vector<std::int64_t> branch_lengths;
};

/// A job with its ids, ready to decode.
struct Request {
  Job job;
  Form form = Form::json;
  Pieces pieces;
  std::optional<Oracle> oracle;
  /// Of the decoder's own requests, where it has some (Decoder::wording). REQUIRES: outlives it.
  const PromptFile* wording = nullptr;
  /// `--oracle accept...`: what accepts guesses, whatever the network says.
  std::optional<AcceptanceLaw> acceptance;
  /// For a reader who reads along: is given the text so far, after each pass that adds to it.
  /// Bytes: the last character may be unfinished. Called where the answer is one stream that is
  /// written in order (StreamWriter, aspd). Empty: nobody reads along.
  std::function<void(std::string_view text)> reader = {};
  /// How an answer is told from the thought before it.
  ThoughtReading thinking = {};
};

/// What decoders run on. All outlive the tasks that use them.
struct DecoderContext {
  Engine& engine;
  const Tokenizer* tokenizer;  ///< null: ids in, ids out
  bool ignore_eos = false;
  Model* draft = nullptr;  ///< `--draft-model`
  /// Where the random decisions of a stream come from, by its seed.
  std::function<std::unique_ptr<Chance>(std::uint64_t seed)> chance = [](std::uint64_t seed) {
    return std::make_unique<SeededChance>(seed);
  };
  /// Whoever asked wants no more: every stream ends with its next choice, as `interrupted`, and the
  /// answer is what is there.
  std::stop_token stop = {};

  bool interrupted() const { return stop.stop_requested(); }

  std::vector<Token> more_eos = {};  ///< `--eos`

  /// The network's ends of sequence, and those that were given; none under ignore_eos.
  std::vector<Token> eos() const {
    if (ignore_eos) return {};
    std::vector<Token> all = engine.model().config().eos;
    all.insert(all.end(), more_eos.begin(), more_eos.end());
    return all;
  }
};

/// A decoder is an algorithm over the engine: it sees ids, positions and logits, no cache, packing,
/// timing or storage. It holds its options and nothing else.
class Decoder {
 public:
  explicit Decoder(Options options) : options_(std::move(options)) {}
  virtual ~Decoder() = default;
  std::string_view name() const { return options_.owner(); }
  /// Its options with their values, as they go into the store and into answers.
  const OrderedJson& options() const { return options_.all(); }
  /// How it asks, for structured jobs (fields with values).
  virtual Form form() const = 0;
  /// How many contexts it takes into one job: of one category where the job has one answer for them
  /// all.
  virtual int stack() const { return 1; }
  /// The prompt file with the wording of its own requests; empty: it has none.
  virtual std::string_view wording() const { return {}; }
  /// The references of a job in its own answer form; [context][field]. REQUIRES: its registry row
  /// has the oracle `references` (std::logic_error).
  virtual Oracle reference_oracle(
      const Request& request,
      const std::vector<std::vector<std::optional<std::string>>>& references,
      const DecoderContext& context) const;
  /// Why an oracle of a kind that its registry row has does not drive it with these options,
  /// completing "it ..."; empty: it does. Asked before any model is loaded.
  virtual std::string undriven(std::string_view /*oracle*/) const { return {}; }
  /// How many guesses in a row a pass checks at most; none: it makes none, or their number varies.
  virtual std::optional<int> draft_length() const { return std::nullopt; }
  /// Whether it needs `--draft-model`.
  virtual bool drafts_with_model() const { return false; }
  /// What it found of what it needs besides weights, e.g. "[Fork] is 4089, [Child] 4090"; empty:
  /// nothing. Needs no weights, so that it can be asked before they are loaded. `tokenizer` null:
  /// none is read. ConfigError where the network lacks it, or the options do not fit.
  virtual std::string needs(const Tokenizer* tokenizer, const ModelConfig& config) const;
  /// ConfigError where its options do not fit this network. Called once, before any job.
  virtual void check(const DecoderContext& context) const {
    needs(context.tokenizer, context.engine.model().config());
  }
  /// Positions of the network without which a request surely fails (context overflow): those of its
  /// longest prompt, and what is laid out behind it before the first choice. Needs no weights.
  virtual std::int64_t positions_needed(const Request& request) const;
  /// REQUIRES: both arguments outlive the task. Throws ModelError (context overflow) and
  /// ConfigError.
  virtual Task<Answers> decode(const Request& request, const DecoderContext& context) const = 0;

 private:
  Options options_;
};

class TrainingFormat;  // src/training/training_sample.hpp

/// What a training format is made over. Both outlive it.
struct FormatScene {
  const Tokenizer& tokenizer;
  const ModelConfig& config;
};

/// What a figure sweeps where nobody says it: an option of a decoder.
inline constexpr const char* kUsualSweep = "hpd.k_max";

/// A format that a decoder's networks learn: a name of `train --format`.
struct FormatEntry {
  std::string_view name;
  std::string_view meaning;  ///< in few words
  /// `options`: those of all formats (training_options). ConfigError.
  std::unique_ptr<TrainingFormat> (*make)(const Options& options, const FormatScene& scene);
  /// Its targets are the next tokens of a text, which extra heads can learn to guess.
  bool plain_text = false;
  std::string_view asks = {};  ///< the value of option `ask` that it is of; empty: of any
};

/// An option of training formats: a flag of `train`.
struct TrainingOption {
  Option option;                ///< its name is the flag's
  std::string_view value_name;  ///< of the flag's value, in help
  /// Where a training's record has it: a name, or DECODER.NAME where only networks that learn a
  /// format of the decoder have it.
  std::string_view recorded;
};

/// The decoder that is taken where none is named, and that the others are compared with.
inline constexpr const char* kPlainDecoder = "ar";

/// One row of the registry: all that must be known of a decoder outside its own files.
struct DecoderEntry {
  std::string_view name;
  std::string_view source;      ///< paper
  std::vector<Option> options;  ///< names without the decoder's own, e.g. "k_max"
  std::unique_ptr<Decoder> (*make)(Options options);
  bool free_running = true;                    ///< takes any prompt, not only structured jobs
  std::vector<std::string_view> oracles = {};  ///< kinds of --oracle that drive it
  /// A network must have been trained for it (`train --format` of its name), or what it writes in
  /// parallel is noise.
  bool trained = false;
  /// In fp32 its greedy answers are its baseline's. In bf16 those of decoders whose rows lie in the
  /// cache as ar's do; in the others, sums of another order may turn close choices.
  bool exact = false;
  /// Its option that says how many examples a job is to have; empty: a job has one.
  std::string_view stack_option = {};
  /// How the plain decoder asks that it is compared with by default; empty: as it asks itself,
  /// else together.
  std::string_view baseline_asks = {};
  /// The passes in which it drafts are in no trace.
  bool drafts_untraced = false;
  OwnColumns own_columns = {};
  std::vector<FormatEntry> formats = {};
  std::vector<TrainingOption> training_options = {};  ///< of these formats, and of others
};

/// For a row: its `make` where the decoder takes its options alone.
template <typename D>
std::unique_ptr<Decoder> make_as(Options options) {
  return std::make_unique<D>(std::move(options));
}

const std::vector<DecoderEntry>& decoders();
/// ConfigError with the near names where there is none of that name.
const DecoderEntry& find_decoder(std::string_view name);
/// `options` is an object of option -> value. ConfigError: unknown decoder or option (names the
/// near ones), bad value.
std::unique_ptr<Decoder> make_decoder(std::string_view name, const Json& options);

/// How many examples a job was to have under these options, as a run stores them.
int stack_asked(const DecoderEntry& entry, const Json& options);

/// A decoder with options that were given to it.
struct DecoderChoice {
  std::string_view decoder;
  const Json& options;  ///< outlives this
};
/// How well `other` serves as what `method` is compared with where nobody says it: 0: not at all.
/// `open`: on open prompts, which are asked one way alone.
int baseline_rank(const DecoderChoice& method, const DecoderChoice& other, bool open = false);

/// The bytes of all tokens, joined.
std::string bytes_of(const Tokens& tokens, const Tokenizer& tokenizer);

/// Positions of a json prompt and of the answer's keys behind it.
std::int64_t positions_with_skeleton(const Request& request);

/// Ids of `text` up to and with the first that holds a line break, `limit` at most: a value as its
/// decoder would choose it.
Tokens ids_through_line_break(const std::string& text, int limit, const Tokenizer& tokenizer);

}  // namespace pardec
