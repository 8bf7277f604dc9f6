#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "datasets/dataset.hpp"
#include "decoders/decoder.hpp"
#include "src/cli/arms.hpp"
#include "src/cli/plan.hpp"
#include "src/cli/protocol.hpp"
#include "src/prompt/chat_template.hpp"
#include "src/prompt/prompt_file.hpp"
#include "src/support/json.hpp"

namespace CLI {
class App;
}

namespace pardec {

/// Which network, and how it computes: the flags that `run` and `generate` share.
struct ModelFlags {
  std::string model, draft_model, dtype = "fp32", device = "cpu", memory_limit;
  int threads = 0;
  bool no_cuda_graphs = false;
  void add_to(CLI::App& app);
};

/// How answers are made: the flags that `run` and `generate` share.
struct DecodeFlags {
  double temperature = 0, top_p = 1;
  int top_k = 0, max_new_tokens = Limits{}.max_new_tokens;
  std::optional<int> per_field;  ///< none: what is asked says
  std::uint64_t seed = 1;
  bool ignore_eos = false;
  std::string chat_template = "auto", prompt_file;
  std::vector<std::string> chat_set;
  void add_to(CLI::App& app);
  /// `answer_ids`: a field's limit where the flags give none; 0: as elsewhere.
  Limits limits(int answer_ids = 0) const {
    return {max_new_tokens, per_field.value_or(answer_ids > 0 ? answer_ids : Limits{}.per_field)};
  }
  /// ConfigError for values that make no distribution.
  Sampling sampling() const;
};

/// A checkpoint folder, loaded.
struct Checkpoint {
  std::filesystem::path folder;
  std::string
      note;  ///< what a reader of the run should know, e.g. that weights are random; may be empty
  bool untrained = false;
  std::optional<std::vector<std::string>> formats;  ///< that pardec taught it; none: not known
  std::optional<Tokenizer> tokenizer;
  Model model;
};

/// Whether a decoder's answers on it are noise: random weights, or a network that pardec trained,
/// but not in this decoder's format.
bool untrained_for(const Checkpoint& checkpoint, std::string_view decoder);

/// Loads the network, and its tokenizer.json unless told not to. ModelError.
Checkpoint load_checkpoint(const ModelFlags& flags, bool with_tokenizer);

/// ConfigError where --draft-model was given and no decoder drafts with a network, or the other way
/// round.
void check_draft_flag(const ModelFlags& flags, bool needed);

/// What can be seen of a checkpoint without its weights.
struct CheckpointFace {
  ModelConfig config;
  std::optional<Tokenizer> tokenizer;  ///< none: it has no tokenizer.json
};
/// None where no model is named, or its folder is not there. ModelError for files that are wrong.
std::optional<CheckpointFace> read_face(const std::string& model);

/// What a decoder needs besides the network's weights.
struct Needs {
  std::string text;      ///< with what was found of it; "-": nothing
  bool lacking = false;  ///< the checkpoint has it not, as `text` says
};
/// As far as can be said without weights. `face` null: the network is not known.
Needs needs_of(const Decoder& decoder, const CheckpointFace* face, const std::string& draft_model);

/// Loads the network of --draft-model, where needed, beside the one that it drafts for. ModelError
/// where the two have not the same vocabulary.
std::optional<Checkpoint> load_draft(const ModelFlags& flags, const Checkpoint& target,
                                     bool needed);

/// The tokenizer alone. ModelError when ids of it lie outside the network's vocabulary.
Tokenizer load_tokenizer(const std::filesystem::path& folder, const ModelConfig& config);

/// What `train` writes beside the weights that it made.
inline constexpr const char* kTrainingRecord = "training.json";
/// The template that --chat-template and --chat-set name; `auto` is the checkpoint's own, else what
/// `train` taught the network (its record), else `plain`. ConfigError; ModelError: the record.
ChatTemplate template_for(const std::string& name, const std::filesystem::path& model,
                          const std::vector<std::string>& settings);

/// Where a prompt's markup, or the wording of a task that was taught (`wording` not null), is not
/// what `train` taught the network: what the two are. Empty: they agree, or nothing is known.
std::string taught_otherwise(const std::filesystem::path& model, const ChatTemplate& chat,
                             const PromptFile* wording);

/// A file beside the weights that `model synth` writes: these weights are random.
inline constexpr const char* kSynthesisNote = "pardec_synthesis.json";

/// A job over the examples of one stack, asked for in `form`.
Job make_job(const std::string& id, const std::vector<const Example*>& examples, Form form,
             const Protocol& protocol, const DecodeFlags& flags);
/// The same with its ids.
Request make_request(const std::string& id, const std::vector<const Example*>& examples, Form form,
                     const Protocol& protocol, const DecodeFlags& flags, const ChatTemplate& chat,
                     const Tokenizer& tokenizer);
/// What `flags` allow an answer that is asked for in `form`.
Limits limits_on(const Protocol& protocol, Form form, const DecodeFlags& flags);

/// The form in which `decoder` is asked on data of this shape: its own, or freely on open prompts.
Form form_on(Shape shape, const Decoder& decoder);
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

/// A request as it is decoded: a conversation turn by turn, each behind the answers so far; its
/// answer has one field a turn, and the counts of all turns. REQUIRES: all outlive the task.
Task<Answers> decode_request(const Decoder& decoder, const Request& request,
                             const DecoderContext& context);

/// Of a conversation's answers; 0 for anything else.
int turns_off_text(const Request& request, const Answers& answers, const Tokenizer& tokenizer);
/// That there were so many, for a reader.
std::string describe_turns_off(std::int64_t turns);

/// A job whose one open prompt is `text`.
Job open_job(const std::string& id, const std::string& text, const DecodeFlags& flags);

/// The first accepted answer of each field of each example; empty: absent.
std::vector<std::vector<std::optional<std::string>>> references_of(
    const std::vector<const Example*>& examples);

/// Answers as the contract of `generate --format json` has them.
OrderedJson answers_json(const Job& job, const Decoder& decoder, const Answers& answers);

/// The task wording for open prompts: the prompt itself.
PromptFile open_prompt();

}  // namespace pardec
