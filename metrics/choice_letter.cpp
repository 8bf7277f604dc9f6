#include "metrics/choice_letter.hpp"

#include <algorithm>
#include <array>
#include <set>

#include "metrics/one_of.hpp"
#include "metrics/python_text.hpp"
#include "src/support/choice_letters.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

struct Token {
  enum class Kind { word, mark, line_end };
  Kind kind;
  std::string text;   ///< in the answer's spelling
  std::string lower;  ///< in lower case
  bool after_space = false;
};

/// The first character of a valid UTF-8 text.
std::string_view character(std::string_view text) {
  std::size_t size = 1;
  while (size < text.size() && (static_cast<unsigned char>(text[size]) & 0xC0) == 0x80) ++size;
  return text.substr(0, size);
}

/// The letter that a character represents: full-width (U+FF21, U+FF41), circled (U+24B6, U+24D0),
/// bold or other mathematical letters (U+1D400 to U+1D6A3). Empty: none of these.
std::string plain_letter(std::string_view c) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned>(c[i]) & 0x3Fu; };
  const auto letter = [](unsigned first, unsigned n) {
    return std::string(1, static_cast<char>(first + n));
  };
  if (c.size() == 3) {
    const unsigned code = (static_cast<unsigned>(c[0]) & 0xFu) << 12 | byte(1) << 6 | byte(2);
    for (const auto& [begin, first] :
         {std::pair{0xFF21u, 'A'}, {0xFF41u, 'a'}, {0x24B6u, 'A'}, {0x24D0u, 'a'}})
      if (code >= begin && code < begin + 26) return letter(first, code - begin);
  }
  if (c.size() == 4) {
    const unsigned code =
        (static_cast<unsigned>(c[0]) & 7u) << 18 | byte(1) << 12 | byte(2) << 6 | byte(3);
    if (code >= 0x1D400 && code < 0x1D6A4) {
      const unsigned n = (code - 0x1D400) % 52;
      return n < 26 ? letter('A', n) : letter('a', n - 26);
    }
  }
  return {};
}

/// Splits into words (which may contain an apostrophe), marks and line ends. Characters of three
/// bytes and more (Han, kana, Hangul) are separate from adjacent Latin letters. Markdown's emphasis
/// is left out.
std::vector<Token> tokens_of(std::string_view text) {
  std::vector<Token> tokens;
  bool space = false, joined = false;
  const auto add = [&](Token::Kind kind, std::string_view part) {
    std::string shown;
    for (std::string_view rest = part; !rest.empty();) {
      const std::string_view c = character(rest);
      const std::string plain = plain_letter(c);
      shown += plain.empty() ? c : plain;
      rest.remove_prefix(c.size());
    }
    if (joined && kind == Token::Kind::word) {  // isn't
      tokens.back().text += "'" + shown;
      tokens.back().lower += "'" + python_lower(shown);
    } else {
      tokens.push_back({kind, shown, python_lower(shown), space});
    }
    space = joined = false;
  };
  const auto add_word = [&](std::string_view word) {
    while (word.starts_with('_')) word.remove_prefix(1);
    while (word.ends_with('_')) word.remove_suffix(1);
    while (!word.empty()) {
      const auto goes_on = [&](std::size_t at) {
        const std::string_view c = character(word.substr(at));
        return at < word.size() && (c.size() < 3 || !plain_letter(c).empty());
      };
      std::size_t end = 0;
      while (goes_on(end)) end += character(word.substr(end)).size();
      if (end == 0) end = character(word).size();
      add(Token::Kind::word, word.substr(0, end));
      word.remove_prefix(end);
    }
  };
  for (const WordStretch& stretch : word_stretches(composed(text))) {
    if (stretch.word) {
      add_word(stretch.text);
      continue;
    }
    for (std::string_view rest = stretch.text; !rest.empty();) {
      const std::string_view c = character(rest);
      rest.remove_prefix(c.size());
      const bool after_word = !space && !tokens.empty() && tokens.back().kind == Token::Kind::word;
      joined = false;
      if (c == "\n")
        add(Token::Kind::line_end, c);
      else if (python_strip(c).empty())
        space = true;
      else if ((c == "'" || c == "\xE2\x80\x99") && after_word && rest.empty())
        joined = true;
      else if (!plain_letter(c).empty())
        add(Token::Kind::word, c);
      else if (c != "*" && c != "`" && c != "#" && c != "\\" && c != "$")
        add(Token::Kind::mark, c);
    }
  }
  return tokens;
}

