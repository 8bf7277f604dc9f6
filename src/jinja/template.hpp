#pragma once
#include <cstdint>
#include <ctime>
#include <memory>
#include <string>
#include <string_view>

#include "src/support/json.hpp"

namespace pardec::jinja {

struct ParsedTemplate;

/// A Jinja template, made by `parse`. It gives the same results as jinja2 in transformers'
/// environment: an immutable sandbox with trim_blocks, lstrip_blocks, break and continue, {%
/// generation %}, and the functions raise_exception and strftime_now. tests/jinja/constructs.txt
/// lists the supported constructs. Not supported are constructs that need other templates (include,
/// import, extends, super), {% autoescape true %}, random results (random, lipsum), urlize, encode,
/// integers beyond 64 bits, members with `__`, and rare cases of supported constructs. The error
/// for an unsupported construct names the construct and the line.
class Template {
 public:
  /// `where`: the template's name in errors. ConfigError "WHERE, line N: what": a syntax error, or
  /// an unsupported construct.
  static Template parse(std::string_view source, std::string where);

  /// The default limit of steps, far more than a chat template needs. A step is the evaluation of a
  /// node, a visit of an item, or the work on a few bytes of text (see Budget, value.hpp).
  static constexpr std::int64_t kSteps = 10'000'000;

  /// Renders the template. `variables`: a JSON object that maps names of variables to values.
  /// `now`: the time for strftime_now. The limit of steps is `steps`, plus a thousand times the
  /// steps for traversing the variables once. ConfigError "WHERE, line N: what": the template
  /// called raise_exception, an operation is not possible with its values, a variable is not
  /// supported (from_json), or the limit of steps is reached.
  std::string render(const OrderedJson& variables, const std::tm& now,
                     std::int64_t steps = kSteps) const;

 private:
  std::shared_ptr<const ParsedTemplate> parsed_;
};

}  // namespace pardec::jinja
