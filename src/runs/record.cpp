#include "src/runs/record.hpp"

#include <sys/utsname.h>

#include <algorithm>
#include <thread>

#include "src/findings/roofline.hpp"
#include "src/model/device.hpp"
#include "src/scoring/dataset_rows.hpp"
#include "src/support/error.hpp"
#include "src/support/gguf.hpp"
#include "src/support/hashing.hpp"
#include "src/support/processor.hpp"
#include "src/support/text.hpp"
#include "src/support/version.hpp"

namespace pardec {

ModelRow model_row(Store* store, const Checkpoint& checkpoint) {
  // for an adapter, its own folder identifies the model
  const std::filesystem::path& folder = checkpoint.weights.back();
  const ModelConfig& config = checkpoint.model.config();
  std::vector<std::filesystem::path> files;
  for (const std::filesystem::path& part : checkpoint.weights) {
    const auto before = std::ssize(files);
    if (const auto gguf = gguf_file(part)) {
      files.push_back(*gguf);
      continue;
    }
    for (const auto& entry : std::filesystem::directory_iterator(part))
      if (entry.is_regular_file() &&
          (entry.path().extension() == ".json" || entry.path().extension() == ".safetensors"))
        files.push_back(entry.path());
    std::sort(files.begin() + before, files.end());
  }
  const bool whole = read_model_config(checkpoint.weights.front()).layers == config.layers;
  ModelRow row;
  row.path = std::filesystem::weakly_canonical(folder).string();
  if (!whole) row.stamp = str("first ", config.layers, " layers;");
  for (const auto& file : files)
    row.stamp += str(file.filename().string(), ":", std::filesystem::file_size(file), ":",
                     std::filesystem::last_write_time(file).time_since_epoch().count(), ";");
  row.shape = {{"layers", config.layers},
               {"hidden_size", config.hidden_size},
               {"intermediate_size", config.intermediate_size},
               {"heads", config.heads},
               {"kv_heads", config.kv_heads},
               {"head_dim", config.head_dim},
               {"vocab_size", config.vocab_size},
               {"max_position", config.max_position},
               {"parameters", parameter_count(config)}};
  if (config.experts.count > 0) {
    row.shape["experts"] = config.experts.count;
    row.shape["experts_used"] = config.experts.used;
    row.shape["expert_layers"] =
        std::count(config.experts.layers.begin(), config.experts.layers.end(), true);
  }
  if (checkpoint.weights.size() > 1)
    row.shape[kBaseFolder] = std::filesystem::weakly_canonical(checkpoint.weights.front()).string();
  if (const auto updates = read_training_record(folder).updates)
    row.shape[kTrainedUpdates] = *updates;
  const auto face =
      checkpoint.tokenizer ? std::nullopt : read_face(checkpoint.weights.front().string());
  if (const auto& tokenizer = face ? face->tokenizer : checkpoint.tokenizer)
    row.shape[kTokenizerHash] = hash_of_ids(*tokenizer);
  if (const auto known = store ? store->model_hash(row.path, row.stamp) : std::nullopt) {
    row.hash = *known;
    return row;
  }
  std::string all = whole ? "" : str("first ", config.layers, " layers\n");
  for (const auto& file : files) all += str(file.filename().string(), " ", sha256_file(file), "\n");
  row.hash = sha256(all);
  return row;
}

std::string hash_of_ids(const Tokenizer& tokenizer) {
  std::string all;
  for (Token id = 0; id < tokenizer.vocab_size(); ++id)
    if (!tokenizer.is_special(id)) all += str(id, "\t", tokenizer.token(id), "\n");
  return sha256(all);
}

Json environment_json(const std::string& device, Dtype dtype) {
  return environment_json(gpu_facts(device), dtype);
}

Json environment_json(const std::optional<GpuFacts>& gpu, Dtype dtype) {
  utsname system{};
  ::uname(&system);
  Json environment = {
      {"processor", processor_name()},
      {"cores", std::thread::hardware_concurrency()},
      {"memory", line_of("/proc/meminfo", "MemTotal")},
      {"governor", line_of("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "")},
      {"mhz", line_of("/proc/cpuinfo", "cpu MHz")},
      {"system", str(system.sysname, " ", system.release, " ", system.machine)},
      {"libtorch", libtorch_version()},
      {"compiler", version().compiler},
      {"flags", version().flags}};
  if (const auto gpus = gpu_names(); !gpus.empty()) environment["gpus"] = gpus;
  if (!gpu) return environment;
  environment["gpu"] = {{"name", gpu->name},
                        {"memory_bytes", gpu->memory_bytes},
                        {"cuda", gpu->runtime},
                        {"capability", gpu->capability}};
  if (const std::string driver = gpu_driver(); !driver.empty())
    environment["gpu"]["driver"] = driver;
  if (const std::string name = hardware_of_gpu(gpu->name); !name.empty()) try {
      const Hardware roofline = read_hardware(name, dtype);
      environment["gpu"]["roofline"] = {{"hardware", name},
                                        {"bytes_per_second", roofline.bytes_per_second},
                                        {"flop_per_second", roofline.flop_per_second}};
    } catch (const ConfigError&) {  // its file has no rate for this type
    }
  return environment;
}

std::string host_name() {
  utsname system{};
  ::uname(&system);
  return system.nodename;
}

JobRow job_row(const JobKey& key, const Answers& answers) {
  JobRow job;
  job.key = key;
  job.text = answers.text;
  job.tokens = answers.tokens;
  job.stop = name(answers.stop);
  job.counters = answers.counters;
  job.turns.assign(answers.turns.begin(), answers.turns.end());

  // Both are nested in the same way as the fields: context, field, token.
  Json unforced = Json::array(), gaps = Json::array();
  bool any = !answers.unforced.empty();
  for (const auto& context : answers.fields) {
    Json& u = unforced.emplace_back(Json::array());
    Json& g = gaps.emplace_back(Json::array());
    for (const auto& field : context) {
      u.push_back(field.unforced);
      g.push_back(field.gaps);
      any = any || !field.unforced.empty();
    }
  }
  if (any) job.unforced = {{"fields", std::move(unforced)}, {"stream", answers.unforced}};
  job.top2 = {{"fields", std::move(gaps)}, {"stream", answers.gaps}};
  return job;
}

namespace {

void add_scores(GenerationRow& row, const ScoredExample& example,
                const std::vector<const TaskMetric*>& metrics) {
  for (const TaskMetric* metric : metrics)
    for (auto& score : metric->by<ByText>()->score(example)) row.scores.push_back(std::move(score));
}

/// Number of ids whose texts contain the first `bytes` bytes.
std::int64_t ids_of(const Tokens& tokens, std::size_t bytes, const Tokenizer& tokenizer) {
  std::size_t held = 0, count = 0;
  while (held < bytes && count < tokens.size()) held += tokenizer.bytes(tokens[count++]).size();
  return static_cast<std::int64_t>(count);
}

}  // namespace

std::vector<GenerationRow> generation_rows(
    const std::vector<const Example*>& examples, const Answers& answers,
    const std::optional<std::vector<const TaskMetric*>>& metrics, const Tokenizer* tokenizer) {
  std::vector<GenerationRow> rows;
  for (size_t c = 0; c < examples.size(); ++c) {
    GenerationRow row;
    row.sample = examples[c]->id;
    row.stop = name(answers.stop);
    OrderedJson values = OrderedJson::object();
    for (size_t f = 0; f < answers.fields[c].size(); ++f) {
      const FieldResult& field = answers.fields[c][f];
      values[examples[c]->fields[f].name] = field.text ? OrderedJson(*field.text) : OrderedJson();
      row.tokens.insert(row.tokens.end(), field.tokens.begin(), field.tokens.end());
      std::string text = field.text.value_or("");
      const bool no_value = !field.said_absent && strip(text).empty();
      row.fields.push_back({examples[c]->fields[f].name, std::move(text), field.tokens,
                            std::string(name(field.stop)), no_value});
      if (const auto& thought = field.thought)
        row.fields.back().thought =
            FieldThought{thought->tokens ? *thought->tokens
                         : tokenizer     ? ids_of(field.tokens, thought->bytes, *tokenizer)
                                         : 0,
                         static_cast<std::int64_t>(thought->text_bytes), thought->open};
    }
    // The answer of a single-example job is stored unchanged; examples of a stack have their own
    // parts.
    row.text = examples.size() == 1 ? answers.text : dump(values);
    if (examples.size() == 1 && !answers.tokens.empty()) row.tokens = answers.tokens;
    if (metrics) {
      // Scored from the stored rows, as in `score`.
      add_scores(row, scored_example(sample_rows({*examples[c]}).front(), row.fields), *metrics);
      ScoreRow parsed;
      parsed.metric = "parsed";
      parsed.value = answers.parsed[c] ? 1 : 0;
      row.scores.push_back(std::move(parsed));
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

std::vector<GenerationRow> failed_rows(
    const std::vector<const Example*>& examples, const std::string& error,
    const std::optional<std::vector<const TaskMetric*>>& metrics) {
  std::vector<GenerationRow> rows;
  for (const Example* example : examples) {
    GenerationRow row;
    row.sample = example->id;
    row.stop = "error";
    row.error = error;
    if (metrics) add_scores(row, failed_example(sample_rows({*example}).front()), *metrics);
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace pardec