/// A mention of a choice: tokens [begin, end).
struct Mention {
  std::size_t begin, end;
  int choice;
  bool capital = false;  ///< by its letter in upper case
  bool letter = false;   ///< by its letter
  bool rejected = false;
};

/// Words that can follow "A" if it is a choice and not an article.
constexpr std::array<std::string_view, 52> kAfterLetter{
    "is",      "isn't",  "was",    "wasn't", "are",       "because", "since",       "as",
    "and",     "or",     "but",    "for",    "seems",     "would",   "could",       "should",
    "can",     "can't",  "cannot", "must",   "does",      "doesn't", "has",         "makes",
    "matches", "states", "says",   "gives",  "fits",      "being",   "then",        "which",
    "while",   "nor",    "not",    "if",     "therefore", "looks",   "contradicts", "fails",
    "with",    "to",     "in",     "so",     "the",       "it",      "this",        "that",
    "they",    "we",     "he",     "she"};

bool is_line_end(const std::vector<Token>& tokens, std::size_t at) {
  return at >= tokens.size() || tokens[at].kind == Token::Kind::line_end;
}

bool is_mark(const std::vector<Token>& tokens, std::size_t at, std::string_view marks) {
  return at < tokens.size() && tokens[at].kind == Token::Kind::mark &&
         marks.find(tokens[at].text) != std::string_view::npos;
}

std::string_view word_at(const std::vector<Token>& tokens, std::size_t at) {
  return at < tokens.size() && tokens[at].kind == Token::Kind::word
             ? std::string_view(tokens[at].lower)
             : std::string_view();
}

/// Marks between a choice and a statement about it; includes dashes of all lengths.
constexpr std::string_view kAfterChoice = ")]}.\":-=([>\xE2\x80\x93\xE2\x80\x94\xE2\x86\x92";

/// An answer as tokens, with the choices that it mentions.
class Reading {
 public:
  Reading(std::string_view text, const std::vector<std::string>& choices)
      : tokens_(tokens_of(text)), count_(static_cast<int>(choices.size())) {
    std::vector<std::pair<std::vector<Token>, int>> texts;  // longer ones first
    for (int c = 0; c < count_; ++c) {
      auto words = tokens_of(choices[static_cast<std::size_t>(c)]);
      while (!words.empty() && is_mark(words, words.size() - 1, ".")) words.pop_back();
      const bool is_letter = words.size() == 1 && words[0].lower.size() == 1 &&
                             words[0].lower[0] >= 'a' && words[0].lower[0] <= 'z';
      if (!words.empty() && !is_letter) texts.emplace_back(std::move(words), c);
    }
    std::stable_sort(texts.begin(), texts.end(),
                     [](const auto& a, const auto& b) { return a.first.size() > b.first.size(); });
    const auto text_at = [&](std::size_t at) {
      return std::find_if(texts.begin(), texts.end(),
                          [&](const auto& one) { return stands_at(at, one.first); });
    };
    for (std::size_t at = 0; at < tokens_.size();) {
      const auto found = text_at(at);
      if (found != texts.end()) {
        mentions_.push_back({at, at + found->first.size(), found->second});
        at = mentions_.back().end;
        continue;
      }
      if (const auto [size, choice] = counted_at(at); size > 0 && text_at(at + 1) == texts.end()) {
        mentions_.push_back({at, at + size, choice, /*capital=*/true, /*letter=*/true});
        at += size;
        continue;
      }
      if (const int letter = letter_at(at); letter >= 0) {
        const bool capital = tokens_[at].text != tokens_[at].lower;
        mentions_.push_back({at, at + 1, letter, capital, true});
      }
      ++at;
    }
    join_letters_and_texts();
    drop_listing();
    drop_ranges();
    reject();
  }

  std::optional<int> choice() const {
    if (const auto whole = whole_answer()) return whole;
    for (const auto rule : {&Reading::first_line, &Reading::stated, &Reading::leading,
                            &Reading::first_capital, &Reading::marked, &Reading::only_text})
      if (const auto found = (this->*rule)()) {
        if (!found->second) return std::nullopt;  // several at once
        return found->first->choice;
      }
    return std::nullopt;
  }

 private:
  /// A mention, and whether it is the only choice named.
  using Found = std::optional<std::pair<const Mention*, bool>>;

