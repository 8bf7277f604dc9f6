#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "decoders/decoder.hpp"
#include "src/serve/ask.hpp"
#include "src/serve/models.hpp"
#include "src/serve/pass_tokens.hpp"
#include "src/support/counters.hpp"
#include "src/support/json.hpp"

/// The bodies of replies, in the forms of OpenAI's and vLLM's servers.
namespace pardec::serve {

/// The members that all chunks of one reply share.
struct ReplyHead {
  Endpoint endpoint = Endpoint::completions;
  std::string id;            ///< identifies the reply, e.g. "chatcmpl-" and random digits
  std::string model;         ///< the model id
  std::int64_t created = 0;  ///< seconds since 1970
};

/// A choice (one answer of a request), or, in a stream, the next part of a choice.
struct ChoiceText {
  int index = 0;          ///< index of the choice in the reply, from 0
  std::string text = {};  ///< with Ask::echo, the text of the whole choice begins with the prompt
  std::string reasoning = {};  ///< chat: the network's reasoning before the text; may be empty
  /// why the choice ended: the result of finish_reason(); empty (null in the reply): the choice has
  /// not ended, so more parts of it follow
  std::string_view finish;
  std::optional<Tokens> tokens = {};  ///< ids of the choice's generated tokens; none: not requested
  OrderedJson logprobs = nullptr;     ///< null: not requested
  OrderedJson prompt_logprobs = nullptr;  ///< null: not requested
};

/// The total number of tokens of all prompts, and of all choices. A prompt with more than one
/// choice counts once.
struct Usage {
  std::int64_t prompt = 0, completion = 0;
};

/// How a request was decoded: the content of the member `pardec` in a reply, or in the last chunk
/// of a stream.
struct Decoding {
  std::string decoder;
  /// a JSON object that maps the names of all options of the decoder to their values
  OrderedJson options = OrderedJson::object();
  Sampling sampling;
  std::uint64_t seed = 0;  ///< seed of the first choice; the other seeds are derived from this seed
  Counters counters;       ///< sum over all choices
  std::vector<std::string> ignored;  ///< names of the request's unknown fields (Ask::ignored)
};

/// The answers to a Job as JSON. If the Job has one context, the result is an object that maps the
/// name of each field to its value. Otherwise, the result is a list with such an object for each
/// context. Absent and unreadable values are null. REQUIRES: `answers` are answers to `job`.
std::string job_values(const Job& job, const Answers& answers);

/// The `finish_reason` of a choice: "stop" or "length" as in OpenAI's service, or "abort" for an
/// interrupted choice. `stop`: why decoding ended. `at_stop`: whether the choice ended at a stop
/// string; if true, the result is "stop".
std::string_view finish_reason(Stop stop, bool at_stop);

/// The reply to a request without `stream`.
OrderedJson whole_reply(const ReplyHead& head, const std::vector<ChoiceText>& choices,
                        const Usage& usage, const Decoding& decoding);
/// Adds the member `pardec` to a reply, or to the last chunk of a stream. `choices`: number of
/// choices of the whole reply. If this number is 1, also adds the member `metrics` (reply_metrics).
void end(OrderedJson& reply, const Decoding& decoding, std::size_t choices);
/// A chunk of a stream. `choice`: the next part of a choice. `first`: whether this part is the
/// first part of its choice. For chat, the first chunk of a choice has the role.
OrderedJson chunk(const ReplyHead& head, const ChoiceText& choice, bool first);
/// A chunk without choices that reports the usage.
OrderedJson usage_chunk(const ReplyHead& head, const Usage& usage);
/// A chunk without choices that reports the tokens of a pass in its member `pardec`. `choice`:
/// index of the choice to which the pass added the tokens.
OrderedJson pass_chunk(const ReplyHead& head, int choice, const PassTokens& pass);
/// The value of the member `usage`.
OrderedJson to_json(const Usage& usage);
/// The value of the member `pardec` (Decoding).
OrderedJson to_json(const Decoding& decoding);

/// The members that all entries of /v1/models share.
struct ModelFacts {
  std::string root;          ///< the network's folder
  std::int64_t created = 0;  ///< seconds since 1970
  int positions = 0;         ///< maximum number of positions of the network
};
/// An entry of /v1/models. Its member `pardec` has the decoder, the values of all its options, and
/// whether it supports open prompts.
OrderedJson model_entry(const ServedModel& model, const ModelFacts& facts);
/// The reply of /v1/models. `entries`: a list of objects from model_entry.
OrderedJson model_list(OrderedJson entries);

}  // namespace pardec::serve
