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

/// How the fields of a job are asked: in one prompt, or one by one.
struct Asking {
  /// True (ask=together): one JSON answer for all fields. False (ask=separately): one prompt per
  /// field. An open prompt is asked separately, with one field.
  bool together = true;
  int stack = 1;  ///< number of contexts per prompt (batch prompting; J in the HPD paper)
};
/// Reads option `ask`, and option `stack` if the decoder has it.
Asking asking_of(const Options& options);
/// The options `ask` and `stack`, for a decoder's table of options.
Option ask_option();
Option stack_option();
/// A decoder's table of options: `ask`, `stack`, and then its own options.
std::vector<Option> with_asking(const std::vector<Option>& own);

/// The conditions that end a stream, and a callback that receives its text. A stream also ends at
/// the network's last position, and when the request is interrupted.
struct StopRule {
  int limit = 0;  ///< maximum number of chosen tokens
  /// the stream ends with the token that completes this text; empty: there is no such text
  std::string_view until;
  bool at_eos = true;  ///< whether an end-of-sequence id (DecoderContext::eos) ends the stream
  /// Called after each pass with the bytes of the stream so far. May be empty.
  std::function<void(std::string_view bytes)> reader = {};
};

/// The request for one stream.
struct StreamRequest {
  RequestName name;  ///< name of the sequence in traces
  Tokens prompt;
  StopRule rule;
  Sampling sampling;
  std::uint64_t seed = 0;  ///< seed of the random decisions
  /// the tokens of this stream, chosen regardless of the logits; none: no oracle
  std::optional<Tokens> oracle;
  /// the request's whole oracle, of which `oracle` is a part; must outlive this object. REQUIRES:
  /// not null if `oracle` is set.
  const Oracle* oracles = nullptr;
  int index = 0;                            ///< index of this stream in oracles->streams
  std::optional<AcceptanceLaw> acceptance;  ///< see Request::acceptance
  PromptWords words = {};                   ///< see Request::words; may be empty
};

/// The rule of the request. If the request has an oracle, the returned limit is at most the number
/// of tokens in StreamRequest::oracle, so that the stream ends when these tokens are used up.
StopRule ends_with_oracle(const StreamRequest& request);

/// The seed of a job's stream number `index`. The first stream has the job's own seed.
std::uint64_t stream_seed(std::uint64_t seed, int index);

/// The result of one stream.
struct Stream : Chosen {
  std::string bytes;  ///< the text as bytes, which may be invalid UTF-8; empty without a tokenizer
  /// The places of tokens in `bytes`, for a text that is not the concatenation of all tokens in the
  /// order of choice, e.g. because branches were generated in parallel. Empty lists: the places are
  /// not known.
  struct Written {
    /// indices in `tokens` of the text's tokens, in the order of the text
    std::vector<size_t> choices;
    std::vector<size_t> ends;  ///< the end of each of these tokens in `bytes`
  };
  /// None: the text is the concatenation of all tokens.
  std::optional<Written> written;
  Stop stop = Stop::limit;  ///< why the stream ended
  int last_row = 0;         ///< the row from whose logits the last token was chosen
  std::vector<int> passes;  ///< number of tokens that each forward pass of the network gave
  Counters counters;        ///< the counters of the stream's sequences
};

/// A source of streams outside this process, e.g. a service.
class StreamSource {
 public:
  virtual ~StreamSource() = default;
  /// Obtains the tokens of one stream. REQUIRES: `context` and the source outlive the task.
  /// RunError: the source gives no answer, or an answer that cannot be used.
  virtual Task<Stream> stream(StreamRequest request, const DecoderContext& context) = 0;
};

/// Records the tokens of a stream, and detects its end.
class StreamWriter {
 public:
  /// Also sets the limit of the sequence to the rule's limit (Sequence::set_limit). `forced`:
  /// whether an oracle chooses the tokens. `position`: position of the first token of the stream.
  /// `stream`: number of this stream within the sequence, from 0. `sequence` and `context` must
  /// outlive this object.
  StreamWriter(Sequence& sequence, const StopRule& rule, bool forced, int position,
               const DecoderContext& context, int stream = 0);

  /// Adds the tokens that one forward pass gave, up to the end of the stream. choices[i] was made
  /// from the logits of row rows[i]. All tokens except the last are accepted guesses. `rejected`:
  /// the rejected guesses, in order; the first was the guess for the place of the last token.
  /// Returns the number of added tokens.
  int add(std::span<const Choice> choices, std::span<const int> rows,
          std::span<const Token> rejected = {});
  bool ended() const { return ended_; }

  /// The maximum number of guesses after the newest token that the next pass can use: the guesses
  /// and the network's own token after them do not exceed the stream's limit, and no guess is
  /// beyond the network's last position. 0: no guesses.
  int room() const;
  /// The end-of-sequence ids that end this stream.
  const std::vector<Token>& eos() const { return eos_; }
  const Tokens& tokens() const { return stream_.tokens; }

  /// Adds the stream to the sequence's counters, and returns the stream. Stream::counters is not
  /// set, because a sequence may have several streams.
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

/// Checks the length of a prompt. `name`: the name of the request, for messages. `tokens`: the
/// prompt's number of tokens. ConfigError: the prompt has no token. ModelError: the prompt has more
/// tokens than the network has positions.
void check_prompt(const RequestName& name, size_t tokens, const ModelConfig& config);

// For fields that are asked one by one (value and free form):

/// Maximum number of tokens for one field: Limits::per_field for a value, Limits::max_new_tokens
/// for an open answer.
int field_limit(const Request& request);

/// One stream per field, in the order of contexts and fields, each with the field's whole prompt.
/// In traces, the streams form a group. If there is only one stream, its rule has the reader of the
/// request (Request::reader). Several streams have no reader.
std::vector<StreamRequest> field_requests(const Request& request);

/// The tokens of `--oracle references` for fields. `references`: [context][field]; none: the value
/// is absent.
/// Returns one stream for each field, in the order of contexts and fields: the ids of a space and
/// the reference ("n/a" if the value is absent), and an end-of-sequence id if there is one
/// (DecoderContext::eos), cut at the field's limit. REQUIRES: the context has a tokenizer.
std::vector<Tokens> field_references(
    const Request& request, const std::vector<std::vector<std::optional<std::string>>>& references,
    const DecoderContext& context);

/// The counters of streams that were decoded in parallel and shared forward passes. The t-th passes
/// of all streams (Stream::passes) count as one pass.
Counters shared_cost(const std::vector<Stream>& streams);

/// Makes an answer from the streams of its fields. `streams`: one per field, in the order of
/// contexts and fields. `counters`: the counters of the answer. The answer's text is all texts
/// joined by line breaks. If there is a single stream, its tokens are also the answer's tokens
/// (Answers::tokens).
Answers field_answers(const Request& request, std::vector<Stream> streams, Counters counters);

/// A decoder that can continue any prompt. REQUIRES: its table of options has `ask`.
class FreeRunningDecoder : public Decoder {
 public:
  explicit FreeRunningDecoder(const Options& options)
      : Decoder(options), asking_(asking_of(options)) {}
  Form form() const override { return asking_.together ? Form::json : Form::value; }
  int stack() const override { return asking_.stack; }
  Task<Answers> decode(const Request& request, const DecoderContext& context) const override;

  /// Decodes one stream. REQUIRES: `context` and the decoder outlive the task. Errors: see
  /// Decoder::decode.
  virtual Task<Stream> stream(StreamRequest request, const DecoderContext& context) const = 0;

 private:
  Asking asking_;
};

}  // namespace pardec
