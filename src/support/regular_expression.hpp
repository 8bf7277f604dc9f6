#pragma once
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

struct re_pattern_buffer;  // Oniguruma's compiled regular expression

namespace pardec {

/// A regular expression on UTF-8 text. Backtracking is limited, so that no expression runs for a
/// very long time (see Searches).
class RegularExpression {
 public:
  /// The syntax of an expression, as Oniguruma implements it.
  enum class Syntax { ruby, python };
  /// ConfigError, which starts with `where`: the expression is invalid in this syntax.
  RegularExpression(const std::string& expression, Syntax syntax, const std::string& where);
  RegularExpression(RegularExpression&&) noexcept;
  RegularExpression& operator=(RegularExpression&&) noexcept;
  ~RegularExpression();

  /// Searches for matches in one text. Each search may backtrack 1,000 times. A search that needs
  /// more is repeated with a limit that is four times as high, and so on. The limits of all
  /// repeated searches in the text add up to at most 10,000 plus 100 for each byte of the text.
  class Searches {
   public:
    /// The expression and the text must outlive this object.
    Searches(const RegularExpression& expression, std::string_view text);
    ~Searches();
    Searches(const Searches&) = delete;
    Searches& operator=(const Searches&) = delete;
    /// Begin and end (byte offsets) of the first match at or after offset `at`; none: there are no
    /// more matches. A match may be empty. Look-behind and anchors also see the text before `at`.
    /// RunError: a limit on backtracking or on its memory is reached. REQUIRES: `at` is at most the
    /// length of the text.
    std::optional<std::pair<std::size_t, std::size_t>> from(std::size_t at);

   private:
    struct State;
    const std::unique_ptr<State> state_;
  };

  /// An expression that matches whole texts only, as in Python's re.fullmatch. ConfigError: see the
  /// constructor.
  static RegularExpression of_whole_text(const std::string& expression, Syntax syntax,
                                         const std::string& where);
  /// Whether the expression matches anywhere in the text. RunError: see Searches::from.
  bool matches(std::string_view text) const;

 private:
  struct Free {
    void operator()(re_pattern_buffer* regex) const;
  };
  std::string expression_;  // for errors
  std::unique_ptr<re_pattern_buffer, Free> regex_;
};

}  // namespace pardec
