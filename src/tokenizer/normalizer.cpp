#include "src/tokenizer/normalizer.hpp"

#include <array>

#include "src/tokenizer/component.hpp"
#include "src/tokenizer/nfc.hpp"
#include "src/tokenizer/pattern.hpp"

namespace pardec {

namespace {

class Nfc final : public Normalizer {
 public:
  std::string apply(std::string text, bool) const override { return nfc(text); }
};

/// SentencePiece's dummy prefix.
class Prepend final : public Normalizer {
 public:
  explicit Prepend(std::string content) : content_(std::move(content)) {}
  std::string apply(std::string text, bool prefix) const override {
    if (prefix && !text.empty()) text.insert(0, content_);
    return text;
  }

 private:
  std::string content_;
};

class Replace final : public Normalizer {
 public:
  Replace(Pattern pattern, std::string content)
      : pattern_(std::move(pattern)), content_(std::move(content)) {}
  std::string apply(std::string text, bool) const override {
    return pattern_.replace(text, content_);
  }

 private:
  Pattern pattern_;
  std::string content_;
};

class Sequence final : public Normalizer {
 public:
  explicit Sequence(std::vector<std::unique_ptr<Normalizer>> parts) : parts_(std::move(parts)) {}
  std::string apply(std::string text, bool prefix) const override {
    for (const auto& part : parts_) text = part->apply(std::move(text), prefix);
    return text;
  }

 private:
  std::vector<std::unique_ptr<Normalizer>> parts_;
};

using Made = std::unique_ptr<Normalizer>;

Made make_nfc(JsonReader&, const std::string&) { return std::make_unique<Nfc>(); }

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
    ComponentEntry<Normalizer>{"NFC", make_nfc},
    ComponentEntry<Normalizer>{"Prepend", make_prepend},
    ComponentEntry<Normalizer>{"Replace", make_replace},
    ComponentEntry<Normalizer>{"Sequence", make_sequence},
};

}  // namespace

std::unique_ptr<Normalizer> read_normalizer(const Json& json, const std::string& where) {
  return read_component<Normalizer>(json, where, kNormalizers);
}

}  // namespace pardec
