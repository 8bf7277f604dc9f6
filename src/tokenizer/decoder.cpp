#include "src/tokenizer/decoder.hpp"

#include <array>
#include <charconv>
#include <optional>
#include <string_view>

#include "src/tokenizer/byte_level.hpp"
#include "src/tokenizer/component.hpp"
#include "src/tokenizer/metaspace.hpp"
#include "src/tokenizer/pattern.hpp"
#include "src/tokenizer/stretch.hpp"

namespace pardec {

namespace {

class Replace final : public TokenDecoder {
 public:
  Replace(Pattern pattern, std::string content)
      : pattern_(std::move(pattern)), content_(std::move(content)) {}
  void apply(std::vector<std::string>& tokens) const override {
    for (std::string& token : tokens) token = pattern_.replace(token, content_);
  }
  void apply_inside(Piece& piece) const override {
    piece.bytes = pattern_.replace(piece.bytes, content_);
  }

 private:
  Pattern pattern_;
  std::string content_;
};

/// The byte of a token such as "<0x0A>".
std::optional<char> byte_of(std::string_view token) {
  if (token.size() != 6 || !token.starts_with("<0x") || token[5] != '>') return std::nullopt;
  unsigned value = 0;
  const auto [end, error] = std::from_chars(token.data() + 3, token.data() + 5, value, 16);
  if (error != std::errc{} || end != token.data() + 5) return std::nullopt;
  return static_cast<char>(value);
}

/// Consecutive byte tokens become their text, or one U+FFFD per byte if they are not valid UTF-8.
class ByteFallback final : public TokenDecoder {
 public:
  void apply(std::vector<std::string>& tokens) const override {
    std::vector<std::string> out;
    std::string bytes;
    const auto flush = [&] {
      if (bytes.empty()) return;
      if (repair_utf8(bytes) == bytes) {
        out.push_back(bytes);
      } else {
        out.insert(out.end(), bytes.size(), "\uFFFD");
      }
      bytes.clear();
    };
    for (std::string& token : tokens) {
      if (const auto byte = byte_of(token)) {
        bytes.push_back(*byte);
      } else {
        flush();
        out.push_back(std::move(token));
      }
    }
    flush();
    tokens = std::move(out);
  }
  void apply_inside(Piece& piece) const override {
    if (const auto byte = byte_of(piece.bytes)) piece.bytes.assign(1, *byte);
  }
};

class Fuse final : public TokenDecoder {
 public:
  void apply(std::vector<std::string>& tokens) const override { tokens = {join(tokens, "")}; }
  void apply_inside(Piece& piece) const override { piece.fused = true; }
};

/// Removes a character up to `start` times from the beginning and up to `stop` times from the end
/// of each token.
class Strip final : public TokenDecoder {
 public:
  Strip(std::string content, int start, int stop)
      : content_(std::move(content)), start_(start), stop_(stop) {}
  void apply(std::vector<std::string>& tokens) const override {
    for (std::string& token : tokens) strip(token);
  }
  void apply_inside(Piece& piece) const override {
    if (!piece.fused) strip(piece.bytes);
  }

 private:
  void strip(std::string& token) const {
    std::string_view rest = token;
    for (int i = 0; i < start_ && rest.starts_with(content_); ++i)
      rest.remove_prefix(content_.size());
    for (int i = 0; i < stop_ && rest.ends_with(content_); ++i) rest.remove_suffix(content_.size());
    token = std::string(rest);
  }

  std::string content_;
  int start_, stop_;
};

/// Tokens with the prefix continue a word; others begin one, after a space.
class WordPieces final : public TokenDecoder {
 public:
  WordPieces(std::string prefix, bool cleanup) : prefix_(std::move(prefix)), cleanup_(cleanup) {}
  void apply(std::vector<std::string>& tokens) const override {
    for (std::size_t i = 0; i < tokens.size(); ++i) rewrite(tokens[i], i > 0);
  }
  void apply_inside(Piece& piece) const override { rewrite(piece.bytes, true); }

 private:
  void rewrite(std::string& token, bool inside) const {
    if (inside) token = token.starts_with(prefix_) ? token.substr(prefix_.size()) : " " + token;
    if (!cleanup_) return;
    // Spaces before punctuation and before English contractions.
    for (const auto& [from, to] :
         {std::pair{" .", "."}, std::pair{" ?", "?"}, std::pair{" !", "!"}, std::pair{" ,", ","},
          std::pair{" ' ", "'"}, std::pair{" n't", "n't"}, std::pair{" 'm", "'m"},
          std::pair{" do not", " don't"}, std::pair{" 's", "'s"}, std::pair{" 've", "'ve"},
          std::pair{" 're", "'re"}})
      token = replace_all(token, from, to);
  }

