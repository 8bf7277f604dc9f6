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

/// Makes a job from the examples of one stack. `id`: the job's name (job_name). ConfigError: see
/// instruction_for and DecodeOptions::sampling; in json form also make_pieces. REQUIRES: there is
/// at least one example, and all of them have the same system message.
Job make_job(const std::string& id, const std::vector<const Example*>& examples, Form form,
             const Protocol& protocol, const DecodeOptions& options);
/// Makes a job and its request, which includes the token ids of the prompts. `words`: whether it
/// also includes the prompts as text. ConfigError: see make_job and make_pieces. RunError: see
/// Tokenizer. REQUIRES: see make_job.
Request make_request(const std::string& id, const std::vector<const Example*>& examples, Form form,
                     const Protocol& protocol, const DecodeOptions& options,
                     const ChatTemplate& chat, const Tokenizer& tokenizer, bool words = false);
/// The limits of an answer in this form, from `options` and the protocol.
Limits limits_on(const Protocol& protocol, Form form, const DecodeOptions& options);

/// The form of a decoder's prompts on data of this shape: free for open prompts, otherwise the
/// decoder's own form.
Form form_on(Shape shape, const Decoder& decoder);
/// How examples are combined into jobs.
struct Stacking {
  int examples = 1;                ///< maximum number of examples in one job
  bool across_categories = false;  ///< false: all examples of a job have the same category
};

/// How a decoder combines examples on data of this shape. The maximum number of examples is
/// Decoder::stack, with two exceptions. For open prompts, the maximum is 1. In json form, the
/// maximum is 1 if each text has its own questions, because in json form all texts of a job must
/// have the same fields. In value form, a job may mix categories, unless the instruction mentions
/// the category.
Stacking stacking_on(Shape shape, const Decoder& decoder, const PromptFile& prompt);
/// Why a decoder cannot run on data of this shape, as the end of a sentence about the decoder.
/// Empty: it can run.
std::string not_applicable(Shape shape, const Decoder& decoder);

/// The default prompt file for a dataset: a name in datasets/prompts.
std::string_view prompt_name(const DatasetEntry& entry, const Dataset& dataset);

/// The default prompt file for a Job. It depends on the kind of the fields: attributes, questions,
/// choices, or turns of a conversation.
std::string_view prompt_name(const Job& job);

/// Adapts a job and a prompt file to each other. If the job has no instruction, copies the
/// instruction of the prompt file to the job. In json form, if the job's own instruction does not
/// name every field, and the prompt file does not list the fields, the returned prompt file lists
/// them after their context. ConfigError: see instruction_for.
PromptFile worded_for(Job& job, PromptFile prompt, Form form);

/// A job without contexts, with the limits, sampling and seed of `options`. ConfigError: see
/// DecodeOptions::sampling.
Job empty_job(const DecodeOptions& options);

/// A job with one open prompt, `text`. ConfigError: see empty_job.
Job open_job(const std::string& id, const std::string& text, const DecodeOptions& options);

/// The first accepted answer of each field: [example][field]. None: the value is absent.
std::vector<std::vector<std::optional<std::string>>> references_of(
    const std::vector<const Example*>& examples);

/// The prompt file for open prompts: the user's content is the prompt, without any other text.
PromptFile open_prompt();

}  // namespace pardec
