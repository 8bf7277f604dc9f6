// `pardec generate`: one prompt or Job (or a file of them) through one decoder.
#include <fstream>
#include <iostream>
#include <memory>
#include <set>

#include "src/cli/command_line.hpp"
#include "src/cli/memory_plan.hpp"
#include "src/cli/project_files.hpp"
#include "src/cli/traces.hpp"
#include "src/cli/watch.hpp"
#include "src/cli/workload.hpp"
#include "src/model/profile.hpp"
#include "src/report/table.hpp"
#include "src/support/error.hpp"
#include "src/support/files.hpp"
#include "src/support/rng.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

struct GenerateFlags {
  ModelFlags model;
  DecodeFlags decode;
  std::string decoder = kPlainDecoder, job, prompt_tokens, format = "text", trace, from_trace;
  std::optional<std::string> prompt;  ///< an empty one is a prompt, too
  std::vector<std::string> set;
  int batch_size = 1, pace_ms = 0;
  bool watch = false, profile = false;
};

/// Where the time of `wall_ns` went, in one line on stderr.
void print_profile(const Profile& profile, std::int64_t wall_ns) {
  const auto share = [&](const char* what, std::int64_t ns) {
    const double percent = 100.0 * static_cast<double>(ns) / static_cast<double>(wall_ns);
    return str(what, " ", number_cell(percent, 2).text, " %");
  };
  std::cerr << "profile: " << number_cell(static_cast<double>(wall_ns) * 1e-9, 3).text
            << " s: " << share("linear", profile.linear_ns) << ", "
            << share("attention", profile.attention_ns) << ", "
            << share("norm and rope", profile.rows_ns) << ", "
            << share("logit reduction", profile.logits_ns) << ", "
            << share("rest", wall_ns - profile.sum()) << "\n";
}

/// `1,2,3`, or `@FILE` with one such list a line.
std::vector<Tokens> parse_token_lists(const std::string& text) {
  std::vector<std::string> lines{text};
  if (text.rfind('@', 0) == 0) {
    lines = split(read_file(text.substr(1)), '\n');
    while (!lines.empty() && strip(lines.back()).empty()) lines.pop_back();
    if (lines.empty())
      throw ConfigError(str("--prompt-tokens: ", text.substr(1),
                            " is empty, expected token ids such as 1,2,3, one list a line"));
  }
  std::vector<Tokens> lists;
  for (size_t i = 0; i < lines.size(); ++i) {
    Tokens ids;
    for (const auto& item : split(strip(lines[i]).empty() ? std::string() : lines[i], ',')) {
      const std::string number(strip(item));
      size_t used = 0;
      long id = -1;
      try {
        id = std::stol(number, &used);
      } catch (const std::exception&) {
        used = 0;
      }
      if (used == 0 || used != number.size() || id < 0 || id > 0x7FFFFFFF)
        throw ConfigError(str("--prompt-tokens", lines.size() > 1 ? str(" line ", i + 1) : "",
                              ": '", number, "' is no token id, expected ids such as 1,2,3"));
      ids.push_back(static_cast<Token>(id));
    }
    lists.push_back(std::move(ids));
  }
  return lists;
}

/// One Job, or one a line in a .jsonl file.
std::vector<Job> read_jobs(const std::string& file) {
  if (!file.ends_with(".jsonl")) return {parse_job(read_json(file), file)};
  std::vector<Job> jobs;
  long line = 0;
  for (const auto& text : split(read_file(file), '\n')) {
    ++line;
    if (!strip(text).empty())
      jobs.push_back(parse_job(parse_json(text, file, line), str(file, ":", line)));
  }
  return jobs;
}

