#include "src/tokenizer/normalizer.hpp"

#include <utf8proc.h>

#include <array>
#include <string_view>

#include "src/support/base64.hpp"
#include "src/support/characters.hpp"
#include "src/support/utf8.hpp"
#include "src/tokenizer/charsmap.hpp"
#include "src/tokenizer/component.hpp"
#include "src/tokenizer/normal_form.hpp"
#include "src/tokenizer/pattern.hpp"

namespace pardec {

namespace {

class Normal final : public Normalizer {
 public:
  explicit Normal(NormalForm form) : form_(form) {}
  void apply(Stretch& stretch, Place) const override { normalize(stretch, form_); }

 private:
  NormalForm form_;
};

/// SentencePiece's dummy prefix.
class Prepend final : public Normalizer {
 public:
  explicit Prepend(std::string content) : content_(std::move(content)) {}
  void apply(Stretch& stretch, Place place) const override {
    if (place != Place::later) stretch.prepend(content_);
  }

 private:
  std::string content_;
};

class Replace final : public Normalizer {
 public:
  Replace(Pattern pattern, std::string content)
      : pattern_(std::move(pattern)), content_(std::move(content)) {}
  void apply(Stretch& stretch, Place) const override {
    Rewriting rewriting(stretch);
    for (const Span& span : pattern_.split(stretch.text)) {
      if (span.match) {
        rewriting.drop(span.end - span.begin);
        rewriting.insert(content_);
      } else {
        rewriting.keep(span.end - span.begin);
      }
    }
    stretch = std::move(rewriting).finish();
  }

 private:
  Pattern pattern_;
  std::string content_;
};

class Lowercase final : public Normalizer {
 public:
  void apply(Stretch& stretch, Place) const override {
    Rewriting rewriting(stretch);
    std::string lower;
    for (std::size_t at = 0; at < stretch.text.size();) {
      const std::size_t begin = at;
      lower.clear();
      append_lower_case(lower, next_code_point(stretch.text, at));
      rewriting.replace(at - begin, lower);
    }
    stretch = std::move(rewriting).finish();
  }
};

class StripAccents final : public Normalizer {
 public:
  void apply(Stretch& stretch, Place) const override {
    Rewriting rewriting(stretch);
    for (std::size_t at = 0; at < stretch.text.size();) {
      const std::size_t begin = at;
      if (is_combining_mark(next_code_point(stretch.text, at))) {
        rewriting.drop(at - begin);
      } else {
        rewriting.keep(at - begin);
      }
    }
    stretch = std::move(rewriting).finish();
  }
};

/// SentencePiece's map of strings, as PyPI `tokenizers` applies it: to each grapheme of less than
/// six bytes as a whole, otherwise to each of its characters.
class Precompiled final : public Normalizer {
 public:
  explicit Precompiled(Charsmap map) : map_(std::move(map)) {}
  void apply(Stretch& stretch, Place) const override {
    Rewriting rewriting(stretch);
    const std::string_view text = stretch.text;
    for (std::size_t begin = 0; begin < text.size();) {
      const std::size_t end = end_of_grapheme(text, begin);
      if (end - begin < kShortGrapheme)
        if (const auto normal = map_.find(text.substr(begin, end - begin))) {
          rewriting.replace(end - begin, *normal);
          begin = end;
          continue;
        }
      while (begin < end) {
        const std::size_t bytes = utf8_bytes(text[begin]);
        if (const auto normal = map_.find(text.substr(begin, bytes)))
          rewriting.replace(bytes, *normal);
        else
          rewriting.keep(bytes);
        begin += bytes;
      }
    }
    stretch = std::move(rewriting).finish();
  }

 private:
  static constexpr std::size_t kShortGrapheme = 6;
  static std::size_t end_of_grapheme(std::string_view text, std::size_t begin) {
    std::size_t at = begin;
    std::int32_t state = 0;
    auto before = static_cast<std::int32_t>(next_code_point(text, at));
    while (at < text.size()) {
      std::size_t after = at;
      const auto code = static_cast<std::int32_t>(next_code_point(text, after));
      if (utf8proc_grapheme_break_stateful(before, code, &state)) break;
      before = code, at = after;
    }
    return at;
  }

