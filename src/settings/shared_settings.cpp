#include "src/settings/shared_settings.hpp"

#include "src/prompt/chat_template.hpp"
#include "src/support/text.hpp"

namespace pardec {

Settings model_settings(ModelOptions& model) {
  return {
      // In an experiment, this key may have the name of a network.
      {"model",
       "DIR",
       &model.model,
       "checkpoint folder (Hugging Face layout), a GGUF file, or ORG/NAME[@REVISION] in the cache "
       "of Hugging Face ('pardec model fetch')",
       {.checkpoint = true, .in_file = false}},
      {"adapter",
       "DIR",
       &model.adapter,
       "folder with an adapter for the network: LoRA (peft layout), merged while it is loaded, or "
       "extra heads",
       {.checkpoint = true}},
      {"draft_model",
       "DIR",
       &model.draft_model,
       "draft network of decoder speculative: a checkpoint folder, or the folder of an adapter for "
       "the first layers of the network itself",
       {.checkpoint = true}},
      {"dtype", "TYPE", &model.dtype,
       "number type: fp32, bf16, int8 or nf4 (quantised weights, computing in bf16, CPU only), "
       "gguf (the quantised weights of a GGUF file as they are stored, computing in bf16, CPU "
       "only); auto: gguf on the CPU if the model is such a file, bf16 if the checkpoint has bf16 "
       "or fp16 and the device computes bf16 fast (a processor with AVX-512 BF16, a GPU), "
       "otherwise fp32"},
      {"device", "DEVICE", &model.device, "cpu, cuda or cuda:I"},
      {"no_cuda_graphs", "", &model.no_cuda_graphs,
       "do not record the kernels of small steps as CUDA graphs; the results are the same"},
      {"threads", "N", &model.threads, "CPU threads; 0: all cores"},
      {"memory_limit", "SIZE", &model.memory_limit,
       "limit of memory for weights, KV cache and program, e.g. 4G or 900MiB; of the GPU's memory "
       "with `device=cuda`"},
  };
}

Setting parallel_setting(ModelOptions& model) {
  return {"parallel",
          "WHAT",
          &model.parallel,
          "what the processes that mpirun starts share: blocks: each has the whole network, and "
          "answers some blocks of examples; tensor: each has a part of the network, and rank 0 "
          "answers (experiments/cluster.md)",
          {.choices = {"blocks", kTensorParallel}}};
}

Settings decode_settings(DecodeOptions& decode) {
  return {
      {"seed", "N", &decode.seed, "seed of sampling and of `limit`"},
      {"temperature", "X", &decode.temperature, "sampling temperature; 0: greedy"},
      {"top_k", "N", &decode.top_k, "sample from the k most likely tokens; 0: all"},
      {"top_p", "X", &decode.top_p,
       "sample from the most likely tokens whose probabilities add up to p"},
      {"max_new_tokens", "N", &decode.max_new_tokens,
       "limit of tokens generated for one answer, by all its threads and branches together"},
      {"per_field", "N", &decode.per_field,
       str("limit of tokens generated for one field, if fields are answered one by one; without it "
           "the dataset's limit (run `dry_run` shows it), otherwise ",
           Limits{}.per_field)},
      {"ignore_eos", "", &decode.ignore_eos, "continue after the end of sequence, up to the limit"},
      {"no_generation_config", "", &decode.no_generation_config,
       "do not apply what the checkpoint's generation_config.json does to logits "
       "(repetition_penalty, suppress_tokens ...)"},
      {"eos",
       "TOKEN",
       &decode.eos,
       "a further token that ends answers, by its id or text; repeatable",
       {.number_too = true}},
      {"chat_template", "NAME", &decode.chat_template,
       str("markup around the prompt: auto (the checkpoint's own, or that of its training, "
           "otherwise plain), checkpoint:NAME (one of several of its own), ",
           join(chat_template_names(), ", "))},
      {"chat_set", "KEY=VALUE", &decode.chat_set,
       "a variable of the checkpoint's own chat template, e.g. enable_thinking=false; repeatable"},
      {"thinking",
       "WHAT",
       &decode.thinking,
       "reasoning before an answer (<think>...</think> or the checkpoint's own marks): strip: "
       "ignore it when answers are scored; keep: score it as part of the answer; off: turn it off "
       "by the chat template's own variable",
       {.choices = {"keep", "strip", "off"}}},
      {"prompt_file", "FILE", &decode.prompt_file,
       "wording of the task: a name in datasets/prompts or a file; default: the model's own "
       "(MODEL/prompts), otherwise the dataset's"},
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