/// Draws stored traces, pass by pass, in place of decoding.
int draw_traces(const GenerateFlags& flags) {
  if (!flags.job.empty() || flags.prompt || !flags.prompt_tokens.empty() ||
      !flags.trace.empty())
    throw ConfigError(
        "--from-trace draws what was decoded; expected none of --job, --prompt, --prompt-tokens "
        "and --trace beside it");
  std::optional<Tokenizer> tokenizer;
  if (!flags.model.model.empty())
    tokenizer = load_tokenizer(flags.model.model, read_model_config(flags.model.model));
  for (const Trace& trace : read_traces(flags.from_trace)) {
    if (trace.step.empty()) continue;
    Watch watch(stderr, tokenizer ? &*tokenizer : nullptr, is_greedy(trace), flags.pace_ms);
    for (size_t row = 0; trace.step[row] < trace.step.back(); ++row)
      if (trace.step[row] != trace.step[row + 1])
        watch.show(until(trace, trace.step[row]), false);
    watch.show(trace, true);
  }
  return 0;
}

int generate(const GenerateFlags& flags) {
  if (flags.pace_ms < 0)
    throw ConfigError(str("--pace is ", flags.pace_ms, ", expected 0 or more"));
  if (!flags.watch && (flags.pace_ms > 0 || !flags.from_trace.empty()))
    throw ConfigError(str(flags.pace_ms > 0 ? "--pace" : "--from-trace",
                          " says how --watch draws; expected --watch beside it"));
  if (!flags.from_trace.empty()) return draw_traces(flags);
  const int given = !flags.job.empty() + flags.prompt.has_value() + !flags.prompt_tokens.empty();
  if (given != 1)
    throw ConfigError(str(given ? "more than one" : "none",
                          " of --job, --prompt and --prompt-tokens was given, expected one"));
  if (flags.format != "json" && flags.format != "text")
    throw ConfigError(str("--format is '", flags.format, "', expected text or json"));
  if (flags.batch_size < 1)
    throw ConfigError(str("--batch-size is ", flags.batch_size, ", expected at least 1"));
  const DecoderEntry& entry = find_decoder(flags.decoder);
  const bool open = flags.job.empty();
  if (open && !entry.free_running)
    throw ConfigError(
        str("decoder ", entry.name,
            " fills the fields of a Job and takes no open prompt; give --job FILE.json"));
  const Arm arm = make_arms({flags.decoder}, {}, flags.set, flags.batch_size).front();
  const auto decoder = make_decoder(arm.decoder, arm.options);
  flags.decode.sampling();
  check_draft_flag(flags.model, decoder->drafts_with_model());

  std::vector<Request> requests;
  check_chat_template(flags.decode.chat_template, flags.decode.chat_set);
  const ChatTemplate chat = flags.prompt_tokens.empty()
                                ? template_for(flags.decode.chat_template, flags.model.model,
                                               flags.decode.chat_set)
                                : find_chat_template("plain");
  std::vector<Tokens> token_lists;
  if (!flags.prompt_tokens.empty()) token_lists = parse_token_lists(flags.prompt_tokens);
  std::vector<Job> jobs;
  if (!flags.job.empty()) jobs = read_jobs(flags.job);

  CacheBudget cache;
  if (!flags.model.memory_limit.empty() && read_face(flags.model.model)) {
    const MemoryPlan memory = plan_memory(flags.model, cache.block_rows);
    apply_limit(memory, flags.model, cache);
    std::cerr << "memory: " << describe(memory, cache) << "\n";
  }
  Checkpoint checkpoint = load_checkpoint(flags.model, token_lists.empty());
  std::optional<Checkpoint> draft =
      load_draft(flags.model, checkpoint, decoder->drafts_with_model());
  const SteadyClock clock;
  Engine engine(checkpoint.model, clock);
  engine.set_cache_budget(cache);
  engine.set_cascade(arm.cascade);
  const DecoderContext context{engine, checkpoint.tokenizer ? &*checkpoint.tokenizer : nullptr,
                               flags.decode.ignore_eos, draft ? &draft->model : nullptr};
  decoder->check(context);

  for (size_t i = 0; i < token_lists.size(); ++i) {
    for (const Token id : token_lists[i])
      if (id >= checkpoint.model.config().vocab_size)
        throw ConfigError(str("--prompt-tokens", token_lists.size() > 1 ? str(" line ", i + 1) : "",
                              ": id ", id, " is beyond the network's vocabulary, expected at most ",
                              checkpoint.model.config().vocab_size - 1));
    Pieces pieces;
    pieces.prefix = token_lists[i];
    pieces.contexts.emplace_back();
    pieces.fields.push_back({Tokens{}});
    Job job = open_job(str("prompt-", i + 1), "", flags.decode);
    if (i > 0) job.seed = derive_seed(job.seed, job.id);
    requests.push_back({std::move(job), Form::free, std::move(pieces), std::nullopt});
  }
  if (flags.prompt) jobs.push_back(open_job("prompt-1", *flags.prompt, flags.decode));
  std::set<std::string> notes;
  std::optional<PromptFile> wording;
  if (!decoder->wording().empty())
    wording = choose_prompt("", decoder->wording(), flags.model.model);
  std::vector<std::string> errors(token_lists.size());  // by request
  for (Job& job : jobs) {
    const Form form = open || job.conversation ? Form::free : decoder->form();
    if (job.conversation && !entry.free_running)
      throw ConfigError(str("decoder ", entry.name, " takes no conversation: it ",
                            not_applicable(Shape::open, *decoder)));
    PromptFile prompt =
        open && flags.decode.prompt_file.empty()
            ? open_prompt()
            : choose_prompt(flags.decode.prompt_file, prompt_name(job), flags.model.model);
    if (!open) prompt = worded_for(job, std::move(prompt), form);
    const bool taught_task = !open && prompt_name(job) == "attributes";
    notes.insert(taught_otherwise(flags.model.model, chat, taught_task ? &prompt : nullptr));
    requests.push_back({job, form, {}, std::nullopt, wording ? &*wording : nullptr});
    errors.emplace_back();
    try {
      requests.back().pieces = make_pieces(job, form, prompt, chat, *checkpoint.tokenizer);
    } catch (const std::exception& error) {
      if (jobs.size() == 1) throw;
      errors.back() = reason_of(error);
    }
  }

  for (const std::string& note : notes)
    if (!note.empty()) std::cerr << "model: " << note << "\n";

  std::unique_ptr<std::ofstream> trace;
  if (!flags.trace.empty()) {
    trace = open_trace(flags.trace, std::ios::trunc);
    engine.set_trace_sink([&](Trace t) {
      t.examples = {requests[static_cast<size_t>(t.task)].job.id};
      *trace << dump(to_json(t)) << "\n";
    });
  }

  std::optional<Watch> watch;
  if (flags.watch) {
    watch.emplace(stderr, checkpoint.tokenizer ? &*checkpoint.tokenizer : nullptr,
                  flags.decode.temperature == 0, flags.pace_ms);
    engine.set_watch([&](const Trace& t, bool ended) { watch->show(t, ended); });
  }

  // Answers come out in the order of the prompts, whenever they end; where somebody watches, when
  // the picture stands still.
  std::vector<std::optional<Answers>> answers(requests.size());
  size_t printed = 0;
  const auto print_ready = [&] {
    for (; printed < requests.size() && (answers[printed] || !errors[printed].empty()); ++printed) {
      if (!errors[printed].empty()) {
        std::cerr << "pardec: " << visible_text(errors[printed]) << "\n";
        continue;
      }
      const Answers& a = *answers[printed];
      if (flags.format == "json")
        std::cout << dump(answers_json(requests[printed].job, *decoder, a)) << "\n";
      else if (!checkpoint.tokenizer) {
        for (size_t t = 0; t < a.tokens.size(); ++t) std::cout << (t ? "," : "") << a.tokens[t];
        std::cout << "\n";
      } else
        std::cout << a.text << "\n";
      std::cout.flush();
    }
  };
  const auto run_one = [&](int i) -> Task<void> {
    const auto index = static_cast<size_t>(i);
    if (!errors[index].empty()) throw RunError(errors[index]);
    answers[index] = co_await decode_request(*decoder, requests[index], context);
  };
  Profile profile;
  if (flags.profile) checkpoint.model.set_profile(&profile);
  const std::int64_t begin = clock.now_ns();
  const std::int64_t printing_ns = engine.run(static_cast<int>(requests.size()), arm.batch_size,
                                              run_one, [&](int i, Task<void>& task) {
                                                try {
                                                  task.result();
                                                } catch (const std::exception& error) {
                                                  errors[static_cast<size_t>(i)] = reason_of(error);
                                                }
                                                if (!watch) print_ready();
                                              });
  const std::int64_t wall_ns = clock.now_ns() - begin - printing_ns;
  watch.reset();
  print_ready();
  int off = 0;
  for (size_t i = 0; i < requests.size(); ++i)
    if (answers[i] && checkpoint.tokenizer)
      off += turns_off_text(requests[i], *answers[i], *checkpoint.tokenizer);
  if (off > 0) std::cerr << describe_turns_off(off) << "\n";
  if (flags.profile) print_profile(profile, wall_ns);
  if (!flags.model.memory_limit.empty() && flags.model.device == "cpu")
    std::cerr << "memory: " << describe_peak() << "\n";
  if (trace && !trace->flush())
    throw RunError(str("--trace: ", flags.trace, " could not be written to its end"));
  for (const auto& error : errors)
    if (!error.empty()) return requests.size() == 1 ? 2 : 3;
  return 0;
}

}  // namespace

