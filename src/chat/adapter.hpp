#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "src/chat/call.hpp"
#include "src/chat/service.hpp"
#include "src/support/json.hpp"

namespace pardec::chat {

/// The content of an HTTP answer with status 200.
struct Answer {
  ReplyState state = ReplyState::kAnswered;
  std::string text, reason, model;
};

/// Thrown if an answer with status 200 is not usable: it does not have the expected form, or
/// reports an error.
struct NoAnswer {
  std::string what;
};

/// Writes the requests of one interface, and reads its answers.
class Adapter {
 public:
  virtual ~Adapter() = default;
  /// The path of requests, after the base URL.
  virtual std::string path(const ServiceSpec& spec) const = 0;
  virtual OrderedJson body(const ServiceSpec& spec, const Call& call, Format format) const = 0;
  /// Reads an answer. Checks for a refusal first, then for truncation, and then reads the text.
  /// Throws NoAnswer.
  virtual Answer read(const Json& body) const = 0;
  virtual Usage usage(const Json& body) const = 0;
  /// Whether requests ask for a stream of events (EventStream).
  virtual bool streams() const { return false; }
};

std::string name_of(Format format);

const Adapter& adapter_of(Interface interface);
const Adapter& openai_chat();
const Adapter& anthropic_messages();
const Adapter& openai_responses();
const Adapter& openai_stream(bool chat);

// Functions that the adapters share. They accept any JSON, since a service may send anything.

/// The member `key` of an object; null if it is missing or `value` is not an object.
const Json& member(const Json& value, std::string_view key);
/// The text of a string; empty for any other value.
std::string text_of(const Json& value);
/// The number of a token count; -1 for any other value.
std::int64_t count_of(const Json& value);

/// The call's messages, as objects {"role", "content"}. If `format` does not enforce the schema,
/// the schema is added to the last message.
OrderedJson messages_of(const Call& call, Format format);
/// The service's parameters, with `changes` merged in.
OrderedJson with_parameters(const ServiceSpec& spec, const OrderedJson& changes);
/// The answer without the reasoning at its beginning (<think>...</think>). If the reasoning has no
/// end, or no text follows, the answer counts as cut short. `nothing`: the reason in the latter
/// case.
Answer spoken(std::string text, const std::string& nothing);

}  // namespace pardec::chat
