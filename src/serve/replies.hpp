#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "decoders/decoder.hpp"
#include "src/serve/ask.hpp"
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
  std::string text;
  std::string_view finish;            ///< finish_reason; empty: null, the choice goes on
  std::optional<Tokens> tokens = {};  ///< `token_ids`
  OrderedJson logprobs = nullptr;
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

/// OpenAI's word for why a choice ended. `at_stop`: at a stop string.
std::string_view finish_reason(Stop stop, bool at_stop);

OrderedJson whole_reply(const ReplyHead& head, const std::vector<ChoiceText>& choices,
                        const Usage& usage, const Decoding& decoding);
/// Adds to the last object of a reply how it was decoded: `pardec`, and for a single choice
/// `metrics`.
void end(OrderedJson& reply, const Decoding& decoding, std::size_t choices);
/// A chunk of a stream. `first`: the first of this choice, which has the role.
OrderedJson chunk(const ReplyHead& head, const ChoiceText& choice, bool first);
/// The chunk without choices that tells the usage.
OrderedJson usage_chunk(const ReplyHead& head, const Usage& usage);
OrderedJson to_json(const Usage& usage);
OrderedJson to_json(const Decoding& decoding);

/// An entry of /v1/models. `root`: the network's folder.
OrderedJson model_entry(const std::string& id, const std::string& root, std::int64_t created,
                        int positions);
OrderedJson model_list(OrderedJson entries);

}  // namespace pardec::serve
