#pragma once
// The common part of decoders that can continue any prompt (ar, speculative, ...): how jobs become
// prompts, when a stream ends, and how streams become answers. These decoders only define how one
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
  /// True (ask=together): one JSON answer for all fields. False (ask=separately): one prompt per
  /// field. An open prompt is asked separately, with one field.
  bool together = true;
  int stack = 1;  ///< number of contexts per prompt (batch prompting; J)
};
/// Reads option `ask`, and option `stack` if the decoder has it.
Asking asking_of(const Options& options);
/// The two options as rows of a decoder's table. with_asking inserts both before the decoder's own
/// options.
Option ask_option();
Option stack_option();
std::vector<Option> with_asking(const std::vector<Option>& own);

/// The conditions that end a stream, and a function that gets its text. A stream also ends at the
/// network's last position, and when the request is interrupted.
struct StopRule {
  int limit = 0;  ///< maximum number of chosen tokens
  /// the stream ends with the token that completes this text; empty: there is no such text
  std::string_view until;
  bool at_eos = true;
  /// Gets the bytes of the stream so far, after each pass. May be empty.
  std::function<void(std::string_view bytes)> reader = {};
};

/// The request for one stream.
struct StreamRequest {
  RequestName name;  ///< name of the sequence in traces
  Tokens prompt;
  StopRule rule;
  Sampling sampling;
  std::uint64_t seed = 0;                   ///< seed of the random decisions
  std::optional<Tokens> oracle;             ///< tokens that are chosen regardless of the logits
  const Oracle* oracles = nullptr;          ///< oracle of the whole request; must outlive this
  int index = 0;                            ///< index of this stream in oracles->streams
  std::optional<AcceptanceLaw> acceptance;  ///< see Request::acceptance
  PromptWords words = {};                   ///< the prompt as text, if the request has it
};

/// The request's rule, with the limit lowered so that the stream ends when its oracle is used up.
StopRule ends_with_oracle(const StreamRequest& request);

/// The seed of a job's stream number `index`. The first stream has the job's own seed.
std::uint64_t stream_seed(std::uint64_t seed, int index);

/// The result of one stream.
struct Stream : Chosen {
  std::string bytes;  ///< the text, as bytes
  /// Set if the text is not the concatenation of all tokens. `choices`: indices of the tokens of
  /// the text, in the order of the text. `ends`: the end of each of these tokens in `bytes`.
  struct Written {
    std::vector<size_t> choices, ends;
  };
  std::optional<Written> written;
  Stop stop = Stop::limit;
  int last_row = 0;         ///< the row that chose the last token; that token has no row of its own
  std::vector<int> passes;  ///< per forward pass of the network: number of tokens that it gave
  Counters counters;
};

/// A source of streams outside this process, e.g. a service.
class StreamSource {
 public:
  virtual ~StreamSource() = default;
  /// Gets one stream. REQUIRES: `context` and the source outlive the task. RunError: there is no
  /// answer.
  virtual Task<Stream> stream(StreamRequest request, const DecoderContext& context) = 0;
};

/// Records the tokens of a stream, and detects its end.
class StreamWriter {
 public:
  /// `forced`: whether an oracle chooses the tokens. `position`: position of the first token.
  /// `stream`: number of this stream in its sequence. `sequence` and `context` must outlive this
  /// object.
  StreamWriter(Sequence& sequence, const StopRule& rule, bool forced, int position,
               const DecoderContext& context, int stream = 0);

  /// Adds the tokens that one forward pass gave, up to the end of the stream. choices[i] was made
  /// by row rows[i]. All tokens except the last are accepted guesses; `rejected` has the guesses in
  /// the place of the last token. Returns the number of added tokens.
  int add(std::span<const Choice> choices, std::span<const int> rows,
          std::span<const Token> rejected = {});
  bool ended() const { return ended_; }

  /// The maximum number of guesses after the newest token that are worth verifying. With more, the
  /// accepted guesses and the network's own token after them would go beyond the stream's end.
  int room() const;
  /// The end-of-sequence ids that end this stream.
  const std::vector<Token>& eos() const { return eos_; }
  const Tokens& tokens() const { return stream_.tokens; }

  /// Adds the stream to the sequence's counters, and returns it. Stream::counters is not set,
  /// because a sequence may have several streams.
  Stream finish();

 private:
  void add(const Choice& choice, int row, bool guessed);

  Sequence& sequence_;
  Writer writer_;
  const DecoderContext& context_;
  StopRule rule_;
  int position_;  // position of the next token
  std::vector<Token> eos_;
  bool ended_ = false;
  Stream stream_;
};

/// Checks the length of a prompt. ConfigError: it is 0. ModelError: it exceeds the network's
/// positions.
void check_prompt(const RequestName& name, size_t tokens, const ModelConfig& config);

// For fields that are asked one by one (value and free form):

/// Maximum number of tokens for one field.
int field_limit(const Request& request);

/// One stream per field, in the order of the fields, each with its whole prompt. In traces, the
/// streams form a group.
std::vector<StreamRequest> field_requests(const Request& request);

/// The oracle `references` for fields. For each field, in order: a space, the reference ("n/a" if
/// the value is absent), and an end of sequence, cut at the field's limit.
std::vector<Tokens> field_references(
    const Request& request, const std::vector<std::vector<std::optional<std::string>>>& references,
    const DecoderContext& context);

/// The counters of streams that were decoded in parallel and shared forward passes. Pass t of all
/// streams that have not ended yet (Stream::passes) is one pass.
Counters shared_cost(const std::vector<Stream>& streams);

/// Makes an answer from the streams of its fields, in their order: parsed values, and all texts
/// joined by line breaks. If there is a single stream, its tokens are also those of the answer.
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
