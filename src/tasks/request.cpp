#include "src/tasks/request.hpp"

#include <algorithm>

#include "src/prompt/json_answer.hpp"
#include "src/prompt/pieces.hpp"
#include "src/support/error.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

/// An example as it is asked alone, with its first references.
WorkedAnswer worked_answer(const Example& example, const PromptFile& prompt,
                           const DecodeOptions& options) {
  const Job job = make_job(example.id, {&example}, Form::json, {prompt, {}}, options);
  return {user_content(job, prompt), json_answer(job.contexts, references_of({&example}))};
}

}  // namespace

Job make_job(const std::string& id, const std::vector<const Example*>& examples, Form form,
             const Protocol& protocol, const DecodeOptions& options) {
  Job job = empty_job(options);
  job.id = id;
  if (form != Form::json) job.shots = protocol.shots;
  job.system = examples.front()->system;  // equal for all of them, see plan_blocks
  for (const Example* example : examples) {
    Context context{example->id, example->category, example->text, {}};
    for (const auto& field : example->fields)
      context.fields.push_back({field.name, field.question, field.choices});
    job.contexts.push_back(std::move(context));
  }
  job.conversation = examples.size() == 1 && examples.front()->conversation;
  job.instruction = instruction_for(protocol.prompt, job.contexts, form);
  job.limits = limits_on(protocol, form, options);
  if (form == Form::json)
    if (const auto worked = protocol.worked.find(examples.front()->category);
        worked != protocol.worked.end())
      for (const Example& example : worked->second)
        job.worked.push_back(worked_answer(example, protocol.prompt, options));
  return job;
}

Request make_request(const std::string& id, const std::vector<const Example*>& examples, Form form,
                     const Protocol& protocol, const DecodeOptions& options,
                     const ChatTemplate& chat, const Tokenizer& tokenizer, bool words) {
  Request request;
  request.form = form;
  request.job = make_job(id, examples, form, protocol, options);
  request.pieces = make_pieces(request.job, form, protocol.prompt, chat, tokenizer);
  if (words) request.words = make_words(request.job, form, protocol.prompt, chat);
  return request;
}

Limits limits_on(const Protocol& protocol, Form form, const DecodeOptions& options) {
  if (protocol.most_ids > 0) return {protocol.most_ids, protocol.most_ids};
  return options.limits(form == Form::value ? protocol.answer_ids : 0);
}

Form form_on(Shape shape, const Decoder& decoder) {
  return shape == Shape::open ? Form::free : decoder.form();
}

Stacking stacking_on(Shape shape, const Decoder& decoder, const PromptFile& prompt) {
  const Form form = form_on(shape, decoder);
  if (shape == Shape::open || (shape == Shape::questions && form == Form::json)) return {};
  return {decoder.stack(), form == Form::value && !speaks_of_category(prompt)};
}

std::string not_applicable(Shape shape, const Decoder& decoder) {
  if (shape == Shape::open && !find_decoder(decoder.name()).free_running)
    return "fills the fields of a job, and an open prompt has none";
  return "";
}

std::string_view prompt_name(const DatasetEntry& entry, const Dataset& dataset) {
  if (entry.name != "jsonl") return entry.prompt;
  return dataset.shape == Shape::attributes  ? "attributes"
         : dataset.shape == Shape::questions ? "questions"
                                             : "open";
}

std::string_view prompt_name(const Job& job) {
  if (job.conversation) return "open";
  bool asks = false, chooses = true;
  for (const Context& context : job.contexts)
    for (const Field& field : context.fields) {
      asks = asks || !field.question.empty() || !field.choices.empty();
      chooses = chooses && !field.choices.empty();
    }
  return !asks ? "attributes" : chooses ? "choices" : "questions";
}

PromptFile worded_for(Job& job, PromptFile prompt, Form form) {
  if (job.instruction.empty()) {
    job.instruction = instruction_for(prompt, job.contexts, form);
    return prompt;
  }
  // The wording's own instruction names the fields; another instruction may not.
  if (form != Form::json || !prompt.listed.empty()) return prompt;
  for (const Context& context : job.contexts)
    for (const Field& field : context.fields)
      if (job.instruction.find(field.name) == std::string::npos) prompt.listed = "{entry}{choices}";
  return prompt;
}

Job empty_job(const DecodeOptions& options) {
  Job job;
  job.limits = options.limits();
  job.sampling = options.sampling();
  job.seed = options.seed;
  return job;
}

Job open_job(const std::string& id, const std::string& text, const DecodeOptions& options) {
  Job job = empty_job(options);
  job.id = id;
  job.contexts.push_back({"prompt", "", "", {{"answer", text, {}}}});
  return job;
}

PromptFile open_prompt() {
  PromptFile prompt;
  prompt.name = "open";
  prompt.field = "{question}{choices}";
  return prompt;
}

std::vector<std::vector<std::optional<std::string>>> references_of(
    const std::vector<const Example*>& examples) {
  std::vector<std::vector<std::optional<std::string>>> references;
  for (const Example* example : examples) {
    auto& fields = references.emplace_back();
    for (const auto& field : example->fields)
      fields.push_back(field.references.empty() ? std::nullopt
                                                : std::optional(field.references.front()));
  }
  return references;
}

}  // namespace pardec
