#include "src/tokenizer/normalizer.hpp"

#include <array>
#include <string_view>

#include "src/support/characters.hpp"
#include "src/support/utf8.hpp"
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
    ComponentEntry<Normalizer>{"Lowercase", make_lowercase},
    ComponentEntry<Normalizer>{"NFC", make_normal<NormalForm::nfc>},
    ComponentEntry<Normalizer>{"NFD", make_normal<NormalForm::nfd>},
    ComponentEntry<Normalizer>{"NFKC", make_normal<NormalForm::nfkc>},
    ComponentEntry<Normalizer>{"NFKD", make_normal<NormalForm::nfkd>},
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
