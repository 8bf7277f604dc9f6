#include "src/cli/common_flags.hpp"

#include <CLI/CLI.hpp>

#include "src/prompt/chat_template.hpp"
#include "src/support/error.hpp"
#include "src/support/number_text.hpp"
#include "src/support/text.hpp"

namespace pardec {

void add_flags(CLI::App& app, ModelOptions& model) {
  app.add_option("--model", model.model, "checkpoint folder (Hugging Face layout)")
      ->type_name("DIR");
  app.add_option(
         "--adapter", model.adapter,
         "folder of an adapter over it: low-rank (layout of peft), merged as it is loaded, or "
         "extra heads")
      ->type_name("DIR");
  app.add_option("--draft-model", model.draft_model,
                 "checkpoint folder of the network that guesses for decoder speculative; or of an "
                 "adapter alone, over the first layers of the network it guesses for")
      ->type_name("DIR");
  app.add_option(
         "--dtype", model.dtype,
         "compute in fp32 or bf16; int8 and nf4: in bf16 with the layers' weights quantised "
         "(CPU); auto: bf16 where the checkpoint holds it and the device computes it fast (a "
         "processor with AVX-512 BF16, a GPU), else fp32")
      ->capture_default_str()
      ->type_name("TYPE");
  app.add_option("--device", model.device, "cpu, cuda or cuda:I")
      ->capture_default_str()
      ->type_name("DEVICE");
  app.add_flag("--no-cuda-graphs", model.no_cuda_graphs,
               "launch a GPU's small steps kernel by kernel, in place of recordings of them; the "
               "arithmetic is the same");
  app.add_option("--threads", model.threads, "CPU threads; 0: all cores")
      ->capture_default_str()
      ->type_name("N");
  app.add_option("--memory-limit", model.memory_limit,
                 "memory that weights, KV cache and program may take, e.g. 4G or 900MiB; of the "
                 "GPU's with --device cuda")
      ->type_name("SIZE");
}

void add_flags(CLI::App& app, DecodeOptions& decode) {
  app.add_option("--seed", decode.seed, "seed of sampling and of --limit")
      ->capture_default_str()
      ->type_name("N");
  app.add_option("--temperature", decode.temperature, "0: greedy")
      ->capture_default_str()
      ->type_name("X");
  app.add_option("--top-k", decode.top_k, "sample among the k likeliest; 0: all")
      ->capture_default_str()
      ->type_name("N");
  app.add_option("--top-p", decode.top_p, "sample among the likeliest that make up p")
      ->capture_default_str()
      ->type_name("X");
  app.add_option("--max-new-tokens", decode.max_new_tokens,
                 "ids chosen for one answer at most, by all its threads and branches together")
      ->capture_default_str()
      ->type_name("N");
  app.add_option("--per-field", decode.per_field,
                 str("ids chosen for one field at most, where fields are answered one by one; "
                     "without it the dataset's limit (run --dry-run shows it), else ",
                     Limits{}.per_field))
      ->type_name("N");
  app.add_flag("--ignore-eos", decode.ignore_eos,
               "go on after the end of sequence, up to the limit");
  app.add_flag("--no-generation-config", decode.no_generation_config,
               "leave out what the checkpoint's generation_config.json does to logits "
               "(repetition_penalty, suppress_tokens ...)");
  app.add_option("--eos", decode.eos,
                 "a token that ends answers beside the network's own ends: its id or text; "
                 "repeatable")
      ->type_name("TOKEN");
  app.add_option("--chat-template", decode.chat_template,
                 str("markup around the prompt: auto (the checkpoint's own, or what train taught, "
                     "else plain), checkpoint:NAME (one of several of its own), ",
                     join(chat_template_names(), ", ")))
      ->capture_default_str()
      ->type_name("NAME");
  app.add_option("--chat-set", decode.chat_set,
                 "a variable of the checkpoint's own chat template, e.g. enable_thinking=false; "
                 "repeatable")
      ->type_name("KEY=VALUE");
  app.add_option(
         "--thinking", decode.thinking,
         "thought before an answer (<think>...</think>, the checkpoint's own marks): keep it "
         "as a part of the answer, strip it where answers are read, or off: the chat "
         "template's own variable asks for none")
      ->capture_default_str()
      ->type_name("WHAT");
  app.add_option("--prompt-file", decode.prompt_file,
                 "wording of the task: a name in datasets/prompts or a file; else the model's own "
                 "(MODEL/prompts), else the dataset's")
      ->type_name("FILE");
}

void add_flags(CLI::App& app, ComparisonFlags& flags) {
  app.add_option("--db", flags.db, "database")->capture_default_str()->type_name("FILE");
  app.add_option("--run", flags.run,
                 "name of a run, or the first characters of its id; without it the newest")
      ->type_name("ID");
  app.add_option("--baseline", flags.compare.baseline,
                 "label of the arm that the others are compared with")
      ->type_name("LABEL");
  app.add_option("--confidence-level", flags.compare.confidence, "of the intervals")
      ->capture_default_str()
      ->type_name("X");
  app.add_option("--margin", flags.compare.margin, "a score this much lower is still as good")
      ->capture_default_str()
      ->type_name("X");
  add_hardware(app, flags.compare.hardware);
  app.add_option("--trace", flags.trace,
                 "what a run of these arms wrote by --trace, of some examples at least: with "
                 "--hardware, the speedup that each machine allows; in a report also the forward "
                 "pass of every token")
      ->type_name("FILE");
  add_strict(app, flags.strict);
}

void add_hardware(CLI::App& app, std::vector<std::string>& hardware) {
  app.add_option("--hardware", hardware,
                 "say of forwards/s which share they are of what this machine allows: here "
                 "(measured now), a100, a800, h100, h200, h800, l40s, a800x8 (eight, tensor "
                 "parallel) ..., or a file like experiments/hardware/*.json; several with --trace, "
                 "for the speedup that each allows")
      ->delimiter(',')
      ->type_name("NAME,...");
}

void check_hardware(const std::vector<std::string>& hardware, const std::string& trace) {
  if (hardware.size() > 1 && trace.empty())
    throw ConfigError(str("--hardware names ", hardware.size(),
                          " machines: what they allow is counted from a trace; give --trace FILE, "
                          "or one machine"));
}

void read_traced(ComparisonFlags& flags) {
  check_hardware(flags.compare.hardware, flags.trace);
  if (flags.trace.empty()) return;
  if (flags.compare.hardware.empty())
    throw ConfigError("--trace is for what --hardware allows; give both, or neither");
  flags.compare.traced = read_works(flags.trace);
  if (flags.compare.traced.empty())
    throw ConfigError(str("--trace: ", flags.trace, " holds no trace"));
}

void add_strict(CLI::App& app, bool& strict) {
  app.add_flag("--strict", strict, "exit with 3 where the table has a warning");
}

int exit_code(const Comparison& comparison, bool strict) {
  if (!strict || comparison.warnings.empty()) return 0;
  std::fprintf(stderr, "pardec: %s, and --strict was given\n",
               counted(std::ssize(comparison.warnings), "warning").c_str());
  return 3;
}

CLI::Option* add_texts(CLI::App& app, const std::string& flag, std::vector<std::string>& texts,
                       const std::string& help) {
  return app
      .add_option_function<std::string>(
          flag, [&texts](const std::string& given) { texts = split(given, ','); }, help)
      ->type_name("A,B");
}

}  // namespace pardec
