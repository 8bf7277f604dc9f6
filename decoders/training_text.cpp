#include "decoders/training_text.hpp"

#include <algorithm>
#include <cctype>
#include <string_view>

#include "src/support/error.hpp"
#include "src/support/text.hpp"

namespace pardec {

TrainingText training_text(const TrainingExample& example, const Tokenizer& tokenizer,
                           std::optional<Token> eos, int context_length) {
  if (!eos)
    throw ConfigError(
        "answers to open prompts end with an end of sequence; the model's config has no "
        "eos_token_id");
  TrainingText text;
  const auto& answers = example.references.front();
  const auto most = static_cast<size_t>(context_length);
  size_t fed = 0;
  for (size_t turn = 0; turn < answers.size() && answers[turn]; ++turn) {
    TrainingTurn one{turn == 0 ? example.pieces.field_prompt(0, 0) : example.pieces.fields[0][turn],
                     *answers[turn],
                     {}};
    fed += one.given.size();
    if (fed >= most) {
      text.cut = true;
      return text;
    }
    one.answer = tokenizer.encode_piece(one.text, false);
    const bool last = turn + 1 == answers.size() || !answers[turn + 1];
    if (!last || !example.unfinished) one.answer.push_back(*eos);
    // Of the answer's ids, the last one is not an input.
    if (fed + one.answer.size() - 1 > most) {
      one.answer.resize(most - fed + 1);
      text.cut = true;
    }
    fed += one.answer.size() - 1;
    text.turns.push_back(std::move(one));
    if (text.cut) return text;
  }
  return text;
}

TrainingSample causal_turns(const TrainingText& text, size_t end) {
  TrainingSample sample;
  const auto feed = [&](Token token) {
    const int position = static_cast<int>(sample.tokens.size());
    sample.add(token, {.position = position, .order = position, .segment = 0, .rank = 0});
  };
  for (size_t turn = 0; turn < end; ++turn) {
    for (const Token token : text.turns[turn].given) feed(token);
    const Tokens& answer = text.turns[turn].answer;
    for (size_t i = 0; i < answer.size(); ++i) {
      if (i > 0) feed(answer[i - 1]);
      sample.expect(answer[i]);
    }
  }
  return sample;
}

// ---- paragraphs ----

namespace {

constexpr size_t kLeastForks = 3, kShortestDetail = 10, kShortestPiece = 20, kForkMark = 11;

bool holds(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

bool digit(char c) { return c >= '0' && c <= '9'; }

/// Whether the text contains Chinese, Japanese or Korean: U+1100 to U+11FF, U+2E80 to U+9FFF,
/// U+AC00 to U+D7FF, U+F900 to U+FAFF, U+FF00 to U+FFEF except the full-width colon.
bool holds_cjk(std::string_view text) {
  for (size_t i = 0; i + 2 < text.size(); ++i) {
    const auto byte = [&](size_t k) { return static_cast<unsigned char>(text[i + k]); };
    if ((byte(0) & 0xF0) != 0xE0) continue;
    const unsigned code = (byte(0) & 0x0Fu) << 12 | (byte(1) & 0x3Fu) << 6 | (byte(2) & 0x3Fu);
    const auto in = [&](unsigned first, unsigned last) { return code >= first && code <= last; };
    if (code != 0xFF1A && (in(0x1100, 0x11FF) || in(0x2E80, 0x9FFF) || in(0xAC00, 0xD7FF) ||
                           in(0xF900, 0xFAFF) || in(0xFF00, 0xFFEF)))
      return true;
  }
  return false;
}

bool never_cut_up(std::string_view text) {
  for (const char* part : {"```", "$$", "<", ">", "=", "---", "http"})
    if (holds(text, part)) return true;
  return holds_cjk(text);
}

std::string_view trimmed_end(std::string_view text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())))
    text.remove_suffix(1);
  return text;
}

/// A point of a list: "12. root:", and the start of its detail.
struct Point {
  size_t begin = 0, detail = 0;  // start of the number; position after the colon
};

/// The point whose number is at the start of the line at `begin`.
std::optional<Point> point_at(std::string_view text, size_t begin) {
  size_t at = begin;
  while (at < text.size() && digit(text[at])) ++at;
  if (at == begin || !text.substr(at).starts_with(". ")) return std::nullopt;
  constexpr std::string_view kWideColon = "\xEF\xBC\x9A";
  for (; at < text.size() && text[at] != '\n'; ++at) {
    if (text[at] == ':') return Point{begin, at + 1};
    if (text.substr(at).starts_with(kWideColon)) return Point{begin, at + kWideColon.size()};
  }
  return std::nullopt;
}

/// Whether a line of the text begins with a number and a full stop.
bool holds_numbering(std::string_view text) {
  for (size_t begin = 0; begin != std::string_view::npos && begin < text.size();) {
    size_t at = begin;
    while (at < text.size() && text[at] == ' ') ++at;
    const size_t number = at;
    while (at < text.size() && digit(text[at])) ++at;
    if (at > number && text.substr(at).starts_with(". ")) return true;
    begin = text.find('\n', begin);
    if (begin != std::string_view::npos) ++begin;
  }
  return false;
}

