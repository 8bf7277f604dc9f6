#pragma once
#include <cstdint>
#include <ctime>
#include <memory>
#include <string>
#include <string_view>

#include "src/support/json.hpp"

namespace pardec::jinja {

struct ParsedTemplate;

/// A Jinja template, with the results of jinja2 in the environment of transformers: an immutable
/// sandbox, trim_blocks, lstrip_blocks, break and continue, {% generation %}, and the functions
/// raise_exception and strftime_now. tests/jinja/constructs.txt lists the supported constructs. Not
/// supported, and refused by name and line: constructs that need other templates (include, import,
/// extends, super), {% autoescape true %}, random results (random, lipsum), urlize, encode,
/// integers beyond 64 bits, `__` members, and rare cases of supported constructs.
class Template {
 public:
  /// `where` is the template's name in errors. ConfigError: `WHERE, line N: what`.
  static Template parse(std::string_view source, std::string where);

  /// Default limit of steps, far beyond the needs of a chat template. Evaluations count as steps,
  /// and so does traversing items and bytes.
  static constexpr std::int64_t kSteps = 10'000'000;

  /// `variables`: an object. `now`: the time for strftime_now. ConfigError as above: an error
  /// raised by the template itself, an operation that its values do not allow, or too many steps.
  /// The limit is `steps`, plus a thousand times the steps that a traversal of the variables takes.
  std::string render(const OrderedJson& variables, const std::tm& now,
                     std::int64_t steps = kSteps) const;

 private:
  std::shared_ptr<const ParsedTemplate> parsed_;
};

}  // namespace pardec::jinja
