#include "src/tokenizer/gguf_tokenizer.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string_view>
#include <tuple>
#include <unordered_map>

#include "src/support/error.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

/// What a token is, as ggml numbers it.
enum Kind : std::int64_t { kNormal = 1, kUnknown, kControl, kUserDefined, kUnused, kByte };

std::string key(const char* name) { return str("tokenizer.ggml.", name); }

struct Tokenlist {
  std::vector<std::string_view> texts;
  std::vector<std::int64_t> kinds;
};

Tokenlist read_tokens(const Gguf& gguf) {
  Tokenlist all{gguf.texts(key("tokens")), gguf.wholes(key("token_type"))};
  if (all.texts.empty())
    throw ModelError(gguf.where(),
                     "has no metadata 'tokenizer.ggml.tokens', expected the "
                     "vocabulary");
  if (all.kinds.empty()) all.kinds.resize(all.texts.size(), kNormal);
  if (all.kinds.size() != all.texts.size())
    throw ModelError(gguf.where(),
                     str("metadata 'tokenizer.ggml.token_type' has ", all.kinds.size(),
                         " entries, expected one for each of ", all.texts.size(), " tokens"));
  return all;
}

/// Tokens and their ids. Those that a network has for the sake of its size only are left out.
Json vocabulary_json(const Gguf& gguf, const Tokenlist& tokens) {
  Json vocabulary = Json::object();
  for (size_t id = 0; id < tokens.texts.size(); ++id) {
    if (tokens.kinds[id] == kUnused) continue;
    Json& at = vocabulary[std::string(tokens.texts[id])];
    if (!at.is_null())
      throw ModelError(gguf.where(),
                       str("metadata 'tokenizer.ggml.tokens' has '", repair_utf8(tokens.texts[id]),
                           "' as id ", dump(at), " and as id ", id, ", expected different tokens"));
    at = id;
  }
  return vocabulary;
}

Json added_json(const Tokenlist& tokens) {
  Json added = Json::array();
  for (size_t id = 0; id < tokens.texts.size(); ++id) {
    const std::int64_t kind = tokens.kinds[id];
    if (kind != kControl && kind != kUserDefined && kind != kUnknown) continue;
    added.push_back({{"id", id},
                     {"content", std::string(tokens.texts[id])},
                     {"single_word", false},
                     {"lstrip", false},
                     {"rstrip", false},
                     {"normalized", false},
                     {"special", kind != kUserDefined}});
  }
  return added;
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
Json post_processor_json(const Gguf& gguf, const Tokenlist& tokens, bool begins) {
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

Json byte_level_tokenizer(const Gguf& gguf, const Tokenlist& tokens) {
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
            {"vocab", vocabulary_json(gguf, tokens)},
            {"merges", merges}}}};
}

// ---- llama ----

/// The merges of a SentencePiece BPE: of the tokens that are two tokens joined, those with the
/// highest score first. Merges with one score are in the order of the ids of the whole and of its
/// parts, as in the tokenizer.json of Llama 2.
Json merges_of(const Gguf& gguf, const Tokenlist& tokens) {
  const std::vector<double> scores = gguf.numbers(key("scores"));
  if (scores.size() != tokens.texts.size())
    throw ModelError(gguf.where(),
                     str("metadata 'tokenizer.ggml.scores' has ", scores.size(),
                         " entries, expected one for each of ", tokens.texts.size(), " tokens"));
  const auto joins = [&](size_t id) {
    return tokens.kinds[id] == kNormal || tokens.kinds[id] == kUserDefined;
  };
  std::unordered_map<std::string_view, size_t> ids;
  for (size_t id = 0; id < tokens.texts.size(); ++id)
    if (joins(id)) ids.emplace(tokens.texts[id], id);
  if (std::any_of(scores.begin(), scores.end(), [](double score) { return std::isnan(score); }))
    throw ModelError(gguf.where(), "metadata 'tokenizer.ggml.scores' has NaN, expected numbers");
  struct Merge {
    double score;
    size_t whole, left, right;  // ids
  };
  // Longer tokens than this are not split: the work would be quadratic in a claim of the file.
  constexpr size_t kLongest = 1024;
  std::vector<Merge> all;
  for (size_t id = 0; id < tokens.texts.size(); ++id) {
    const std::string_view text = tokens.texts[id];
    if (!joins(id) || text.size() > kLongest) continue;
    for (size_t bytes = 1; bytes < text.size(); ++bytes) {
      const auto left = ids.find(text.substr(0, bytes)), right = ids.find(text.substr(bytes));
      if (left != ids.end() && right != ids.end())
        all.push_back({scores[id], id, left->second, right->second});
    }
  }
  std::sort(all.begin(), all.end(), [](const Merge& a, const Merge& b) {
    return std::tuple(-a.score, a.whole, a.left, a.right) <
           std::tuple(-b.score, b.whole, b.left, b.right);
  });
  Json merges = Json::array();
  for (const Merge& merge : all)
    merges.push_back(
        {std::string(tokens.texts[merge.left]), std::string(tokens.texts[merge.right])});
  return merges;
}

Json sentencepiece_tokenizer(const Gguf& gguf, const Tokenlist& tokens) {
  const bool prefix = gguf.flag(key("add_space_prefix")).value_or(true);
  constexpr const char* kSpace = "\u2581";
  Json normal = Json::array(), decoder = Json::array();
  if (prefix) normal.push_back({{"type", "Prepend"}, {"prepend", kSpace}});
  normal.push_back({{"type", "Replace"}, {"pattern", {{"String", " "}}}, {"content", kSpace}});
  decoder.push_back({{"type", "Replace"}, {"pattern", {{"String", kSpace}}}, {"content", " "}});
  decoder.push_back({{"type", "ByteFallback"}});
  decoder.push_back({{"type", "Fuse"}});
  if (prefix) decoder.push_back({{"type", "Strip"}, {"content", " "}, {"start", 1}, {"stop", 0}});
  const auto unknown = named_token(gguf, "unknown", tokens.texts);
  return {{"added_tokens", added_json(tokens)},
          {"normalizer", {{"type", "Sequence"}, {"normalizers", normal}}},
          {"post_processor", post_processor_json(gguf, tokens, true)},
          {"decoder", {{"type", "Sequence"}, {"decoders", decoder}}},
          {"model",
           {{"type", "BPE"},
            {"unk_token", unknown ? Json(*unknown) : Json()},
            {"fuse_unk", true},
            {"byte_fallback", true},
            {"vocab", vocabulary_json(gguf, tokens)},
            {"merges", merges_of(gguf, tokens)}}}};
}

}  // namespace

Json gguf_tokenizer(const Gguf& gguf) {
  const auto model = gguf.text(key("model"));
  if (!model)
    throw ModelError(gguf.where(), "has no metadata 'tokenizer.ggml.model', expected a tokenizer");
  if (*model != "gpt2" && *model != "llama")
    throw ModelError(gguf.where(), str("metadata 'tokenizer.ggml.model' is '", repair_utf8(*model),
                                       "', which is not supported; supported are gpt2 and llama"));
  const Tokenlist tokens = read_tokens(gguf);
  return *model == "gpt2" ? byte_level_tokenizer(gguf, tokens)
                          : sentencepiece_tokenizer(gguf, tokens);
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
  auto file = model / "tokenizer.json";
  if (std::filesystem::exists(file, ignored)) return file;
  return std::nullopt;
}

}  // namespace pardec
