#include "src/checkpoint/derived_checkpoint.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "src/checkpoint/checkpoint.hpp"
#include "src/model/adapter.hpp"
#include "src/model/derived_weights.hpp"
#include "src/model/files/extra_heads.hpp"
#include "src/prompt/chat_template.hpp"
#include "src/support/error.hpp"
#include "src/support/files.hpp"
#include "src/support/gguf.hpp"
#include "src/support/number_text.hpp"
#include "src/support/text.hpp"
#include "src/tokenizer/tokenizer.hpp"
#include "src/tokenizer/tokens_beside.hpp"

namespace pardec {

namespace {

constexpr const char* kWeights = "model.safetensors";
constexpr const char* kShards = "model.safetensors.index.json";

/// The config.json of `base`, which was read as `config`, with the tying of the head corrected to
/// match the weights.
OrderedJson config_of(const std::filesystem::path& base, const ModelConfig& config) {
  OrderedJson json = read_ordered_json(base / "config.json");
  if (const bool says_tied = json.value("tie_word_embeddings", OrderedJson()) == true;
      says_tied != config.tied_head)
    json["tie_word_embeddings"] = config.tied_head;
  return json;
}

/// ModelError: the network is in a GGUF file, which has no JSON files to copy, or its weights are
/// quantised.
void check_folder(const std::filesystem::path& base) {
  if (gguf_file(base))
    throw ModelError(base.string(),
                     "is a GGUF file, which no checkpoint is made from; expected a Hugging Face "
                     "checkpoint folder");
  if (const std::string quantised = read_model_config(base).quantised; !quantised.empty())
    throw ModelError(base.string(), str("has quantised weights (", quantised,
                                        "), which no checkpoint is made from; expected bf16, fp16, "
                                        "fp32 or fp64"));
}

OrderedJson special_token(std::int64_t id, const std::string& text) {
  return {{"id", id},        {"content", text},     {"single_word", false}, {"lstrip", false},
          {"rstrip", false}, {"normalized", false}, {"special", true}};
}

/// The texts of all files that may mention a token: chat templates, and the configs that accompany
/// them.
std::string texts_beside(const std::filesystem::path& base) {
  std::string all;
  std::error_code ignored;
  for (const char* file : {"chat_template.jinja", "chat_template.json"})
    if (std::filesystem::exists(base / file, ignored)) all += read_file(base / file);
  if (std::filesystem::exists(base / kTokenizerConfig, ignored)) {
    OrderedJson config = read_ordered_json(base / kTokenizerConfig);
    for (const char* list : {"added_tokens_decoder", "additional_special_tokens"})
      config.erase(list);  // they list all tokens, which is no use of them
    all += config.dump();
  }
  return all;
}

/// Gives a special token of tokenizer.json another text.
void rename_token(OrderedJson& tokenizer, const std::string& from, const std::string& to) {
  for (OrderedJson& token : tokenizer.at("added_tokens"))
    if (token.at("content") == from) token["content"] = to;
  OrderedJson& vocabulary = tokenizer.at("model").at("vocab");
  if (!vocabulary.contains(from)) return;
  OrderedJson renamed = OrderedJson::object();
  for (const auto& [text, id] : vocabulary.items()) renamed[text == from ? to : text] = id;
  vocabulary = std::move(renamed);
}

}  // namespace

void make_checkpoint_folder(const std::filesystem::path& out) {
  std::error_code error;
  if (std::filesystem::exists(out / kWeights, error) ||
      std::filesystem::exists(out / kShards, error))
    throw ConfigError(str(out.string(), ": holds a model; give another folder"));
  std::filesystem::create_directories(out, error);
  if (error) throw RunError(str(out.string(), ": cannot be made: ", error.message()));
}

void copy_beside_weights(const std::filesystem::path& from, const std::filesystem::path& to,
                         const std::set<std::string>& but) {
  constexpr auto kOverwrite = std::filesystem::copy_options::overwrite_existing;
  try {
    for (const auto& entry : std::filesystem::directory_iterator(from))
      if (const std::string end = entry.path().extension().string();
          (end == ".json" || end == ".jinja" || entry.path().filename() == "tokenizer.model") &&
          !but.contains(entry.path().filename().string()))
        std::filesystem::copy_file(entry.path(), to / entry.path().filename(), kOverwrite);
    for (const char* folder : {"prompts", kMoreChatTemplates})
      if (std::filesystem::is_directory(from / folder))
        std::filesystem::copy(from / folder, to / folder,
                              kOverwrite | std::filesystem::copy_options::recursive);
  } catch (const std::filesystem::filesystem_error& error) {
    throw RunError(str(to.string(), ": ", from.string(), " cannot be copied here: ", error.what()));
  }
}

void merge_checkpoint(const std::filesystem::path& base, const std::filesystem::path& adapter,
                      const std::filesystem::path& out) {
  check_folder(base);
  const ModelConfig config = read_model_config(base, adapter);
  const std::filesystem::path heads = extra_heads_file(base, adapter);
  if (config.extra_heads > 0) extra_head_shape(heads, config);  // throws if they do not fit
  holds_low_rank(adapter);
  make_checkpoint_folder(out);
  copy_beside_weights(base, out, {kShards, kTrainingRecord});
  copy_beside_weights(adapter, out, {kAdapterConfig});
  const OrderedJson json = config_of(base, config);
  if (json != read_ordered_json(base / "config.json"))
    write_file(out / "config.json", json.dump(2) + "\n");
  if (config.extra_heads > 0) write_file(out / kExtraHeadsFile, read_file(heads));
  merge_adapter(base, adapter, out / kWeights);  // last, since it completes the checkpoint
}

void first_layers(const std::filesystem::path& base, int layers, const std::filesystem::path& out) {
  check_folder(base);
  const ModelConfig whole = read_model_config(base);
  if (layers < 1 || layers >= whole.layers)
    throw ConfigError(str("`layers` is ", layers, ", expected 1 to ", whole.layers - 1, ": ",
                          base.string(), " has ", whole.layers));
  OrderedJson config = config_of(base, whole);
  config[whole.family->key("num_hidden_layers")] = layers;
  if (whole.family->mup_keys)  // the factor of residual sums is scale_depth / sqrt(layers)
    config["scale_depth"] = whole.block.residual_scale * std::sqrt(layers);
  if (config.contains("layer_types") && config["layer_types"].is_array()) {
    auto types = config["layer_types"].get<std::vector<OrderedJson>>();
    types.resize(static_cast<size_t>(layers));
    config["layer_types"] = types;
  }
  make_checkpoint_folder(out);
  copy_beside_weights(base, out, {kShards, kTrainingRecord});
  write_file(out / "config.json", config.dump(2) + "\n");
  write_derived_weights(base, read_model_config(out), {}, out / kWeights);
}

void add_tokens(const std::filesystem::path& base, const NewTokens& tokens,
                const std::filesystem::path& out) {
  check_folder(base);
  const ModelConfig config = read_model_config(base);
  const Tokenizer before = load_tokenizer(base);
  OrderedJson tokenizer = OrderedJson::parse(complete_tokenizer(base / "tokenizer.json"));
  const std::string used = texts_beside(base);
  std::set<std::string> made;
  const auto check_new = [&](const std::string& text) {
    if (strip(text).empty())
      throw ConfigError(str("'", text, "' is no name of a token; expected a text"));
    if (before.id(text))
      throw ConfigError(
          str("'", text, "' is a token of ", base.string(), " already; expected others"));
    if (!made.insert(text).second)
      throw ConfigError(str("'", text, "' is made twice; expected each new token once"));
  };
  for (const auto& [from, to] : tokens.renamed) {
    check_new(to);
    const auto id = before.id(from);
    const OrderedJson& added = tokenizer.at("added_tokens");
    if (!id || std::none_of(added.begin(), added.end(), [&from = from](const OrderedJson& token) {
          return token.at("content") == from;
        }))
      throw ConfigError(str("`rename`: '", from, "' is no special token of ", base.string()));
    const bool ends = std::find(config.eos.begin(), config.eos.end(), *id) != config.eos.end();
    if (ends || config.bos == *id || used.find(from) != std::string::npos)
      throw ConfigError(
          str("`rename`: '", from, "' is used: ", base.string(),
              ends ? " ends sequences with it" : " begins or writes prompts with it"));
    rename_token(tokenizer, from, to);
  }
  const std::int64_t first = before.vocab_size(), count = std::ssize(tokens.added);
  for (std::int64_t i = 0; i < count; ++i) {
    const std::string& text = tokens.added[static_cast<size_t>(i)];
    check_new(text);
    tokenizer.at("added_tokens").push_back(special_token(first + i, text));
  }
  OrderedJson larger = config_of(base, config);
  larger["vocab_size"] = std::max<std::int64_t>(config.vocab_size, first + count);
  make_checkpoint_folder(out);
  copy_beside_weights(base, out, {kShards, kTrainingRecord});
  write_file(out / "config.json", larger.dump(2) + "\n");
  write_file(out / "tokenizer.json", tokenizer.dump(2) + "\n");
  // The accompanying file that transformers reads.
  if (std::error_code error; std::filesystem::exists(out / kTokenizerConfig, error)) {
    OrderedJson beside = read_ordered_json(out / kTokenizerConfig);
    if (beside.contains("added_tokens_decoder")) {
      OrderedJson& decoder = beside["added_tokens_decoder"];
      for (const auto& [from, to] : tokens.renamed)
        if (const std::string id = std::to_string(*before.id(from)); decoder.contains(id))
          decoder[id]["content"] = to;
      for (std::int64_t i = 0; i < count; ++i) {
        OrderedJson token = special_token(first + i, tokens.added[static_cast<size_t>(i)]);
        token.erase("id");
        decoder[std::to_string(first + i)] = std::move(token);
      }
    }
    if (beside.contains("additional_special_tokens"))
      for (OrderedJson& token : beside["additional_special_tokens"])
        for (const auto& [from, to] : tokens.renamed)
          if (token == from) token = to;
    write_file(out / kTokenizerConfig, beside.dump(2) + "\n");
  }
  const std::int64_t drawn = std::min<std::int64_t>(first, config.vocab_size);
  write_derived_weights(base, read_model_config(out), {drawn, first + count - drawn, tokens.seed},
                        out / kWeights);
}

}  // namespace pardec