  Charsmap map_;
};

/// BERT's normalizer: removes control characters, makes all white space spaces, puts spaces around
/// Chinese characters, removes accents, and converts to lower case.
class Bert final : public Normalizer {
 public:
  Bert(bool clean, bool chinese, bool accents, bool lower)
      : clean_(clean), chinese_(chinese), accents_(accents), lower_(lower) {}
  void apply(Stretch& stretch, Place place) const override {
    if (clean_) clean(stretch);
    if (chinese_) separate_chinese(stretch);
    if (accents_) {
      normalize(stretch, NormalForm::nfd);
      drop_if(stretch, is_accent);
    }
    if (lower_) Lowercase().apply(stretch, place);
  }

 private:
  static bool is_blank(char32_t code) {
    return code == '\t' || code == '\n' || code == '\r' || is_space(code);
  }
  /// Control and format characters of Unicode 8, and those for private use.
  static bool is_control(char32_t code) {
    if (code == '\t' || code == '\n' || code == '\r') return false;
    constexpr std::array kNewer{CodeRange{0x890, 0x891}, CodeRange{0x8E2, 0x8E2},
                                CodeRange{0x110CD, 0x110CD}, CodeRange{0x13430, 0x1343F}};
    const auto category = utf8proc_category(static_cast<std::int32_t>(code));
    return (category == UTF8PROC_CATEGORY_CC || category == UTF8PROC_CATEGORY_CF ||
            category == UTF8PROC_CATEGORY_CO) &&
           !contains(kNewer, code);
  }
  /// Nonspacing marks of Unicode 8, which PyPI `tokenizers` uses here.
  static bool is_accent(char32_t code) {
    constexpr std::array kNewer{
        CodeRange{0x8D4, 0x8E1},     CodeRange{0x1885, 0x1886},   CodeRange{0x1DFB, 0x1DFB},
        CodeRange{0xA8C5, 0xA8C5},   CodeRange{0xA9BD, 0xA9BD},   CodeRange{0x1123E, 0x1123E},
        CodeRange{0x11438, 0x11446}, CodeRange{0x11C30, 0x11C3F}, CodeRange{0x11C92, 0x11CB6},
        CodeRange{0x1E000, 0x1E02A}, CodeRange{0x1E944, 0x1E94A}};
    constexpr char32_t kOnceNonspacing = 0x1734;
    return code == kOnceNonspacing ||
           (is_combining_mark(code) && !contains(kNewer, code) &&
            utf8proc_category(static_cast<std::int32_t>(code)) == UTF8PROC_CATEGORY_MN);
  }
  /// The blocks of CJK ideographs that BERT lists.
  static bool is_chinese(char32_t code) {
    constexpr std::array kBlocks{CodeRange{0x3400, 0x4DBF},   CodeRange{0x4E00, 0x9FFF},
                                 CodeRange{0xF900, 0xFAFF},   CodeRange{0x20000, 0x2A6DF},
                                 CodeRange{0x2A700, 0x2B73F}, CodeRange{0x2B740, 0x2B81F},
                                 CodeRange{0x2B920, 0x2CEAF}, CodeRange{0x2F800, 0x2FA1F}};
    return contains(kBlocks, code);
  }

  template <typename Condition>
  static void drop_if(Stretch& stretch, Condition condition) {
    Rewriting rewriting(stretch);
    for (std::size_t at = 0; at < stretch.text.size();) {
      const std::size_t begin = at;
      if (condition(next_code_point(stretch.text, at)))
        rewriting.drop(at - begin);
      else
        rewriting.keep(at - begin);
    }
    stretch = std::move(rewriting).finish();
  }
  static void clean(Stretch& stretch) {
    drop_if(stretch, [](char32_t code) { return code == 0 || code == 0xFFFD || is_control(code); });
    Rewriting rewriting(stretch);
    for (std::size_t at = 0; at < stretch.text.size();) {
      const std::size_t begin = at;
      if (is_blank(next_code_point(stretch.text, at)))
        rewriting.replace(at - begin, " ");
      else
        rewriting.keep(at - begin);
    }
    stretch = std::move(rewriting).finish();
  }
  static void separate_chinese(Stretch& stretch) {
    Rewriting rewriting(stretch);
    for (std::size_t at = 0; at < stretch.text.size();) {
      const std::size_t begin = at;
      const bool chinese = is_chinese(next_code_point(stretch.text, at));
      if (chinese) rewriting.insert(" ");
      rewriting.keep(at - begin);
      if (chinese) rewriting.insert(" ");
    }
    stretch = std::move(rewriting).finish();
  }