  bool stands_at(std::size_t at, const std::vector<Token>& words) const {
    if (at + words.size() > tokens_.size()) return false;
    for (std::size_t i = 0; i < words.size(); ++i)
      if (tokens_[at + i].lower != words[i].lower) return false;
    // 3 is not part of 3.5 or 1,3.
    const auto digit = [&](std::size_t i) {
      return i < tokens_.size() && tokens_[i].text[0] >= '0' && tokens_[i].text[0] <= '9';
    };
    const std::size_t end = at + words.size();
    const bool goes_on = digit(end - 1) && is_mark(tokens_, end, ".,") && digit(end + 1) &&
                         !tokens_[end].after_space && !tokens_[end + 1].after_space;
    const bool began = digit(at) && at > 1 && is_mark(tokens_, at - 1, ".,") && digit(at - 2) &&
                       !tokens_[at].after_space && !tokens_[at - 1].after_space;
    return !goes_on && !began;
  }

  /// The choice whose letter the token can be, considering the next word; -1: none.
  int letter_at(std::size_t at) const {
    const Token& token = tokens_[at];
    if (token.kind != Token::Kind::word || token.text.size() != 1) return -1;
    const int letter = token.lower[0] - 'a';
    if (letter < 0 || letter >= count_) return -1;
    const std::string_view next = word_at(tokens_, at + 1);
    if (next.empty()) return letter;
    if (token.lower == "a" && !is_one_of(next, kAfterLetter)) return -1;
    if (token.lower == "i" && next != "is" && next != "isn't") return -1;
    return letter;
  }

  /// Recognises "the second option", "option 2": the number of words from `at` on that name a
  /// choice by number, and the choice; 0 words: none.
  std::pair<std::size_t, int> counted_at(std::size_t at) const {
    constexpr std::array<std::string_view, 5> kOrdinals{"first", "second", "third", "fourth",
                                                        "fifth"};
    constexpr std::array<std::string_view, 3> kNouns{"option", "choice", "alternative"};
    const std::string_view word = word_at(tokens_, at), next = word_at(tokens_, at + 1);
    const auto* ordinal = std::find(kOrdinals.begin(), kOrdinals.end(), word);
    const bool one =
        next == "one" && (is_line_end(tokens_, at + 2) || is_mark(tokens_, at + 2, ".,;!"));
    if (ordinal != kOrdinals.end() && at > 0 && word_at(tokens_, at - 1) == "the" &&
        (is_one_of(next, kNouns) || one)) {
      const auto n = static_cast<int>(ordinal - kOrdinals.begin());
      if (n < count_) return {2, n};
    }
    if (is_one_of(word, kNouns) && next.size() == 1 && next[0] >= '1' && next[0] < '1' + count_)
      return {2, next[0] - '1'};
    return {0, 0};
  }

  /// Joins "B) blue" and "blue (B)" into one mention.
  void join_letters_and_texts() {
    for (std::size_t m = 1; m < mentions_.size();) {
      Mention& before = mentions_[m - 1];
      const Mention& now = mentions_[m];
      bool joined = before.choice == now.choice && before.letter != now.letter;
      for (std::size_t at = before.end; joined && at < now.begin; ++at)
        joined = is_mark(tokens_, at, "().:,-[]=\"");
      if (!joined) {
        ++m;
        continue;
      }
      before.end = now.end + (is_mark(tokens_, now.end, ")]") ? 1 : 0);
      before.capital = before.capital || now.capital;
      before.letter = true;
      mentions_.erase(mentions_.begin() + static_cast<long>(m));
    }
  }

  bool begins_line(const Mention& mention) const {
    std::size_t at = mention.begin;
    while (at > 0 && is_mark(tokens_, at - 1, "([{\"-")) --at;
    return at == 0 || tokens_[at - 1].kind == Token::Kind::line_end;
  }

  /// A repeated list of all choices, one per line, chooses none of them.
  void drop_listing() {
    if (count_ < 2) return;
    std::set<int> listed;
    for (const Mention& mention : mentions_)
      if (mention.letter && begins_line(mention)) listed.insert(mention.choice);
    if (static_cast<int>(listed.size()) < count_) return;
    for (int wanted = 0; Mention & mention : mentions_)
      if (mention.letter && begins_line(mention) && mention.choice == wanted && wanted < count_) {
        listed_.insert(mention.begin);
        ++wanted;
      }
    if (static_cast<int>(listed_.size()) < count_) listed_.clear();
  }

  /// "among (A) through (D)" and "options A to D" choose none of them.
  void drop_ranges() {
    for (std::size_t m = 0; m + 1 < mentions_.size(); ++m) {
      std::size_t at = mentions_[m].end;
      while (is_mark(tokens_, at, ")]")) ++at;
      const std::string_view word = word_at(tokens_, at);
      if (word != "through" && word != "to") continue;
      for (++at; is_mark(tokens_, at, "([");) ++at;
      if (at != mentions_[m + 1].begin || mentions_[m + 1].choice <= mentions_[m].choice) continue;
      listed_.insert(mentions_[m].begin);
      listed_.insert(mentions_[m + 1].begin);
    }
  }

