#pragma once
// Shared by decoders that can continue any prompt (ar, speculative, ...): how jobs are asked, when
// a stream of choices ends, and how streams become answers. Such a decoder only defines how one
// stream is decoded.
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "decoders/decoder.hpp"
#include "decoders/writer.hpp"

namespace pardec {

/// How a job is asked.
struct Asking {
  /// ask=together: one JSON answer for all fields; ask=separately: one prompt per field. Open
  /// prompts are asked separately with one field.
  bool together = true;
  int stack = 1;  ///< J: number of contexts in one prompt (batch prompting)
};
/// Reads `ask`, and `stack` if the decoder has it.
Asking asking_of(const Options& options);
/// The same options as rows for a decoder's table. `with_asking` puts both before the decoder's own
/// options.
Option ask_option();
Option stack_option();
std::vector<Option> with_asking(const std::vector<Option>& own);

/// Additional conditions that end a stream, and a callback that displays it. Every stream also ends
/// at the end of sequence, at the network's last position, and on an interruption.
struct StopRule {
  int limit = 0;  ///< maximum number of ids chosen
  /// the answer ends with the token that completes this text; empty: no such text
  std::string_view until;
  bool at_eos = true;
  /// Receives the stream's bytes so far, after each pass; empty: not used.
  std::function<void(std::string_view bytes)> reader = {};
};

/// A stream to be decoded.
struct StreamRequest {
  RequestName name;  ///< name of its sequence in traces
  Tokens prompt;
  StopRule rule;
  Sampling sampling;
  std::uint64_t seed = 0;           ///< seed of its random decisions
  std::optional<Tokens> oracle;     ///< ids that are chosen regardless of the logits
  const Oracle* oracles = nullptr;  ///< those of the whole request, which outlives this object
  int index = 0;                    ///< index of this stream in `oracles`
  std::optional<AcceptanceLaw> acceptance;  ///< as in Request
  PromptWords words = {};                   ///< the prompt in words, if the request has them
};

/// The rule of a stream, which also ends when its oracle is used up.
StopRule ends_with_oracle(const StreamRequest& request);

/// The seed of a job's `index`-th stream. Streams are independent of each other; the first one has
/// the job's own seed.
std::uint64_t stream_seed(std::uint64_t seed, int index);

/// The result of one stream of choices.
struct Stream : Chosen {
  std::string bytes;  ///< text of the tokens
  /// Set if the text does not consist of all tokens in the order of choice. `choices`: the tokens
  /// of the text, in the order of the text. `ends`: the end of each of them in `bytes`.
  struct Written {
    std::vector<size_t> choices, ends;
  };
  std::optional<Written> written;
  Stop stop = Stop::limit;
  int last_row = 0;         ///< the row that chose the last token; the last token itself has no row
  std::vector<int> passes;  ///< number of ids from each forward pass of the network
  Counters counters;
};

/// Writes streams outside of this process.
class StreamSource {
 public:
  virtual ~StreamSource() = default;
  /// REQUIRES: `context` and the source outlive the task. RunError: there is no answer.
  virtual Task<Stream> stream(StreamRequest request, const DecoderContext& context) = 0;
};

/// Records a stream choice by choice, and detects its end.
class StreamWriter {
 public:
  /// The first choice has position `position`. `stream`: number of this stream in its sequence.
  /// `sequence` and `context` must outlive this object.
  StreamWriter(Sequence& sequence, const StopRule& rule, bool forced, int position,
               const DecoderContext& context, int stream = 0);

  /// Adds the choices of one forward pass as the next tokens of the stream, up to its end. Choice i
  /// was made by row rows[i]. All choices except the last are correct guesses; the `rejected`
  /// guesses were at the place of the last. Returns the number of choices added.
  int add(std::span<const Choice> choices, std::span<const int> rows,
          std::span<const Token> rejected = {});
  bool ended() const { return ended_; }

  /// The maximum number of guesses after the newest token that is useful to verify. One more token
  /// follows the accepted guesses; any further guesses would be past the stream's end.
  int room() const;
  /// End-of-sequence ids that end this stream.
  const std::vector<Token>& eos() const { return eos_; }
  const Tokens& tokens() const { return stream_.tokens; }

  /// Counts the stream for its sequence, and returns it (without `counters`, because a sequence may
  /// have several streams).
  Stream finish();

 private:
  void add(const Choice& choice, int row, bool guessed);

  Sequence& sequence_;
  Writer writer_;
  const DecoderContext& context_;
  StopRule rule_;
  int position_;  // of the next choice
  std::vector<Token> eos_;
  bool ended_ = false;
  Stream stream_;
};

/// Checks the number of tokens of a prompt. ConfigError: it is 0. ModelError: it exceeds the
/// network's positions.
void check_prompt(const RequestName& name, size_t tokens, const ModelConfig& config);

// Fields that are asked one by one (value and free form).

/// Maximum number of ids chosen for one field.
int field_limit(const Request& request);

/// One stream per field, in the order of the fields, each with its whole prompt. The streams are
/// one group in traces.
std::vector<StreamRequest> field_requests(const Request& request);

/// The ids forced for each field under an oracle, in the order of the fields: a space, the
/// reference, and an end of sequence; "n/a" for absent values; cut at the field's limit.
std::vector<Tokens> field_references(
    const Request& request, const std::vector<std::vector<std::optional<std::string>>>& references,
    const DecoderContext& context);

/// The cost of streams that were decoded in parallel and shared forward passes: pass t is the t-th
/// entry of `passes` of each stream that has not ended.
Counters shared_cost(const std::vector<Stream>& streams);

/// The answer made of streams, one per field in their order: parsed texts, and all texts joined by
/// line breaks. A single stream is also the answer's stream.
Answers field_answers(const Request& request, std::vector<Stream> streams, Counters counters);

/// A decoder that can continue any prompt.
class FreeRunningDecoder : public Decoder {
 public:
  explicit FreeRunningDecoder(const Options& options)
      : Decoder(options), asking_(asking_of(options)) {}
  Form form() const override { return asking_.together ? Form::json : Form::value; }
  int stack() const override { return asking_.stack; }
  Task<Answers> decode(const Request& request, const DecoderContext& context) const override;

  /// Decodes one stream. REQUIRES: `context` and the decoder outlive the task.
  virtual Task<Stream> stream(StreamRequest request, const DecoderContext& context) const = 0;

 private:
  Asking asking_;
};

}  // namespace pardec
