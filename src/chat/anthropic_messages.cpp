// Anthropic's POST /v1/messages.
#include "src/chat/adapter.hpp"
#include "src/support/text.hpp"

namespace pardec::chat {

namespace {

class AnthropicMessages final : public Adapter {
 public:
  std::string path(const ServiceSpec& spec) const override {
    return spec.base_url.ends_with("/v1") ? "/messages" : "/v1/messages";
  }

  OrderedJson body(const ServiceSpec& spec, const Call& call, Format format) const override {
    OrderedJson turns = OrderedJson::array();
    std::vector<std::string> system;
    for (OrderedJson& message : messages_of(call, format))
      if (message.at("role") == "system")
        system.push_back(message.at("content").get<std::string>());
      else
        turns.push_back(std::move(message));
    OrderedJson changes = {
        {"model", spec.model}, {"messages", std::move(turns)}, {"max_tokens", call.max_tokens}};
    if (!system.empty()) changes["system"] = join(system, "\n\n");
    if (!call.schema.is_null() && format == Format::kJsonSchema)
      changes["output_config"] = {{"format", {{"type", "json_schema"}, {"schema", call.schema}}}};
    return with_parameters(spec, changes);
  }

  Answer read(const Json& body) const override {
    const Json& content = member(body, "content");
    const std::string ended = text_of(member(body, "stop_reason"));
    if (!content.is_array()) throw NoAnswer{"has no content"};
    if (ended.empty()) throw NoAnswer{"has no stop_reason"};
    std::string text;  // reasoning is in separate blocks
    for (const Json& block : content)
      if (member(block, "type") == "text") text += text_of(member(block, "text"));
    Answer answer;
    if (ended == "refusal") {
      const Json& details = member(body, "stop_details");
      const std::string category = text_of(member(details, "category"));
      if (strip(text).empty()) text = text_of(member(details, "explanation"));
      answer = {ReplyState::kRefused, std::move(text),
                category.empty() ? "refused" : str("refused (", category, ")")};
    } else if (ended == "max_tokens") {
      answer = {ReplyState::kCutShort, std::move(text), "its length reached max_tokens"};
    } else if (ended == "model_context_window_exceeded") {
      answer = {ReplyState::kCutShort, std::move(text), "it filled the context"};
    } else {
      answer = spoken(std::move(text), str("nothing was said (stop_reason ", ended, ")"));
    }
    answer.model = text_of(member(body, "model"));
    return answer;
  }

  Usage usage(const Json& body) const override {
    const Json& usage = member(body, "usage");
    Usage told{count_of(member(usage, "input_tokens")), count_of(member(usage, "output_tokens")),
               count_of(member(member(usage, "output_tokens_details"), "thinking_tokens")),
               count_of(member(usage, "cache_read_input_tokens"))};
    if (told.prompt_tokens >= 0)  // excludes cached tokens
      for (const std::int64_t more :
           {told.cached_tokens, count_of(member(usage, "cache_creation_input_tokens"))})
        told.prompt_tokens += std::max<std::int64_t>(more, 0);
    return told;
  }
};

}  // namespace

const Adapter& anthropic_messages() {
  static const AnthropicMessages kAdapter;
  return kAdapter;
}

}  // namespace pardec::chat