  // Rejections.

  static bool is_negation(std::string_view word) {
    constexpr std::array<std::string_view, 8> kNegations{"not", "never",   "cannot", "neither",
                                                         "nor", "without", "unlike", "n't"};
    return is_one_of(word, kNegations) || word.ends_with("n't");
  }
  static bool is_wrong(std::string_view word) {
    constexpr std::array<std::string_view, 20> kWrong{
        "wrong",       "incorrect",  "false",        "impossible",  "invalid",
        "out",         "eliminated", "excluded",     "ruled",       "irrelevant",
        "unlikely",    "untrue",     "inaccurate",   "rejected",    "dismissed",
        "implausible", "no",         "contradicted", "unsupported", "off"};
    return is_one_of(word, kWrong);
  }

  /// Whether the words before a token reject it: "not", "rather than option", "rule out".
  bool rejected_before(std::size_t at) const {
    constexpr std::array<std::string_view, 19> kBetween{
        "option",      "choice", "answer",  "letter",  "the",    "be",   "either",
        "necessarily", "really", "options", "choices", "both",   "it's", "it",
        "is",          "that",   "that's",  "think",   "believe"};
    constexpr std::array<std::string_view, 20> kRejecting{
        "than",      "exclude",    "excludes",   "excluded",    "excluding",
        "eliminate", "eliminates", "eliminated", "eliminating", "except",
        "dismiss",   "dismissed",  "reject",     "rejects",     "rejected",
        "rejecting", "against",    "excepting",  "discard",     "discarding"};
    while (at > 0 &&
           (is_mark(tokens_, at - 1, "([{\"'") || is_one_of(word_at(tokens_, at - 1), kBetween)))
      --at;
    if (at == 0) return false;
    const std::string_view word = word_at(tokens_, at - 1);
    const std::string_view before = at > 1 ? word_at(tokens_, at - 2) : std::string_view();
    if ((word == "\xE6\x98\xAF" && before == "\xE4\xB8\x8D") || word == "\xE9\x9D\x9E" ||
        (word == "\xE9\x99\xA4" && before == "\xE6\x8E\x92"))
      return true;  // Chinese: is not, non-, excludes
    return is_negation(word) || is_one_of(word, kRejecting) ||
           (word == "of" && before == "instead") ||
           (word == "out" && (before.starts_with("rul") || before.starts_with("leav")));
  }

  /// Whether the words after a token reject it: "is not", "isn't correct", "can be ruled out", ":
  /// wrong".
  bool rejected_after(std::size_t at) const {
    constexpr std::array<std::string_view, 21> kCopulas{
        "is",   "are",    "was",   "were", "being", "does", "do",  "did",  "can", "could", "would",
        "must", "should", "seems", "seem", "looks", "look", "has", "have", "may", "might"};
    constexpr std::array<std::string_view, 22> kBetween{
        "be",     "been",      "clearly", "obviously", "definitely", "also",     "both",   "all",
        "simply", "therefore", "thus",    "just",      "plainly",    "probably", "likely", "so",
        "too",    "the",       "a",       "then",      "certainly",  "already"};
    constexpr std::array<std::string_view, 2> kWrongHan{"\xE4\xB8\x8D", "\xE9\x94\x99"};  // 不, 错
    constexpr std::array<std::string_view, 3> kAgainst{"contradicts", "fails", "contradict"};
    if (is_mark(tokens_, at,
                ":(-=?\xE2\x80\x94\xE2\x80\x93")) {  // "A: wrong", "A (wrong)", "A? No"
      const std::string_view word = word_at(tokens_, at + 1);
      return is_wrong(word) && word != "out" && word != "ruled";
    }
    std::size_t sign = at;
    while (is_mark(tokens_, sign, kAfterChoice)) ++sign;
    if (is_mark(tokens_, sign, "\xE2\x9C\x97\xE2\x9C\x98\xE2\x9D\x8C\xE2\x9C\x96")) return true;
    std::string_view word = word_at(tokens_, at);
    if (is_one_of(word, kAgainst) || is_one_of(word, kWrongHan)) return true;
    const bool negated = word == "cannot" || word.ends_with("n't");
    if (!negated && !is_one_of(word, kCopulas)) return false;
    do {
      ++at;
    } while (is_one_of(word_at(tokens_, at), kBetween));
    word = word_at(tokens_, at);
    if (negated || word == "not" || word == "never" || word == "neither" || word.ends_with("n't"))
      return !is_wrong(negated ? word : word_at(tokens_, at + 1));  // "is not wrong"
    return is_wrong(word);
  }

