#include "src/tokenizer/word_piece.hpp"

#include "src/support/error.hpp"
#include "src/support/text.hpp"
#include "src/support/utf8.hpp"

namespace pardec {

WordPiece::WordPiece(const Json& json, const std::string& where)
    : vocabulary_(JsonReader(json, where).any("vocab"), where + ".vocab") {
  JsonReader options(json, where);
  options.any("type");
  options.any("vocab");
  prefix_ = options.optional<std::string>("continuing_subword_prefix", "##");
  most_characters_ = options.optional("max_input_chars_per_word", 100);
  const auto unknown = options.optional<std::string>("unk_token", "[UNK]");
  const auto id = vocabulary_.id(unknown);
  if (!id)
    throw ConfigError(
        str(options.where("unk_token"), " is '", unknown, "', which the vocabulary lacks"));
  unknown_ = *id;
  // The work on a word is quadratic in this.
  constexpr int kMost = 10000;
  if (most_characters_ < 0 || most_characters_ > kMost)
    throw ConfigError(str(options.where("max_input_chars_per_word"), " is ", most_characters_,
                          ", expected 0 to ", kMost));
  options.finish();
}

void WordPiece::encode(std::string_view word, Tokens& out) const {
  const std::size_t before = out.size();
  bool known = code_points(word) <= most_characters_;
  for (std::size_t begin = 0; known && begin < word.size();) {
    std::string piece = (begin > 0 ? prefix_ : "") + std::string(word.substr(begin));
    std::size_t end = word.size();
    std::optional<Token> id = vocabulary_.id(piece);
    while (!id && end > begin) {
      const std::size_t longer = end;
      previous_code_point(word, end);
      piece.resize(piece.size() - (longer - end));
      if (end > begin) id = vocabulary_.id(piece);
    }
    known = id.has_value();
    if (known) out.push_back(*id);
    begin = end;
  }
  if (known) return;
  out.resize(before);
  out.push_back(unknown_);
}

}  // namespace pardec
