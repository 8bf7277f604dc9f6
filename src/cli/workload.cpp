#include "src/cli/workload.hpp"

#include <CLI/CLI.hpp>

#include "metrics/decoding_metrics.hpp"
#include "src/model/device.hpp"
#include "src/prompt/chat_template.hpp"
#include "src/support/error.hpp"
#include "src/support/files.hpp"
#include "src/support/hashing.hpp"
#include "src/support/rng.hpp"
#include "src/support/text.hpp"

namespace pardec {

void ModelFlags::add_to(CLI::App& app) {
  app.add_option("--model", model, "checkpoint folder (Hugging Face layout)")->type_name("DIR");
  app.add_option("--draft-model", draft_model,
                 "checkpoint folder of the network that guesses for decoder speculative")
      ->type_name("DIR");
  app.add_option(
         "--dtype", dtype,
         "compute in fp32 or bf16; int8 and nf4: in bf16 with the layers' weights quantised "
         "(CPU)")
      ->capture_default_str()
      ->type_name("TYPE");
  app.add_option("--device", device, "cpu, cuda or cuda:I")
      ->capture_default_str()
      ->type_name("DEVICE");
  app.add_flag("--no-cuda-graphs", no_cuda_graphs,
               "launch a GPU's small steps kernel by kernel, in place of recordings of them; the "
               "arithmetic is the same");
  app.add_option("--threads", threads, "CPU threads; 0: all cores")
      ->capture_default_str()
      ->type_name("N");
  app.add_option("--memory-limit", memory_limit,
                 "memory that weights, KV cache and program may take, e.g. 4G or 900MiB; of the "
                 "GPU's with --device cuda")
      ->type_name("SIZE");
}

void DecodeFlags::add_to(CLI::App& app) {
  app.add_option("--seed", seed, "seed of sampling and of --limit")
      ->capture_default_str()
      ->type_name("N");
  app.add_option("--temperature", temperature, "0: greedy")->capture_default_str()->type_name("X");
  app.add_option("--top-k", top_k, "sample among the k likeliest; 0: all")
      ->capture_default_str()
      ->type_name("N");
  app.add_option("--top-p", top_p, "sample among the likeliest that make up p")
      ->capture_default_str()
      ->type_name("X");
  app.add_option("--max-new-tokens", max_new_tokens,
                 "ids chosen for one answer at most, by all its threads and branches together")
      ->capture_default_str()
      ->type_name("N");
  app.add_option("--per-field", per_field,
                 str("ids chosen for one field at most, where fields are answered one by one; "
                     "without it the dataset's limit (run --dry-run shows it), else ",
                     Limits{}.per_field))
      ->type_name("N");
  app.add_flag("--ignore-eos", ignore_eos, "go on after the end of sequence, up to the limit");
  app.add_option("--chat-template", chat_template,
                 str("markup around the prompt: auto (the checkpoint's own, or what train taught, "
                     "else plain), ",
                     join(chat_template_names(), ", ")))
      ->capture_default_str()
      ->type_name("NAME");
  app.add_option("--chat-set", chat_set,
                 "a variable of the checkpoint's own chat template, e.g. enable_thinking=false; "
                 "repeatable")
      ->type_name("KEY=VALUE");
  app.add_option("--prompt-file", prompt_file,
                 "wording of the task: a name in datasets/prompts or a file; else the model's own "
                 "(MODEL/prompts), else the dataset's")
      ->type_name("FILE");
}

Sampling DecodeFlags::sampling() const {
  const Sampling sampling{temperature, top_k, top_p};
  if (!(temperature >= 0))
    throw ConfigError(str("--temperature is ", temperature, ", expected 0 (greedy) or more"));
  if (top_k < 0) throw ConfigError(str("--top-k is ", top_k, ", expected 0 (off) or more"));
  if (!(top_p > 0 && top_p <= 1))
    throw ConfigError(str("--top-p is ", top_p, ", expected above 0 and at most 1"));
  if (max_new_tokens < 1)
    throw ConfigError(str("--max-new-tokens is ", max_new_tokens, ", expected at least 1"));
  if (per_field.value_or(1) < 1)
    throw ConfigError(str("--per-field is ", *per_field, ", expected at least 1"));
  return sampling;
}

Tokenizer load_tokenizer(const std::filesystem::path& folder, const ModelConfig& config) {
  if (std::error_code ignored; !std::filesystem::exists(folder / "tokenizer.json", ignored))
    throw ModelError(folder.string(),
                     "has no tokenizer.json, expected one (only generate --prompt-tokens works "
                     "without)");
  Tokenizer tokenizer = Tokenizer::load(folder / "tokenizer.json");
  if (tokenizer.vocab_size() > config.vocab_size)
    throw ModelError(
        (folder / "tokenizer.json").string(),
        str("has ids up to ", tokenizer.vocab_size() - 1, ", the network's vocabulary ends at ",
            config.vocab_size - 1, "; expected a tokenizer that belongs to this network"));
  return tokenizer;
}

namespace {

/// The record of `train`; null where there is none.
Json training_record(const std::filesystem::path& folder) {
  std::error_code ignored;
  const std::filesystem::path file = folder / kTrainingRecord;
  return std::filesystem::exists(file, ignored) ? read_json(file) : Json();
}

/// A text of the record; empty: it has none.
std::string recorded(const Json& record, const char* pointer) {
  const Json::json_pointer at(pointer);
  const Json value = record.is_object() ? record.value(at, Json()) : Json();
  return value.is_string() ? value.get<std::string>() : "";
}

/// The formats in the record of `train`, where there is one.
std::optional<std::vector<std::string>> formats_taught(const std::filesystem::path& folder) {
  const std::filesystem::path file = folder / kTrainingRecord;
  const Json record = training_record(folder);
  if (record.is_null()) return std::nullopt;
  if (record.contains("/settings/medusa"_json_pointer))
    return std::nullopt;  // extra heads alone, over a network that has a record of its own
  const Json formats =
      record.is_object() ? record.value("/settings/format"_json_pointer, Json()) : Json();
  if (!formats.is_array() || !std::all_of(formats.begin(), formats.end(),
                                          [](const Json& name) { return name.is_string(); }))
    throw ModelError(file.string(),
                     "has no settings.format of names, expected the record of `train`");
  return formats.get<std::vector<std::string>>();
}

}  // namespace

Checkpoint load_checkpoint(const ModelFlags& flags, bool with_tokenizer) {
  if (flags.model.empty())
    throw ConfigError("no model was named; give --model DIR ('pardec model synth' makes one)");
  const std::filesystem::path folder = flags.model;
  const Dtype dtype = parse_dtype(flags.dtype);
  if (flags.threads < 0)
    throw ConfigError(str("--threads is ", flags.threads, ", expected 0 (all cores) or more"));
  set_threads(flags.threads);
  std::error_code ignored;
  if (!std::filesystem::is_directory(folder, ignored))
    throw ModelError(
        flags.model,
        str(std::filesystem::exists(folder, ignored) ? "is no folder" : "does not exist",
            ", expected a checkpoint folder (config.json, model.safetensors, tokenizer.json)"));
  const ModelConfig config = read_model_config(folder);
  // What is small is read first, so that a mistake shows before the weights are loaded.
  std::optional<Tokenizer> tokenizer;
  if (with_tokenizer) tokenizer = load_tokenizer(folder, config);
  const bool untrained = std::filesystem::exists(folder / kSynthesisNote, ignored);
  return {
      folder,
      untrained ? "untrained: random weights, its values are noise" : "",
      untrained,
      formats_taught(folder),
      std::move(tokenizer),
      Model::load(folder,
                  {.dtype = dtype, .device = flags.device, .cuda_graphs = !flags.no_cuda_graphs})};
}

ChatTemplate template_for(const std::string& name, const std::filesystem::path& model,
                          const std::vector<std::string>& settings) {
  ChatTemplate chat = choose_chat_template(name, model, settings);
  if (name == "auto" && chat.name() != "checkpoint") {
    const std::string taught = recorded(training_record(model), "/settings/chat_template");
    const std::vector<std::string> known = chat_template_names();
    if (std::find(known.begin(), known.end(), taught) != known.end())
      return find_chat_template(taught);
  }
  return chat;
}

std::string taught_otherwise(const std::filesystem::path& model, const ChatTemplate& chat,
                             const PromptFile* wording) {
  const Json record = training_record(model);
  std::vector<std::string> parts;
  const std::string taught = recorded(record, "/settings/chat_template"),
                    text = recorded(record, "/chat_template_sha256"),
                    words = recorded(record, "/prompt_sha256");
  if (!taught.empty() && taught != chat.name())
    parts.push_back(str("chat template ", taught, ", prompts are in ", chat.name()));
  else if (!text.empty() && text != sha256(chat.text()))
    parts.push_back(str("chat template ", taught, " of another text than the one here"));
  if (wording && !words.empty() && words != sha256(wording->content))
    parts.push_back(str("another wording than ", wording->name));
  return parts.empty() ? "" : "the network was taught with " + join(parts, ", and ");
}

bool untrained_for(const Checkpoint& checkpoint, std::string_view decoder) {
  if (checkpoint.untrained) return true;
  if (!find_decoder(decoder).trained || !checkpoint.formats) return false;
  return std::none_of(checkpoint.formats->begin(), checkpoint.formats->end(),
                      [&](const std::string& format) { return format.starts_with(decoder); });
}

std::optional<CheckpointFace> read_face(const std::string& model) {
  std::error_code ignored;
  const std::filesystem::path folder = model;
  if (!std::filesystem::is_directory(folder, ignored)) return std::nullopt;
  CheckpointFace face{read_model_config(folder), std::nullopt};
  if (std::filesystem::exists(folder / "tokenizer.json", ignored))
    face.tokenizer = load_tokenizer(folder, face.config);
  return face;
}

Needs needs_of(const Decoder& decoder, const CheckpointFace* face, const std::string& draft_model) {
  std::vector<std::string> parts;
  if (decoder.drafts_with_model())
    parts.push_back(draft_model.empty() ? "a draft model (--draft-model)"
                                        : "draft model " + draft_model);
  if (face) try {
      const std::string found =
          decoder.needs(face->tokenizer ? &*face->tokenizer : nullptr, face->config);
      if (!found.empty()) parts.push_back(found);
    } catch (const ConfigError& error) {
      return {error.what(), true};
    }
  return {parts.empty() ? "-" : join(parts, ", "), false};
}

void check_draft_flag(const ModelFlags& flags, bool needed) {
  if (needed && flags.draft_model.empty())
    throw ConfigError(
        "decoder speculative needs a draft network; give --draft-model DIR with a smaller network "
        "of the same tokenizer");
  if (!needed && !flags.draft_model.empty())
    throw ConfigError(str("--draft-model is '", flags.draft_model,
                          "', but no decoder drafts with a network; expected decoder speculative"));
}

namespace {

/// ModelError where ids of the two networks do not stand for the same tokens. Where a folder has no
/// tokenizer the vocabularies' sizes alone can be compared.
void check_same_vocabulary(const std::filesystem::path& draft, const ModelConfig& draft_config,
                           const std::filesystem::path& target, const ModelConfig& target_config) {
  const auto file = [](const std::filesystem::path& folder) { return folder / "tokenizer.json"; };
  std::error_code ignored;
  if (!std::filesystem::exists(file(draft), ignored) ||
      !std::filesystem::exists(file(target), ignored)) {
    if (draft_config.vocab_size != target_config.vocab_size)
      throw ModelError(
          draft.string(),
          str("has another vocabulary: ", draft_config.vocab_size, " ids, ", target.string(),
              " has ", target_config.vocab_size, "; a draft network must share the tokenizer"));
    return;
  }
  if (read_file(file(draft)) == read_file(file(target))) return;
  const Tokenizer ours = load_tokenizer(draft, draft_config),
                  theirs = load_tokenizer(target, target_config);
  for (Token id = 0; id < std::max(ours.vocab_size(), theirs.vocab_size()); ++id)
    if (ours.token(id) != theirs.token(id))
      throw ModelError(file(draft).string(),
                       str("has another vocabulary: id ", id, " is '", ours.token(id), "', in ",
                           file(target).string(), " it is '", theirs.token(id),
                           "'; a draft network must share the tokenizer"));
}

}  // namespace

std::optional<Checkpoint> load_draft(const ModelFlags& flags, const Checkpoint& target,
                                     bool needed) {
  if (!needed) return std::nullopt;
  ModelFlags draft = flags;
  draft.model = flags.draft_model;
  const std::filesystem::path folder = flags.draft_model;
  if (std::error_code ignored; std::filesystem::is_directory(folder, ignored))
    check_same_vocabulary(folder, read_model_config(folder), target.folder, target.model.config());
  return load_checkpoint(draft, false);
}

Job make_job(const std::string& id, const std::vector<const Example*>& examples, Form form,
             const Protocol& protocol, const DecodeFlags& flags) {
  Job job;
  job.id = id;
  if (form == Form::value) job.shots = protocol.shots;
  for (const Example* example : examples) {
    Context context{example->id, example->category, example->text, {}};
    for (const auto& field : example->fields)
      context.fields.push_back({field.name, field.question, field.choices});
    job.contexts.push_back(std::move(context));
  }
  job.conversation = examples.size() == 1 && examples.front()->conversation;
  job.instruction = instruction_for(protocol.prompt, job.contexts, form);
  job.limits = limits_on(protocol, form, flags);
  job.sampling = flags.sampling();
  job.seed = flags.seed;
  return job;
}

Request make_request(const std::string& id, const std::vector<const Example*>& examples, Form form,
                     const Protocol& protocol, const DecodeFlags& flags, const ChatTemplate& chat,
                     const Tokenizer& tokenizer) {
  Request request;
  request.form = form;
  request.job = make_job(id, examples, form, protocol, flags);
  request.pieces = make_pieces(request.job, form, protocol.prompt, chat, tokenizer);
  return request;
}

Limits limits_on(const Protocol& protocol, Form form, const DecodeFlags& flags) {
  return flags.limits(form == Form::value ? protocol.answer_ids : 0);
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
  // The wording's own instruction names the fields, which another one may not.
  if (form != Form::json || !prompt.listed.empty()) return prompt;
  for (const Context& context : job.contexts)
    for (const Field& field : context.fields)
      if (job.instruction.find(field.name) == std::string::npos)
        prompt.listed = "{entry}{choices}";
  return prompt;
}

namespace {

/// The answer of a turn as the next prompt has it: as it was chosen, where that is its text.
Tokens spoken(const FieldResult& answer, const Tokenizer* tokenizer) {
  Tokens tokens = answer.tokens;
  if (answer.stop == Stop::eos && !tokens.empty()) tokens.pop_back();
  const std::string text = answer.text.value_or("");
  if (!tokenizer || repair_utf8(bytes_of(tokens, *tokenizer)) == text) return tokens;
  return tokenizer->encode_piece(text, false);
}

/// One turn of a conversation as a request of its own, behind `said`.
Request turn_request(const Request& request, size_t turn, Tokens said) {
  Request one = request;
  const auto& fields = request.job.contexts[0].fields;
  one.job.conversation = false;
  one.job.id = str(request.job.id, "/turn-", turn + 1);
  one.job.seed = derive_seed(request.job.seed, one.job.id);
  one.job.contexts[0].fields = {fields[turn]};
  one.pieces.fields = {{request.pieces.fields[0][turn]}};
  if (turn > 0) {
    one.job.instruction.clear();
    one.job.contexts[0].text.clear();
    one.pieces.said = said;
    one.pieces.turn_opening = request.pieces.next_turn;
    one.pieces.prefix = std::move(said);
    one.pieces.contexts = {Tokens{}};
  }
  if (request.oracle) one.oracle = Oracle{{request.oracle->streams.at(turn)}, {}};
  return one;
}

/// Counts of a turn that came behind others: times add up, and the cache held at most so much.
void add_turn(Counters& counters, const Counters& turn) {
  const Counters before = counters;
  counters += turn;
  counters.prefill_ns = before.prefill_ns + turn.prefill_ns;
  counters.decode_ns = before.decode_ns + turn.decode_ns;
  counters.total_ns = before.total_ns + turn.total_ns;
  counters.draft_ns = before.draft_ns + turn.draft_ns;
  counters.parallel_ns = before.parallel_ns + turn.parallel_ns;
  counters.cached_peak = std::max(before.cached_peak, turn.cached_peak);
}

Task<Answers> decode_conversation(const Decoder& decoder, const Request& request,
                                  const DecoderContext& context) {
  Answers answers;
  answers.fields.emplace_back();
  answers.parsed = {true};
  Tokens said;
  for (size_t turn = 0; turn < request.pieces.fields[0].size(); ++turn) {
    const Request one = turn_request(request, turn, std::move(said));
    Answers answer = co_await decoder.decode(one, context);
    FieldResult& field = answer.fields[0][0];
    said = one.pieces.field_prompt(0, 0);
    const Tokens ids = spoken(field, context.tokenizer);
    said.insert(said.end(), ids.begin(), ids.end());
    answers.text += (turn ? "\n\n" : "") + answer.text;
    answers.stop = answer.stop;
    if (turn == 0)
      answers.counters = std::move(answer.counters);
    else
      add_turn(answers.counters, answer.counters);
    answers.fields[0].push_back(std::move(field));
  }
  co_return answers;
}

}  // namespace

Task<Answers> decode_request(const Decoder& decoder, const Request& request,
                             const DecoderContext& context) {
  return request.job.conversation ? decode_conversation(decoder, request, context)
                                  : decoder.decode(request, context);
}

int turns_off_text(const Request& request, const Answers& answers, const Tokenizer& tokenizer) {
  if (!request.job.conversation) return 0;
  std::vector<Spoken> said;
  for (const FieldResult& answer : answers.fields[0])
    said.push_back({spoken(answer, &tokenizer), answer.text.value_or("")});
  return turns_off_text(request.pieces, said, tokenizer);
}

std::string describe_turns_off(std::int64_t turns) {
  return str("prompts: ", turns, turns == 1 ? " later turn was" : " later turns were",
             " asked behind other ids than those of the conversation tokenized as one text: an "
             "answer keeps the ids that it was chosen with");
}

Job open_job(const std::string& id, const std::string& text, const DecodeFlags& flags) {
  Job job;
  job.id = id;
  job.contexts.push_back({"prompt", "", "", {{"answer", text, {}}}});
  job.limits = flags.limits();
  job.sampling = flags.sampling();
  job.seed = flags.seed;
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

OrderedJson answers_json(const Job& job, const Decoder& decoder, const Answers& answers) {
  OrderedJson fields = OrderedJson::array();
  for (size_t c = 0; c < answers.fields.size(); ++c)
    for (size_t f = 0; f < answers.fields[c].size(); ++f) {
      const FieldResult& field = answers.fields[c][f];
      fields.push_back({{"context", job.contexts[c].id},
                        {"field", job.contexts[c].fields[f].name},
                        {"text", field.text ? OrderedJson(*field.text) : OrderedJson()},
                        {"tokens", field.tokens},
                        {"stop", name(field.stop)}});
    }
  const Counters& c = answers.counters;
  OrderedJson counters = to_json(c);
  if (c.generated > 0) {
    const ParallelCounts counts{c.generated,      c.branch_tokens, c.groups,
                                c.group_branches, c.decode_ns,     c.parallel_ns};
    const ParallelMetrics of = parallel_metrics(std::span(&counts, 1));
    counters.update({{"dp", of.dp}, {"abn", of.abn}, {"tps", of.tps}, {"p_tps", of.p_tps}});
  }
  return {{"id", job.id},        {"decoder", decoder.name()}, {"options", decoder.options()},
          {"answers", fields},   {"text", answers.text},      {"tokens", answers.tokens},
          {"counters", counters}};
}

}  // namespace pardec
