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

/// Why a stream ended. name() gives the name of the enumerator, e.g. "eos".
enum class Stop {
  /// the stream's terminator was chosen, e.g. a line break (hpd) or `</result>` (ask=together); or
  /// the answer is one of given choices (ar with option `choose`)
  terminator,
  eos,          ///< an end-of-sequence id was chosen (DecoderContext::eos)
  limit,        ///< a limit of tokens was reached, e.g. max_new_tokens, per_field or K_max
  context,      ///< the network has no more positions
  interrupted,  ///< the caller stopped the request (DecoderContext::stop)
};
std::string_view name(Stop stop);

/// The chosen tokens of a stream, in the order in which they were chosen. In aspd, parallel
/// branches follow each other, one whole branch after another.
struct Chosen {
  Tokens tokens;
  Tokens unforced;  ///< per token: the network's own choice; empty without an oracle of any kind
  std::vector<float> gaps;  ///< per token: largest logit minus second largest; empty: not known

  /// Appends the tokens of `more`, and the elements of `unforced` and `gaps` that belong to these
  /// tokens.
  void append(const Chosen& more);
};

/// The answer to one field of one context. In a JSON answer, the members of Chosen are the tokens
/// after the key, up to and including the line break. They are empty if the key is missing, or if
/// the places of the tokens in the text are not known. In other answers, they are all tokens of the
/// field's stream.
struct FieldResult : Chosen {
  /// The parsed value; none: the value is absent or not readable. For an open prompt: the whole
  /// generated text, including its thinking.
  std::optional<std::string> text;
  bool said_absent = false;  ///< the answer explicitly says null or n/a
  Stop stop = Stop::limit;   ///< why the stream ended that contains the field's tokens
  /// The thinking before the answer. If the thinking is kept as a part of the answer
  /// (ThoughtReading::keep), the lengths are 0.
  struct Written {
    /// length in bytes, including marks, in the generated text after repair_utf8
    std::size_t bytes = 0;
    /// length in bytes in FieldResult::text; 0 if FieldResult::text is a parsed value without the
    /// thinking
    std::size_t text_bytes = 0;
    /// Number of tokens. None: the decoder did not count them. Then the caller can count them,
    /// because the text of FieldResult::tokens begins with the thinking (`bytes` bytes).
    std::optional<std::int64_t> tokens = std::nullopt;
    bool open = false;  ///< the thinking has no end
  };
  /// None: the text contains no thinking. If one JSON text answers all fields, only the first field
  /// has the thinking of the text, and no field has it if thinking is kept as a part of the answer
  /// (ThoughtReading::keep).
  std::optional<Written> thought = std::nullopt;
};

/// The result of a decoder. If the whole answer is a single stream, the members of Chosen are the
/// tokens of this stream; otherwise they are empty.
struct Answers : Chosen {
  std::vector<std::vector<FieldResult>> fields;  ///< [context][field]
  std::string text;                              ///< the whole answer as one text
  /// Why the single stream ended. Not used if the answer has several streams, which have their own
  /// reasons (FieldResult::stop).
  Stop stop = Stop::limit;
  /// Per context: whether the JSON object of this context could be parsed. Always true if the
  /// answer is not a single generated JSON text.
  std::vector<bool> parsed;
  Counters counters;
  std::vector<Counters> turns;  ///< for a conversation: counters of each turn; otherwise empty
};

/// The tokens that a decoder chooses regardless of the logits. With an oracle, the speed of a
/// decoder can be measured on an untrained network of the right shape. The tokens are the
/// references in the decoder's own answer form, including terminators (`--oracle references`), or
/// the tokens of a stored run (`--oracle recorded:RUN`).
struct Oracle {
  /// [stream][token]: the tokens of each stream, in the order in which the decoder chooses them.
  /// There is one stream per field, in the order of contexts and fields, or a single stream if the
  /// whole JSON answer is generated as one text (ask=together).
  std::vector<Tokens> streams;
  /// For ar with ask=together: for each value, in the order of contexts and fields, the range
  /// [begin, end) of the value's tokens in the stream. Empty: the values are searched for in the
  /// stream's text.
  std::vector<std::pair<int, int>> values;
  /// For recorded runs: the number of generated tokens of each branch, in the order of
  /// Counters::branch_lengths. Used only by aspd. Empty: each branch ends with its terminator.
  std::vector<std::int64_t> branch_lengths;
};

