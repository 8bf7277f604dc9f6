// Damaged files of networks: each is an error that names the file and the place in it, what was
// found and what was expected. Nothing is written, and no memory is taken for what a file claims.
#include <sys/resource.h>

#include <cmath>
#include <cstring>
#include <functional>
#include <iostream>
#include <map>

#include "src/checkpoint/checkpoint.hpp"
#include "src/checkpoint/pickled_weights.hpp"
#include "src/model/files/checkpoint_files.hpp"
#include "src/prompt/chat_template.hpp"
#include "src/support/error.hpp"
#include "src/support/files.hpp"
#include "src/support/text.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/gguf_file.hpp"
#include "tests/tokenizer/tiny.hpp"

using namespace pardec;
using namespace pardec::test;

namespace {

namespace fs = std::filesystem;

/// A kind of damage to a network's files. `says`: what the error has, first the file.
struct Damage {
  const char* what;
  std::function<void(const fs::path& folder)> harm;
  std::vector<const char*> says;
};

/// Kinds of damage to the same files.
struct Subject {
  const char* name;
  std::function<void(const fs::path& folder)> make;
  std::function<void(const fs::path& folder)> open;
  std::vector<Damage> damages;
  bool opens = true;  ///< whether the undamaged files can be opened here
};

// ---- changes ----

void add_json(const fs::path& file, const std::string& pointer, const Json& value) {
  Json json = read_json(file);
  json[Json::json_pointer(pointer)] = value;
  write_file(file, dump(json));
}
void remove_key(const fs::path& file, const char* key) {
  Json json = read_json(file);
  json.erase(key);
  write_file(file, dump(json));
}
/// A file, or one of its keys, with another content.
auto text(const char* file, const std::string& content) {
  return [=](const fs::path& folder) { write_file(folder / file, content); };
}
auto json(const char* file, const std::string& pointer, const Json& value) {
  return [=](const fs::path& folder) { add_json(folder / file, pointer, value); };
}
auto missing_key(const char* file, const char* key) {
  return [=](const fs::path& folder) { remove_key(folder / file, key); };
}
auto missing_file(const char* file) {
  return [=](const fs::path& folder) { fs::remove(folder / file); };
}
/// A file's first bytes; negative: all but so many.
auto cut(const char* file, std::int64_t bytes) {
  return [=](const fs::path& folder) {
    const std::string all = read_file(folder / file);
    write_file(folder / file,
               all.substr(0, static_cast<size_t>(bytes < 0 ? std::ssize(all) + bytes : bytes)));
  };
}
auto bytes(const char* file, size_t at, const std::string& other) {
  return [=](const fs::path& folder) {
    write_file(folder / file, read_file(folder / file).replace(at, other.size(), other));
  };
}

/// A file of safetensors.
std::string safetensors(const std::string& header, const std::string& data) {
  return little_endian<std::uint64_t>(header.size()) + header + data;
}
/// Another header of model.safetensors.
auto header(const std::function<void(Json& header)>& change, const std::string& more_data = "") {
  return [=](const fs::path& folder) {
    const fs::path file = folder / "model.safetensors";
    const std::string all = read_file(file);
    std::uint64_t length = 0;
    std::memcpy(&length, all.data(), sizeof length);
    Json read = Json::parse(all.substr(8, length));
    change(read);
    write_file(file, safetensors(dump(read), all.substr(8 + length) + more_data));
  };
}
auto entry(const char* tensor, const char* key, const Json& value) {
  return header([=](Json& all) { all[tensor][key] = value; });
}
auto renamed(const char* tensor, const char* other) {
  return header([=](Json& all) {
    all[other] = all.at(tensor);
    all.erase(tensor);
  });
}

// ---- a checkpoint folder ----

constexpr const char* kNorm = "model.norm.weight";
constexpr const char* kQuery = "model.layers.0.self_attn.q_proj.weight";
constexpr const char* kWeights = "model.safetensors";
constexpr const char* kTokenizer = "tokenizer.json";
constexpr const char* kGeneration = "generation_config.json";

void make_checkpoint(const fs::path& folder) {
  const Json config{{"model_type", "llama"},
                    {"vocab_size", 269},
                    {"hidden_size", 16},
                    {"intermediate_size", 24},
                    {"num_hidden_layers", 1},
                    {"bos_token_id", 1},
                    {"num_attention_heads", 4},
                    {"num_key_value_heads", 2},
                    {"eos_token_id", 2},
                    {"rms_norm_eps", 1e-5},
                    {"max_position_embeddings", 64}};
  synthesise_checkpoint(config, 1, folder);
  write_file(folder / kTokenizer, dump(tiny()));
  write_file(folder / "tokenizer_config.json",
             R"({"bos_token": "<s>", "chat_template": "{{ messages[0].content }}"})");
}

void open_checkpoint(const fs::path& folder) {
  load_checkpoint({.model = folder.string()}, true);
  read_chat_template(folder);
}

std::vector<Damage> damages_of_safetensors() {
  const auto both_names = [](Json& all) {
    all["norm.weight"] = {{"dtype", "BF16"}, {"shape", {0}}, {"data_offsets", {0, 0}}};
  };
  return {
      {"no weights", missing_file(kWeights), {"has no weights, expected model.safetensors"}},
      {"an empty file", text(kWeights, ""), {kWeights, "has 0 bytes, expected a safetensors file"}},
      {"cut in the header",
       cut(kWeights, 100),
       {kWeights, "is truncated: its header has", "only 92 follow"}},
      {"cut in the data",
       cut(kWeights, -10),
       {kWeights, "tensor \"", "ends at byte", "but the file has only"}},
      {"a header of 2^62 bytes",
       bytes(kWeights, 0, little_endian(std::uint64_t{1} << 62)),
       {kWeights, "says that its header has 4611686018427387904 bytes, expected at most"}},
      {"a header that is no JSON",
       text(kWeights, safetensors("{\"a\": ", "")),
       {kWeights, "has a header of 6 bytes that is not valid JSON"}},
      {"a header that is a list",
       text(kWeights, safetensors("[]", "")),
       {kWeights, "has a header that is JSON array, expected an object"}},
      {"a header of many levels",
       text(kWeights, safetensors(std::string(5000, '['), "")),
       {kWeights, "has a header that is nested deeper than"}},
      {"an entry without a key",
       header([](Json& all) { all[kNorm].erase("dtype"); }),
       {kWeights, kNorm, "has no 'dtype'"}},
      {"a type as number",
       entry(kNorm, "dtype", 7),
       {kWeights, kNorm, "has dtype 7, expected a name such as \"BF16\""}},
      {"a type of other size",
       entry(kNorm, "dtype", "F32"),
       {kWeights, kNorm, "has 32 bytes, expected 64 for F32 of shape [16]"}},
      {"a type that is not read",
       entry(kNorm, "dtype", "F8_E5M2"),
       {kWeights, kNorm, "has dtype \"F8_E5M2\", expected BF16, F16, F32 or F64"}},
      {"a shape below zero",
       entry(kNorm, "shape", {-16}),
       {kWeights, kNorm, "has shape [-16], expected sizes that a file can hold"}},
      {"a shape of 2^80",
       entry(kNorm, "shape", {std::int64_t{1} << 40, std::int64_t{1} << 40}),
       {kWeights, kNorm, "expected sizes that a file can hold"}},
      {"another shape",
       entry(kQuery, "shape", {8, 32}),
       {kWeights, kQuery, "has shape [8, 32], expected [16, 16] from the config"}},
      {"offsets beyond the end",
       entry(kNorm, "data_offsets", {0, std::int64_t{1} << 40}),
       {kWeights, kNorm, "ends at byte 1099511627776 of the data, but the file has only"}},
      {"offsets backwards",
       entry(kNorm, "data_offsets", {32, 0}),
       {kWeights, kNorm, "has data_offsets [32,0], expected [begin, end]"}},
      {"tensors that overlap",
       entry(kNorm, "data_offsets", {0, 32}),
       {kWeights, "tensor \"", "starts at byte", "tensors overlap"}},
      {"bytes of no tensor",
       header([](Json&) {}, "more"),
       {kWeights, "bytes of data, but its tensors cover only"}},
      {"a tensor that is missing",
       renamed(kNorm, "model.norms.weight"),
       {kWeights, "has no tensor 'model.norm.weight' of shape [16]",
        "what the network does not use: model.norms.weight"}},
      {"a weight of two names",
       header(both_names),
       {kWeights, "has 'model.norm.weight' and 'norm.weight', which are the same weight"}},
      {"a pointer of Git LFS",
       text(kWeights, "version https://git-lfs.github.com/spec/v1\noid sha256:1\n"),
       {kWeights, "is a pointer of Git LFS"}},
      {"a pickled file",
       text(kWeights, std::string("PK\3\4") + std::string(60, 'x')),
       {kWeights, "is pickled by torch, expected safetensors"}},
  };
}

std::vector<Damage> damages_of_config() {
  const char* const kConfig = "config.json";
  const auto with = [&](const char* key, const Json& value) {
    return json("config.json", str("/", key), value);
  };
  return {
      {"no config", missing_file(kConfig), {"has no config.json"}},
      {"cut",
       text(kConfig, "{\"model_type\": \"llama\",\n\"hidden_size\": "),
       {kConfig, "line 2: is not valid JSON"}},
      {"a list", text(kConfig, "[]"), {kConfig, "array", "expected"}},
      {"a number without end",
       text(kConfig, "{\"hidden_size\": 1e999}"),
       {kConfig, "has a number that no double holds"}},
      {"another family", with("model_type", "opt"), {kConfig, "model_type 'opt' is not supported"}},
      {"no size", missing_key(kConfig, "hidden_size"), {kConfig, "'hidden_size'"}},
      {"a size as text",
       with("hidden_size", "16"),
       {kConfig, "'hidden_size'", "\"16\"", "whole number"}},
      {"no layers",
       with("num_hidden_layers", 0),
       {kConfig, "'num_hidden_layers'", "0", "expected"}},
      {"a billion layers",
       with("num_hidden_layers", 1'000'000'000),
       {kConfig, "a size that no network has"}},
      {"heads that do not divide",
       with("num_key_value_heads", 3),
       {kConfig, "num_key_value_heads", "3"}},
      {"an unknown rope",
       with("rope_scaling", {{"rope_type", "spiral"}, {"factor", 2.0}}),
       {kConfig, "has rope_type 'spiral', which is not supported"}},
      {"an unknown activation",
       with("hidden_act", "swish9"),
       {kConfig, "'hidden_act' is 'swish9'; supported is 'silu'"}},
      {"an end that is no id",
       with("eos_token_id", "</s>"),
       {"eos_token_id", "\"</s>\"", "expected"}},
      {"generation: cut", text(kGeneration, "{\n\n"), {kGeneration, "not valid JSON"}},
      {"generation: a penalty below zero",
       json(kGeneration, "/repetition_penalty", -1.5),
       {kGeneration, "'repetition_penalty' is -1.5, expected"}},
      {"generation: an id that there is not",
       json(kGeneration, "/suppress_tokens", {5000}),
       {kGeneration, "'suppress_tokens'", "5000", "expected"}},
      {"generation: words as text",
       json(kGeneration, "/bad_words_ids", "bad"),
       {kGeneration, "'bad_words_ids' is \"bad\", expected"}},
      {"a record of training without formats",
       text("training.json", "{}"),
       {"training.json", "has no settings.format of names, expected"}},
  };
}

std::vector<Damage> damages_of_tokenizer() {
  const auto with = [](const char* pointer, const Json& value) {
    return json("tokenizer.json", pointer, value);
  };
  const Json added{{"id", 5000}, {"content", "<far>"}};
  const Json expression{{"type", "Split"},
                        {"pattern", {{"Regex", "(a"}}},
                        {"behavior", "Isolated"},
                        {"invert", false}};
  return {
      {"no tokenizer", missing_file(kTokenizer), {"has no tokenizer.json, expected one"}},
      {"cut", text(kTokenizer, "{\n\"model\": "), {"tokenizer.json:2: is not valid JSON"}},
      {"no model", missing_key(kTokenizer, "model"), {kTokenizer, "model is missing"}},
      {"an unknown model",
       with("/model/type", "WordLevel"),
       {kTokenizer, "model 'WordLevel' is not supported"}},
      {"an id twice", with("/model/vocab/new", 1), {kTokenizer, "'<s>' and 'new' both have id 1"}},
      {"an id of 2^40",
       with("/model/vocab/new", std::int64_t{1} << 40),
       {kTokenizer, "token 'new' has id 1099511627776, expected"}},
      {"a merge of no token",
       with("/model/merges/1", "x b"),
       {kTokenizer, "model.merges[1] needs token 'xb'"}},
      {"an added token far away",
       with("/added_tokens/3", added),
       {kTokenizer, "'<far>' has id 5000, expected"}},
      {"a wrong expression",
       with("/pre_tokenizer", expression),
       {kTokenizer, "'(a' is no regular expression"}},
      {"an unknown step",
       with("/normalizer", {{"type", "Nmt"}}),
       {kTokenizer, "normalizer 'Nmt' is not supported"}},
      {"a map that is no map",
       with("/normalizer", {{"type", "Precompiled"}, {"precompiled_charsmap", "////fw=="}}),
       {kTokenizer, "has 4 bytes and a trie of", "expected a map of SentencePiece"}},
      {"tokenizer_config: cut",
       text("tokenizer_config.json", "{"),
       {"tokenizer_config.json", "not valid JSON"}},
      {"a template without end",
       json("tokenizer_config.json", "/chat_template", "a\n{% if x %}"),
       {"tokenizer_config.json", "line 2"}},
  };
}

// ---- a checkpoint folder with shards ----

constexpr const char* kIndex = "model.safetensors.index.json";

void make_shards(const fs::path& folder) {
  make_checkpoint(folder);
  const fs::path file = folder / kWeights;
  const std::string all = read_file(file);
  std::uint64_t length = 0;
  std::memcpy(&length, all.data(), sizeof length);
  const Json header = Json::parse(all.substr(8, length));
  Json map = Json::object();
  std::map<std::string, std::pair<Json, std::string>> shards;  // header and data
  for (const auto& [name, tensor] : header.items()) {
    if (name == "__metadata__") continue;
    const std::string shard = name == kNorm ? "b.safetensors" : "a.safetensors";
    auto& [own, data] = shards[shard];
    const size_t begin = tensor["data_offsets"][0], end = tensor["data_offsets"][1];
    own[name] = tensor;
    own[name]["data_offsets"] = {data.size(), data.size() + end - begin};
    data += all.substr(8 + length + begin, end - begin);
    map[name] = shard;
  }
  for (const auto& [shard, content] : shards)
    write_file(folder / shard, safetensors(dump(content.first), content.second));
  write_file(folder / kIndex, dump(Json{{"weight_map", map}}));
  fs::remove(file);
}

std::vector<Damage> damages_of_shards() {
  const auto maps = [](const Json& shard) {
    return [=](const fs::path& folder) {
      Json index = read_json(folder / kIndex);
      index["weight_map"][kNorm] = shard;
      write_file(folder / kIndex, dump(index));
    };
  };
  const auto copied = [](const fs::path& folder) {
    fs::copy_file(folder / "b.safetensors", folder / "c.safetensors");
    Json index = read_json(folder / kIndex);
    index["weight_map"]["more"] = "c.safetensors";
    write_file(folder / kIndex, dump(index));
  };
  return {
      {"an index that is cut",
       text(kIndex, "{\"weight_map\": {"),
       {kIndex, "line 1: is not valid JSON"}},
      {"an index without a map",
       text(kIndex, "{\"metadata\": {}}"),
       {kIndex, "has no 'weight_map', expected an object of tensor names"}},
      {"a shard as number",
       maps(3),
       {kIndex, "names shard 3 for tensor \"model.norm.weight\", expected a file name"}},
      {"a shard elsewhere",
       maps("../a.safetensors"),
       {kIndex, "names shard \"../a.safetensors\"", "expected a file name"}},
      {"a shard that is missing",
       missing_file("b.safetensors"),
       {kIndex, "names shard \"b.safetensors\", which is not in the folder"}},
      {"a tensor in another shard",
       maps("a.safetensors"),
       {"a.safetensors", "has no tensor \"model.norm.weight\", which", "says it has"}},
      {"a tensor in two shards",
       copied,
       {"c.safetensors", "has tensor \"model.norm.weight\", which", "has too"}},
      {"a shard that is cut",
       cut("b.safetensors", -1),
       {"b.safetensors", "tensor \"model.norm.weight\" ends at byte 32"}},
      {"a shard that is no file",
       [](const fs::path& folder) {
         fs::remove(folder / "b.safetensors"), fs::create_directory(folder / "b.safetensors");
       },
       {"b.safetensors", "is not a regular file"}},
  };
}

// ---- tokenizer.model ----

/// A field of Protocol Buffers.
std::string number_field(int field, int value) {
  return {static_cast<char>(field << 3), static_cast<char>(value)};
}
std::string bytes_field(int field, const std::string& value) {
  return std::string{static_cast<char>(field << 3 | 2), static_cast<char>(value.size())} + value;
}
std::string piece(const std::string& text, int kind, float score = 0) {
  return bytes_field(1, bytes_field(1, text) + std::string(1, 2 << 3 | 5) + little_endian(score) +
                            number_field(3, kind));
}
/// A model with these pieces after <unk>, <s> and </s>.
std::string sentencepiece(const std::string& pieces, int algorithm = 2) {
  return piece("<unk>", 2) + piece("<s>", 3) + piece("</s>", 3) + pieces +
         bytes_field(2, number_field(3, algorithm));
}

void open_tokenizer(const fs::path& folder) { load_tokenizer(folder); }

std::vector<Damage> damages_of_sentencepiece() {
  const char* const kModel = "tokenizer.model";
  return {
      {"empty", text(kModel, ""), {kModel, "has no pieces, expected a model of SentencePiece"}},
      {"cut",
       cut(kModel, 20),
       {kModel, "is truncated: a field has", "of which", "expected a model of SentencePiece"}},
      {"a field of 2^63 bytes",
       text(kModel, "\x0a\xff\xff\xff\xff\xff\xff\xff\xff\x7f"),
       {kModel, "is truncated: a field has 9223372036854775807 bytes"}},
      {"a number without end",
       text(kModel, std::string(30, '\xff')),
       {kModel, "has a number of more than ten bytes"}},
      {"an unknown field type", text(kModel, "\x0b"), {kModel, "has a field of wire type 3"}},
      {"a piece that is no UTF-8",
       text(kModel, sentencepiece(piece("\xff", 1))),
       {kModel, "piece 3 is '", "expected a text in UTF-8"}},
      {"an unknown kind of piece",
       text(kModel, sentencepiece(piece("a", 9))),
       {kModel, "piece 3 is 'a' of kind 9", "a kind from 1 to 6"}},
      {"a score that is no number",
       text(kModel, sentencepiece(piece("a", 1, NAN))),
       {kModel, "piece 3 is 'a'", "with score"}},
      {"a piece twice",
       text(kModel, sentencepiece(piece("a", 1) + piece("a", 1))),
       {kModel, "has 'a' as id 3 and as id 4, expected different tokens"}},
      {"another kind of model",
       text(kModel, sentencepiece(piece("a", 1), 3)),
       {kModel, "has a model of kind 3, which is not supported"}},
      {"JSON", text(kModel, "{\"model\": {}}"), {kModel, "expected a model of SentencePiece"}},
  };
}

// ---- GGUF ----

constexpr const char* kGguf = "model.gguf";
constexpr std::uint32_t kF32 = 0;

std::string strings(const std::vector<std::string>& all) {
  std::string value = little_endian<std::uint32_t>(8) + little_endian<std::uint64_t>(all.size());
  for (const std::string& one : all) value += gguf_string(one);
  return value;
}

/// A network with a tokenizer, by its keys and tensors.
struct GgufParts {
  std::map<std::string, std::string> entries;                 ///< type and value
  std::map<std::string, std::vector<std::uint64_t>> tensors;  ///< sizes, the innermost first
  std::uint32_t type = kF32;                                  ///< of token_embd.weight

  void set(const std::string& key, std::uint32_t kind, const std::string& value) {
    entries[key] = gguf_entry(key, kind, value);
  }
  void number(const std::string& key, std::uint32_t value) {
    entries[key] = gguf_entry(key, value);
  }
  std::string bytes() const {
    GgufBytes file;
    for (const auto& [key, entry] : entries) file.entries.push_back(entry);
    for (const auto& [name, sizes] : tensors) {
      std::uint64_t bytes = 4;
      for (const std::uint64_t size : sizes) bytes *= size;
      file.tensors.push_back(
          gguf_tensor(name, sizes, name == "token_embd.weight" ? type : kF32, file.data.size()));
      file.data += std::string((bytes + 31) / 32 * 32, '\0');
    }
    return file.bytes();
  }
};

GgufParts gguf_parts() {
  GgufParts parts;
  parts.set("general.architecture", 8, gguf_string("llama"));
  for (const auto& [key, value] : {std::pair{"block_count", 1},
                                   {"context_length", 64},
                                   {"embedding_length", 8},
                                   {"feed_forward_length", 8},
                                   {"attention.head_count", 2}})
    parts.number(str("llama.", key), static_cast<std::uint32_t>(value));
  parts.set("llama.attention.layer_norm_rms_epsilon", 6, little_endian(1e-5f));
  parts.set("tokenizer.ggml.model", 8, gguf_string("gpt2"));
  parts.set("tokenizer.ggml.pre", 8, gguf_string("gpt-2"));
  parts.set("tokenizer.ggml.tokens", 9, strings({"a", "b", "ab", "<e>"}));
  parts.set("tokenizer.ggml.merges", 9, strings({"a b"}));
  parts.number("tokenizer.ggml.eos_token_id", 3);
  parts.tensors["token_embd.weight"] = {8, 4};
  parts.tensors["output_norm.weight"] = {8};
  for (const char* norm : {"attn_norm", "ffn_norm"})
    parts.tensors[str("blk.0.", norm, ".weight")] = {8};
  for (const char* matrix :
       {"attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_up", "ffn_down"})
    parts.tensors[str("blk.0.", matrix, ".weight")] = {8, 8};
  return parts;
}

void open_gguf(const fs::path& folder) {
  load_checkpoint({.model = (folder / kGguf).string()}, true);
  read_chat_template(folder / kGguf);
}

std::vector<Damage> damages_of_gguf() {
  const auto with = [](const std::function<void(GgufParts&)>& change) {
    return [=](const fs::path& folder) {
      GgufParts parts = gguf_parts();
      change(parts);
      write_file(folder / kGguf, parts.bytes());
    };
  };
  const auto number = [&](const char* key, std::uint32_t value) {
    return with([=](GgufParts& parts) { parts.number(key, value); });
  };
  const auto shape = [&](const char* name, const std::vector<std::uint64_t>& sizes) {
    return with([=](GgufParts& parts) { parts.tensors[name] = sizes; });
  };
  const auto gemma = [](GgufParts& parts) {
    GgufParts other = parts;
    other.entries.clear();
    for (const auto& [key, value] : parts.entries)
      if (!key.starts_with("llama.")) other.entries[key] = value;
    other.set("general.architecture", 8, gguf_string("gemma2"));
    for (const char* key : {"context_length", "embedding_length", "feed_forward_length",
                            "attention.head_count", "attention.sliding_window"})
      other.number(str("gemma2.", key), 8);
    other.set("gemma2.attention.layer_norm_rms_epsilon", 6, little_endian(1e-5f));
    other.set("gemma2.block_count", 10, little_endian(std::uint64_t{1} << 40));
    parts = other;
  };
  return {
      {"another format", bytes(kGguf, 0, "GGML"), {kGguf, "does not begin with 'GGUF'"}},
      {"an old version",
       bytes(kGguf, 4, little_endian<std::uint32_t>(1)),
       {kGguf, "has version 1, expected 2 or 3"}},
      {"2^60 tensors",
       bytes(kGguf, 8, little_endian(std::uint64_t{1} << 60)),
       {kGguf, "says at byte 8 that it has 1152921504606846976 tensors, expected at most"}},
      {"2^60 metadata entries",
       bytes(kGguf, 16, little_endian(std::uint64_t{1} << 60)),
       {kGguf, "says at byte 16", "metadata entries, expected at most"}},
      {"cut in the metadata", cut(kGguf, 400), {kGguf, "is truncated:", "bytes, but only"}},
      {"cut in the data",
       cut(kGguf, -64),
       {kGguf, "tensor 'token_embd.weight' has 128 bytes from byte", "but the file has only"}},
      {"no architecture",
       with([](GgufParts& parts) { parts.entries.erase("general.architecture"); }),
       {kGguf, "has no metadata 'general.architecture', expected a name"}},
      {"another family",
       with([](GgufParts& parts) { parts.set("general.architecture", 8, gguf_string("rwkv")); }),
       {kGguf, "has general.architecture 'rwkv', which is not supported"}},
      {"a key that is missing",
       with([](GgufParts& parts) { parts.entries.erase("llama.embedding_length"); }),
       {kGguf, "has no metadata 'llama.embedding_length', expected a number"}},
      {"a key of another type",
       with([](GgufParts& parts) { parts.set("llama.block_count", 8, gguf_string("1")); }),
       {kGguf, "metadata 'llama.block_count' has type string, expected a whole number"}},
      {"an unknown type of value",
       with([](GgufParts& parts) { parts.set("llama.block_count", 77, ""); }),
       {kGguf, "metadata 'llama.block_count' has value type 77 at byte"}},
      {"a billion layers",
       number("llama.block_count", 1'000'000'000),
       {kGguf,
        "metadata 'llama.block_count' is 1000000000, expected 1 to 11, the number of tensors"}},
      {"2^40 layers with windows",
       with(gemma),
       {kGguf, "metadata 'gemma2.block_count' is 1099511627776, expected 1 to 11"}},
      {"more layers than there are",
       number("llama.block_count", 2),
       {kGguf, "has no tensor 'model.layers.1."}},
      {"no heads",
       number("llama.attention.head_count", 0),
       {kGguf, "num_attention_heads", "0", "expected"}},
      {"another width",
       number("llama.embedding_length", 16),
       {kGguf, "tensor 'blk.0.attn_", "has shape [8, 8], expected ["}},
      {"a shape of 2^80",
       shape("blk.0.attn_q.weight", {0, std::uint64_t{1} << 40, std::uint64_t{1} << 40}),
       {kGguf, "tensor 'blk.0.attn_q.weight'"}},
      {"no embedding",
       with([](GgufParts& parts) { parts.tensors.erase("token_embd.weight"); }),
       {kGguf, "has no matrix 'token_embd.weight', expected the embedding"}},
      {"a norm that is missing",
       with([](GgufParts& parts) { parts.tensors.erase("output_norm.weight"); }),
       {kGguf, "has no tensor 'model.norm.weight' of shape [8]"}},
      {"an unknown type of tensor",
       with([](GgufParts& parts) { parts.type = 99; }),
       {kGguf, "tensor 'token_embd.weight' has type 99 at byte"}},
      {"rows that fill no block",
       with([](GgufParts& parts) { parts.type = 8; }),
       {kGguf, "tensor 'token_embd.weight' has rows of 8 numbers, expected a multiple of 32"}},
      {"a type that is not read",
       with([](GgufParts& parts) { parts.type = 24; }),
       {kGguf, "model.embed_tokens.weight", "I8", "expected"}},
      {"an alignment of 24",
       number("general.alignment", 24),
       {kGguf, "'general.alignment' is 24, expected a power of two"}},
      {"an unknown tokenizer",
       with([](GgufParts& parts) { parts.set("tokenizer.ggml.model", 8, gguf_string("rwkv")); }),
       {kGguf, "metadata 'tokenizer.ggml.model' is 'rwkv', which is not supported"}},
      {"an unknown pre-tokenizer",
       with([](GgufParts& parts) { parts.set("tokenizer.ggml.pre", 8, gguf_string("poro")); }),
       {kGguf, "metadata 'tokenizer.ggml.pre' is 'poro', which is not supported"}},
      {"a token twice",
       with([](GgufParts& parts) {
         parts.set("tokenizer.ggml.tokens", 9, strings({"a", "b", "ab", "a"}));
       }),
       {kGguf, "metadata 'tokenizer.ggml.tokens'", "has 'a' as id 0 and as id 3"}},
      {"a merge of no token",
       with([](GgufParts& parts) { parts.set("tokenizer.ggml.merges", 9, strings({"b a"})); }),
       {kGguf, "merges[0] needs token 'ba'"}},
      {"one of several parts", number("split.count", 3), {kGguf, "is one of 3 parts of a network"}},
  };
}

// ---- quantised checkpoints ----

/// Makes a checkpoint of a seed of the fuzz target `quantised`: config, header and data with a zero
/// byte between each.
auto seed_of(const char* name) {
  return [=](const fs::path& folder) {
    const std::string all =
        read_file(fs::path(PARDEC_SOURCE_DIR) / "tests/fuzz/seeds/quantised" / name);
    const size_t first = all.find('\0'), second = all.find('\0', first + 1);
    write_file(folder / "config.json", all.substr(0, first));
    write_file(folder / kWeights,
               safetensors(all.substr(first + 1, second - first - 1), all.substr(second + 1)));
  };
}
void open_tensors(const fs::path& folder) { CheckpointFiles checkpoint(folder); }

/// Another value of a key of `quantization_config`.
auto quantisation(const char* key, const Json& value) {
  return json("config.json", str("/quantization_config/", key), value);
}
std::vector<Damage> damages_of_gptq() {
  const char* const kConfig = "config.json";
  return {
      {"an unknown method",
       quantisation("quant_method", "hqq"),
       {kConfig, "'quant_method' is \"hqq\", which is not supported; supported are"}},
      {"3 bits",
       quantisation("bits", 3),
       {kConfig, "of method gptq: 'bits' is 3, which is not supported; expected 2, 4 or 8"}},
      {"groups of 0 columns",
       quantisation("group_size", 0),
       {kConfig, "'group_size' is 0", "expected a number of columns, or -1"}},
      {"an unknown format",
       quantisation("checkpoint_format", "marlin"),
       {kConfig, "'checkpoint_format' is \"marlin\""}},
      {"bits as text",
       quantisation("bits", "4"),
       {kConfig, "'bits' is \"4\"", "expected a whole number"}},
      {"no scales", renamed("m.scales", "m.scale"), {kWeights, "tensor \"m.scales\" is missing"}},
      {"scales of another shape",
       entry("m.scales", "shape", {8, 2}),
       {kWeights, "tensor \"m.scales\" has shape [8, 2], expected [2, 8]"}},
      {"words of another type",
       entry("m.qweight", "dtype", "U32"),
       {kWeights, "tensor \"m.qweight\" has dtype \"U32\", expected I32"}},
      {"words of another shape",
       entry("m.qweight", "shape", {2, 9}),
       {kWeights, "tensor \"m.qweight\" has 64 bytes, expected 72 for I32 of shape [2, 9]"}},
      {"a group that there is not",
       [](const fs::path& folder) {
         const std::string all = read_file(folder / kWeights);
         write_file(folder / kWeights,
                    std::string(all).replace(all.size() - 4, 4, little_endian<std::int32_t>(7)));
       },
       {kWeights, "tensor \"m.g_idx\" has group 7 for column 15, expected 0 to 1"}},
      {"nothing that is quantised",
       renamed("m.qweight", "m.other"),
       {kWeights,
        "'quantization_config' says GPTQ, 4 bits, but no tensor is quantised in this way"}},
  };
}
std::vector<Damage> damages_of_awq() {
  return {
      {"another layout",
       quantisation("version", "gemv"),
       {"config.json", "of method awq: 'version' is \"gemv\""}},
      {"zeros of another shape",
       entry("m.qzeros", "shape", {1, 2}),
       {kWeights, "tensor \"m.qzeros\" has shape [1, 2], expected [2, 1]"}},
  };
}
std::vector<Damage> damages_of_fp8() {
  return {
      {"another 8-bit type",
       quantisation("fmt", "e5m2"),
       {"config.json", "of method fp8: 'fmt' is \"e5m2\", which is not supported; expected e4m3"}},
      {"blocks as text",
       quantisation("weight_block_size", "128x128"),
       {"config.json", "'weight_block_size' is \"128x128\"", "expected two sizes"}},
      {"blocks of 0 rows",
       quantisation("weight_block_size", {0, 4}),
       {"config.json", "'weight_block_size' is [0,4]"}},
      {"no scales",
       renamed("m.weight_scale_inv", "m.scales"),
       {kWeights, "tensor \"m.weight_scale\" is missing"}},
      {"scales of another shape",
       entry("m.weight_scale_inv", "shape", {4, 1}),
       {kWeights,
        "has shape [4, 1], which does not fit a weight of shape [6, 8] with blocks of [4, 4]"}},
  };
}
std::vector<Damage> damages_of_compressed() {
  return {
      {"an unknown format",
       quantisation("format", "marlin-24"),
       {"config.json", "of method compressed-tensors: 'format' is \"marlin-24\""}},
      {"no groups",
       quantisation("config_groups", Json::object()),
       {"config.json", "'config_groups' is {}", "expected an object of groups with 'weights'"}},
      {"3 bits",
       quantisation("config_groups/g/weights/num_bits", 3),
       {"config.json", "compressed-tensors, g.weights: 'num_bits' is 3"}},
      {"another shape",
       [](const fs::path& folder) {
         const std::string all = read_file(folder / kWeights);
         const size_t at = all.size() - 8 - 12 - 16;
         write_file(
             folder / kWeights,
             std::string(all).replace(at, 8, little_endian<std::int64_t>(std::int64_t{1} << 60)));
       },
       {kWeights,
        "tensor \"m.weight_packed\" has shape [3, 2], which does not fit weight_shape "
        "[1152921504606846976, "}},
      {"zero points of another shape",
       entry("m.weight_zero_point", "shape", {2, 1}),
       {kWeights, "tensor \"m.weight_zero_point\" has shape [2, 1], expected [1, 2]"}},
  };
}

// ---- weights that torch has pickled (tests/cli/other_forms_test.py damages the files themselves)
// ----

std::vector<Damage> damages_of_pickled() {
  const char* const kPickled = "pytorch_model.bin.index.json";
  return {
      {"no weights",
       [](const fs::path& folder) { fs::remove(folder / "pytorch_model.bin.index.json"); },
       {"has neither pytorch_model.bin nor pytorch_model.bin.index.json"}},
      {"an index without a map",
       text(kPickled, "[]"),
       {kPickled, "has no 'weight_map', expected an object of tensor names and shard files"}},
      {"a shard elsewhere",
       text(kPickled, R"({"weight_map": {"a": "/etc/passwd"}})"),
       {kPickled, "names shard \"/etc/passwd\" for tensor \"a\", expected a file name"}},
      {"a shard that is missing",
       text(kPickled, R"({"weight_map": {"a": "b.bin"}})"),
       {kPickled, "names shard \"b.bin\", which is not in the folder"}},
  };
}

std::vector<Subject> subjects() {
  const auto with_tokenizer = [](const fs::path& folder) {
    write_file(folder / "tokenizer.model",
               sentencepiece(piece("a", 1) + piece("b", 1) + piece("ab", 1)));
  };
  const auto with_gguf = [](const fs::path& folder) {
    write_file(folder / kGguf, gguf_parts().bytes());
  };
  const auto with_pickled = [](const fs::path& folder) {
    write_file(folder / "pytorch_model.bin.index.json", R"({"weight_map": {"a": "a.bin"}})");
  };
  const auto convert = [](const fs::path& folder) {
    convert_pickled_weights(folder, folder / "out");
  };
  return {
      {"safetensors", make_checkpoint, open_checkpoint, damages_of_safetensors()},
      {"config.json and others", make_checkpoint, open_checkpoint, damages_of_config()},
      {"tokenizer.json", make_checkpoint, open_checkpoint, damages_of_tokenizer()},
      {"shards", make_shards, open_checkpoint, damages_of_shards()},
      {"tokenizer.model", with_tokenizer, open_tokenizer, damages_of_sentencepiece()},
      {"GGUF", with_gguf, open_gguf, damages_of_gguf()},
      {"GPTQ", seed_of("gptq"), open_tensors, damages_of_gptq()},
      {"AWQ", seed_of("awq"), open_tensors, damages_of_awq()},
      {"FP8", seed_of("fp8"), open_tensors, damages_of_fp8()},
      {"compressed-tensors", seed_of("packed"), open_tensors, damages_of_compressed()},
      {"pickled", with_pickled, convert, damages_of_pickled(), false},
  };
}

/// Names, sizes and contents of a folder's files.
std::map<std::string, std::string> content_of(const fs::path& folder) {
  std::map<std::string, std::string> all;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    all[fs::relative(entry.path(), folder).string()] =
        entry.is_regular_file() ? read_file(entry.path()) : "";
  return all;
}

std::int64_t peak_bytes() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return std::int64_t{usage.ru_maxrss} * 1024;
}

}  // namespace

TEST_CASE("damaged files are errors that name the place", "[damaged]") {
  size_t kinds = 0;
  std::int64_t before = 0;
  for (const Subject& subject : subjects()) {
    kinds += subject.damages.size();
    const TemporaryFolder whole;
    subject.make(whole.path());
    if (subject.opens) CHECK_NOTHROW(subject.open(whole.path()));
    if (before == 0) before = peak_bytes();  // libraries are loaded
    for (const Damage& damage : subject.damages) {
      INFO(subject.name << ": " << damage.what);
      const TemporaryFolder folder;
      subject.make(folder.path());
      damage.harm(folder.path());
      const auto files = content_of(folder.path());
      std::string said = "no error";
      int code = 0;
      try {
        subject.open(folder.path());
      } catch (const Error& error) {
        said = error.what(), code = error.exit_code();
      }
      INFO(said);
      CHECK(code == 2);
      CHECK(said.starts_with(folder.path().string()));
      for (const char* piece : damage.says) CHECK_THAT(said, Catch::Contains(piece));
      CHECK(said.find('\n') == std::string::npos);
      CHECK(said.size() < 600);
      CHECK(content_of(folder.path()) == files);
    }
  }
  CHECK(peak_bytes() - before < std::int64_t{100} << 20);
  std::cout << kinds << " kinds of damage\n";
  CHECK(kinds >= 40);
}
