#include "src/serve/replies.hpp"

#include <utility>

#include "src/serve/metrics.hpp"

namespace pardec::serve {

namespace {

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

std::string job_values(const Job& job, const Answers& answers) {
  OrderedJson all = OrderedJson::array();
  for (std::size_t c = 0; c < answers.fields.size(); ++c) {
    OrderedJson& values = all.emplace_back(OrderedJson::object());
    for (std::size_t f = 0; f < answers.fields[c].size(); ++f) {
      const std::optional<std::string>& text = answers.fields[c][f].text;
      values[job.contexts[c].fields[f].name] = text ? OrderedJson(*text) : OrderedJson();
    }
  }
  return dump(all.size() == 1 ? all.front() : all);
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
  OrderedJson list = OrderedJson::array();
  for (const ChoiceText& choice : choices) {
    OrderedJson one{{"index", choice.index}};
    if (chat) {
      one["message"] = {{"role", "assistant"}, {"content", choice.text}};
      if (!choice.reasoning.empty()) one["message"]["reasoning_content"] = choice.reasoning;
    } else {
      one["text"] = choice.text;
    }
    close(one, choice);
    if (!choice.prompt_logprobs.is_null())
      (chat ? reply : one)["prompt_logprobs"] = choice.prompt_logprobs;
    list.push_back(std::move(one));
  }
  reply["choices"] = std::move(list);
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
    if (!choice.reasoning.empty()) delta["reasoning_content"] = choice.reasoning;
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

OrderedJson pass_chunk(const ReplyHead& head, int choice, const PassTokens& pass) {
  OrderedJson reply = begun(head, chunk_object(head));
  reply["choices"] = OrderedJson::array();
  OrderedJson& own = reply["pardec"] = to_json(pass);
  own["choice"] = choice;
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

OrderedJson model_entry(const ServedModel& model, const ModelFacts& facts) {
  return {{"id", model.id},
          {"object", "model"},
          {"created", facts.created},
          {"owned_by", "pardec"},
          {"root", facts.root},
          {"parent", nullptr},
          {"max_model_len", facts.positions},
          {"pardec",
           {{"decoder", model.decoder},
            {"options", model.algorithm->options()},
            {"open", find_decoder(model.decoder).free_running}}}};
}

OrderedJson model_list(OrderedJson entries) {
  return {{"object", "list"}, {"data", std::move(entries)}};
}

}  // namespace pardec::serve
