#include "src/settings/shared_settings.hpp"

#include "src/prompt/chat_template.hpp"
#include "src/support/text.hpp"

namespace pardec {

Settings model_settings(ModelOptions& model) {
  return {
      // In an experiment, this key may have the name of a network.
      {"model", "DIR", &model.model, "checkpoint folder (Hugging Face layout)", {.in_file = false}},
      {"adapter", "DIR", &model.adapter,
       "folder of an adapter over it: low-rank (layout of peft), merged as it is loaded, or extra "
       "heads"},
      {"draft_model", "DIR", &model.draft_model,
       "checkpoint folder of the network that guesses for decoder speculative; or of an adapter "
       "alone, over the first layers of the network it guesses for"},
      {"dtype", "TYPE", &model.dtype,
       "compute in fp32 or bf16; int8 and nf4: in bf16 with the layers' weights quantised (CPU); "
       "auto: bf16 where the checkpoint holds it and the device computes it fast (a processor with "
       "AVX-512 BF16, a GPU), else fp32"},
      {"device", "DEVICE", &model.device, "cpu, cuda or cuda:I"},
      {"no_cuda_graphs", "", &model.no_cuda_graphs,
       "launch a GPU's small steps kernel by kernel, in place of recordings of them; the "
       "arithmetic is the same"},
      {"threads", "N", &model.threads, "CPU threads; 0: all cores"},
      {"memory_limit", "SIZE", &model.memory_limit,
       "memory that weights, KV cache and program may take, e.g. 4G or 900MiB; of the GPU's with "
       "`device=cuda`"},
  };
}

Settings decode_settings(DecodeOptions& decode) {
  return {
      {"seed", "N", &decode.seed, "seed of sampling and of `limit`"},
      {"temperature", "X", &decode.temperature, "0: greedy"},
      {"top_k", "N", &decode.top_k, "sample among the k likeliest; 0: all"},
      {"top_p", "X", &decode.top_p, "sample among the likeliest that make up p"},
      {"max_new_tokens", "N", &decode.max_new_tokens,
       "ids chosen for one answer at most, by all its threads and branches together"},
      {"per_field", "N", &decode.per_field,
       str("ids chosen for one field at most, where fields are answered one by one; without it the "
           "dataset's limit (run `dry_run` shows it), else ",
           Limits{}.per_field)},
      {"ignore_eos", "", &decode.ignore_eos, "go on after the end of sequence, up to the limit"},
      {"no_generation_config", "", &decode.no_generation_config,
       "leave out what the checkpoint's generation_config.json does to logits "
       "(repetition_penalty, suppress_tokens ...)"},
      {"eos",
       "TOKEN",
       &decode.eos,
       "a token that ends answers beside the network's own ends: its id or text; repeatable",
       {.number_too = true}},
      {"chat_template", "NAME", &decode.chat_template,
       str("markup around the prompt: auto (the checkpoint's own, or what train taught, else "
           "plain), checkpoint:NAME (one of several of its own), ",
           join(chat_template_names(), ", "))},
      {"chat_set", "KEY=VALUE", &decode.chat_set,
       "a variable of the checkpoint's own chat template, e.g. enable_thinking=false; repeatable"},
      {"thinking",
       "WHAT",
       &decode.thinking,
       "thought before an answer (<think>...</think>, the checkpoint's own marks): keep it as a "
       "part of the answer, strip it where answers are read, or off: the chat template's own "
       "variable asks for none",
       {.choices = {"keep", "strip", "off"}}},
      {"prompt_file", "FILE", &decode.prompt_file,
       "wording of the task: a name in datasets/prompts or a file; else the model's own "
       "(MODEL/prompts), else the dataset's"},
  };
}

Setting db_setting(std::string& db) { return {"db", "FILE", &db, "database"}; }

Setting progress_setting(std::string& style) {
  return {"progress",
          "STYLE",
          &style,
          "auto, bar, plain or none",
          {.choices = {"auto", "bar", "plain", "none"}}};
}

}  // namespace pardec
