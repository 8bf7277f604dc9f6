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

/// Bodies of replies, in the shapes of OpenAI's and vLLM's servers.
namespace pardec::serve {

/// What all parts of one reply have in common.
struct ReplyHead {
  Endpoint endpoint = Endpoint::completions;
  std::string id, model;
  std::int64_t created = 0;  ///< seconds since 1970
};

/// A choice, or a part of one in a stream.
struct ChoiceText {
  int index = 0;
  std::string text = {};
  std::string reasoning = {};         ///< before the text
  std::string_view finish;            ///< finish_reason; empty: null, the choice goes on
  std::optional<Tokens> tokens = {};  ///< `token_ids`
  OrderedJson logprobs = nullptr;
  OrderedJson prompt_logprobs = nullptr;  ///< null: not asked for
};

struct Usage {
  std::int64_t prompt = 0, completion = 0;
};

/// How a request was decoded: the member `pardec` of its last object.
struct Decoding {
  std::string decoder;
  OrderedJson options = OrderedJson::object();
  Sampling sampling;
  std::uint64_t seed = 0;
  Counters counters;                 ///< of all choices
  std::vector<std::string> ignored;  ///< fields of the request that are not known
};

/// The answers to a Job as JSON: an object {field: value}, or a list of such objects, one for each
/// context. A value that is absent or not readable is null.
std::string job_values(const Job& job, const Answers& answers);

/// OpenAI's `finish_reason` of a choice. `at_stop`: at a stop string.
std::string_view finish_reason(Stop stop, bool at_stop);

OrderedJson whole_reply(const ReplyHead& head, const std::vector<ChoiceText>& choices,
                        const Usage& usage, const Decoding& decoding);
/// Adds to the last object of a reply how it was decoded: `pardec`, and for a single choice
/// `metrics`.
void end(OrderedJson& reply, const Decoding& decoding, std::size_t choices);
/// A chunk of a stream. `first`: the first of this choice, which has the role.
OrderedJson chunk(const ReplyHead& head, const ChoiceText& choice, bool first);
/// The chunk without choices that reports the usage.
OrderedJson usage_chunk(const ReplyHead& head, const Usage& usage);
/// The chunk without choices that reports the tokens of a pass.
OrderedJson pass_chunk(const ReplyHead& head, int choice, const PassTokens& pass);
OrderedJson to_json(const Usage& usage);
OrderedJson to_json(const Decoding& decoding);

/// What the entries of /v1/models have in common.
struct ModelFacts {
  std::string root;          ///< the network's folder
  std::int64_t created = 0;  ///< seconds since 1970
  int positions = 0;
};
/// An entry of /v1/models. Its member `pardec` has the decoder, its options with their values, and
/// whether it takes open prompts.
OrderedJson model_entry(const ServedModel& model, const ModelFacts& facts);
OrderedJson model_list(OrderedJson entries);

}  // namespace pardec::serve
