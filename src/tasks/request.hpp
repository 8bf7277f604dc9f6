#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "datasets/dataset.hpp"
#include "decoders/decoder.hpp"
#include "src/prompt/chat_template.hpp"
#include "src/prompt/prompt_file.hpp"
#include "src/tasks/decode_options.hpp"
#include "src/tasks/protocol.hpp"

namespace pardec {

/// A job over the examples of one stack, asked for in `form`.
Job make_job(const std::string& id, const std::vector<const Example*>& examples, Form form,
             const Protocol& protocol, const DecodeOptions& options);
/// The same with its ids.
Request make_request(const std::string& id, const std::vector<const Example*>& examples, Form form,
                     const Protocol& protocol, const DecodeOptions& options,
                     const ChatTemplate& chat, const Tokenizer& tokenizer);
/// What `options` allow an answer that is asked for in `form`.
Limits limits_on(const Protocol& protocol, Form form, const DecodeOptions& options);

/// The form in which `decoder` is asked on data of this shape: its own, or freely on open prompts.
Form form_on(Shape shape, const Decoder& decoder);
/// How an arm forms its jobs.
struct Stacking {
  int examples = 1;                ///< in one job at most
  bool across_categories = false;  ///< false: those of one job have one category
};

/// How it forms jobs there: its stack of examples; one where a job has one list of fields for all,
/// and each text questions of its own, and of open prompts. Fields that are asked one by one need
/// no common category, but where the instruction speaks of it.
Stacking stacking_on(Shape shape, const Decoder& decoder, const PromptFile& prompt);
/// Why the decoder cannot run on data of this shape, and what can be done; empty: it can.
std::string not_applicable(Shape shape, const Decoder& decoder);

/// The wording that a dataset's jobs have by default: a name in datasets/prompts.
std::string_view prompt_name(const DatasetEntry& entry, const Dataset& dataset);

/// The same of a Job by the shape of its fields: attributes, questions, choices, or a
/// conversation's turns.
std::string_view prompt_name(const Job& job);

/// `prompt` as it asks for all of the Job: its instruction where the Job has none, and fields that
/// the Job's own does not name listed beside their context.
PromptFile worded_for(Job& job, PromptFile prompt, Form form);

/// A job that asks for nothing yet, with the limits, sampling and seed of `options`.
Job empty_job(const DecodeOptions& options);

/// A job whose one open prompt is `text`.
Job open_job(const std::string& id, const std::string& text, const DecodeOptions& options);

/// The first accepted answer of each field of each example; empty: absent.
std::vector<std::vector<std::optional<std::string>>> references_of(
    const std::vector<const Example*>& examples);

/// The task wording for open prompts: the prompt itself.
PromptFile open_prompt();

}  // namespace pardec
