#include "src/serve/replies.hpp"

#include <utility>

#include "src/serve/api_error.hpp"
#include "src/serve/metrics.hpp"

namespace pardec::serve {

namespace {

OrderedJson or_null(const std::string& text) {
  return text.empty() ? OrderedJson() : OrderedJson(text);
}

OrderedJson begun(const ReplyHead& head, std::string_view object) {
  return {{"id", head.id}, {"object", object}, {"created", head.created}, {"model", head.model}};
}

/// The members that end a choice.
void close(OrderedJson& json, const ChoiceText& choice) {
  json["logprobs"] = choice.logprobs;
  json["finish_reason"] = choice.finish.empty() ? OrderedJson() : OrderedJson(choice.finish);
  if (choice.tokens) json["token_ids"] = *choice.tokens;
}

std::string_view chunk_object(const ReplyHead& head) {
  return head.endpoint == Endpoint::chat ? "chat.completion.chunk" : "text_completion";
}

}  // namespace

std::string error_body(const ApiError& error) {
  const std::string_view type = error.status == 404   ? "not_found_error"
                                : error.status == 401 ? "authentication_error"
                                : error.status == 503 ? "overloaded_error"
                                : error.status >= 500 ? "server_error"
                                                      : "invalid_request_error";
  return dump(OrderedJson{{"error",
                           {{"message", error.what()},
                            {"type", type},
                            {"param", or_null(error.param)},
                            {"code", or_null(error.code)}}}});
}

HttpReply error_reply(const ApiError& error) {
  HttpReply reply{.status = error.status, .body = error_body(error)};
  if (error.status == 503) reply.retry_after = 1;
  return reply;
}

std::string_view finish_reason(Stop stop, bool at_stop) {
  if (at_stop) return "stop";
  switch (stop) {
    case Stop::terminator:
    case Stop::eos:
      return "stop";
    case Stop::limit:
    case Stop::context:
      return "length";
    case Stop::interrupted:
      return "abort";
  }
  return "stop";
}

OrderedJson whole_reply(const ReplyHead& head, const std::vector<ChoiceText>& choices,
                        const Usage& usage, const Decoding& decoding) {
  const bool chat = head.endpoint == Endpoint::chat;
  OrderedJson reply = begun(head, chat ? "chat.completion" : "text_completion");
  OrderedJson& list = reply["choices"] = OrderedJson::array();
  for (const ChoiceText& choice : choices) {
    OrderedJson one{{"index", choice.index}};
    if (chat)
      one["message"] = {{"role", "assistant"}, {"content", choice.text}};
    else
      one["text"] = choice.text;
    close(one, choice);
    list.push_back(std::move(one));
  }
  reply["usage"] = to_json(usage);
  end(reply, decoding, choices.size());
  return reply;
}

void end(OrderedJson& reply, const Decoding& decoding, std::size_t choices) {
  reply["pardec"] = to_json(decoding);
  if (choices == 1) reply["metrics"] = reply_metrics(decoding.counters);
}

OrderedJson chunk(const ReplyHead& head, const ChoiceText& choice, bool first) {
  OrderedJson one{{"index", choice.index}};
  if (head.endpoint == Endpoint::chat) {
    OrderedJson& delta = one["delta"] = OrderedJson::object();
    if (first) delta["role"] = "assistant";
    if (first || !choice.text.empty()) delta["content"] = choice.text;
  } else {
    one["text"] = choice.text;
  }
  close(one, choice);
  OrderedJson reply = begun(head, chunk_object(head));
  reply["choices"] = OrderedJson::array({std::move(one)});
  return reply;
}

OrderedJson usage_chunk(const ReplyHead& head, const Usage& usage) {
  OrderedJson reply = begun(head, chunk_object(head));
  reply["choices"] = OrderedJson::array();
  reply["usage"] = to_json(usage);
  return reply;
}

OrderedJson to_json(const Usage& usage) {
  return {{"prompt_tokens", usage.prompt},
          {"completion_tokens", usage.completion},
          {"total_tokens", usage.prompt + usage.completion}};
}

OrderedJson to_json(const Decoding& decoding) {
  const Counters& counters = decoding.counters;
  const GuessCounts guesses = guess_counts(counters);
  OrderedJson json{{"decoder", decoding.decoder},
                   {"options", decoding.options},
                   {"temperature", decoding.sampling.temperature},
                   {"top_p", decoding.sampling.top_p},
                   {"top_k", decoding.sampling.top_k},
                   {"seed", decoding.seed},
                   {"passes", counters.forwards},
                   {"tokens_per_pass", counters.parallel_ratio()},
                   {"guesses", guesses.drafted},
                   {"accepted_guesses", guesses.accepted},
                   {"draft_passes", counters.draft_forwards},
                   {"streams", counters.branches}};
  if (!decoding.ignored.empty()) json["ignored"] = decoding.ignored;
  return json;
}

OrderedJson model_entry(const std::string& id, const std::string& root, std::int64_t created,
                        int positions) {
  return {{"id", id},     {"object", "model"}, {"created", created},        {"owned_by", "pardec"},
          {"root", root}, {"parent", nullptr}, {"max_model_len", positions}};
}

OrderedJson model_list(OrderedJson entries) {
  return {{"object", "list"}, {"data", std::move(entries)}};
}

}  // namespace pardec::serve
