#include "src/tokenizer/sentencepiece_pieces.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <unordered_map>

#include "src/support/error.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

constexpr const char* kSpace = "\u2581";

}  // namespace

Json vocabulary_json(const SentencePieces& pieces, const std::string& where) {
  Json vocabulary = Json::object();
  for (size_t id = 0; id < pieces.texts.size(); ++id) {
    if (pieces.kinds[id] == SentencePieces::unused) continue;
    Json& at = vocabulary[std::string(pieces.texts[id])];
    if (!at.is_null())
      throw ModelError(where, str("has '", repair_utf8(pieces.texts[id]), "' as id ", dump(at),
                                  " and as id ", id, ", expected different tokens"));
    at = id;
  }
  return vocabulary;
}

Json added_json(const SentencePieces& pieces) {
  Json added = Json::array();
  for (size_t id = 0; id < pieces.texts.size(); ++id) {
    const std::int64_t kind = pieces.kinds[id];
    if (kind != SentencePieces::control && kind != SentencePieces::user_defined &&
        kind != SentencePieces::unknown)
      continue;
    added.push_back({{"id", id},
                     {"content", std::string(pieces.texts[id])},
                     {"single_word", false},
                     {"lstrip", false},
                     {"rstrip", false},
                     {"normalized", false},
                     {"special", kind != SentencePieces::user_defined}});
  }
  return added;
}

Json merges_json(const SentencePieces& pieces, const std::string& where) {
  const auto joins = [&](size_t id) {
    return pieces.kinds[id] == SentencePieces::normal ||
           pieces.kinds[id] == SentencePieces::user_defined;
  };
  std::unordered_map<std::string_view, size_t> ids;
  for (size_t id = 0; id < pieces.texts.size(); ++id)
    if (joins(id)) ids.emplace(pieces.texts[id], id);
  if (std::any_of(pieces.scores.begin(), pieces.scores.end(),
                  [](double score) { return std::isnan(score); }))
    throw ModelError(where, "has the score NaN, expected numbers");
  struct Merge {
    double score;
    size_t whole, left, right;  // ids
  };
  // Longer tokens than this are not split: the work would be quadratic in a claim of the file.
  constexpr size_t kLongest = 1024;
  std::vector<Merge> all;
  for (size_t id = 0; id < pieces.texts.size(); ++id) {
    const std::string_view text = pieces.texts[id];
    if (!joins(id) || text.size() > kLongest) continue;
    for (size_t bytes = 1; bytes < text.size(); ++bytes) {
      const auto left = ids.find(text.substr(0, bytes)), right = ids.find(text.substr(bytes));
      if (left != ids.end() && right != ids.end())
        all.push_back({pieces.scores[id], id, left->second, right->second});
    }
  }
  std::sort(all.begin(), all.end(), [](const Merge& a, const Merge& b) {
    return std::tuple(-a.score, a.whole, a.left, a.right) <
           std::tuple(-b.score, b.whole, b.left, b.right);
  });
  Json merges = Json::array();
  for (const Merge& merge : all)
    merges.push_back(
        {std::string(pieces.texts[merge.left]), std::string(pieces.texts[merge.right])});
  return merges;
}

Json bpe_json(const SentencePieces& pieces, const Json& unknown, bool byte_fallback,
              const std::string& where) {
  return {{"type", "BPE"},
          {"unk_token", unknown},
          {"fuse_unk", true},
          {"byte_fallback", byte_fallback},
          {"vocab", vocabulary_json(pieces, where)},
          {"merges", merges_json(pieces, where)}};
}

Json decoder_json(bool prefix) {
  Json steps = Json::array();
  steps.push_back({{"type", "Replace"}, {"pattern", {{"String", kSpace}}}, {"content", " "}});
  steps.push_back({{"type", "ByteFallback"}});
  steps.push_back({{"type", "Fuse"}});
  if (prefix) steps.push_back({{"type", "Strip"}, {"content", " "}, {"start", 1}, {"stop", 0}});
  return {{"type", "Sequence"}, {"decoders", steps}};
}

Json spaces_json(bool prefix) {
  Json steps = Json::array();
  if (prefix) steps.push_back({{"type", "Prepend"}, {"prepend", kSpace}});
  steps.push_back({{"type", "Replace"}, {"pattern", {{"String", " "}}}, {"content", kSpace}});
  return steps;
}

}  // namespace pardec
