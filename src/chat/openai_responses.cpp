// OpenAI's POST /responses.
#include "src/chat/adapter.hpp"
#include "src/support/text.hpp"

namespace pardec::chat {

namespace {

class OpenAiResponses final : public Adapter {
 public:
  std::string path(const ServiceSpec&) const override { return "/responses"; }

  OrderedJson body(const ServiceSpec& spec, const Call& call, Format format) const override {
    OrderedJson changes = {{"model", spec.model},
                           {"input", messages_of(call, format)},
                           {"max_output_tokens", call.max_tokens}};
    if (!spec.parameters.contains("store")) changes["store"] = false;
    if (!call.schema.is_null() && format == Format::kJsonSchema)
      changes["text"]["format"] = {{"type", "json_schema"},
                                   {"name", call.schema_name},
                                   {"schema", call.schema},
                                   {"strict", true}};
    if (!call.schema.is_null() && format == Format::kJsonObject)
      changes["text"]["format"] = {{"type", "json_object"}};
    return with_parameters(spec, changes);
  }

  Answer read(const Json& body) const override {
    const Json& output = member(body, "output");
    const std::string status = text_of(member(body, "status"));
    if (!output.is_array()) throw NoAnswer{"has no output"};
    if (status != "completed" && status != "incomplete")
      throw NoAnswer{str("has status '", status, "', expected completed")};
    std::string text, refusal;
    for (const Json& item : output) {  // reasoning is in separate items
      const Json& content = member(item, "content");
      if (member(item, "type") != "message" || !content.is_array()) continue;
      for (const Json& part : content) {
        text += text_of(member(part, "text"));
        refusal += text_of(member(part, "refusal"));
      }
    }
    const std::string why = text_of(member(member(body, "incomplete_details"), "reason"));
    Answer answer;
    if (!refusal.empty())
      answer = {ReplyState::kRefused, std::move(refusal), "refused"};
    else if (status == "incomplete" && why == "content_filter")
      answer = {ReplyState::kRefused, std::move(text), "filtered by the service"};
    else if (status == "incomplete")
      answer = {ReplyState::kCutShort, std::move(text),
                why == "max_output_tokens" ? "its length reached max_tokens"
                                           : str("it is incomplete (", why, ")")};
    else
      answer = spoken(std::move(text), "nothing was said");
    answer.model = text_of(member(body, "model"));
    return answer;
  }

  Usage usage(const Json& body) const override {
    const Json& usage = member(body, "usage");
    return {count_of(member(usage, "input_tokens")), count_of(member(usage, "output_tokens")),
            count_of(member(member(usage, "output_tokens_details"), "reasoning_tokens")),
            count_of(member(member(usage, "input_tokens_details"), "cached_tokens"))};
  }
};

}  // namespace

const Adapter& openai_responses() {
  static const OpenAiResponses kAdapter;
  return kAdapter;
}

}  // namespace pardec::chat
