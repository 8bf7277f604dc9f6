#include "src/tokenizer/unigram.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "src/support/error.hpp"
#include "src/support/text.hpp"
#include "src/support/utf8.hpp"

namespace pardec {

namespace {

constexpr double kUnknownPenalty = 10;  // as in SentencePiece
// Longer tokens are refused: the work on a text is proportional to the longest of them.
constexpr std::size_t kLongestToken = 4096;

/// `[[token, score], ...]` as {token: id}.
Json ids_of(const Json& vocab, const std::string& where) {
  if (!vocab.is_array())
    throw ConfigError(str(where, " is no array, expected [token, score] pairs"));
  Json ids = Json::object();
  for (std::size_t id = 0; id < vocab.size(); ++id) {
    const Json& pair = vocab[id];
    if (!pair.is_array() || pair.size() != 2 || !pair[0].is_string() || !pair[1].is_number() ||
        !std::isfinite(pair[1].get<double>()))
      throw ConfigError(str(where, "[", id, "] is ", dump(pair), ", expected [token, score]"));
    const auto& token = pair[0].get_ref<const std::string&>();
    if (token.size() > kLongestToken)
      throw ConfigError(str(where, "[", id, "] has a token of ", token.size(),
                            " bytes, expected at most ", kLongestToken));
    if (const auto [at, fresh] = ids.emplace(token, id); !fresh)
      throw ConfigError(str(where, ": token '", token, "' has the ids ", dump(*at), " and ", id,
                            ", expected one"));
  }
  return ids;
}

}  // namespace

struct Unigram::Step {
  double score = -std::numeric_limits<double>::infinity();
  std::size_t from = 0;
  bool reached = false, unknown = false;
};

Unigram::Unigram(const Json& json, const std::string& where)
    : vocabulary_(ids_of(JsonReader(json, where).any("vocab"), where + ".vocab"),
                  where + ".vocab") {
  JsonReader options(json, where);
  options.any("type");
  double least = std::numeric_limits<double>::infinity();
  for (const Json& pair : options.any("vocab")) {
    scores_.push_back(pair[1].get<double>());
    least = std::min(least, scores_.back());
  }
  unknown_score_ = least - kUnknownPenalty;
  if (const auto id = options.maybe<std::int64_t>("unk_id")) {
    if (*id < 0 || *id >= vocabulary_.size())
      throw ConfigError(
          str(options.where("unk_id"), " is ", *id, ", expected an id below ", vocabulary_.size()));
    unknown_ = static_cast<Token>(*id);
  }
  byte_fallback_ = options.optional("byte_fallback", false);
  options.finish();
  for (Token id = 0; id < vocabulary_.size(); ++id)
    if (!vocabulary_.token(id).empty()) sorted_.push_back(id);
  std::sort(sorted_.begin(), sorted_.end(),
            [&](Token a, Token b) { return vocabulary_.token(a) < vocabulary_.token(b); });
  for (int byte = 0; byte < 256; ++byte)
    bytes_[static_cast<std::size_t>(byte)] = vocabulary_.id(byte_token(byte)).value_or(-1);
}

template <typename Found>
void Unigram::each_prefix(std::string_view text, Found found) const {
  // The tokens that begin with the first `bytes` bytes of the text.
  auto begin = sorted_.begin(), end = sorted_.end();
  for (std::size_t bytes = 0; bytes < text.size(); ++bytes) {
    const auto byte_at = [&, bytes](Token id) {
      const std::string_view token = vocabulary_.token(id);
      return bytes < token.size() ? static_cast<int>(static_cast<unsigned char>(token[bytes])) : -1;
    };
    const int byte = static_cast<unsigned char>(text[bytes]);
    begin = std::lower_bound(begin, end, byte,
                             [&](Token id, int value) { return byte_at(id) < value; });
    end = std::upper_bound(begin, end, byte,
                           [&](int value, Token id) { return value < byte_at(id); });
    if (begin == end) return;
    if (vocabulary_.token(*begin).size() == bytes + 1) found(*begin, bytes + 1);
  }
}

std::vector<Unigram::Step> Unigram::best_steps(std::string_view word) const {
  std::vector<Step> steps(word.size() + 1);
  steps[0].score = 0;
  const auto offer = [&](std::size_t from, std::size_t to, double score, bool unknown) {
    if (!steps[to].reached || score > steps[to].score) steps[to] = {score, from, true, unknown};
  };
  for (std::size_t from = 0; from < word.size();) {
    const std::size_t character = utf8_bytes(word[from]);
    const double here = steps[from].score;
    bool alone = false;  // whether the character is a token
    each_prefix(word.substr(from), [&](Token id, std::size_t bytes) {
      alone = alone || bytes == character;
      offer(from, from + bytes, here + scores_[static_cast<std::size_t>(id)], id == unknown_);
    });
    if (!alone) offer(from, from + character, here + unknown_score_, true);
    from += character;
  }
  return steps;
}

void Unigram::encode(std::string_view word, Tokens& out) const {
  const std::vector<Step> steps = best_steps(word);
  std::vector<std::string_view> pieces;  // from the last to the first
  bool fusing = false;
  for (std::size_t to = word.size(); to > 0; to = steps[to].from) {
    const std::string_view piece = word.substr(steps[to].from, to - steps[to].from);
    // Neighbouring unknown pieces are one.
    if (fusing && steps[to].unknown && unknown_)
      pieces.back() = {piece.data(), piece.size() + pieces.back().size()};
    else
      pieces.push_back(piece);
    fusing = steps[to].unknown;
  }
  for (auto piece = pieces.rbegin(); piece != pieces.rend(); ++piece) write(*piece, out);
}

void Unigram::write(std::string_view piece, Tokens& out) const {
  if (const auto id = vocabulary_.id(piece)) {
    out.push_back(*id);
    return;
  }
  const auto id = [&](char byte) { return bytes_[static_cast<unsigned char>(byte)]; };
  if (byte_fallback_ &&
      std::all_of(piece.begin(), piece.end(), [&](char byte) { return id(byte) >= 0; })) {
    for (const char byte : piece) out.push_back(id(byte));
  } else if (unknown_) {
    out.push_back(*unknown_);
  }
}

}  // namespace pardec