Verb generate_verb() {
  return {"generate", "decode one prompt, or a Job, or a file of either",
          "pardec generate --model experiments/quickstart/model --decoder hpd --job "
          "experiments/quickstart/job.json --format json",
          [](CLI::App& app) -> std::function<int()> {
            auto flags = std::make_shared<GenerateFlags>();
            app.add_option("--decoder", flags->decoder, "decoder ('pardec list decoders')")
                ->capture_default_str()
                ->type_name("NAME");
            app.add_option("--job", flags->job, "a Job as JSON, or one a line in a .jsonl file")
                ->type_name("FILE");
            app.add_option("--prompt", flags->prompt, "an open prompt as text")->type_name("TEXT");
            app.add_option(
                   "--prompt-tokens", flags->prompt_tokens,
                   "token ids, e.g. 1,2,3, or @FILE with one list a line; no tokenizer is read")
                ->type_name("IDS");
            app.add_option("--set", flags->set,
                           "an option of the decoder, e.g. hpd.k_max=16; repeatable")
                ->type_name("KEY=VALUE");
            app.add_option("--format", flags->format, "text or json (one object a line)")
                ->capture_default_str()
                ->type_name("FORMAT");
            app.add_option("--trace", flags->trace, "write what every fed token saw and chose")
                ->type_name("FILE");
            app.add_flag("--watch", flags->watch,
                         "show the decoder at work on stderr: in colour on a terminal (NO_COLOR is "
                         "honoured), else a line a pass");
            app.add_option("--pace", flags->pace_ms,
                           "with --watch: milliseconds that a picture stands still")
                ->capture_default_str()
                ->type_name("MS");
            app.add_option("--from-trace", flags->from_trace,
                           "with --watch: show what --trace wrote, with the tokenizer of --model")
                ->type_name("FILE");
            app.add_flag("--profile", flags->profile,
                         "say on stderr where the time went (bf16 on the CPU)");
            app.add_option("--batch-size", flags->batch_size, "prompts in flight")
                ->capture_default_str()
                ->type_name("N");
            flags->model.add_to(app);
            flags->decode.add_to(app);
            return [flags] { return generate(*flags); };
          }};
}

}  // namespace pardec