/// A job with its token ids, which is ready for decoding.
struct Request {
  Job job;
  Form form = Form::json;
  Pieces pieces;
  std::optional<Oracle> oracle;  ///< the tokens to choose; none: the network chooses
  /// The prompt file for requests that only the request's decoder makes (Decoder::wording); null:
  /// there are no such requests. The prompt file must outlive the request.
  const PromptFile* wording = nullptr;
  /// For `--oracle accept...`: decides which guesses are accepted, regardless of the logits. None:
  /// the network's logits decide.
  std::optional<AcceptanceLaw> acceptance;
  /// Called after each pass that adds tokens to the answer, with the whole text so far. Used to
  /// display the answer while it is generated. The last character of the text may be incomplete.
  /// Only called if the answer is a single stream that is generated in order (StreamWriter, aspd).
  /// May be empty.
  std::function<void(std::string_view text)> reader = {};
  /// How thinking is separated from the answer.
  ThoughtReading thinking = {};
  /// The prompts as text, in the order of the streams. Empty unless DecoderEntry::elsewhere is true
  /// for the decoder.
  std::vector<PromptWords> words = {};
};

class StreamSource;  // decoders/free_running.hpp

/// The objects and settings that decoders use. All objects must outlive the tasks that use them.
struct DecoderContext {
  Engine& engine;
  const Tokenizer* tokenizer;  ///< null: prompts and answers are token ids only
  bool ignore_eos = false;     ///< true: no end-of-sequence id ends a stream
  Model* draft = nullptr;      ///< the draft network of `--draft-model`; null: there is none
  /// Creates the source of random decisions for a stream, from the stream's seed.
  std::function<std::unique_ptr<Chance>(std::uint64_t seed)> chance = [](std::uint64_t seed) {
    return std::make_unique<SeededChance>(seed);
  };
  /// After a stop is requested, every stream ends with its next token, for the reason
  /// Stop::interrupted, and the answer is the text so far.
  std::stop_token stop = {};

  bool interrupted() const { return stop.stop_requested(); }

  std::vector<Token> more_eos = {};  ///< further end-of-sequence ids (`--eos`)

  /// The source of streams for decoders for which DecoderEntry::elsewhere is true; null: there is
  /// none.
  StreamSource* elsewhere = nullptr;

  /// The ids that end a stream: the network's end-of-sequence ids and the ids in more_eos. Empty if
  /// ignore_eos is true.
  std::vector<Token> eos() const {
    if (ignore_eos) return {};
    std::vector<Token> all = engine.model().config().eos;
    all.insert(all.end(), more_eos.begin(), more_eos.end());
    return all;
  }
};

