#pragma once
#include <cstdint>
#include <ctime>
#include <memory>
#include <string>
#include <string_view>

#include "src/support/json.hpp"

namespace pardec::jinja {

struct ParsedTemplate;

/// A template in Jinja, with the result that jinja2 gives in the environment of transformers: an
/// immutable sandbox, trim_blocks, lstrip_blocks, break and continue, {% generation %}, and the
/// functions raise_exception and strftime_now. tests/jinja/constructs.txt lists what a template may
/// have. Not supported, and refused by name and line: what needs other templates (include, import,
/// extends, super), {% autoescape true %}, what comes out by chance (random, lipsum), urlize,
/// encode, integers beyond 64 bits, `__` members, and rare cases of what is supported otherwise.
class Template {
 public:
  /// `where` names the template in errors. ConfigError: `WHERE, line N: what`.
  static Template parse(std::string_view source, std::string where);

  /// Far beyond what a chat template takes: evaluations, and items and bytes gone over.
  static constexpr std::int64_t kSteps = 10'000'000;

  /// `variables` is an object. `now` is what strftime_now writes. ConfigError as above: what the
  /// template raises itself, what its values do not allow, or that it takes more than `steps`, and
  /// a thousand for each step through the variables.
  std::string render(const OrderedJson& variables, const std::tm& now,
                     std::int64_t steps = kSteps) const;

 private:
  std::shared_ptr<const ParsedTemplate> parsed_;
};

}  // namespace pardec::jinja
