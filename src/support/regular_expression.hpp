#pragma once
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

struct re_pattern_buffer;  // Oniguruma's compiled regular expression

namespace pardec {

/// A regular expression with bounded running time: the limit is proportional to the length of the
/// text.
class RegularExpression {
 public:
  enum class Syntax { ruby, python };
  /// ConfigError, which starts with `where`: the expression is invalid in that syntax.
  RegularExpression(const std::string& expression, Syntax syntax, const std::string& where);
  RegularExpression(RegularExpression&&) noexcept;
  RegularExpression& operator=(RegularExpression&&) noexcept;
  ~RegularExpression();

  /// Searches in one text. Together they backtrack at most about a thousand times per byte.
  class Searches {
   public:
    /// The expression and the text must outlive this object.
    Searches(const RegularExpression& expression, std::string_view text);
    ~Searches();
    Searches(const Searches&) = delete;
    Searches& operator=(const Searches&) = delete;
    /// Begin and end of the first match from `at` on; nothing: there are no more matches. RunError:
    /// the limit of backtracking is reached.
    std::optional<std::pair<std::size_t, std::size_t>> from(std::size_t at);

   private:
    struct State;
    const std::unique_ptr<State> state_;
  };

  /// An expression for matching whole texts, as in Python's `re.fullmatch`. ConfigError as above.
  static RegularExpression of_whole_text(const std::string& expression, Syntax syntax,
                                         const std::string& where);
  /// Whether the expression matches somewhere in the text. RunError as above.
  bool matches(std::string_view text) const;

 private:
  struct Free {
    void operator()(re_pattern_buffer* regex) const;
  };
  std::string expression_;  // for errors
  std::unique_ptr<re_pattern_buffer, Free> regex_;
};

}  // namespace pardec