/// A decoder: an algorithm that turns prompts into answers. It handles token ids, positions and
/// logits. The engine and the runner handle caches, batches, clocks and storage. A decoder has no
/// state except its options.
class Decoder {
 public:
  explicit Decoder(Options options) : options_(std::move(options)) {}
  virtual ~Decoder() = default;
  std::string_view name() const { return options_.owner(); }
  /// The values of all options, as stored in databases and answers.
  const OrderedJson& options() const { return options_.all(); }
  /// The form of prompts for structured jobs (fields with values).
  virtual Form form() const = 0;
  /// Maximum number of contexts per job. In json form, all contexts of a job have the same
  /// category.
  virtual int stack() const { return 1; }
  /// The name of the prompt file for requests that only this decoder makes; empty: there are no
  /// such requests.
  virtual std::string_view wording() const { return {}; }
  /// Converts references to an oracle in the decoder's own answer form. `references`:
  /// [context][field]; none: the value is absent. REQUIRES: the decoder's entry has the oracle
  /// `references` (otherwise std::logic_error); the context has a tokenizer.
  virtual Oracle reference_oracle(
      const Request& request,
      const std::vector<std::vector<std::optional<std::string>>>& references,
      const DecoderContext& context) const;
  /// Why an oracle of this kind (one of DecoderEntry::oracles) cannot be used with these options,
  /// as the end of a sentence about the decoder, e.g. "chooses in another order than the
  /// recording". Empty: the oracle can be used. Called before a network is loaded.
  virtual std::string why_not_forced(std::string_view /*oracle*/) const { return {}; }
  /// Maximum number of consecutive guesses that a pass verifies. None: the decoder makes no
  /// guesses, their number varies, or each of several threads has its own guesses (apar).
  virtual std::optional<int> draft_length() const { return std::nullopt; }
  // The values of the members of the decoder's DecoderEntry that have these names.
  bool drafts_with_model() const;
  bool elsewhere() const;
  /// Checks whether the tokenizer and the network have what the decoder needs. Returns a
  /// description of what it found, e.g. "[Fork] is 4089, [Child] 4090", or an empty text if the
  /// decoder needs nothing. Does not need weights. `tokenizer` may be null. ConfigError: something
  /// is missing, or the options do not fit the network.
  virtual std::string needs(const Tokenizer* tokenizer, const ModelConfig& config) const;
  /// Checks whether the decoder can run with the objects in `context`. Called before any job.
  /// ConfigError: the options do not fit the network, or something that the decoder needs is
  /// missing.
  virtual void check(const DecoderContext& context) const {
    needs(context.tokenizer, context.engine.model().config());
  }
  /// The minimum number of positions that a request needs: the length of its longest prompt. In a
  /// conversation, the prompt of the last turn counts, without the earlier answers. hpd and ar with
  /// forced_keys add the skeleton of the answer, and hpd also adds the positions reserved for
  /// values. If the network has fewer positions, the request fails (context overflow). Does not
  /// need weights.
  virtual std::int64_t positions_needed(const Request& request) const;
  /// Decodes a request. REQUIRES: both arguments outlive the task. ModelError: context overflow.
  /// ConfigError: the decoder does not support the request. RunError: a service gave no answer.
  /// Other errors: see Sequence::forward.
  virtual Task<Answers> decode(const Request& request, const DecoderContext& context) const = 0;

 private:
  Options options_;
};

class TrainingFormat;  // src/training/training_sample.hpp

/// The objects that a training format needs. Both must outlive the format.
struct FormatScene {
  const Tokenizer& tokenizer;
  const ModelConfig& config;
};

/// The decoder option that `pardec plot` draws on the x axis by default; also an example in
/// messages.
inline constexpr const char* kUsualSweep = "hpd.k_max";
/// The decoders that messages suggest as an example for a comparison.
inline constexpr const char* kUsualDecoders = "ar,hpd";

/// A training format for a decoder, for `train --format`.
struct FormatEntry {
  std::string_view name;
  std::string_view meaning;  ///< a short description
  /// Creates the format. `options`: the options of all formats (training_options). ConfigError: an
  /// option is invalid, or the tokenizer or the network lacks a token that the format needs.
  std::unique_ptr<TrainingFormat> (*make)(const Options& options, const FormatScene& scene);
  /// Whether every target is the next token of the text, so that extra heads can be trained on the
  /// format.
  bool plain_text = false;
  /// Whether the format can treat values without annotation as unknown, so that they are no targets
  /// (TrainingExample::unknown).
  bool skips_unannotated = false;
  /// the only value of the decoder's option `ask` that the format trains for; empty: all values
  std::string_view asks = {};
};

/// An option of training formats, which is a flag of `train`.
struct TrainingOption {
  Option option;                ///< Option::name is the flag without its dashes, e.g. "ar-stack"
  std::string_view value_name;  ///< placeholder of the value in the help
  /// The key in the training record. If the key has the form DECODER.NAME, the option is the member
  /// NAME of the record's object DECODER, and it is recorded only if the network was trained on a
  /// format of this decoder.
  std::string_view recorded;
  /// Whether a network that was trained with one value is also suitable for smaller values of the
  /// decoder option with the name in `recorded`.
  bool smaller_too = false;
};

/// The name of the autoregressive decoder, with which other decoders are compared by default.
inline constexpr const char* kPlainDecoder = "ar";