  bool clean_, chinese_, accents_, lower_;
};

/// Removes white space at the ends.
class Strip final : public Normalizer {
 public:
  Strip(bool left, bool right) : left_(left), right_(right) {}
  void apply(Stretch& stretch, Place place) const override {
    const std::string_view text = stretch.text;
    std::size_t begin = 0, end = text.size();
    if (left_ && place != Place::later) begin = skip_spaces(text, 0);
    if (right_ && place == Place::whole) end = skip_spaces_back(text, end, begin);
    Rewriting rewriting(stretch);
    rewriting.drop(begin);
    rewriting.keep(end - begin);
    stretch = std::move(rewriting).finish();
  }

 private:
  bool left_, right_;
};

class Sequence final : public Normalizer {
 public:
  explicit Sequence(std::vector<std::unique_ptr<Normalizer>> parts) : parts_(std::move(parts)) {}
  void apply(Stretch& stretch, Place place) const override {
    const std::size_t before = stretch.text.size();
    for (const auto& part : parts_) {
      part->apply(stretch, place);
      check_growth(before, stretch.text.size());
    }
  }

 private:
  std::vector<std::unique_ptr<Normalizer>> parts_;
};

using Made = std::unique_ptr<Normalizer>;

template <NormalForm form>
Made make_normal(JsonReader&, const std::string&) {
  return std::make_unique<Normal>(form);
}

Made make_lowercase(JsonReader&, const std::string&) { return std::make_unique<Lowercase>(); }
Made make_strip_accents(JsonReader&, const std::string&) {
  return std::make_unique<StripAccents>();
}

Made make_strip(JsonReader& options, const std::string&) {
  const bool left = options.required<bool>("strip_left");
  return std::make_unique<Strip>(left, options.required<bool>("strip_right"));
}

Made make_precompiled(JsonReader& options, const std::string& where) {
  auto bytes = from_base64(options.required<std::string>("precompiled_charsmap"));
  if (!bytes) throw ConfigError(str(options.where("precompiled_charsmap"), " is not base64"));
  return std::make_unique<Precompiled>(Charsmap(*std::move(bytes), where));
}

Made make_bert(JsonReader& options, const std::string&) {
  const bool clean = options.optional("clean_text", true);
  const bool chinese = options.optional("handle_chinese_chars", true);
  const bool lower = options.optional("lowercase", true);
  return std::make_unique<Bert>(clean, chinese, options.optional("strip_accents", lower), lower);
}

Made make_prepend(JsonReader& options, const std::string&) {
  return std::make_unique<Prepend>(options.required<std::string>("prepend"));
}

Made make_replace(JsonReader& options, const std::string& where) {
  Pattern pattern = Pattern::read(options.any("pattern"), where);
  return std::make_unique<Replace>(std::move(pattern), options.required<std::string>("content"));
}

Made make_sequence(JsonReader& options, const std::string& where) {
  return std::make_unique<Sequence>(
      read_components<Normalizer>(options, "normalizers", where, read_normalizer));
}

constexpr std::array kNormalizers{
    ComponentEntry<Normalizer>{"BertNormalizer", make_bert},
    ComponentEntry<Normalizer>{"Lowercase", make_lowercase},
    ComponentEntry<Normalizer>{"NFC", make_normal<NormalForm::nfc>},
    ComponentEntry<Normalizer>{"NFD", make_normal<NormalForm::nfd>},
    ComponentEntry<Normalizer>{"NFKC", make_normal<NormalForm::nfkc>},
    ComponentEntry<Normalizer>{"NFKD", make_normal<NormalForm::nfkd>},
    ComponentEntry<Normalizer>{"Precompiled", make_precompiled},
    ComponentEntry<Normalizer>{"Prepend", make_prepend},
    ComponentEntry<Normalizer>{"Replace", make_replace},
    ComponentEntry<Normalizer>{"Sequence", make_sequence},
    ComponentEntry<Normalizer>{"Strip", make_strip},
    ComponentEntry<Normalizer>{"StripAccents", make_strip_accents},
};

}  // namespace

std::unique_ptr<Normalizer> read_normalizer(const Json& json, const std::string& where) {
  return read_component<Normalizer>(json, where, kNormalizers);
}

}  // namespace pardec
