// POST /completions and /chat/completions of OpenAI-compatible servers, streamed: a prompt is
// continued as it stands, and the whole text counts, with any reasoning.
#include "src/chat/adapter.hpp"

namespace pardec::chat {

namespace {

class OpenAiStream final : public Adapter {
 public:
  explicit OpenAiStream(bool chat) : chat_(chat) {}

  bool streams() const override { return true; }
  std::string path(const ServiceSpec&) const override {
    return chat_ ? "/chat/completions" : "/completions";
  }

  OrderedJson body(const ServiceSpec& spec, const Call& call, Format) const override {
    OrderedJson changes = {{"model", spec.model},
                           {spec.token_limit, call.max_tokens},
                           {"stream", true},
                           {"stream_options", {{"include_usage", true}}}};
    if (chat_) changes["messages"] = messages_of(call, Format::kText);
    changes.update(call.parameters, true);
    return with_parameters(spec, changes);
  }

  Answer read(const Json& body) const override {
    const Json& choices = member(body, "choices");
    if (!choices.is_array() || choices.empty()) throw NoAnswer{"has no choices"};
    const Json &choice = choices.front(), &message = member(choice, "message");
    const std::string ended = text_of(member(choice, "finish_reason"));
    if (ended.empty()) throw NoAnswer{"has no end (finish_reason)"};
    if (ended == "error") throw NoAnswer{"ends with an error (finish_reason)"};
    Answer answer;
    answer.model = text_of(member(body, "model"));
    std::string reasoning = text_of(member(choice, "reasoning"));
    for (const char* key : {"reasoning_content", "reasoning"})
      if (reasoning.empty()) reasoning = text_of(member(message, key));
    if (!reasoning.empty()) answer.text = "<think>" + reasoning + "</think>";
    answer.text += text_of(member(choice, "text")) + text_of(member(message, "content"));
    if (const std::string refusal = text_of(member(message, "refusal")); !refusal.empty())
      answer.state = ReplyState::kRefused, answer.reason = "refused", answer.text = refusal;
    else if (ended == "content_filter")
      answer.state = ReplyState::kRefused, answer.reason = "filtered by the service";
    return answer;
  }

  Usage usage(const Json& body) const override { return openai_chat().usage(body); }

 private:
  bool chat_;
};

}  // namespace

const Adapter& openai_stream(bool chat) {
  static const OpenAiStream kChat(true), kCompletions(false);
  return chat ? kChat : kCompletions;
}

}  // namespace pardec::chat
