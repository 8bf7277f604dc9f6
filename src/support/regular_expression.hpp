#pragma once
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

struct re_pattern_buffer;  // Oniguruma's compiled regular expression

namespace pardec {

/// A regular expression, which ends by itself: what it may take goes by the length of the text.
class RegularExpression {
 public:
  enum class Syntax { ruby, python };
  /// ConfigError, which starts with `where`: it is none of that syntax.
  RegularExpression(const std::string& expression, Syntax syntax, const std::string& where);
  RegularExpression(RegularExpression&&) noexcept;
  RegularExpression& operator=(RegularExpression&&) noexcept;
  ~RegularExpression();

  /// The searches in one text. They go back at most a thousand times as often as it has bytes.
  class Searches {
   public:
    /// The expression and the text outlive it.
    Searches(const RegularExpression& expression, std::string_view text);
    ~Searches();
    Searches(const Searches&) = delete;
    Searches& operator=(const Searches&) = delete;
    /// Begin and end of the first match from `at` on; none: there is no other. RunError: it went
    /// back too often.
    std::optional<std::pair<std::size_t, std::size_t>> from(std::size_t at);

   private:
    struct State;
    const std::unique_ptr<State> state_;
  };

  /// One that a text matches as a whole or not, as in Python's `re.fullmatch`. ConfigError as
  /// above.
  static RegularExpression of_whole_text(const std::string& expression, Syntax syntax,
                                         const std::string& where);
  /// Whether it is found in the text. RunError as above.
  bool matches(std::string_view text) const;

 private:
  struct Free {
    void operator()(re_pattern_buffer* regex) const;
  };
  std::string expression_;  // for errors
  std::unique_ptr<re_pattern_buffer, Free> regex_;
};

}  // namespace pardec
