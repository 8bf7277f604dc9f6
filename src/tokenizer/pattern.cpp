#include "src/tokenizer/pattern.hpp"

#include "src/support/error.hpp"
#include "src/support/text.hpp"
#include "src/support/utf8.hpp"
#include "src/tokenizer/stretch.hpp"

namespace pardec {

namespace {

/// Collects matches into parts that cover the text.
class Cover {
 public:
  explicit Cover(std::string_view text) : size_(text.size()) {}
  void match(std::size_t begin, std::size_t end) {
    if (done_ != begin) spans_.push_back({done_, begin, false});
    spans_.push_back({begin, end, true});
    done_ = end;
  }
  std::vector<Span> finish() && {
    if (done_ != size_) spans_.push_back({done_, size_, false});
    return std::move(spans_);
  }

 private:
  std::size_t size_, done_ = 0;
  std::vector<Span> spans_;
};

}  // namespace

Pattern Pattern::regex(const std::string& expression, const std::string& where) {
  Pattern pattern;
  pattern.regex_.emplace(expression, RegularExpression::Syntax::ruby, where);
  return pattern;
}

Pattern Pattern::read(const Json& json, const std::string& where) {
  if (json.is_object() && json.size() == 1 && json.begin()->is_string()) {
    const auto& text = json.begin()->get_ref<const std::string&>();
    if (json.begin().key() == "Regex") return regex(text, where);
    if (json.begin().key() == "String" && !text.empty()) {
      Pattern pattern;
      pattern.literal_ = text;
      return pattern;
    }
  }
  throw ConfigError(str(where, ": 'pattern' is ", dump(json),
                        R"(, expected {"String": text} or {"Regex": expression})"));
}

std::vector<Span> Pattern::split(std::string_view text) const {
  if (text.empty()) return {};
  return regex_ ? split_regex(text) : split_literal(text);
}

std::vector<Span> Pattern::split_literal(std::string_view text) const {
  Cover cover(text);
  std::size_t at = 0;
  while ((at = text.find(literal_, at)) != std::string_view::npos) {
    cover.match(at, at + literal_.size());
    at += literal_.size();
  }
  return std::move(cover).finish();
}

std::vector<Span> Pattern::split_regex(std::string_view text) const {
  Cover cover(text);
  RegularExpression::Searches searches(*regex_, text);
  std::size_t at = 0;
  bool matched = false;  // a match ended at `done`
  std::size_t done = 0;
  while (at <= text.size()) {
    const auto found = searches.from(at);
    if (!found) break;
    const auto [match_begin, match_end] = *found;
    if (match_begin == match_end && matched && done == match_end) {
      // An empty match directly after a match does not count.
      at += at < text.size() ? utf8_bytes(text[at]) : 1;
      continue;
    }
    cover.match(match_begin, match_end);
    at = done = match_end;
    matched = true;
  }
  return std::move(cover).finish();
}

std::string Pattern::replace(std::string_view text, std::string_view content) const {
  std::string out;
  out.reserve(text.size());
  for (const Span& span : split(text)) {
    out += span.match ? content : text.substr(span.begin, span.end - span.begin);
    check_growth(text.size(), out.size());
  }
  return out;
}

}  // namespace pardec
