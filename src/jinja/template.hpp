#pragma once
#include <cstdint>
#include <ctime>
#include <memory>
#include <string>
#include <string_view>

#include "src/support/json.hpp"

namespace pardec::jinja {

struct Program;

/// A template in the part of Jinja that chat templates use, with the result that jinja2 gives in
/// the environment of transformers: an immutable sandbox, trim_blocks, lstrip_blocks, break and
/// continue, {% generation %}, and the functions raise_exception, strftime_now, namespace, dict and
/// range. Not supported, and refused by name and line: blocks, includes, imports, {% call %},
/// {% filter %}, {% with %}, recursive loops, formatting by % or format, integers beyond 64 bits,
/// what is not among the filters and tests of filters.cpp and tests.cpp.
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
  std::shared_ptr<const Program> program_;
};

}  // namespace pardec::jinja