  std::string prefix_;
  bool cleanup_;
};

/// Turns visible characters back into bytes. A token with a character outside GPT-2's alphabet is
/// left unchanged.
class ByteLevel final : public TokenDecoder {
 public:
  void apply(std::vector<std::string>& tokens) const override {
    std::string bytes;
    for (const std::string& token : tokens) bytes += from_byte_level(token).value_or(token);
    tokens = {repair_utf8(bytes)};
  }
  void apply_inside(Piece& piece) const override {
    if (auto bytes = from_byte_level(piece.bytes)) piece.bytes = std::move(*bytes);
  }
};

/// The replacement character becomes a space. In the first token it becomes nothing, if the
/// pre-tokenizer inserts one there.
class Metaspace final : public TokenDecoder {
 public:
  explicit Metaspace(MetaspaceOptions options) : options_(std::move(options)) {}
  void apply(std::vector<std::string>& tokens) const override {
    bool first = options_.prepend != PrependScheme::never;
    for (std::string& token : tokens) {
      token = replace_all(std::move(token), options_.replacement, first ? "" : " ");
      first = false;
    }
  }
  void apply_inside(Piece& piece) const override {
    piece.bytes = replace_all(std::move(piece.bytes), options_.replacement, " ");
  }

 private:
  MetaspaceOptions options_;
};

class Sequence final : public TokenDecoder {
 public:
  explicit Sequence(std::vector<std::unique_ptr<TokenDecoder>> parts) : parts_(std::move(parts)) {}
  void apply(std::vector<std::string>& tokens) const override {
    const auto bytes = [&] {
      std::size_t sum = 0;
      for (const std::string& token : tokens) sum += token.size();
      return sum;
    };
    const std::size_t before = bytes();
    for (const auto& part : parts_) {
      part->apply(tokens);
      check_growth(before, bytes());
    }
  }
  void apply_inside(Piece& piece) const override {
    const std::size_t before = piece.bytes.size();
    for (const auto& part : parts_) {
      part->apply_inside(piece);
      check_growth(before, piece.bytes.size());
    }
  }

 private:
  std::vector<std::unique_ptr<TokenDecoder>> parts_;
};

using Made = std::unique_ptr<TokenDecoder>;

Made make_byte_fallback(JsonReader&, const std::string&) {
  return std::make_unique<ByteFallback>();
}
Made make_fuse(JsonReader&, const std::string&) { return std::make_unique<Fuse>(); }

Made make_byte_level(JsonReader& options, const std::string&) {
  for (const char* key : {"add_prefix_space", "trim_offsets", "use_regex"})
    options.any(key);  // only used for encoding
  return std::make_unique<ByteLevel>();
}

Made make_metaspace(JsonReader& options, const std::string& where) {
  return std::make_unique<Metaspace>(read_metaspace(options, where));
}

Made make_replace(JsonReader& options, const std::string& where) {
  Pattern pattern = Pattern::read(options.any("pattern"), where);
  return std::make_unique<Replace>(std::move(pattern), options.required<std::string>("content"));
}

Made make_strip(JsonReader& options, const std::string& where) {
  auto content = options.required<std::string>("content");
  if (content.empty())
    throw ConfigError(str(where, ": 'content' is empty, expected one character"));
  const int start = options.required<int>("start");
  return std::make_unique<Strip>(std::move(content), start, options.required<int>("stop"));
}

Made make_word_pieces(JsonReader& options, const std::string&) {
  auto prefix = options.optional<std::string>("prefix", "##");
  return std::make_unique<WordPieces>(std::move(prefix), options.optional("cleanup", true));
}

Made make_sequence(JsonReader& options, const std::string& where) {
  return std::make_unique<Sequence>(
      read_components<TokenDecoder>(options, "decoders", where, read_decoder));
}

constexpr std::array kDecoders{
    ComponentEntry<TokenDecoder>{"ByteFallback", make_byte_fallback},
    ComponentEntry<TokenDecoder>{"ByteLevel", make_byte_level},
    ComponentEntry<TokenDecoder>{"Fuse", make_fuse},
    ComponentEntry<TokenDecoder>{"Metaspace", make_metaspace},
    ComponentEntry<TokenDecoder>{"Replace", make_replace},
    ComponentEntry<TokenDecoder>{"Sequence", make_sequence},
    ComponentEntry<TokenDecoder>{"Strip", make_strip},
    ComponentEntry<TokenDecoder>{"WordPiece", make_word_pieces},
};

}  // namespace

std::unique_ptr<TokenDecoder> read_decoder(const Json& json, const std::string& where) {
  return read_component<TokenDecoder>(json, where, kDecoders);
}

}  // namespace pardec
