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

/// The members that all parts of one reply share.
struct ReplyHead {
  Endpoint endpoint = Endpoint::completions;
  std::string id, model;
  std::int64_t created = 0;  ///< seconds since 1970
};

/// A choice, or, in a stream, a part of a choice.
struct ChoiceText {
  int index = 0;
  std::string text = {};
  std::string reasoning = {};  ///< reasoning before the text
  /// finish_reason; empty: null, because more of the choice follows
  std::string_view finish;
  std::optional<Tokens> tokens = {};  ///< `token_ids`
  OrderedJson logprobs = nullptr;
  OrderedJson prompt_logprobs = nullptr;  ///< null: not requested
};

struct Usage {
  std::int64_t prompt = 0, completion = 0;
};

/// How a request was decoded: the content of the member `pardec` in the last object of a reply.
struct Decoding {
  std::string decoder;
  OrderedJson options = OrderedJson::object();
  Sampling sampling;
  std::uint64_t seed = 0;
  Counters counters;                 ///< sum over all choices
  std::vector<std::string> ignored;  ///< unknown fields of the request
};

/// The answers to a Job as JSON: an object {field: value}, or, with several contexts, a list of one
/// object per context. Absent and unreadable values are null.
std::string job_values(const Job& job, const Answers& answers);

/// OpenAI's `finish_reason` of a choice. `at_stop`: whether the choice ended at a stop string.
std::string_view finish_reason(Stop stop, bool at_stop);

OrderedJson whole_reply(const ReplyHead& head, const std::vector<ChoiceText>& choices,
                        const Usage& usage, const Decoding& decoding);
/// Adds the member `pardec` to the last object of a reply, and, if there is a single choice, the
/// member `metrics`.
void end(OrderedJson& reply, const Decoding& decoding, std::size_t choices);
/// A chunk of a stream. `first`: whether it is the first chunk of its choice; this chunk has the
/// role.
OrderedJson chunk(const ReplyHead& head, const ChoiceText& choice, bool first);
/// A chunk without choices that reports the usage.
OrderedJson usage_chunk(const ReplyHead& head, const Usage& usage);
/// A chunk without choices that reports the tokens of a pass.
OrderedJson pass_chunk(const ReplyHead& head, int choice, const PassTokens& pass);
OrderedJson to_json(const Usage& usage);
OrderedJson to_json(const Decoding& decoding);

/// The members that all entries of /v1/models share.
struct ModelFacts {
  std::string root;          ///< the network's folder
  std::int64_t created = 0;  ///< seconds since 1970
  int positions = 0;
};
/// An entry of /v1/models. Its member `pardec` has the decoder, the values of all its options, and
/// whether it supports open prompts.
OrderedJson model_entry(const ServedModel& model, const ModelFacts& facts);
OrderedJson model_list(OrderedJson entries);

}  // namespace pardec::serve
