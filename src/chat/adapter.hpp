#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "src/chat/call.hpp"
#include "src/chat/service.hpp"
#include "src/support/json.hpp"

namespace pardec::chat {

/// The content of an answer with status 200.
struct Answer {
  ReplyState state = ReplyState::kAnswered;
  std::string text, reason, model;
};

/// The answer is not usable: it does not have the expected shape, or reports an error with status
/// 200.
struct NoAnswer {
  std::string what;
};

/// The format of one interface's requests and answers.
class Adapter {
 public:
  virtual ~Adapter() = default;
  /// The path of requests, after the base URL.
  virtual std::string path(const ServiceSpec& spec) const = 0;
  virtual OrderedJson body(const ServiceSpec& spec, const Call& call, Format format) const = 0;
  /// Checks for refusals first, then for truncation, then returns the text. Throws NoAnswer.
  virtual Answer read(const Json& body) const = 0;
  virtual Usage usage(const Json& body) const = 0;
  /// Whether it asks for a stream of events (EventStream).
  virtual bool streams() const { return false; }
};

std::string name_of(Format format);

const Adapter& adapter_of(Interface interface);
const Adapter& openai_chat();
const Adapter& anthropic_messages();
const Adapter& openai_responses();
const Adapter& openai_stream(bool chat);

// Helpers shared by the adapters. A service may send values of any shape.

/// A member of an object; null if it is missing, or if the value is not an object.
const Json& member(const Json& value, std::string_view key);
/// A text; empty for other values.
std::string text_of(const Json& value);
/// A token count; -1 for other values.
std::int64_t count_of(const Json& value);

/// The call's messages as {"role", "content"}. If the format does not include the schema, the last
/// message asks for it.
OrderedJson messages_of(const Call& call, Format format);
/// The parameters of the service, overridden by `changes`; objects are merged.
OrderedJson with_parameters(const ServiceSpec& spec, const OrderedJson& changes);
/// The answer without leading reasoning (<think>...</think>). It counts as cut short if the
/// reasoning does not end, or if there is no other text. `nothing`: the reason in that case.
Answer spoken(std::string text, const std::string& nothing);

}  // namespace pardec::chat
