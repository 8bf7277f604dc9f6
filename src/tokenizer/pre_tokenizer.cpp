#include "src/tokenizer/pre_tokenizer.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "src/support/characters.hpp"
#include "src/support/utf8.hpp"
#include "src/tokenizer/byte_level.hpp"
#include "src/tokenizer/component.hpp"
#include "src/tokenizer/metaspace.hpp"
#include "src/tokenizer/pattern.hpp"

namespace pardec {

namespace {

constexpr const char* kGpt2 =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

enum class Behavior { removed, isolated, merged_with_previous, merged_with_next, contiguous };

Behavior read_behavior(const std::string& name, const std::string& where) {
  const std::vector<std::string> names{"Removed", "Isolated", "MergedWithPrevious",
                                       "MergedWithNext", "Contiguous"};
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) {
    throw ConfigError(str(where, ": 'behavior' is '", name, "'", known_names(name, names)));
  }
  return static_cast<Behavior>(found - names.begin());
}

/// Joins each match with the preceding part, unless that part is also a match.
std::vector<Span> merge_with_previous(const std::vector<Span>& parts) {
  std::vector<Span> out;
  bool after_match = false;
  for (const Span& part : parts) {
    if (part.match && !after_match && !out.empty()) {
      out.back().end = part.end;
    } else {
      out.push_back(part);
    }
    after_match = part.match;
  }
  return out;
}

std::vector<Span> merge_with_next(const std::vector<Span>& parts) {
  std::vector<Span> out;
  bool before_match = false;
  for (auto part = parts.rbegin(); part != parts.rend(); ++part) {
    if (part->match && !before_match && !out.empty()) {
      out.back().begin = part->begin;
    } else {
      out.push_back(*part);
    }
    before_match = part->match;
  }
  std::reverse(out.begin(), out.end());
  return out;
}

std::vector<Span> merge_equal(const std::vector<Span>& parts) {
  std::vector<Span> out;
  for (const Span& part : parts) {
    if (!out.empty() && out.back().match == part.match) {
      out.back().end = part.end;
    } else {
      out.push_back(part);
    }
  }
  return out;
}

std::vector<Span> arrange(std::vector<Span> parts, Behavior behavior) {
  switch (behavior) {
    case Behavior::removed:
      std::erase_if(parts, [](const Span& part) { return part.match; });
      break;
    case Behavior::isolated:
      break;
    case Behavior::merged_with_previous:
      return merge_with_previous(parts);
    case Behavior::merged_with_next:
      return merge_with_next(parts);
    case Behavior::contiguous:
      return merge_equal(parts);
  }
  return parts;
}

void append_parts(const Stretch& word, const std::vector<Span>& parts, std::vector<Stretch>& out) {
  for (const Span& part : parts) {
    if (part.begin < part.end) out.push_back(word.part(part.begin, part.end));
  }
}

class Split final : public PreTokenizer {
 public:
  Split(Pattern pattern, Behavior behavior, bool invert)
      : pattern_(std::move(pattern)), behavior_(behavior), invert_(invert) {}
  void apply(std::vector<Stretch>& words, Place) const override {
    std::vector<Stretch> out;
    for (const Stretch& word : words) {
      std::vector<Span> parts = pattern_.split(word.text);
      if (invert_) {
        for (Span& part : parts) part.match = !part.match;
      }
      append_parts(word, arrange(std::move(parts), behavior_), out);
    }
    words = std::move(out);
  }

 private:
  Pattern pattern_;
  Behavior behavior_;
  bool invert_;
};

/// Splits at the characters of a class.
class ClassSplit final : public PreTokenizer {
 public:
  ClassSplit(bool (*is_match)(char32_t), Behavior behavior)
      : is_match_(is_match), behavior_(behavior) {}
  void apply(std::vector<Stretch>& words, Place) const override {
    std::vector<Stretch> out;
    for (const Stretch& word : words) append_parts(word, arrange(parts(word.text), behavior_), out);
    words = std::move(out);
  }