  /// The end of a list: mentions [first, last] joined by one "and", "or" or "nor", with commas
  /// before it.
  std::size_t end_of_list(std::size_t first) const {
    std::size_t last = first;
    for (std::size_t m = first; m + 1 < mentions_.size(); ++m) {
      bool word = false, only = true;
      for (std::size_t at = mentions_[m].end; at < mentions_[m + 1].begin; ++at) {
        constexpr std::array<std::string_view, 7> kJoining{"and",    "or",      "nor",   "option",
                                                           "choice", "neither", "either"};
        const std::string_view between = word_at(tokens_, at);
        if (between == "and" || between == "or" || between == "nor") word = true;
        if (between.empty() ? !is_mark(tokens_, at, ",/&()[]\"") : !is_one_of(between, kJoining))
          only = false;
        if (is_mark(tokens_, at, "/&")) word = true;
      }
      if (!only) break;
      const bool closed = is_mark(tokens_, mentions_[m + 1].end, ")]") &&
                          mentions_[first].begin > 0 &&
                          is_mark(tokens_, mentions_[first].begin - 1, "([");  // "(A, C, D)"
      if (word || closed) last = m + 1;
    }
    return last;
  }

  void reject() {
    for (std::size_t m = 0; m < mentions_.size(); ++m) {
      const std::size_t last = end_of_list(m);
      std::size_t after = mentions_[last].end;
      while (is_mark(tokens_, after, ")]}\"")) ++after;
      if (!rejected_before(mentions_[m].begin) && !rejected_after(after)) continue;
      for (std::size_t i = m; i <= last; ++i) mentions_[i].rejected = true;
    }
  }

  bool is_rejected(int choice, std::size_t after = 0) const {
    return std::any_of(mentions_.begin(), mentions_.end(), [&](const Mention& mention) {
      return mention.rejected && mention.choice == choice && mention.begin >= after;
    });
  }

  bool counts(const Mention& mention) const {
    return !mention.rejected && !listed_.contains(mention.begin) && !is_rejected(mention.choice);
  }

  /// Whether no other choice is next to it as an alternative, unlike in "A or B", "A, B".
  bool is_alone(const Mention& mention) const {
    const auto m = static_cast<std::size_t>(&mention - mentions_.data());
    const auto beside = [&](std::size_t left, std::size_t right) {
      if (mentions_[left].choice == mentions_[right].choice || mentions_[left].rejected ||
          mentions_[right].rejected || listed_.contains(mentions_[left].begin) ||
          listed_.contains(mentions_[right].begin) || !mentions_[left].letter ||
          !mentions_[right].letter)
        return false;
      if (mentions_[left].end == mentions_[right].begin) return false;
      for (std::size_t at = mentions_[left].end; at < mentions_[right].begin; ++at) {
        const std::string_view word = word_at(tokens_, at);
        if (word.empty() ? !is_mark(tokens_, at, ",/&()[]\"") : word != "and" && word != "or")
          return false;
      }
      return true;
    };
    return !(m > 0 && beside(m - 1, m)) && !(m + 1 < mentions_.size() && beside(m, m + 1));
  }

  // The rules.

  std::optional<int> whole_answer() const {
    std::size_t begin = 0, end = tokens_.size();
    const auto aside = [&](std::size_t at) {
      return tokens_[at].kind == Token::Kind::line_end || is_mark(tokens_, at, ".,;:!\"'()");
    };
    while (begin < end && aside(begin)) ++begin;
    while (end > begin && aside(end - 1)) --end;
    for (const Mention& mention : mentions_)
      if (!mention.letter && mention.begin == begin && mention.end >= end) return mention.choice;
    return std::nullopt;
  }

