// `pardec model`: fetches or inspects a checkpoint, or makes a random one.
#include <filesystem>
#include <iostream>
#include <memory>

#include "src/checkpoint/checkpoint.hpp"
#include "src/cli/command_line.hpp"
#include "src/cli/common_flags.hpp"
#include "src/cli/model.hpp"
#include "src/cli/table_output.hpp"
#include "src/cli/written_files.hpp"
#include "src/model/files/parameters.hpp"
#include "src/support/error.hpp"
#include "src/support/files.hpp"
#include "src/support/hub_cache.hpp"
#include "src/support/number_text.hpp"
#include "src/support/project_files.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

/// A small Llama, the default config of `model synth`.
Json small_config() {
  return {{"architectures", {"LlamaForCausalLM"}},
          {"model_type", "llama"},
          {"hidden_act", "silu"},
          {"hidden_size", 256},
          {"intermediate_size", 704},
          {"num_hidden_layers", 4},
          {"num_attention_heads", 4},
          {"num_key_value_heads", 2},
          {"head_dim", 64},
          {"max_position_embeddings", 8192},
          {"rms_norm_eps", 1e-6},
          {"rope_theta", 10000.0},
          {"tie_word_embeddings", false}};
}

int synthesise(const ModelVerbFlags& flags) {
  const std::filesystem::path tokenizer_file =
      flags.tokenizer.empty() ? project_file("experiments/quickstart/tokenizer.json")
      : std::filesystem::is_directory(flags.tokenizer)
          ? std::filesystem::path(flags.tokenizer) / "tokenizer.json"
          : std::filesystem::path(flags.tokenizer);
  const Tokenizer tokenizer = Tokenizer::load(tokenizer_file);
  Json config = flags.config.empty() ? small_config() : read_json(flags.config);
  if (!config.is_object())
    throw ModelError(flags.config, str("is ", config.type_name(), ", expected an object"));
  config.erase("quantization_config");  // random weights are not quantised
  if (!config.contains("vocab_size"))
    config["vocab_size"] = (tokenizer.vocab_size() + 63) / 64 * 64;
  for (const char* end : {"<|im_end|>", "</s>", "<|endoftext|>", "<|end_of_text|>"})
    if (const auto id = tokenizer.id(end); id && !config.contains("eos_token_id"))
      config["eos_token_id"] = *id;
  const ModelConfig parsed =
      parse_model_config(config, flags.config.empty() ? "the built-in shape" : flags.config);
  if (tokenizer.vocab_size() > parsed.vocab_size)
    throw ModelError(
        tokenizer_file.string(),
        str("has ids up to ", tokenizer.vocab_size() - 1, ", vocab_size of the config is ",
            parsed.vocab_size, "; expected at least ", tokenizer.vocab_size()));
  if (flags.heads.shares_head && flags.heads.blocks == 0)
    throw ConfigError(
        "--medusa-share-head leaves nothing of heads of 0 blocks; expected --medusa-blocks of 1 or "
        "more");
  std::error_code error;
  for (const char* weights : {"model.safetensors", "model.safetensors.index.json"})
    if (std::filesystem::exists(std::filesystem::path(flags.folder) / weights, error) &&
        !std::filesystem::exists(std::filesystem::path(flags.folder) / kSynthesisNote, error))
      throw ConfigError(str(flags.folder, ": holds ", weights,
                            " that model synth did not make, expected a new folder"));
  std::filesystem::create_directories(flags.folder, error);
  if (error)
    throw ConfigError(str(flags.folder, ": cannot be made: ", error.message(),
                          "; expected a folder, or a place for one"));
  synthesise_checkpoint(config, flags.seed, flags.folder);
  const std::filesystem::path folder = flags.folder;
  std::filesystem::remove(folder / kExtraHeadsFile, error);  // of an earlier network
  if (flags.heads.heads > 0) synthesise_extra_heads(flags.heads, flags.seed, folder);
  write_file(folder / "tokenizer.json", read_file(tokenizer_file));
  write_file(
      folder / kSynthesisNote,
      Json{{"made_by", "pardec model synth"}, {"seed", flags.seed}, {"untrained", true}}.dump(2) +
          "\n");
  std::cerr << flags.folder << ": " << grouped(parameter_count(parsed))
            << " random parameters, vocabulary " << grouped(parsed.vocab_size) << "\n";
  return 0;
}

}  // namespace

