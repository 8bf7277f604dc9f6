#include "datasets/sources.hpp"

// SHA-256 values are of the copies in the project's test data, whose lengths equal those of the
// named commits. RACE's archive: as noted by several public projects (it has not changed since
// 2017).

namespace pardec {

const std::vector<Source>& sources() {
  static const std::vector<Source> kSources = {
      {.dataset = "oa-mine",
       .page = "https://github.com/wbsg-uni-mannheim/ExtractGPT",
       .licence = "~Apache 2.0",
       .files = {{.url = "https://raw.githubusercontent.com/wbsg-uni-mannheim/ExtractGPT/"
                         "922fdaebccb985f91b96ae3495969fdd57af0b29/data/processed_datasets/oa-mine/"
                         "train.jsonl",
                  .path = "train.jsonl",
                  .sha256 = "df04c9ac98e7a15776fa37aff1c486cba4a299d510e0d597d88a3e3df862279e"},
                 {.url = "https://raw.githubusercontent.com/wbsg-uni-mannheim/ExtractGPT/"
                         "922fdaebccb985f91b96ae3495969fdd57af0b29/data/processed_datasets/oa-mine/"
                         "test.jsonl",
                  .path = "test.jsonl",
                  .sha256 = "36fa25fae436de9b36e41203aca1162e0b062d8da489045e60459877deb74f29",
                  .split = "test"}}},
      {.dataset = "ae-110k",
       .page = "https://github.com/wbsg-uni-mannheim/ExtractGPT",
       .licence = "~none stated",
       .files = {{.url = "https://raw.githubusercontent.com/wbsg-uni-mannheim/ExtractGPT/"
                         "922fdaebccb985f91b96ae3495969fdd57af0b29/data/processed_datasets/ae-110k/"
                         "train.jsonl",
                  .path = "train.jsonl",
                  .sha256 = "17b3cf2e9bd31a21426b8889a55b5c76173c14a92480f970566d657ca53cce95"},
                 {.url = "https://raw.githubusercontent.com/wbsg-uni-mannheim/ExtractGPT/"
                         "922fdaebccb985f91b96ae3495969fdd57af0b29/data/processed_datasets/ae-110k/"
                         "test.jsonl",
                  .path = "test.jsonl",
                  .sha256 = "2172561fc99390619b5b7455c3d1aa866dd648a2c01eab4ae53ae0c054e8eb2a",
                  .split = "test"}}},
      {.dataset = "squad",
       .page = "https://rajpurkar.github.io/SQuAD-explorer/",
       .licence = "CC BY-SA 4.0",
       .files = {{.url = "https://rajpurkar.github.io/SQuAD-explorer/dataset/dev-v2.0.json",
                  .path = "dev-v2.0.json",
                  .split = "dev"},
                 {.url = "https://rajpurkar.github.io/SQuAD-explorer/dataset/train-v2.0.json",
                  .path = "train-v2.0.json",
                  .split = "train"},
                 {.url = "https://rajpurkar.github.io/SQuAD-explorer/dataset/dev-v1.1.json",
                  .path = "dev-v1.1.json",
                  .split = "dev"},
                 {.url = "https://rajpurkar.github.io/SQuAD-explorer/dataset/train-v1.1.json",
                  .path = "train-v1.1.json",
                  .split = "train"}}},
      {.dataset = "race",
       .page = "https://www.cs.cmu.edu/~glai1/data/race/",
       .licence = "non-commercial research",
       .files = {{.url = "http://www.cs.cmu.edu/~glai1/data/race/RACE.tar.gz",
                  .path = "RACE.tar.gz",
                  .sha256 = "b2769cc9fdc5c546a693300eb9a966cec6870bd349fbc44ed5225f8ad33006e5",
                  .packing = Packing::tar,
                  .strip = 1,
                  .makes = {"train", "dev", "test"}}}},
      {.dataset = "narrativeqa",
       .page = "https://github.com/google-deepmind/narrativeqa",
       .licence = "~Apache 2.0; summaries are Wikipedia's",
       .files = {{.url = "https://raw.githubusercontent.com/google-deepmind/narrativeqa/master/"
                         "qaps.csv",
                  .path = "qaps.csv"},
                 {.url = "https://raw.githubusercontent.com/google-deepmind/narrativeqa/master/"
                         "third_party/wikipedia/summaries.csv",
                  .path = "summaries.csv"},
                 {.url = "https://raw.githubusercontent.com/google-deepmind/narrativeqa/master/"
                         "documents.csv",
                  .path = "documents.csv"}}},
      {.dataset = "longhealth",
       .page = "https://github.com/kbressem/LongHealth",
       .licence = "see its page",
       .files = {{.url = "https://raw.githubusercontent.com/kbressem/LongHealth/main/data/"
                         "benchmark_v5.json",
                  .path = "benchmark_v5.json"}}},
      {.dataset = "amazon-reviews",
       .page = "https://amazon-reviews-2023.github.io/",
       .licence = "see its page",
       .files = {{.url = "https://mcauleylab.ucsd.edu/public_datasets/data/amazon_2023/raw/"
                         "meta_categories/meta_{part}.jsonl.gz",
                  .path = "meta_{part}.jsonl",
                  .packing = Packing::gzip}},
       .by_hand = "say what is asked of its products in attributes/CATEGORY.json "
                  "(datasets/README.md)"},
      {.dataset = "mt-bench",
       .page = "https://github.com/lm-sys/FastChat",
       .licence = "~Apache 2.0",
       .files = {{.url =
                      "https://raw.githubusercontent.com/lm-sys/FastChat/"
                      "589532dcfa83700f950b9aa3983416c543afabc0/fastchat/llm_judge/data/mt_bench/"
                      "question.jsonl",
                  .path = "question.jsonl",
                  .sha256 = "119565adbab82227089cefdb44c8d7e2cf04dc0a0ec233634c82e7d4e2a944f7"},
                 {.url =
                      "https://raw.githubusercontent.com/lm-sys/FastChat/main/fastchat/llm_judge/"
                      "data/mt_bench/reference_answer/gpt-4.jsonl",
                  .path = "reference_answer.jsonl"}}},
      {.dataset = "vicuna-bench",
       .page = "https://github.com/lm-sys/FastChat",
       .licence = "~Apache 2.0",
       .files = {{.url = "https://raw.githubusercontent.com/lm-sys/FastChat/"
                         "589532dcfa83700f950b9aa3983416c543afabc0/fastchat/llm_judge/data/"
                         "vicuna_bench/question.jsonl",
                  .path = "question.jsonl",
                  .sha256 = "c248c5c98ba45bb0c2aadae2f270e643bd32679c6c306a3b2a503ac4254cdaa5"},
                 {.url = "https://raw.githubusercontent.com/lm-sys/FastChat/"
                         "09ee334fd8c6fd095312f64fc386de5a1a212ad6/fastchat/llm_judge/data/"
                         "vicuna_bench/reference_answer/gpt-4.jsonl",
                  .path = "reference_answer.jsonl",
                  .sha256 = "f7542dc25a5a869b32197486f5699a14eb5682ab3c7264518402399ec09ab470"}}},
      {.dataset = "humaneval-x",
       .page = "https://github.com/THUDM/CodeGeeX",
       .licence = "~Apache 2.0",
       .files = {{.url = "https://raw.githubusercontent.com/THUDM/CodeGeeX/main/codegeex/benchmark/"
                         "humaneval-x/python/data/humaneval_python.jsonl.gz",
                  .path = "python.jsonl",
                  .packing = Packing::gzip}}},
      {.dataset = "xsum",
       .page = "https://github.com/EdinburghNLP/XSum",
       .licence = "see its page; articles are the BBC's",
       .files = {{.url = "https://raw.githubusercontent.com/EdinburghNLP/XSum/master/XSum-Dataset/"
                         "XSum-TRAINING-DEV-TEST-SPLIT-90-5-5.json",
                  .path = "XSum-TRAINING-DEV-TEST-SPLIT-90-5-5.json"},
                 {.url = "http://bollin.inf.ed.ac.uk/public/direct/"
                         "XSUM-EMNLP18-Summary-Data-Original.tar.gz",
                  .path = "XSUM-EMNLP18-Summary-Data-Original.tar.gz",
                  .packing = Packing::tar,
                  .makes = {"bbc-summary-data"}}}},
      {.dataset = "cip",
       .page = "https://huggingface.co/datasets/alespalla/chatbot_instruction_prompts",
       .licence = "see its page",
       .files = {},
       .by_hand = "its files are Parquet; write the columns prompt and response as JSON lines, "
                  "e.g. pandas.read_parquet(FILE).to_json('test.jsonl', orient='records', "
                  "lines=True)"},
      {.dataset = "math500",
       .page = "https://huggingface.co/datasets/HuggingFaceH4/MATH-500",
       .licence = "~MIT",
       .files = {{.url = "https://huggingface.co/datasets/HuggingFaceH4/MATH-500/resolve/main/"
                         "test.jsonl",
                  .path = "test.jsonl"}}},
  };
  return kSources;
}

const Source* find_source(std::string_view dataset) {
  for (const Source& source : sources())
    if (source.dataset == dataset) return &source;
  return nullptr;
}

}  // namespace pardec
