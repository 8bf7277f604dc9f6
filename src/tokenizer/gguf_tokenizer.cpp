#include "src/tokenizer/gguf_tokenizer.hpp"

#include <algorithm>
#include <string_view>

#include "src/support/error.hpp"
#include "src/support/text.hpp"
#include "src/tokenizer/sentencepiece_model.hpp"
#include "src/tokenizer/sentencepiece_pieces.hpp"

namespace pardec {

namespace {

std::string key(const char* name) { return str("tokenizer.ggml.", name); }

SentencePieces read_tokens(const Gguf& gguf) {
  SentencePieces all{gguf.texts(key("tokens")), gguf.wholes(key("token_type")), {}};
  if (all.texts.empty())
    throw ModelError(gguf.where(),
                     "has no metadata 'tokenizer.ggml.tokens', expected the "
                     "vocabulary");
  if (all.kinds.empty()) all.kinds.resize(all.texts.size(), SentencePieces::normal);
  if (all.kinds.size() != all.texts.size())
    throw ModelError(gguf.where(),
                     str("metadata 'tokenizer.ggml.token_type' has ", all.kinds.size(),
                         " entries, expected one for each of ", all.texts.size(), " tokens"));
  return all;
}

/// The place of the vocabulary for errors.
std::string place_of(const Gguf& gguf) {
  return str(gguf.where(), ": metadata 'tokenizer.ggml.tokens'");
}

/// The text of a token that a key names by its id; nothing if there is no such key.
std::optional<std::string> named_token(const Gguf& gguf, const char* name,
                                       const std::vector<std::string_view>& texts) {
  const std::string of = key(str(name, "_token_id").c_str());
  const auto id = gguf.whole(of);
  if (!id) return std::nullopt;
  if (*id < 0 || *id >= std::ssize(texts))
    throw ModelError(gguf.where(),
                     str("metadata '", of, "' is ", *id, ", expected an id below ", texts.size()));
  return std::string(texts[static_cast<size_t>(*id)]);
}

/// The ids that are added around a text.
Json post_processor_json(const Gguf& gguf, const SentencePieces& tokens, bool begins) {
  Json single = Json::array(), special = Json::object();
  const auto add = [&](const char* name) {
    const auto text = named_token(gguf, name, tokens.texts);
    if (!text)
      throw ModelError(gguf.where(), str("adds a token to each text, but has no metadata '",
                                         key(str(name, "_token_id").c_str()), "'"));
    single.push_back({{"SpecialToken", {{"id", *text}, {"type_id", 0}}}});
    special[*text] = {{"id", *text},
                      {"ids", {*gguf.whole(key(str(name, "_token_id").c_str()))}},
                      {"tokens", {*text}}};
  };
  if (gguf.flag(key("add_bos_token")).value_or(begins)) add("bos");
  single.push_back({{"Sequence", {{"id", "A"}, {"type_id", 0}}}});
  if (gguf.flag(key("add_eos_token")).value_or(false)) add("eos");
  if (special.empty()) return nullptr;
  return {{"type", "TemplateProcessing"},
          {"single", single},
          {"pair", Json::array()},
          {"special_tokens", special}};
}

// ---- gpt2 ----

/// A pre-tokenizer of ggml, by its names.
struct Pre {
  std::vector<std::string_view> names;
  const char* expression;    ///< empty: GPT-2's own
  bool digits = false;       ///< each digit is a word
  bool whole_words = false;  ///< a word that is a token is not merged (`ignore_merges`)
  bool nfc = false;
  bool begins = false;  ///< a text begins with the bos token unless the file says otherwise
};

const std::vector<Pre>& pre_tokenizers() {
  static const std::vector<Pre> kAll{
      {.names = {"gpt-2"}, .expression = ""},
      {.names = {"smollm"}, .expression = "", .digits = true},
      {.names = {"llama-bpe", "llama3", "llama-v3"},
       .expression = "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}| "
                     "?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+",
       .whole_words = true,
       .begins = true},
      {.names = {"gpt-4o"},  // tiktoken's o200k
       .expression = "[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]*"
                     "[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|"
                     "[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]+"
                     "[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|"
                     "\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+",
       .whole_words = true},
      {.names = {"qwen2"},
       .expression = "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}| "
                     "?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+",
       .nfc = true}};
  return kAll;
}

const Pre& pre_of(const Gguf& gguf) {
  const auto name = gguf.text(key("pre"));
  std::vector<std::string> known;
  for (const Pre& pre : pre_tokenizers()) {
    if (name && std::find(pre.names.begin(), pre.names.end(), *name) != pre.names.end()) return pre;
    known.emplace_back(pre.names.front());
  }
  throw ModelError(gguf.where(), str(name ? str("metadata 'tokenizer.ggml.pre' is '",
                                                repair_utf8(*name), "', which is not supported")
                                          : std::string("has no metadata 'tokenizer.ggml.pre'"),
                                     "; supported are ", join(known, ", ")));
}

Json byte_level_tokenizer(const Gguf& gguf, const SentencePieces& tokens) {
  const Pre& pre = pre_of(gguf);
  const std::string expression = pre.expression;
  Json steps = Json::array();
  if (pre.digits) steps.push_back({{"type", "Digits"}, {"individual_digits", true}});
  if (!expression.empty())
    steps.push_back({{"type", "Split"},
                     {"pattern", {{"Regex", expression}}},
                     {"behavior", "Isolated"},
                     {"invert", false}});
  const Json byte_level{{"type", "ByteLevel"},
                        {"add_prefix_space", gguf.flag(key("add_space_prefix")).value_or(false)},
                        {"trim_offsets", true},
                        {"use_regex", expression.empty()}};
  steps.push_back(byte_level);
  Json merges = Json::array();
  for (const std::string_view merge : gguf.texts(key("merges")))
    merges.push_back(std::string(merge));
  return {{"added_tokens", added_json(tokens)},
          {"normalizer", pre.nfc ? Json{{"type", "NFC"}} : Json()},
          {"pre_tokenizer", {{"type", "Sequence"}, {"pretokenizers", steps}}},
          {"post_processor", post_processor_json(gguf, tokens, pre.begins)},
          {"decoder", byte_level},
          {"model",
           {{"type", "BPE"},
            {"ignore_merges", pre.whole_words},
            {"vocab", vocabulary_json(tokens, place_of(gguf))},
            {"merges", merges}}}};
}

// ---- llama ----

Json llama_tokenizer(const Gguf& gguf, SentencePieces tokens) {
  tokens.scores = gguf.numbers(key("scores"));
  if (tokens.scores.size() != tokens.texts.size())
    throw ModelError(gguf.where(),
                     str("metadata 'tokenizer.ggml.scores' has ", tokens.scores.size(),
                         " entries, expected one for each of ", tokens.texts.size(), " tokens"));
  const bool prefix = gguf.flag(key("add_space_prefix")).value_or(true);
  const auto unknown = named_token(gguf, "unknown", tokens.texts);
  return {{"added_tokens", added_json(tokens)},
          {"normalizer", {{"type", "Sequence"}, {"normalizers", spaces_json(prefix)}}},
          {"post_processor", post_processor_json(gguf, tokens, true)},
          {"decoder", decoder_json(prefix)},
          {"model", bpe_json(tokens, unknown ? Json(*unknown) : Json(), true, place_of(gguf))}};
}

}  // namespace

Json gguf_tokenizer(const Gguf& gguf) {
  const auto model = gguf.text(key("model"));
  if (!model)
    throw ModelError(gguf.where(), "has no metadata 'tokenizer.ggml.model', expected a tokenizer");
  if (*model != "gpt2" && *model != "llama")
    throw ModelError(gguf.where(), str("metadata 'tokenizer.ggml.model' is '", repair_utf8(*model),
                                       "', which is not supported; supported are gpt2 and llama"));
  const SentencePieces tokens = read_tokens(gguf);
  return *model == "gpt2" ? byte_level_tokenizer(gguf, tokens) : llama_tokenizer(gguf, tokens);
}

std::vector<std::pair<std::string, std::string>> gguf_named_tokens(const Gguf& gguf) {
  const std::vector<std::string_view> texts = gguf.texts(key("tokens"));
  std::vector<std::pair<std::string, std::string>> named;
  for (const auto& [name, written] :
       {std::pair{"bos", "bos_token"}, std::pair{"eos", "eos_token"},
        std::pair{"unknown", "unk_token"}, std::pair{"padding", "pad_token"}})
    if (auto text = named_token(gguf, name, texts)) named.emplace_back(written, *std::move(text));
  return named;
}

std::optional<std::filesystem::path> tokenizer_file(const std::filesystem::path& model) {
  if (auto file = gguf_file(model)) return file;
  std::error_code ignored;
  for (const char* name : {"tokenizer.json", kSentencePieceModel})
    if (auto file = model / name; std::filesystem::exists(file, ignored)) return file;
  return std::nullopt;
}

}  // namespace pardec
