// POST /chat/completions of OpenAI, Azure (base .../openai/v1) and most local servers.
#include "src/chat/adapter.hpp"
#include "src/support/text.hpp"

namespace pardec::chat {

namespace {

class OpenAiChat final : public Adapter {
 public:
  std::string path(const ServiceSpec&) const override { return "/chat/completions"; }

  OrderedJson body(const ServiceSpec& spec, const Call& call, Format format) const override {
    OrderedJson changes = {{"model", spec.model},
                           {"messages", messages_of(call, format)},
                           {spec.token_limit, call.max_tokens}};
    if (!call.schema.is_null() && format == Format::kJsonSchema)
      changes["response_format"] = {
          {"type", "json_schema"},
          {"json_schema", {{"name", call.schema_name}, {"schema", call.schema}, {"strict", true}}}};
    if (!call.schema.is_null() && format == Format::kSchemaInObject)
      changes["response_format"] = {{"type", "json_object"}, {"schema", call.schema}};
    if (!call.schema.is_null() && format == Format::kJsonObject)
      changes["response_format"] = {{"type", "json_object"}};
    return with_parameters(spec, changes);
  }

  Answer read(const Json& body) const override {
    const Json& choices = member(body, "choices");
    if (!choices.is_array() || choices.empty()) throw NoAnswer{"has no choices"};
    const Json &choice = choices.front(), &message = member(choice, "message");
    const std::string ended = text_of(member(choice, "finish_reason"));
    if (ended == "error") throw NoAnswer{"ends with an error (finish_reason)"};
    if (!message.is_object()) throw NoAnswer{"has no message"};
    Answer answer;
    if (const std::string refusal = text_of(member(message, "refusal")); !refusal.empty())
      answer = {ReplyState::kRefused, refusal, "refused"};
    else if (ended == "content_filter")
      answer = {ReplyState::kRefused, text(message), "filtered by the service"};
    else if (ended == "length")
      answer = {ReplyState::kCutShort, text(message), "its length reached max_tokens"};
    else
      answer = spoken(text(message), str("nothing was said (finish_reason ", ended, ")"));
    answer.model = text_of(member(body, "model"));
    return answer;
  }

  Usage usage(const Json& body) const override {
    const Json& usage = member(body, "usage");
    return {count_of(member(usage, "prompt_tokens")), count_of(member(usage, "completion_tokens")),
            count_of(member(member(usage, "completion_tokens_details"), "reasoning_tokens")),
            count_of(member(member(usage, "prompt_tokens_details"), "cached_tokens"))};
  }

 private:
  /// Some servers send the text in parts.
  static std::string text(const Json& message) {
    const Json& content = member(message, "content");
    if (!content.is_array()) return text_of(content);
    std::string all;
    for (const Json& part : content) all += text_of(member(part, "text"));
    return all;
  }
};

}  // namespace

const Adapter& openai_chat() {
  static const OpenAiChat kAdapter;
  return kAdapter;
}

}  // namespace pardec::chat
