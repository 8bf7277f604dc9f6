#include "src/support/regular_expression.hpp"

#include <oniguruma.h>

#include <algorithm>
#include <limits>

#include "src/support/error.hpp"
#include "src/support/text.hpp"

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

}  // namespace

void RegularExpression::Free::operator()(re_pattern_buffer* regex) const { onig_free(regex); }
RegularExpression::RegularExpression(RegularExpression&&) noexcept = default;
RegularExpression& RegularExpression::operator=(RegularExpression&&) noexcept = default;
RegularExpression::~RegularExpression() = default;

RegularExpression::RegularExpression(const std::string& expression, Syntax syntax,
                                     const std::string& where)
    : expression_(expression) {
  OnigEncoding encodings[] = {ONIG_ENCODING_UTF8};
  onig_initialize(encodings, 1);
  regex_t* compiled = nullptr;
  OnigErrorInfo info;
  const bool python = syntax == Syntax::python;
  const UChar* begin = bytes(expression);
  const int code =
      onig_new(&compiled, begin, begin + expression.size(), ONIG_OPTION_NONE, ONIG_ENCODING_UTF8,
               python ? ONIG_SYNTAX_PYTHON : ONIG_SYNTAX_RUBY, &info);
  if (code != ONIG_NORMAL) {
    throw ConfigError(str(where, ": '", expression, "' is no regular expression (",
                          message(code, &info), "), expected ",
                          python ? "Python's syntax" : "Oniguruma's Ruby syntax"));
  }
  regex_.reset(compiled);
}

/// Limits of steps and memory. A step is a return to an earlier choice, as counted by Oniguruma.
struct RegularExpression::Searches::State {
  const RegularExpression& expression;
  std::string_view text;
  std::unique_ptr<OnigMatchParam, FreeParam> param{onig_new_match_param()};
  std::unique_ptr<OnigRegion, FreeRegion> region{onig_region_new()};
  unsigned long left = 10'000 + 100 * text.size();
};

RegularExpression::Searches::Searches(const RegularExpression& expression, std::string_view text)
    : state_(new State{.expression = expression, .text = text}) {
  OnigMatchParam* const param = state_->param.get();
  onig_initialize_match_param(param);
  // The limit per search is set below.
  onig_set_retry_limit_in_match_of_match_param(param, std::numeric_limits<unsigned long>::max());
  onig_set_match_stack_limit_size_of_match_param(
      param, static_cast<unsigned>(std::min<std::size_t>(100'000 + 16 * text.size(),
                                                         std::numeric_limits<int>::max())));
}
RegularExpression::Searches::~Searches() = default;

/// Searches of few steps are free, since there is about one search per byte. Oniguruma does not
/// report the number of steps, so a search that needs more is repeated with a larger share of the
/// total limit.
std::optional<std::pair<std::size_t, std::size_t>> RegularExpression::Searches::from(
    std::size_t at) {
  State& state = *state_;
  const UChar* const begin = bytes(state.text);
  const UChar* const end = begin + state.text.size();
  for (unsigned long steps = 1000;; steps *= 4) {
    if (steps > 1000) {
      steps = std::min(steps, state.left);
      state.left -= steps;
    }
    onig_set_retry_limit_in_search_of_match_param(state.param.get(), steps);
    const int found =
        onig_search_with_param(state.expression.regex_.get(), begin, end, begin + at, end,
                               state.region.get(), ONIG_OPTION_NONE, state.param.get());
    if (found == ONIG_MISMATCH) return std::nullopt;
    if (found >= 0)
      return std::pair{static_cast<std::size_t>(state.region->beg[0]),
                       static_cast<std::size_t>(state.region->end[0])};
    const bool over =
        found == ONIGERR_RETRY_LIMIT_IN_SEARCH_OVER || found == ONIGERR_RETRY_LIMIT_IN_MATCH_OVER;
    if (!over || state.left == 0)
      throw RunError(str("regular expression '", shortened(state.expression.expression_, 60),
                         "' fails at byte ", at, " of a text of ", state.text.size(), ": ",
                         message(found, nullptr)));
  }
}

RegularExpression RegularExpression::of_whole_text(const std::string& expression, Syntax syntax,
                                                   const std::string& where) {
  const RegularExpression part(expression, syntax, where);  // checks that it is valid by itself
  const char* const end = syntax == Syntax::python ? "\\Z" : "\\z";
  return RegularExpression(str("\\A(?:", expression, ")", end), syntax, where);
}

bool RegularExpression::matches(std::string_view text) const {
  return Searches(*this, text).from(0).has_value();
}

}  // namespace pardec
