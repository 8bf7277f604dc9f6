#include "src/chat/adapter.hpp"

#include "src/support/text.hpp"
#include "src/support/thought.hpp"

namespace pardec::chat {

const Adapter& adapter_of(Interface interface) {
  switch (interface) {
    case Interface::kAnthropicMessages:
      return anthropic_messages();
    case Interface::kOpenAiResponses:
      return openai_responses();
    case Interface::kStreamedCompletions:
      return openai_stream(/*chat=*/false);
    case Interface::kStreamedChat:
      return openai_stream(/*chat=*/true);
    case Interface::kOpenAiChat:
      break;
  }
  return openai_chat();
}

const Json& member(const Json& value, std::string_view key) {
  static const Json kNull;
  if (!value.is_object()) return kNull;
  const auto found = value.find(key);
  return found == value.end() ? kNull : *found;
}

std::string text_of(const Json& value) {
  return value.is_string() ? value.get<std::string>() : std::string();
}

std::int64_t count_of(const Json& value) {
  constexpr double kMost = 1e12;  // so that sums do not overflow
  if (!value.is_number()) return -1;
  const auto count = value.get<double>();
  return count >= 0 && count <= kMost ? static_cast<std::int64_t>(count) : -1;
}

OrderedJson messages_of(const Call& call, Format format) {
  OrderedJson messages = OrderedJson::array();
  for (const Message& message : call.messages)
    messages.push_back({{"role", message.role}, {"content", message.text}});
  if (!call.schema.is_null() && format != Format::kJsonSchema && !messages.empty())
    messages.back()["content"] =
        str(call.messages.back().text,
            "\n\nReply with one JSON object that fits this JSON schema, and with nothing else:\n",
            dump(call.schema));
  return messages;
}

OrderedJson with_parameters(const ServiceSpec& spec, const OrderedJson& changes) {
  OrderedJson body = spec.parameters;
  body.update(changes, true);
  return body;
}

Answer spoken(std::string text, const std::string& nothing) {
  const Thought thought = thought_of(text);
  if (thought.open) return {ReplyState::kCutShort, std::move(text), "its reasoning has no end"};
  text.erase(0, thought.bytes);
  if (strip(text).empty()) return {ReplyState::kCutShort, "", nothing};
  return {ReplyState::kAnswered, std::string(strip(text))};
}

}  // namespace pardec::chat