  /// The position after the filler words that start at `at`.
  std::size_t after_fillers(std::size_t at) const {
    constexpr std::array<std::string_view, 38> kFillers{
        "is",       "are",   "would",  "be",     "should", "must",    "was",        "therefore",
        "thus",     "then",  "option", "choice", "letter", "answer",  "definitely", "clearly",
        "probably", "most",  "likely", "indeed", "the",    "text",    "textbf",     "mathrm",
        "mathbf",   "boxed", "hence",  "so",     "that",   "correct", "right",      "best",
        "final",    "it",    "it's",   "with",   "for",    "i"};
    constexpr std::array<std::string_view, 7> kHanFillers{
        // 是 为 选 项 择 应 该
        "\xE6\x98\xAF", "\xE4\xB8\xBA", "\xE9\x80\x89", "\xE9\xA1\xB9",
        "\xE6\x8B\xA9", "\xE5\xBA\x94", "\xE8\xAF\xA5"};
    constexpr std::size_t kMost = 12;
    for (const std::size_t most = at + kMost; at < std::min(most, tokens_.size());) {
      const bool mark = tokens_[at].kind == Token::Kind::mark;
      const bool passed = is_one_of(tokens_[at].lower, kHanFillers) ? true
                          : mark ? !is_mark(tokens_, at, ".;!?,") || is_mark(tokens_, at - 1, ":")
                          : tokens_[at].kind == Token::Kind::line_end
                              ? is_mark(tokens_, at - 1, ":>") || is_line_end(tokens_, at - 1)
                              : is_one_of(tokens_[at].lower, kFillers) && mention_at(at) == nullptr;
      if (!passed) break;
      ++at;
    }
    return at;
  }

  const Mention* mention_at(std::size_t at) const {
    for (const Mention& mention : mentions_)
      if (mention.begin == at) return &mention;
    return nullptr;
  }

  /// Whether the words that end before `at` announce a choice: "answer", "I choose".
  bool is_cue(std::size_t at) const {
    constexpr std::array<std::string_view, 20> kVerbs{
        "choose",    "chooses", "chose",    "chosen", "pick", "picks", "picked",
        "select",    "selects", "selected", "say",    "says", "vote",  "conclude",
        "concludes", "think",   "believe",  "opt",    "opts", "guess"};
    constexpr std::array<std::string_view, 7> kOthers{"boxed", "it's",  "that's", "therefore",
                                                      "thus",  "hence", "its"};
    const std::string_view word = word_at(tokens_, at), next = word_at(tokens_, at + 1);
    if (word == "answer" || word == "response") return true;
    if (word == "answers") return next == "are" || next == "is" || is_mark(tokens_, at + 1, ":=");
    if (word == "\xE9\x80\x89" || word == "\xE6\xA1\x88") return true;  // 选, 案 of 答案
    if (word == "option" || word == "choice" || word == "letter" || word == "selection" ||
        word == "one" || word == "solution") {
      std::size_t after = at + 1;
      while (is_mark(tokens_, after, "\"')]}")) ++after;
      return next == "is" || next == "would" || next == "must" || is_mark(tokens_, after, ":=");
    }
    if (word == "it" || word == "that") return next == "is" || next == "must";
    if (word == "with") {
      const std::string_view before = at > 0 ? word_at(tokens_, at - 1) : std::string_view();
      return before == "go" || before == "goes" || before == "going" || before == "went";
    }
    return is_one_of(word, kOthers) || (is_one_of(word, kVerbs) && !is_of_others(at));
  }

  bool is_opinion(std::size_t at) const {
    constexpr std::array<std::string_view, 5> kOpinions{"say", "says", "think", "believe", "guess"};
    return is_one_of(word_at(tokens_, at), kOpinions);
  }

  /// Whether the verb at `at` is about other people or a possibility: "some say", "you might pick".
  bool is_of_others(std::size_t at) const {
    constexpr std::array<std::string_view, 14> kOfOthers{
        "might",  "may", "could",   "would",    "some", "others", "many",
        "people", "you", "someone", "students", "they", "one",    "if"};
    const auto before = [&](std::size_t n) {
      return at >= n ? word_at(tokens_, at - n) : std::string_view();
    };
    return before(1) != "i" && before(2) != "i" &&
           (is_one_of(before(1), kOfOthers) || is_one_of(before(2), kOfOthers));
  }

  /// "A: B", where "A" stands for "answer" and the line contains nothing else.
  bool is_answer_mark(std::size_t at) const {
    if (word_at(tokens_, at) != "a" || !is_mark(tokens_, at + 1, ":")) return false;
    if (at > 0 && tokens_[at - 1].kind != Token::Kind::line_end) return false;
    const Mention* mention = mention_at(at + 2);
    if (!mention || mention->choice == 0) return false;
    std::size_t end = mention->end;
    while (is_mark(tokens_, end, ").\"")) ++end;
    return is_line_end(tokens_, end) &&
           std::none_of(mentions_.begin(), mentions_.end(), [&](const Mention& other) {
             return other.letter && other.choice > 0 && begins_line(other);
           });
  }

