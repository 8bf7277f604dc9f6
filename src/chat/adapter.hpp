#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "src/chat/call.hpp"
#include "src/chat/service.hpp"
#include "src/support/json.hpp"

namespace pardec::chat {

/// What the HTTP answer to a call contains.
struct Answer {
  ReplyState state = ReplyState::kAnswered;
  std::string text;
  std::string reason;  ///< why the state is not kAnswered; empty for kAnswered
  std::string model;   ///< model name that the service reports; empty: none
};

/// Thrown if an answer with a good status (2xx) is not usable: the answer does not have the
/// expected form, or reports an error.
struct NoAnswer {
  /// the rest of a sentence that begins with "the answer", e.g. "has no choices"
  std::string what;
};

/// Writes the requests of one interface, and reads its answers.
class Adapter {
 public:
  virtual ~Adapter() = default;
  /// The path of requests, after the base URL.
  virtual std::string path(const ServiceSpec& spec) const = 0;
  /// The body of a request for `call`.
  virtual OrderedJson body(const ServiceSpec& spec, const Call& call, Format format) const = 0;
  /// Reads the body of an answer with a good status (2xx). The state is kRefused if the body
  /// reports a refusal, even if the reply was also truncated. It is kCutShort if the body reports a
  /// truncation, even if there is text. The adapters of streamed interfaces never return kCutShort:
  /// a caller that must know of a truncation reads the finish reason in the body. NoAnswer: the
  /// body has no answer.
  virtual Answer read(const Json& body) const = 0;
  /// The token counts in the body of an answer.
  virtual Usage usage(const Json& body) const = 0;
  /// Whether requests ask for a stream of events. If so, the argument of `read` and `usage` is
  /// EventStream::body().
  virtual bool streams() const { return false; }
};

/// The name of a format, as in the key `formats` of a service's description.
std::string name_of(Format format);

/// The adapter of an interface: one of the adapters below.
const Adapter& adapter_of(Interface interface);
const Adapter& openai_chat();
const Adapter& anthropic_messages();
const Adapter& openai_responses();
/// `chat`: whether requests go to /chat/completions; otherwise they go to /completions.
const Adapter& openai_stream(bool chat);

// Functions that the adapters share. They accept any JSON, since a service may send anything.

/// The member `key` of an object; null if it is missing or `value` is not an object.
const Json& member(const Json& value, std::string_view key);
/// The text of a JSON string; empty for any other value.
std::string text_of(const Json& value);
/// A token count; -1 if `value` is not a number from 0 to 10^12.
std::int64_t count_of(const Json& value);

/// The call's messages: a JSON array of objects with the keys "role" and "content". If the call has
/// a schema, and `format` is not kJsonSchema, the text of the schema is added to the last message.
OrderedJson messages_of(const Call& call, Format format);
/// The service's parameters (ServiceSpec::parameters), with `changes` merged in, also into nested
/// objects. Values in `changes` take precedence.
OrderedJson with_parameters(const ServiceSpec& spec, const OrderedJson& changes);
/// The answer in `text`, without the reasoning at its beginning (thought_of, with the known marks)
/// and without white space around the answer. The state is kAnswered; or kCutShort, if the
/// reasoning has no end, or no text follows the reasoning. `nothing`: Answer::reason if no text
/// follows.
Answer spoken(std::string text, const std::string& nothing);

}  // namespace pardec::chat
