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

/// A job for the examples of one stack, asked in `form`.
Job make_job(const std::string& id, const std::vector<const Example*>& examples, Form form,
             const Protocol& protocol, const DecodeOptions& options);
/// Same, with token ids. `words`: also with its prompts in words.
Request make_request(const std::string& id, const std::vector<const Example*>& examples, Form form,
                     const Protocol& protocol, const DecodeOptions& options,
                     const ChatTemplate& chat, const Tokenizer& tokenizer, bool words = false);
/// The limits of an answer in `form`, from `options` and the protocol.
Limits limits_on(const Protocol& protocol, Form form, const DecodeOptions& options);

/// The form in which `decoder` is asked on data of this shape: its own form, or free for open
/// prompts.
Form form_on(Shape shape, const Decoder& decoder);
/// How an arm forms its jobs.
struct Stacking {
  int examples = 1;                ///< maximum number in one job
  bool across_categories = false;  ///< false: all examples of a job have the same category
};

/// How a decoder forms jobs on data of this shape. The maximum number of examples is the decoder's
/// own (Decoder::stack). It is 1 for open prompts. In json form, all texts of a job share one list
/// of fields; so it is also 1 if each text has its own questions. Jobs whose fields are asked one
/// by one may mix categories, unless the instruction mentions the category.
Stacking stacking_on(Shape shape, const Decoder& decoder, const PromptFile& prompt);
/// Why the decoder cannot run on data of this shape, and what can be done; empty: it can.
std::string not_applicable(Shape shape, const Decoder& decoder);

/// The default wording for a dataset's jobs: a name in datasets/prompts.
std::string_view prompt_name(const DatasetEntry& entry, const Dataset& dataset);

/// The default wording for a Job, by the kind of its fields: attributes, questions, choices, or a
/// conversation's turns.
std::string_view prompt_name(const Job& job);

/// Adapts `prompt` and the job to each other: a job without an instruction gets the prompt's. If
/// the job's own instruction does not name all fields, the prompt lists them next to their context.
PromptFile worded_for(Job& job, PromptFile prompt, Form form);

/// A job without contexts, with the limits, sampling and seed of `options`.
Job empty_job(const DecodeOptions& options);

/// A job whose only open prompt is `text`.
Job open_job(const std::string& id, const std::string& text, const DecodeOptions& options);

/// The first accepted answer of each field of each example; empty: absent.
std::vector<std::vector<std::optional<std::string>>> references_of(
    const std::vector<const Example*>& examples);

/// The task wording for open prompts: the prompt itself.
PromptFile open_prompt();

}  // namespace pardec