 private:
  std::vector<Span> parts(std::string_view text) const {
    std::vector<Span> out;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t begin = at;
      const bool match = is_match_(next_code_point(text, at));
      if (!match && !out.empty() && !out.back().match) {
        out.back().end = at;
      } else {
        out.push_back({begin, at, match});
      }
    }
    return out;
  }

  bool (*is_match_)(char32_t);
  Behavior behavior_;
};

/// Keeps words, and runs of characters that are neither word characters nor white space; drops
/// white space.
class Whitespace final : public PreTokenizer {
 public:
  void apply(std::vector<Stretch>& words, Place) const override {
    std::vector<Stretch> out;
    for (const Stretch& word : words) append_parts(word, parts(word.text), out);
    words = std::move(out);
  }

 private:
  static std::vector<Span> parts(std::string_view text) {
    std::vector<Span> out;  // `match`: it is a word
    bool goes_on = false;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t begin = at;
      const char32_t code = next_code_point(text, at);
      const bool is_a_word = is_word(code);
      if (!is_a_word && is_space(code)) {
        goes_on = false;
      } else if (goes_on && out.back().match == is_a_word) {
        out.back().end = at;
      } else {
        out.push_back({begin, at, is_a_word});
        goes_on = true;
      }
    }
    return out;
  }
};

/// Writes each byte as a visible character, after GPT-2's splitting if `gpt2` is set.
class ByteLevel final : public PreTokenizer {
 public:
  ByteLevel(bool add_prefix_space, std::optional<Pattern> gpt2)
      : add_prefix_space_(add_prefix_space), gpt2_(std::move(gpt2)) {}
  void apply(std::vector<Stretch>& words, Place place) const override {
    if (add_prefix_space_ && place != Place::later) {
      for (Stretch& word : words) {
        if (!word.text.starts_with(' ')) word.prepend(" ");
      }
    }
    if (gpt2_) {
      std::vector<Stretch> out;
      for (const Stretch& word : words) append_parts(word, gpt2_->split(word.text), out);
      words = std::move(out);
    }
    for (Stretch& word : words) {
      word.first = to_byte_level(std::string_view(word.text).substr(0, word.first)).size();
      word.text = to_byte_level(word.text);
    }
  }

 private:
  bool add_prefix_space_;
  std::optional<Pattern> gpt2_;
};

/// SentencePiece's spaces: " " becomes the replacement character, which begins a word.
class Metaspace final : public PreTokenizer {
 public:
  explicit Metaspace(MetaspaceOptions options) : options_(std::move(options)) {}
  void apply(std::vector<Stretch>& words, Place place) const override {
    std::vector<Stretch> out;
    for (Stretch& word : words) {
      replace_spaces(word);
      if (place != Place::later && wants_prefix(word)) word.prepend(options_.replacement);
      if (options_.split) {
        cut(word, out);
      } else {
        out.push_back(std::move(word));
      }
    }
    words = std::move(out);
  }

 private:
  void replace_spaces(Stretch& word) const {
    Rewriting rewriting(word);
    std::size_t done = 0;
    for (std::size_t at; (at = word.text.find(' ', done)) != std::string::npos; done = at + 1) {
      rewriting.keep(at - done);
      rewriting.replace(1, options_.replacement);
    }
    rewriting.keep(word.text.size() - done);
    word = std::move(rewriting).finish();
  }
  bool wants_prefix(const Stretch& word) const {
    if (word.text.starts_with(options_.replacement)) return false;
    return options_.prepend == PrependScheme::always ||
           (options_.prepend == PrependScheme::first && word.at_start);
  }
  void cut(const Stretch& word, std::vector<Stretch>& out) const {
    for (std::size_t begin = 0; begin < word.text.size();) {
      const std::size_t end =
          std::min(word.text.find(options_.replacement, begin + 1), word.text.size());
      out.push_back(word.part(begin, end));
      begin = end;
    }
  }

  MetaspaceOptions options_;
};

