#include "src/tokenizer/pattern.hpp"

#include <oniguruma.h>

#include <algorithm>
#include <limits>

#include "src/support/error.hpp"
#include "src/support/text.hpp"
#include "src/support/utf8.hpp"
#include "src/tokenizer/stretch.hpp"

namespace pardec {

namespace {

const UChar* bytes(std::string_view text) { return reinterpret_cast<const UChar*>(text.data()); }

std::string message(int code, OnigErrorInfo* info) {
  UChar text[ONIG_MAX_ERROR_MESSAGE_LEN];
  const int size =
      info ? onig_error_code_to_str(text, code, info) : onig_error_code_to_str(text, code);
  return {reinterpret_cast<const char*>(text), static_cast<std::size_t>(size)};
}

struct FreeRegion {
  void operator()(OnigRegion* region) const { onig_region_free(region, 1); }
};
struct FreeParam {
  void operator()(OnigMatchParam* param) const { onig_free_match_param(param); }
};

/// The searches for one expression in one text, limited in steps and memory: a step is a return to
/// an earlier choice, as Oniguruma counts them.
class Search {
 public:
  Search(regex_t* regex, std::string_view text)
      : regex_(regex),
        begin_(bytes(text)),
        end_(begin_ + text.size()),
        param_(onig_new_match_param()),
        left_(10'000 + 100 * text.size()) {
    onig_initialize_match_param(param_.get());
    // The limit of a search is set instead, below.
    onig_set_retry_limit_in_match_of_match_param(param_.get(),
                                                 std::numeric_limits<unsigned long>::max());
    onig_set_match_stack_limit_size_of_match_param(
        param_.get(), static_cast<unsigned>(std::min<std::size_t>(
                          100'000 + 16 * text.size(), std::numeric_limits<int>::max())));
  }

  /// As onig_search. What few steps do is free: each byte has one search. Oniguruma does not tell
  /// how many it took, so that one that needs more is begun anew with more of what all may take.
  int from(std::size_t at, OnigRegion& region) {
    for (unsigned long steps = 1000;; steps *= 4) {
      if (steps > 1000) {
        steps = std::min(steps, left_);
        left_ -= steps;
      }
      onig_set_retry_limit_in_search_of_match_param(param_.get(), steps);
      const int found = onig_search_with_param(regex_, begin_, end_, begin_ + at, end_, &region,
                                               ONIG_OPTION_NONE, param_.get());
      const bool over =
          found == ONIGERR_RETRY_LIMIT_IN_SEARCH_OVER || found == ONIGERR_RETRY_LIMIT_IN_MATCH_OVER;
      if (!over || left_ == 0) return found;
    }
  }

 private:
  regex_t* regex_;
  const UChar *begin_, *end_;
  std::unique_ptr<OnigMatchParam, FreeParam> param_;
  unsigned long left_;
};

std::string shortened(const std::string& expression) {
  return expression.size() > 60 ? repair_utf8(expression.substr(0, 57)) + "..." : expression;
}

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

void Pattern::Free::operator()(re_pattern_buffer* regex) const { onig_free(regex); }
Pattern::Pattern(Pattern&&) noexcept = default;
Pattern::~Pattern() = default;

Pattern Pattern::regex(const std::string& expression, const std::string& where) {
  OnigEncoding encodings[] = {ONIG_ENCODING_UTF8};
  onig_initialize(encodings, 1);
  regex_t* compiled = nullptr;
  OnigErrorInfo info;
  const UChar* begin = bytes(expression);
  const int code = onig_new(&compiled, begin, begin + expression.size(), ONIG_OPTION_NONE,
                            ONIG_ENCODING_UTF8, ONIG_SYNTAX_RUBY, &info);
  if (code != ONIG_NORMAL) {
    throw ConfigError(str(where, ": '", expression, "' is no regular expression (",
                          message(code, &info), "), expected Oniguruma's Ruby syntax"));
  }
  Pattern pattern;
  pattern.regex_.reset(compiled);
  pattern.expression_ = expression;
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
  const std::unique_ptr<OnigRegion, FreeRegion> region(onig_region_new());
  Search search(regex_.get(), text);
  std::size_t at = 0;
  bool matched = false;  // a match ended where `done` says
  std::size_t done = 0;
  while (at <= text.size()) {
    const int found = search.from(at, *region);
    if (found == ONIG_MISMATCH) break;
    if (found < 0)
      throw RunError(str("regular expression '", shortened(expression_), "' fails at byte ", at,
                         " of a text of ", text.size(), ": ", message(found, nullptr)));
    const auto match_begin = static_cast<std::size_t>(region->beg[0]);
    const auto match_end = static_cast<std::size_t>(region->end[0]);
    if (match_begin == match_end && matched && done == match_end) {
      // An empty match right behind a match does not count.
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
