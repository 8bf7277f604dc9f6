#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/prompt/job.hpp"

namespace pardec {

/// The JSON answer of attribute extraction: one object, context number -> field name -> value,
/// between result tags. A segment is the fixed text between two values. The wording is the
/// project's, since the HPD paper gives none.
///   <result>                      opening, part of the prompt
///   \n{\n  "1": {\n    "A1":      segment 1, then value 1, e.g. ` "Nike",`
///   \n    "A2":                   segment 2, then value 2, e.g. ` "n/a"`
///   \n  },\n  "2": {\n    "A1":   segment 3, ...
///   \n  }\n}\n</result>           tail
inline constexpr std::string_view kAnswerOpening = "<result>";
inline constexpr std::string_view kAnswerClosing = "</result>";
inline constexpr std::string_view kAbsent = "n/a";

struct JsonSkeleton {
  std::vector<std::string> segments;  ///< one before each value, context-major
  std::string tail;
};

/// ConfigError: the contexts' fields differ; all contexts of a stack share one list of fields.
JsonSkeleton json_skeleton(const std::vector<Context>& contexts);

/// The text of a value between two segments, without its line break: ` "Nike",`. The last value of
/// a context has no comma.
std::string json_value(const std::optional<std::string>& value, bool last);

/// The whole answer, from the opening to the closing tag, with these values ([context][field]).
/// ConfigError as json_skeleton.
std::string json_answer(const std::vector<Context>& contexts,
                        const std::vector<std::vector<std::optional<std::string>>>& values);

/// Parses a decoded value. Cuts it at the first line break, and removes trailing white space and
/// one comma. The rest is a JSON string (a missing closing quote is added), a number in its
/// spelling, or text without its quotes. No result: the value is absent (null, n/a, empty).
std::optional<std::string> parse_json_value(std::string_view raw);

/// Parses an answer that is only a value: its first non-blank line. No result: the value is absent.
std::optional<std::string> parse_plain_value(std::string_view raw);

/// Whether a value that was parsed as absent says so explicitly (null or n/a, with or without
/// quotes). Empty text does not.
bool says_absent(std::string_view raw);

struct JsonAnswer {
  std::vector<std::vector<std::optional<std::string>>> values;  ///< [context][field]
  std::vector<std::vector<bool>> said_absent;  ///< [context][field]: the value is null or n/a
  std::vector<bool> parsed;  ///< per context: false if its object could not be parsed
};

/// Parses an answer that follows the opening tag, context by context. If one context cannot be
/// parsed, its values are absent; the others are parsed. Numbers keep their spelling.
JsonAnswer parse_json_answer(std::string_view text, const std::vector<Context>& contexts);

}  // namespace pardec