Verb model_verb() {
  return {
      "model",
      "fetch or inspect a checkpoint, derive one from another, or make one with random weights",
      "pardec model fetch ORG/NAME\n  pardec model inspect DIR\n  pardec model list-families\n  "
      "pardec model convert DIR --out OUT\n  pardec model merge DIR --adapter "
      "ADAPTER --out OUT\n  "
      "pardec model draft DIR --layers 4 --out OUT\n  pardec model add-tokens DIR --tokens "
      "'[M]' --rename '<unused>=[Fork]' --out OUT\n  pardec model "
      "synth DIR\n  pardec model synth DIR --config "
      "config.json --tokenizer tokenizer.json --seed 3",
      [](CLI::App& app) -> std::function<int()> {
        auto flags = std::make_shared<ModelVerbFlags>();
        app.add_option("action", flags->action,
                       "fetch, inspect, list-families, convert, merge, draft, add-tokens or synth")
            ->required();
        app.add_option("folder", flags->folder,
                       "checkpoint folder, or ORG/NAME[@REVISION] of the Hub; not with "
                       "list-families");
        app.add_option("--revision", flags->revision, "branch, tag or commit; without it main")
            ->type_name("NAME")
            ->group(flags_of({"fetch"}));
        app.add_option("--file", flags->file,
                       "fetch just this file, e.g. one of several GGUF files")
            ->type_name("NAME")
            ->group(flags_of({"fetch"}));
        add_flags(app, flags->download);
        app.add_option("--progress", flags->progress, "auto, bar, plain or none")
            ->capture_default_str()
            ->type_name("STYLE")
            ->group(flags_of({"fetch"}));
        app.add_option("--config", flags->config,
                       "a Hugging Face config.json; without it a Llama of 5 M parameters")
            ->type_name("FILE")
            ->group(flags_of({"synth"}));
        app.add_option("--tokenizer", flags->tokenizer,
                       "a tokenizer.json or its folder; without it the quickstart's")
            ->type_name("FILE")
            ->group(flags_of({"synth"}));
        app.add_option("--seed", flags->seed, "seed of the random weights")
            ->capture_default_str()
            ->type_name("N")
            ->group(flags_of({"synth", "add-tokens"}));
        app.add_option("--medusa-heads", flags->heads.heads,
                       "extra heads for decoder medusa and apar.medusa")
            ->capture_default_str()
            ->check(CLI::Range(0, 16))
            ->type_name("N")
            ->group(flags_of({"synth"}));
        app.add_option("--medusa-blocks", flags->heads.blocks, "residual blocks of an extra head")
            ->capture_default_str()
            ->check(CLI::Range(0, 16))
            ->type_name("N")
            ->group(flags_of({"synth"}));
        app.add_flag("--medusa-share-head", flags->heads.shares_head,
                     "extra heads end in the network's own head, instead of a matrix for each")
            ->group(flags_of({"synth"}));
        app.add_option("--adapter", flags->adapter,
                       "folder with an adapter: low-rank, as in peft, or extra heads")
            ->type_name("DIR")
            ->group(flags_of({"inspect", "merge"}));
        app.add_option("--layers", flags->layers,
                       "number of first layers to keep (the head is kept, too)")
            ->type_name("N")
            ->group(flags_of({"draft"}));
        add_texts(app, "--tokens", flags->tokens, "new special tokens, with rows of random numbers")
            ->group(flags_of({"add-tokens"}));
        add_texts(app, "--rename", flags->rename,
                  "rename unused special tokens; their rows are kept")
            ->type_name("OLD=NEW")
            ->group(flags_of({"add-tokens"}));
        app.add_option("--out", flags->out, "folder of the checkpoint that is made")
            ->type_name("DIR")
            ->group(flags_of({"convert", "merge", "draft", "add-tokens"}));
        app.add_flag("--weights", flags->weights,
                     "read all weights; exit code 1 if one is not finite")
            ->group(flags_of({"inspect"}));
        add_format(app, flags->format)->group(flags_of({"fetch", "inspect", "list-families"}));
        return [flags, &app] {
          const bool listing = flags->action == "list-families";
          if (listing != flags->folder.empty())
            throw ConfigError(
                listing ? str("model list-families: has '", flags->folder, "', expected no folder")
                : flags->action == "fetch"
                    ? std::string("model fetch: has no name, expected ORG/NAME[@REVISION] of the "
                                  "Hub, e.g. pardec model fetch Qwen/Qwen3-0.6B")
                    : str("model ", flags->action,
                          ": has no folder, expected that of a checkpoint"));
          if (flags->action == "fetch") return fetch_model(*flags);
          if (flags->action != "synth") flags->folder = checkpoint_path(flags->folder);
          flags->adapter = checkpoint_path(flags->adapter);
          if (flags->action == "convert") return convert_model(*flags);
          if (listing) return list_families(flags->format);
          if (flags->action == "synth")
            files_read(app, {.folders = {"folder"}}).check_folder("model synth", flags->folder);
          if (flags->action == "inspect") return inspect_model(*flags);
          if (flags->action == "merge") return merge_model(*flags);
          if (flags->action == "draft") return make_draft(*flags);
          if (flags->action == "add-tokens") return give_tokens(*flags);
          return synthesise(*flags);
        };
      },
      {"fetch", "inspect", "list-families", "convert", "merge", "draft", "add-tokens", "synth"},
      {.folders = {"--out"}}};
}

}  // namespace pardec
