// `pardec generate`: decodes one prompt or Job (or a file of them) with one decoder.
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <iostream>
#include <memory>
#include <set>

#include "src/checkpoint/checkpoint.hpp"
#include "src/checkpoint/memory_plan.hpp"
#include "src/cli/command_line.hpp"
#include "src/cli/common_flags.hpp"
#include "src/cli/generate_notes.hpp"
#include "src/cli/generate_output.hpp"
#include "src/cli/setting_flags.hpp"
#include "src/cli/signal_stop.hpp"
#include "src/cli/tensor_ranks.hpp"
#include "src/cli/with_flags.hpp"
#include "src/findings/traces.hpp"
#include "src/prompt/pieces.hpp"
#include "src/report/watch.hpp"
#include "src/runs/arms.hpp"
#include "src/settings/shared_settings.hpp"
#include "src/support/error.hpp"
#include "src/support/files.hpp"
#include "src/support/launch.hpp"
#include "src/support/text.hpp"
#include "src/tasks/checkpoint_fit.hpp"
#include "src/tasks/conversation.hpp"
#include "src/tasks/decode_options.hpp"
#include "src/tasks/given_requests.hpp"
#include "src/tasks/request.hpp"
#include "src/tasks/session.hpp"

namespace pardec {

namespace {

struct GenerateFlags {
  ModelOptions model;
  DecodeOptions decode;
  std::string decoder = kPlainDecoder, job, prompt_tokens, format = "text", trace, from_trace;
  std::optional<std::string> prompt;  ///< an empty prompt is also a prompt
  std::vector<std::string> set;
  int batch_size = 1;
  std::optional<int> pace_ms;
  bool watch = false, profile = false;
};

/// Draws stored traces, pass by pass, instead of decoding.
int draw_traces(const GenerateFlags& flags) {
  if (!flags.job.empty() || flags.prompt || !flags.prompt_tokens.empty() || !flags.trace.empty())
    throw ConfigError(
        "--from-trace draws what was decoded; expected none of --job, --prompt, --prompt-tokens "
        "and --trace with it");
  std::optional<Tokenizer> tokenizer;
  if (!flags.model.model.empty()) tokenizer = load_tokenizer(flags.model.model);
  for (const Trace& trace : read_traces(flags.from_trace))
    show_again(trace, stderr, tokenizer ? &*tokenizer : nullptr,
               flags.pace_ms.value_or(kWatchPaceMs));
  return 0;
}

int generate(GenerateFlags& flags) {
  const auto ranks = join_tensor_ranks(flags.model);
  if (!ranks && launch().size > 1)
    throw ConfigError(
        "several processes generate together only with `parallel=tensor`; add it, or start one "
        "process");
  if (ranks && !ranks->leads()) return follow_rank_0(*ranks, flags.model);
  if (flags.pace_ms && *flags.pace_ms < 0)
    throw ConfigError(str("--pace is ", *flags.pace_ms, ", expected 0 or more"));
  if (!flags.watch && (flags.pace_ms || !flags.from_trace.empty()))
    throw ConfigError(str(flags.pace_ms ? "--pace" : "--from-trace",
                          " says how --watch draws; expected --watch with it"));
  if (!flags.from_trace.empty()) return draw_traces(flags);
  const int inputs = !flags.job.empty() + flags.prompt.has_value() + !flags.prompt_tokens.empty();
  if (inputs != 1)
    throw ConfigError(str(inputs ? "more than one" : "none",
                          " of --job, --prompt and --prompt-tokens was given, expected one"));
  const AnswerFormat format = parse_answer_format(flags.format);
  if (flags.batch_size < 1)
    throw ConfigError(str("--batch-size is ", flags.batch_size, ", expected at least 1"));
  const DecoderEntry& entry = find_decoder(flags.decoder);
  const bool open = flags.job.empty();
  if (open && !entry.free_running)
    throw ConfigError(
        str("decoder ", entry.name,
            " fills the fields of a Job and takes no open prompt; give --job FILE.json"));
  Arm arm = make_arms({flags.decoder}, {}, flags.set, flags.batch_size).front();
  take_trained_options(arm, read_training_record(texts_folder(flags.model)).settings);
  const Decoder& decoder = *arm.algorithm;
  flags.decode.sampling();
  check_draft_flag(flags.model, decoder.drafts_with_model());

  check_chat_template(flags.decode.chat_template, flags.decode.chat_set);
  parse_thinking(flags.decode.thinking);
  std::vector<Tokens> token_lists;
  if (!flags.prompt_tokens.empty()) token_lists = parse_token_lists(flags.prompt_tokens);
  std::vector<Job> jobs;
  if (!flags.job.empty()) jobs = read_jobs(flags.job, flags.decode);

  if (flags.prompt)
    jobs.push_back(open_job("prompt-1", prompt_of(*flags.prompt, std::cin), flags.decode));

  const SignalStop stop;
  CacheBudget cache;
  if (!flags.model.memory_limit.empty() && read_face(flags.model.model)) {
    const MemoryPlan memory = plan_memory({flags.model}, cache.block_rows);
    apply_limit(memory, flags.model, cache);
    std::cerr << "memory: " << with_flags(describe(memory, cache)) << "\n";
  }
  Checkpoints loaded;
  Session session(
      flags.model, flags.decode,
      {.tokenizer = token_lists.empty(), .draft = decoder.drafts_with_model(), .cache = cache},
      loaded);
  Engine& engine = session.engine;
  const Checkpoint& checkpoint = session.checkpoint;
  const Tokenizer* const tokenizer = session.tokenizer();
  DecoderContext context = session.context;
  context.stop = stop.token();
  engine.set_cascade(arm.cascade);
  decoder.check(context);

  GivenRequests given = open && jobs.empty()
                            ? token_requests(token_lists, checkpoint.model.config(), flags.decode)
                            : job_requests(std::move(jobs), open, decoder, flags.decode, session);
  std::vector<Request>& requests = given.requests;
  std::vector<std::string>& errors = given.errors;
  if (!session.note.empty()) std::cerr << "model: " << with_flags(session.note) << "\n";
  for (const auto& note : session.file_notes()) std::cerr << "model: " << with_flags(note) << "\n";
  for (const std::string& note : given.notes) std::cerr << "model: " << with_flags(note) << "\n";
  if (!open) print_trained_options(arm);

  std::unique_ptr<std::ofstream> trace;
  if (!flags.trace.empty()) {
    trace = open_trace(flags.trace, std::ios::trunc);
    engine.set_trace_sink([&](Trace t) {
      t.examples = {requests[static_cast<size_t>(t.job)].job.id};
      *trace << dump(to_json(t)) << "\n";
    });
  }

  std::optional<Watch> watch;
  std::int64_t drawing_ns = 0;
  if (flags.watch) {
    watch.emplace(stderr, tokenizer, flags.pace_ms.value_or(kWatchPaceMs));
    engine.set_listener([&](const Event& event) {
      const std::int64_t begin = session.clock.now_ns();
      watch->on(event);
      drawing_ns += session.clock.now_ns() - begin;
    });
  }

  // With --watch, answers are printed after the picture is complete.
  std::vector<std::optional<Answers>> answers(requests.size());
  AnswerPrinter printer(std::cout, std::cerr, requests, decoder, tokenizer, format,
                        /*streams=*/!flags.watch && ::isatty(STDOUT_FILENO));
  for (size_t i = 0; i < requests.size(); ++i)
    requests[i].reader = printer.reader(i, session.clock);
  const auto run_one = [&](int i) -> Task<void> {
    const auto index = static_cast<size_t>(i);
    if (!errors[index].empty()) throw RunError(errors[index]);
    if (context.interrupted()) co_return;
    answers[index] = co_await decode_request(decoder, requests[index], context);
  };
  Profile profile;
  if (flags.profile) session.checkpoint.model.set_profile(&profile);
  const std::int64_t begin = session.clock.now_ns();
  const std::int64_t printing_ns =
      engine.run(static_cast<int>(requests.size()), arm.batch_size, run_one, [&](const Ended& end) {
        try {
          end.rethrow();
        } catch (const std::exception& error) {
          errors[static_cast<size_t>(end.job)] = reason_of(error);
        }
        if (!watch) printer.print_ready(answers, errors);
      });
  const std::int64_t wall_ns =
      session.clock.now_ns() - begin - printing_ns - printer.reading_ns() - drawing_ns;
  watch.reset();
  printer.print_ready(answers, errors);
  int off = 0;
  for (size_t i = 0; i < requests.size(); ++i)
    if (answers[i] && tokenizer) off += turns_off_text(requests[i], *answers[i], *tokenizer);
  if (off > 0) std::cerr << describe_turns_off(off) << "\n";
  print_positions_end(answers, checkpoint.model.config());
  print_speed(answers, wall_ns, flags.batch_size, format);
  if (flags.profile) print_profile(profile, wall_ns);
  if (!flags.model.memory_limit.empty() && flags.model.device == "cpu")
    std::cerr << "memory: " << describe_peak() << "\n";
  if (trace && !trace->flush())
    throw RunError(str("--trace: ", flags.trace, " could not be written to its end"));
  if (stop.signal()) {
    std::cerr << describe_stop(answers, errors) << "\n";
    return 128 + stop.signal();
  }
  for (const auto& error : errors)
    if (!error.empty()) return requests.size() == 1 ? 2 : 3;
  return 0;
}

void add_flags(CLI::App& app, GenerateFlags& flags) {
  app.add_option("--decoder", flags.decoder, "decoder ('pardec list decoders')")
      ->capture_default_str()
      ->type_name("NAME");
  app.add_option(
         "--job", flags.job,
         "a job as JSON, or a .jsonl file with one job per line (src/prompt/job.schema.json)")
      ->type_name("FILE");
  app.add_option("--prompt", flags.prompt, "an open prompt as text; - reads it from stdin")
      ->type_name("TEXT");
  app.add_option("--prompt-tokens", flags.prompt_tokens,
                 "token ids, e.g. 1,2,3, or @FILE with one list on each line; no tokenizer is read")
      ->type_name("IDS");
  app.add_option("--set", flags.set, "an option of the decoder, e.g. hpd.k_max=16; repeatable")
      ->type_name("KEY=VALUE");
  app.add_option("--format", flags.format,
                 "text (printed while it is generated, if stdout is a terminal) or json (one "
                 "object per line); the speed goes to stderr")
      ->capture_default_str()
      ->type_name("FORMAT");
  app.add_option("--trace", flags.trace,
                 "write a trace: for every row its position, the rows it attends to and its choice")
      ->type_name("FILE");
  app.add_flag("--watch", flags.watch,
               "show the decoder at work on stderr: in colour on a terminal (NO_COLOR is "
               "honoured), otherwise one line for each pass");
  app.add_option("--pace", flags.pace_ms,
                 str("with --watch, on a terminal: least milliseconds for which the picture of a "
                     "pass stays (default ",
                     kWatchPaceMs, "); they do not count in the speed"))
      ->type_name("MS");
  app.add_option("--from-trace", flags.from_trace,
                 "with --watch: show a stored trace (of --trace), with the tokenizer of --model")
      ->type_name("FILE");
  app.add_flag("--profile", flags.profile,
               "print on stderr how much time each part of a pass took (bf16 on the CPU)");
  app.add_option("--batch-size", flags.batch_size, "prompts that are decoded at the same time")
      ->capture_default_str()
      ->type_name("N");
  add_flags(app, flags.model);
  add_flag(app, parallel_setting(flags.model));
  add_flags(app, flags.decode);
}

}  // namespace

Verb generate_verb() {
  return {"generate",
          "answer one prompt or job, or a file with several",
          "pardec generate --model experiments/quickstart/model --decoder hpd --job "
          "experiments/quickstart/job.json --format json",
          [](CLI::App& app) -> std::function<int()> {
            auto flags = std::make_shared<GenerateFlags>();
            add_flags(app, *flags);
            return [flags] { return generate(*flags); };
          },
          {},
          {.files = {"--trace"}},
          {},
          /*several_processes=*/true};
}

}  // namespace pardec
