#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/prompt/job.hpp"

namespace pardec {

/// The JSON answer of attribute extraction, between result tags: an object whose keys are the
/// numbers of the contexts, from 1. The value of each key is an object that maps field names to
/// values. A segment is the fixed text before a value. The exact text is this project's choice,
/// since the paper of HPD (decoders/hpd) does not give it.
///   <result>                      opening; it is a part of the prompt
///   \n{\n  "1": {\n    "A1":      segment 1, then value 1, e.g. ` "Nike",`
///   \n    "A2":                   segment 2, then value 2, e.g. ` "n/a"`
///   \n  },\n  "2": {\n    "A1":   segment 3, ...
///   \n  }\n}\n</result>           tail
inline constexpr std::string_view kAnswerOpening = "<result>";
inline constexpr std::string_view kAnswerClosing = "</result>";
inline constexpr std::string_view kAbsent = "n/a";  ///< the word for an absent value

/// The fixed text of a JSON answer.
struct JsonSkeleton {
  std::vector<std::string> segments;  ///< one before each value, by context, then field
  std::string tail;
};

/// The fixed text of the answer for these contexts. ConfigError: the contexts do not all have the
/// same field names in the same order. REQUIRES: each context has a field.
JsonSkeleton json_skeleton(const std::vector<Context>& contexts);

/// The text of a value between two segments, without the line break: ` "Nike",`. `value`: none is
/// written as kAbsent. `last`: whether the value is the last value of its context. The last value
/// is written without a comma.
std::string json_value(const std::optional<std::string>& value, bool last);

/// The whole answer with these values, from the opening tag to the closing tag. ConfigError: see
/// json_skeleton. REQUIRES: `values` is [context][field], with all fields of all contexts.
std::string json_answer(const std::vector<Context>& contexts,
                        const std::vector<std::vector<std::optional<std::string>>>& values);

/// Parses the generated text of a value. Cuts the text at the first line break, and removes white
/// space and one comma at the end. The rest is a JSON string (whose closing quote may be missing),
/// another JSON value (returned as written), or a text without quotes. None: the value is absent
/// (null, n/a, empty).
std::optional<std::string> parse_json_value(std::string_view raw);

/// Parses an answer in value form. Returns its first line that is not blank, without white space at
/// the ends. None: the value is absent (null, n/a, empty).
std::optional<std::string> parse_plain_value(std::string_view raw);

/// Whether a generated value, in json or value form, states explicitly that the value is absent:
/// its first line that is not blank is null or n/a, with or without quotes. False for an empty
/// text.
bool says_absent(std::string_view raw);

/// The values in a JSON answer. [context][field] means: indexed by context, then by field, as in
/// the `contexts` of parse_json_answer.
struct JsonAnswer {
  /// [context][field]; none: the value is absent
  std::vector<std::vector<std::optional<std::string>>> values;
  /// [context][field]: true if the answer has the value null or n/a for the field; false for any
  /// other value, and if the field is missing
  std::vector<std::vector<bool>> said_absent;
  /// for each context: whether its object could be parsed; if not, all its values are absent
  std::vector<bool> parsed;
};

/// Parses an answer, context by context. `text`: the answer after the opening tag. Text after a
/// closing tag is ignored. If the object of one context cannot be parsed, the values of the other
/// contexts are still read. If an object lacks a field, the field's value is absent. Real numbers
/// are returned as written, `true` and `false` as texts. The values in a list or an object are
/// returned as one text, joined by ", ".
JsonAnswer parse_json_answer(std::string_view text, const std::vector<Context>& contexts);

}  // namespace pardec