/// An entry of the registry, with all properties of a decoder that other code uses.
struct DecoderEntry {
  std::string_view name;
  std::string_view source;      ///< the paper; "-": none
  std::vector<Option> options;  ///< names without the decoder's prefix, e.g. "k_max"
  /// Creates the decoder. ConfigError: the values of the options do not fit together.
  std::unique_ptr<Decoder> (*make)(Options options);
  bool free_running = true;  ///< whether the decoder supports any prompt, not only structured jobs
  /// The supported kinds of --oracle: "references", "recorded", "accept".
  std::vector<std::string_view> oracles = {};
  /// Whether the network must be trained for the decoder (`train --format`). With other networks,
  /// the text that is generated in parallel is noise.
  bool trained = false;
  bool drafts_with_model = false;  ///< whether the decoder needs --draft-model
  /// Whether a service outside this process writes the streams, so that no network runs here.
  bool elsewhere = false;
  /// Whether greedy answers in fp32 equal ar's answers. In bf16, they are equal only if the decoder
  /// keeps rows in the cache in the same order as ar: another order of summation may change the
  /// choice between two almost equal logits.
  bool exact = false;
  /// The name of the option for the number of examples per job; empty: a job has one example.
  std::string_view stack_option = {};
  /// The value of option `ask` that the default baseline must have. Empty: see baseline_rank.
  std::string_view baseline_asks = {};
  /// Whether traces do not contain the drafting passes.
  bool drafts_untraced = false;
  OwnColumns own_columns = {};            ///< additional columns of comparisons
  std::vector<FormatEntry> formats = {};  ///< the decoder's training formats
  /// The options of these formats. A format of another decoder may use them too.
  std::vector<TrainingOption> training_options = {};
};

/// Creates a decoder of class D from its options. Can be used as DecoderEntry::make.
template <typename D>
std::unique_ptr<Decoder> make_as(Options options) {
  return std::make_unique<D>(std::move(options));
}

/// All decoders that run a network in this process.
const std::vector<DecoderEntry>& decoders();
/// The pseudo-decoder of arms that a service answers (decoders/service/service.hpp). The service
/// receives the same prompts as `ar`.
const DecoderEntry& service_decoder();
/// Finds an entry of decoders(), or service_decoder(), by name. ConfigError: there is no such
/// decoder; the message suggests similar names.
const DecoderEntry& find_decoder(std::string_view name);
/// The names of all entries of decoders() for which this member is true, e.g. &DecoderEntry::exact,
/// joined as by alternatives().
std::string decoders_that(bool DecoderEntry::*property);
/// Creates a decoder. `options`: a JSON object that maps names of options (without the decoder's
/// prefix) to values; missing options have their defaults. ConfigError: the decoder or an option is
/// unknown (the message suggests similar names), a value is invalid, or the values do not fit
/// together.
std::unique_ptr<Decoder> make_decoder(std::string_view name, const Json& options);

/// The number of examples per job with these options. `options`: a JSON object as for make_decoder;
/// if it does not have the option DecoderEntry::stack_option, the result is 1.
int stack_asked(const DecoderEntry& entry, const Json& options);

/// A decoder and its options, for baseline_rank.
struct DecoderChoice {
  std::string_view decoder;  ///< a name that find_decoder finds
  const Json& options;       ///< as for make_decoder; must outlive this object
};
/// How suitable `other` is as the default baseline of `method`: a larger number is better, and 0
/// means that `other` is not suitable. Only ar with one example per prompt and without forced_keys
/// is suitable. Then the number depends on the value of the option `ask` of `other`. The first case
/// that applies decides:
///   `open` is true (open prompts)              2 for `together`, 1 for `separately`
///   baseline_asks of the method's entry is set 1 for this value, 0 for the other value
///   all other cases                            2 for the value of the method's option `ask`
///                                              (`together` if `method` has no such option); for
///                                              the other value: 1 if it is `together`, or else 0
/// ConfigError: see find_decoder.
int baseline_rank(const DecoderChoice& method, const DecoderChoice& other, bool open = false);

/// The text of the tokens as bytes, which may be invalid UTF-8.
std::string bytes_of(const Tokens& tokens, const Tokenizer& tokenizer);

/// The number of positions of a prompt in json form and of the skeleton segments of its answer
/// (Pieces::segments).
std::int64_t positions_with_skeleton(const Request& request);

/// The ids of `text` up to and including the first id whose text contains a line break, but at most
/// `limit` ids. These are the ids that a decoder generates for a value if its values end at a line
/// break (hpd, ar with forced_keys).
Tokens ids_through_line_break(const std::string& text, int limit, const Tokenizer& tokenizer);

}  // namespace pardec
