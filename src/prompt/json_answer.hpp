#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/prompt/job.hpp"

namespace pardec {

/// The JSON answer of attribute extraction: one object, context number -> field name -> value,
/// between result tags. A segment begins behind one value and ends where the next one begins; the
/// text is ours, since the HPD paper gives none.
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

/// ConfigError when the contexts' fields differ: a stack shares one field list.
JsonSkeleton json_skeleton(const std::vector<Context>& contexts);

/// A value's text between two segments, without its line break: ` "Nike",`, the comma unless it is
/// a context's last.
std::string json_value(const std::optional<std::string>& value, bool last);

/// Reads one decoded value: cut at the first line break, trailing white space and one comma
/// dropped; a JSON string (its missing quote added), a number as it is written, or the text without
/// its quotes. Empty result: absent (null, n/a, empty).
std::optional<std::string> parse_json_value(std::string_view raw);

/// Reads an answer that is a value alone: its first line with text in it, as it is. Empty result:
/// absent.
std::optional<std::string> parse_plain_value(std::string_view raw);

/// Whether a value that was read as absent says so (null, n/a, with or without quotes); a value
/// without any text does not.
bool says_absent(std::string_view raw);

struct JsonAnswer {
  std::vector<std::vector<std::optional<std::string>>> values;  ///< [context][field]
  std::vector<std::vector<bool>> said_absent;  ///< [context][field]: null or n/a stands there
  std::vector<bool> parsed;  ///< per context: false where its object could not be read
};

/// Reads an answer that follows the opening tag, context by context: one that cannot be read has
/// all values absent, the others are read. Numbers stay as they are written.
JsonAnswer parse_json_answer(std::string_view text, const std::vector<Context>& contexts);

}  // namespace pardec
