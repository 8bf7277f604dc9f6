#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "src/chat/call.hpp"
#include "src/chat/service.hpp"
#include "src/support/json.hpp"

namespace pardec::chat {

/// What an answer of status 200 says.
struct Answer {
  ReplyState state = ReplyState::kAnswered;
  std::string text, reason, model;
};

/// An answer that is none: of another shape, or an error in its clothes.
struct NoAnswer {
  std::string what;
};

/// How one interface's requests and answers look.
class Adapter {
 public:
  virtual ~Adapter() = default;
  /// Where requests go, behind the base URL.
  virtual std::string path(const ServiceSpec& spec) const = 0;
  virtual OrderedJson body(const ServiceSpec& spec, const Call& call, Format format) const = 0;
  /// Refusals first, then what was cut short, then the text. Throws NoAnswer.
  virtual Answer read(const Json& body) const = 0;
  virtual Usage usage(const Json& body) const = 0;
};

std::string name_of(Format format);

const Adapter& adapter_of(Interface interface);
const Adapter& openai_chat();
const Adapter& anthropic_messages();
const Adapter& openai_responses();

// Shared by the adapters; what a service sends may have any shape.

/// A member of an object; null where there is none, or no object.
const Json& member(const Json& value, std::string_view key);
/// What a service says, for a line: at most `most` bytes, controls replaced, "..." for the rest.
std::string shortened(std::string_view text, std::size_t most);
/// A text; empty for anything else.
std::string text_of(const Json& value);
/// A count of tokens; -1 for anything else.
std::int64_t count_of(const Json& value);

/// The call's messages as {"role", "content"}. Where the format does not carry the schema, the last
/// one asks for it.
OrderedJson messages_of(const Call& call, Format format);
/// The parameters of the service, `changes` in their place; objects are joined.
OrderedJson with_parameters(const ServiceSpec& spec, const OrderedJson& changes);
/// An answer without reasoning in front (<think>...</think>); cut short where that has no end, or
/// nothing else is there. `nothing`: what is said then.
Answer spoken(std::string text, const std::string& nothing);

}  // namespace pardec::chat
