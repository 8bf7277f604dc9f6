#pragma once
// What the decoders that continue any prompt share (ar, speculative, ...): how a job is asked, when
// a stream of choices ends, and how streams become answers. Such a decoder says only how one
// stream is decoded.
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "decoders/decoder.hpp"

namespace pardec {

/// How a job is asked.
struct Asking {
  /// ask=together: one JSON answer for all fields; ask=separately: one prompt a field. Open prompts
  /// are asked separately with one field.
  bool together = true;
  int stack = 1;  ///< J: contexts in one prompt (batch prompting)
};
/// `ask`, and `stack` where the decoder has it.
Asking asking_of(const Options& options);
/// These options in a decoder's table; both, before those of its own.
Option ask_option();
Option stack_option();
std::vector<Option> with_asking(const std::vector<Option>& own);

/// When a stream ends besides at end of sequence, where the network has no further position and at
/// an interruption; and who reads along until then.
struct StopRule {
  int limit = 0;           ///< ids chosen at most
  std::string_view until;  ///< the answer ends with the token that completes this text; empty: none
  bool at_eos = true;
  /// Is given the stream's bytes so far, after each pass; empty: nobody reads along.
  std::function<void(std::string_view bytes)> reader = {};
};

/// One stream that is to be decoded.
struct StreamRequest {
  std::string name;  ///< of its sequence in traces
  Tokens prompt;
  StopRule rule;
  Sampling sampling;
  std::uint64_t seed = 0;                   ///< of its random decisions
  std::optional<Tokens> oracle;             ///< ids that are chosen whatever the network says
  const Oracle* oracles = nullptr;          ///< those of the whole request, which outlives this ...
  int index = 0;                            ///< ... and which of its streams this is
  std::optional<AcceptanceLaw> acceptance;  ///< as in Request
};

/// The rule of a stream that ends with its oracle at the latest, where it has one.
StopRule ends_with_oracle(const StreamRequest& request);

/// The seed of a job's `index`-th stream: what is drawn for one does not depend on the others. The
/// first has the job's own.
std::uint64_t stream_seed(std::uint64_t seed, int index);

/// What one stream of choices gave.
struct Stream {
  Tokens tokens;
  Tokens unforced;  ///< under an oracle: what the network itself chose, one per token
  std::vector<float> gaps;
  std::string bytes;  ///< text of the tokens
  /// Where the text has not all tokens as they were chosen: which it has, in its order, and where
  /// each ends in `bytes`.
  struct Written {
    std::vector<size_t> choices, ends;
  };
  std::optional<Written> written;
  Stop stop = Stop::limit;
  int last_row = 0;         ///< the row that chose the last token, which is not fed
  std::vector<int> passes;  ///< ids that each forward pass of the network gave
  Counters counters;
};

/// Writes a stream down choice by choice, and sees its end.
class StreamWriter {
 public:
  /// The first choice will stand at `position`. `stream`: which of its sequence's it is. `sequence`
  /// and `context` outlive this.
  StreamWriter(Sequence& sequence, const StopRule& rule, bool forced, int position,
               const DecoderContext& context, int stream = 0);

  /// What one forward pass gave: its choices are the stream's next tokens, up to its end. Choice i
  /// was made by row rows[i]; all but the last are guesses that held, and the `rejected` ones stood
  /// in place of the last. Returns how many of the choices entered.
  int add(std::span<const Choice> choices, std::span<const int> rows,
          std::span<const Token> rejected = {});
  bool ended() const { return ended_; }

  /// How many candidates behind the newest token can still enter together with one more token:
  /// more of them are behind the stream's end for sure.
  int room() const;
  /// Ends of sequence that end this stream.
  const std::vector<Token>& eos() const { return eos_; }
  const Tokens& tokens() const { return stream_.tokens; }

  /// Counts the stream among those of its sequence, and hands it out (without `counters`: a
  /// sequence may have further streams).
  Stream finish();

 private:
  void add(const Choice& choice, int row, bool guessed);

  Sequence& sequence_;
  int number_;  // among its streams
  const DecoderContext& context_;
  StopRule rule_;
  bool forced_;
  int position_;  // of the next choice
  std::vector<Token> eos_;
  bool ended_ = false;
  Stream stream_;
};

/// Throws where a prompt of so many tokens is empty (ConfigError) or longer than the network
/// (ModelError).
void check_prompt(const std::string& name, size_t tokens, const ModelConfig& config);

// Fields that are asked one by one (value and free form).

/// Ids chosen for one field at most.
int field_limit(const Request& request);

/// One stream a field, in the order of the fields, each with its whole prompt.
std::vector<StreamRequest> field_requests(const Request& request);

/// What requests that go side by side have in common in their names: fields of a job, as
/// field_requests() names them, or points of a skeleton. Empty: it goes alone.
std::string_view side_by_side_name(std::string_view request);

/// What is forced for each field under an oracle, in the order of the fields: the reference behind
/// a space, then an end of sequence; the absent as "n/a"; cut at the field's limit.
std::vector<Tokens> field_references(
    const Request& request, const std::vector<std::vector<std::optional<std::string>>>& references,
    const DecoderContext& context);

/// What streams cost that were decoded side by side, sharing forward passes: pass t gives every
/// open one what its `passes` say.
Counters shared_cost(const std::vector<Stream>& streams);

/// The answer that streams, one a field in the order of the fields, are: texts as read, and all of
/// them joined by lines. A single one is also the answer's stream.
Answers field_answers(const Request& request, std::vector<Stream> streams, Counters counters);

/// A decoder that continues any prompt.
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