  /// "no, B.", "wait, B", "Actually B", "Correction: B": the corrected choice, if `at` starts a
  /// correction.
  const Mention* corrected(std::size_t at) const {
    constexpr std::array<std::string_view, 6> kCorrecting{"no",       "wait",       "sorry",
                                                          "actually", "correction", "oops"};
    if (!is_one_of(word_at(tokens_, at), kCorrecting)) return nullptr;
    for (++at; is_mark(tokens_, at, ",:-\xE2\x80\x94\xE2\x80\x93");) ++at;
    const Mention* mention = mention_at(after_fillers(at));
    if (!mention) return nullptr;
    std::size_t end = mention->end;
    while (is_mark(tokens_, end, ")]}\"")) ++end;
    return is_line_end(tokens_, end) || is_mark(tokens_, end, ".!") ? mention : nullptr;
  }

  /// "B is correct", "(B) must be the right answer".
  bool is_confirmed(const Mention& mention) const {
    std::size_t at = mention.end;
    while (is_mark(tokens_, at, ")]}\"")) ++at;
    constexpr std::array<std::string_view, 7> kCopulas{"is",    "was",   "must", "would",
                                                       "seems", "looks", "being"};
    if (word_at(tokens_, at) == "\xE6\xAD\xA3")
      return word_at(tokens_, at + 1) == "\xE7\xA1\xAE";  // 正确
    if (!is_one_of(word_at(tokens_, at), kCopulas)) return false;
    constexpr std::array<std::string_view, 13> kBetween{
        "be",        "the",        "clearly", "most", "only",      "best", "better",
        "obviously", "definitely", "a",       "thus", "therefore", "more"};
    do {
      ++at;
    } while (is_one_of(word_at(tokens_, at), kBetween));
    constexpr std::array<std::string_view, 2> kBest{"best", "better"};
    constexpr std::array<std::string_view, 7> kGood{"correct", "right",    "true",    "answer",
                                                    "choice",  "solution", "accurate"};
    constexpr std::array<std::string_view, 4> kUnder{"if", "only", "when", "unless"};
    const bool good = is_one_of(word_at(tokens_, at), kGood);
    return (good && !is_one_of(word_at(tokens_, at + 1), kUnder)) ||
           (is_one_of(word_at(tokens_, at - 1), kBest) &&
            (is_line_end(tokens_, at) || is_mark(tokens_, at, ".,;!")));
  }

  bool is_tick(std::size_t at) const {
    return is_mark(tokens_, at, "\xE2\x9C\x93\xE2\x9C\x94\xE2\x9C\x85\xE2\x98\x91");
  }

  /// "B: true", "(B) yes", "B) blue: the sky is - correct.", "B ✓".
  bool is_marked_right(const Mention& mention) const {
    std::size_t at = mention.end;
    while (is_mark(tokens_, at, kAfterChoice)) ++at;
    if (is_tick(at) || (at > mention.end && says_right(at))) return true;
    if (!begins_line(mention)) return false;
    for (; !is_line_end(tokens_, at); ++at) {
      const std::string_view before = word_at(tokens_, at - 1), two = word_at(tokens_, at - 2);
      if (is_tick(at)) return true;
      if (!says_right(at)) continue;
      if (is_mark(tokens_, at - 1, kAfterChoice) || before == "is") return true;
      if (before == "the" && two == "is") return true;
    }
    return false;
  }

  /// Whether `at` starts a verdict that ends its statement: "correct.", "the right answer".
  bool says_right(std::size_t at) const {
    constexpr std::array<std::string_view, 4> kRight{"true", "correct", "right", "yes"};
    constexpr std::array<std::string_view, 4> kNouns{"answer", "choice", "option", "one"};
    if (!is_one_of(word_at(tokens_, at), kRight)) return false;
    if (is_one_of(word_at(tokens_, ++at), kNouns)) ++at;
    return is_line_end(tokens_, at) || is_mark(tokens_, at, ".,;!)]");
  }

  /// The only choice marked as right, if the choices are judged one by one.
  const Mention* only_right() const {
    const Mention* only = nullptr;
    for (const Mention& mention : mentions_) {
      if (!mention.letter || mention.rejected || !is_marked_right(mention)) continue;
      if (only && only->choice != mention.choice) return nullptr;
      only = &mention;
    }
    return only;
  }

  /// A letter alone on the first line, followed by more lines.
  Found first_line() const {
    std::size_t at = 0;
    while (at < tokens_.size() && tokens_[at].kind != Token::Kind::word) ++at;
    const Mention* mention = mention_at(at);
    if (!mention || !mention->capital || mention->end != at + 1) return std::nullopt;
    for (++at; !is_line_end(tokens_, at); ++at)
      if (!is_mark(tokens_, at, ")]}.")) return std::nullopt;
    return found(mention);
  }