class Sequence final : public PreTokenizer {
 public:
  explicit Sequence(std::vector<std::unique_ptr<PreTokenizer>> parts) : parts_(std::move(parts)) {}
  void apply(std::vector<Stretch>& words, Place place) const override {
    const auto bytes = [&] {
      std::size_t sum = 0;
      for (const Stretch& word : words) sum += word.text.size();
      return sum;
    };
    const std::size_t before = bytes();
    for (const auto& part : parts_) {
      part->apply(words, place);
      check_growth(before, bytes());
    }
  }

 private:
  std::vector<std::unique_ptr<PreTokenizer>> parts_;
};

using Made = std::unique_ptr<PreTokenizer>;

Made make_byte_level(JsonReader& options, const std::string& where) {
  const bool add_prefix_space = options.optional("add_prefix_space", true);
  options.optional("trim_offsets", true);  // only concerns offsets, which are not supported
  std::optional<Pattern> gpt2;
  if (options.optional("use_regex", true)) gpt2.emplace(Pattern::regex(kGpt2, where));
  return std::make_unique<ByteLevel>(add_prefix_space, std::move(gpt2));
}

Made make_digits(JsonReader& options, const std::string&) {
  const bool individual = options.optional("individual_digits", false);
  return std::make_unique<ClassSplit>(is_number,
                                      individual ? Behavior::isolated : Behavior::contiguous);
}

Made make_punctuation(JsonReader& options, const std::string& where) {
  const auto behavior = options.optional<std::string>("behavior", "Isolated");
  return std::make_unique<ClassSplit>(is_punctuation, read_behavior(behavior, where));
}

/// BERT's words: between white space, and each punctuation mark alone.
Made make_bert(JsonReader&, const std::string&) {
  std::vector<Made> parts;
  parts.push_back(std::make_unique<ClassSplit>(is_space, Behavior::removed));
  parts.push_back(std::make_unique<ClassSplit>(is_punctuation, Behavior::isolated));
  return std::make_unique<Sequence>(std::move(parts));
}

Made make_whitespace(JsonReader&, const std::string&) { return std::make_unique<Whitespace>(); }
Made make_whitespace_split(JsonReader&, const std::string&) {
  return std::make_unique<ClassSplit>(is_space, Behavior::removed);
}

Made make_metaspace(JsonReader& options, const std::string& where) {
  return std::make_unique<Metaspace>(read_metaspace(options, where));
}

Made make_split(JsonReader& options, const std::string& where) {
  Pattern pattern = Pattern::read(options.any("pattern"), where);
  const Behavior behavior = read_behavior(options.required<std::string>("behavior"), where);
  return std::make_unique<Split>(std::move(pattern), behavior, options.optional("invert", false));
}

Made make_sequence(JsonReader& options, const std::string& where) {
  return std::make_unique<Sequence>(
      read_components<PreTokenizer>(options, "pretokenizers", where, read_pre_tokenizer));
}

constexpr std::array kPreTokenizers{
    ComponentEntry<PreTokenizer>{"BertPreTokenizer", make_bert},
    ComponentEntry<PreTokenizer>{"ByteLevel", make_byte_level},
    ComponentEntry<PreTokenizer>{"Digits", make_digits},
    ComponentEntry<PreTokenizer>{"Metaspace", make_metaspace},
    ComponentEntry<PreTokenizer>{"Punctuation", make_punctuation},
    ComponentEntry<PreTokenizer>{"Sequence", make_sequence},
    ComponentEntry<PreTokenizer>{"Split", make_split},
    ComponentEntry<PreTokenizer>{"Whitespace", make_whitespace},
    ComponentEntry<PreTokenizer>{"WhitespaceSplit", make_whitespace_split},
};

}  // namespace

std::unique_ptr<PreTokenizer> read_pre_tokenizer(const Json& json, const std::string& where) {
  return read_component<PreTokenizer>(json, where, kPreTokenizers);
}

}  // namespace pardec
