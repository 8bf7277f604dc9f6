#include "src/chat/event_stream.hpp"

#include "src/chat/adapter.hpp"

namespace pardec::chat {

EventStream::EventStream(std::string until) : until_(std::move(until)) {}

bool EventStream::take(std::string_view piece) try {
  while (!piece.empty() && !complete_) {
    const std::size_t end = piece.find('\n');
    line_ += piece.substr(0, end);
    if (end == std::string_view::npos) break;
    piece.remove_prefix(end + 1);
    if (line_.ends_with('\r')) line_.pop_back();
    take_line(line_);
    line_.clear();
  }
  return !complete_;
} catch (const std::exception&) {  // no JSON, or no memory for it
  broken_ = true;
  return true;
}

void EventStream::take_line(std::string_view line) {
  constexpr std::string_view kData = "data:";
  if (line.empty()) return take_event();
  if (!line.starts_with(kData)) return;  // a comment, or the name of the event
  any_ = true;
  line.remove_prefix(kData.size());
  if (line.starts_with(' ')) line.remove_prefix(1);
  data_ += line;
}

void EventStream::take_event() {
  const std::string data = std::exchange(data_, "");
  if (data.empty() || data == "[DONE]") return;
  const Json event = Json::parse(data);
  for (const auto& [name, value] : event.items())
    if (name != "choices" && !value.is_null()) members_[name] = value;
  const Json& choices = member(event, "choices");
  if (choices.is_array() && !choices.empty()) take_choice(choices.front());
}

void EventStream::take_choice(const Json& choice) {
  const Json& delta = member(choice, "delta");
  const std::size_t before = text_.size() + reasoning_.size();
  text_ += text_of(member(choice, "text")) + text_of(member(delta, "content"));
  reasoning_ += text_of(member(delta, "reasoning_content")) + text_of(member(delta, "reasoning"));
  const Json& ids = member(choice, "token_ids");
  if (ids.is_array())
    for (const Json& id : ids) ids_.push_back(id);
  if (first_ < 0 && (text_.size() + reasoning_.size() > before || (ids.is_array() && !ids.empty())))
    first_ = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  if (const Json& finish = member(choice, "finish_reason"); !finish.is_null()) finish_ = finish;
  if (!until_.empty() && text_.find(until_) != std::string::npos) {
    finish_ = "until";
    complete_ = true;
  }
}

Json EventStream::body() const {
  Json body = members_;
  if (body.contains("error")) return body;
  Json& choice = body["choices"][0];
  choice = {{"text", text_}, {"token_ids", ids_}, {"finish_reason", finish_}};
  if (!reasoning_.empty()) choice["reasoning"] = reasoning_;
  return body;
}

}  // namespace pardec::chat