/// Builds a tree along its main thread.
class TreeWriter {
 public:
  explicit TreeWriter(const Tokenizer& tokenizer) : tokenizer_(tokenizer) {}
  void add(std::string_view text) { own_ += text; }
  void fork(std::string_view details) {
    tree_.node(at_).tokens = tokenizer_.encode_piece(own_, false);
    const auto [next, child] = tree_.fork(at_);
    tree_.node(child).tokens = tokenizer_.encode_piece(std::string(details), false);
    at_ = next;
    own_.clear();
  }
  ParagraphTree finish() {
    tree_.node(at_).tokens = tokenizer_.encode_piece(own_, false);
    return std::move(tree_);
  }

 private:
  const Tokenizer& tokenizer_;
  ParagraphTree tree_;
  int at_ = 0;
  std::string own_;
};

std::optional<ParagraphTree> list_tree(std::string_view text, const Tokenizer& tokenizer) {
  std::vector<Point> points;
  for (size_t begin = 0; begin < text.size();) {
    if (const auto point = point_at(text, begin)) points.push_back(*point);
    begin = text.find('\n', begin);
    if (begin == std::string_view::npos) break;
    ++begin;
  }
  if (points.size() < kLeastForks) return std::nullopt;
  TreeWriter tree(tokenizer);
  tree.add(text.substr(0, points.front().begin));
  for (size_t i = 0; i < points.size(); ++i) {
    const auto [begin, detail] = points[i];
    const bool last = i + 1 == points.size();
    // The last detail extends to the next empty line, because later text belongs to no point.
    // Without an empty line, the text may continue in any way, or is cut: it is not a list.
    const size_t end = last ? text.find("\n\n", detail) : points[i + 1].begin;
    if (end == std::string_view::npos) return std::nullopt;
    const std::string_view details = trimmed_end(text.substr(detail, end - detail));
    if (details.size() < kShortestDetail || holds_numbering(details)) return std::nullopt;
    if (i > 0) tree.add("\n\n");
    tree.add(text.substr(begin, detail - begin));
    tree.fork(details);
    if (last) tree.add(trimmed_end(text.substr(end)));
  }
  return tree.finish();
}

/// The end of the first sentence; the size of the text if there is none.
size_t first_sentence(std::string_view text) {
  constexpr std::string_view kWideStop = "\xE3\x80\x82";
  const size_t stop = text.find(". "), wide = text.find(kWideStop);
  if (stop == std::string_view::npos && wide == std::string_view::npos) return text.size();
  return std::min(stop == std::string_view::npos ? stop : stop + 1,
                  wide == std::string_view::npos ? wide : wide + kWideStop.size());
}

std::optional<ParagraphTree> paragraphs_tree(std::string_view text, const Tokenizer& tokenizer) {
  const std::string lower = lower_ascii(std::string(text));
  for (const char* title : {"mr.", "mrs.", "dr."})
    if (holds(lower, title)) return std::nullopt;
  size_t paragraphs = 0, forks = 0;
  TreeWriter tree(tokenizer);
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find("\n\n", begin), text.size());
    const std::string_view paragraph = trimmed_end(text.substr(begin, end - begin));
    begin = text.find_first_not_of('\n', end);
    if (begin == std::string_view::npos) begin = text.size();
    if (paragraph.empty()) continue;
    if (paragraphs++ > 0) tree.add("\n\n");
    const size_t root = first_sentence(paragraph);
    const bool whole = root >= paragraph.size();
    if ((whole ? root : root + kForkMark) < kShortestPiece) return std::nullopt;
    tree.add(paragraph.substr(0, root));
    if (whole) continue;
    tree.fork(paragraph.substr(root));
    ++forks;
  }
  if (paragraphs < kLeastForks || forks < kLeastForks) return std::nullopt;
  return tree.finish();
}

}  // namespace

std::optional<ParagraphTree> paragraph_tree(const std::string& text, const Tokenizer& tokenizer) {
  if (never_cut_up(text)) return std::nullopt;
  if (auto tree = list_tree(text, tokenizer)) return tree;
  return paragraphs_tree(trimmed_end(text), tokenizer);
}

bool teaches_no_fork(const std::string& text) {
  for (const char* part : {"```", "$", "=", "---"})
    if (holds(text, part)) return true;
  const auto letter = [&](size_t i) {
    return i < text.size() && (std::isalpha(static_cast<unsigned char>(text[i])) || text[i] == '/');
  };
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '<' && letter(i + 1)) return true;
    if (!digit(text[i]) || i + 1 >= text.size() || !digit(text[i + 1])) continue;
    // e.g. 12 + 34
    size_t at = i + 2;
    while (at < text.size() && text[at] == ' ') ++at;
    if (at >= text.size() || !holds("+-*/", text.substr(at, 1))) continue;
    ++at;
    while (at < text.size() && text[at] == ' ') ++at;
    if (at + 1 < text.size() && digit(text[at]) && digit(text[at + 1])) return true;
  }
  return false;
}

}  // namespace pardec