  /// A last line that contains only a mention.
  const Mention* last_line() const {
    std::size_t end = tokens_.size();
    while (end > 0 && tokens_[end - 1].kind != Token::Kind::word &&
           !is_mark(tokens_, end - 1, ")]}"))
      --end;
    if (mentions_.empty()) return nullptr;
    const Mention& last = mentions_.back();
    for (std::size_t at = last.end; at < end; ++at)
      if (!is_mark(tokens_, at, ")]}.")) return nullptr;
    return last.letter && begins_line(last) && last.begin > 0 ? &last : nullptr;
  }

  Found stated() const {
    const Mention* best = nullptr;
    const Mention* said = nullptr;  // "I think B": used if there is no firmer statement
    const auto take = [&](const Mention* mention, bool firm = true) {
      if (!mention || mention->rejected || listed_.contains(mention->begin) ||
          is_rejected(mention->choice, mention->end))
        return;
      const Mention*& last = firm ? best : said;
      if (!last || mention->begin >= last->begin) last = mention;
    };
    for (std::size_t at = 0; at < tokens_.size(); ++at)
      if (is_cue(at))
        take(mention_at(after_fillers(at + 1)), !is_opinion(at));
      else if (is_answer_mark(at))
        take(mention_at(at + 2));
      else
        take(corrected(at));
    for (const Mention& mention : mentions_)
      if (is_confirmed(mention)) take(&mention);
    take(last_line());
    if (const Mention* right = only_right(); right && (!best || right->begin > best->begin))
      best = right;
    return found(best ? best : said);
  }

  Found found(const Mention* mention) const {
    if (!mention) return std::nullopt;
    return std::pair{mention, is_alone(*mention)};
  }

  bool is_option_word(std::size_t at) const {
    const std::string_view word = word_at(tokens_, at);
    return word == "option" || word == "choice" || word == "letter" || word == "answer";
  }

  Found leading() const {
    std::size_t at = 0;
    while (at < tokens_.size() && (tokens_[at].kind != Token::Kind::word || is_option_word(at)))
      ++at;
    const Mention* mention = mention_at(at);
    return mention && mention->letter && counts(*mention) ? found(mention) : std::nullopt;
  }

  Found first_capital() const {
    for (const Mention& mention : mentions_)
      if (mention.capital && counts(mention)) return found(&mention);
    return std::nullopt;
  }

  Found marked() const {
    for (const Mention& mention : mentions_)
      if (mention.letter && counts(mention) &&
          (is_mark(tokens_, mention.end, ")") ||
           (mention.begin > 0 && is_option_word(mention.begin - 1))))
        return found(&mention);
    return std::nullopt;
  }

  Found only_text() const {
    const Mention* only = nullptr;
    for (const Mention& mention : mentions_) {
      if (mention.letter || !counts(mention)) continue;
      if (only && only->choice != mention.choice) return std::nullopt;
      only = &mention;
    }
    if (!only) return std::nullopt;
    return std::pair{only, true};
  }

  std::vector<Token> tokens_;
  int count_;
  std::vector<Mention> mentions_;
  std::set<std::size_t> listed_;  ///< starts of mentions that belong to a list of the choices
};

/// The start of a line "Question:", "Question 2:" or "Q:", with which base models continue.
std::size_t next_question(std::string_view text) {
  for (std::size_t line = text.find('\n'); line != std::string_view::npos;
       line = text.find('\n', line + 1)) {
    std::string_view rest = text.substr(line + 1);
    for (const std::string_view word : {"Question", "Q"}) {
      if (!rest.starts_with(word)) continue;
      const std::size_t at = rest.find_first_not_of(" 0123456789", word.size());
      if (at != std::string_view::npos && rest[at] == ':') return line;
    }
  }
  return std::string_view::npos;
}

char letter(int choice) { return static_cast<char>('A' + choice); }

}  // namespace

std::optional<char> chosen_letter(std::string_view text, const std::vector<std::string>& choices) {
  std::optional<int> choice;
  if (const std::size_t end = next_question(text); end != std::string_view::npos)
    choice = Reading(text.substr(0, end), choices).choice();
  if (!choice) choice = Reading(text, choices).choice();
  return choice ? std::optional(letter(*choice)) : std::nullopt;
}

bool right_choice(std::string_view text, const std::vector<std::string>& choices,
                  const std::vector<std::string>& references) {
  const auto chosen = chosen_letter(text, choices);
  return chosen && std::any_of(references.begin(), references.end(), [&](const auto& reference) {
           return reference_letter(reference, choices) == chosen;
         });
}

}  // namespace pardec
