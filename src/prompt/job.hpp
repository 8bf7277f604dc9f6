#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/support/json.hpp"
#include "src/support/sampling.hpp"

namespace pardec {

/// The form of an answer. A decoder declares its form; it knows nothing else about prompts.
enum class Form {
  json,   ///< one JSON object inside <result></result> with all fields of all contexts
  value,  ///< the value of a single field
  free,   ///< an open answer
};
std::string_view name(Form form);

/// The name of a context's `number`-th field if it has none: "q1", "q2" ...
std::string nameless_key(size_t number);

/// A question about a context: an attribute name, or a question with optional choices.
struct Field {
  std::string name;
  std::string question;
  std::vector<std::string> choices;
};

/// A text, and the questions about it.
struct Context {
  std::string id;
  std::string category;
  std::string text;
  std::vector<Field> fields;
};

/// A worked example shown in the prompt.
struct Shot {
  std::string context, field, answer;
};

/// A worked example of a whole answer, shown as an earlier turn.
struct WorkedAnswer {
  std::string asked;   ///< the user's content
  std::string answer;  ///< all that is written in reply
};

struct Limits {
  int max_new_tokens = 512;  ///< per answer stream
  int per_field = 64;        ///< per field, if fields are answered separately
};

/// The input of a decoder. JSON form: job.schema.json.
struct Job {
  std::string id;
  std::string instruction;
  std::vector<Shot> shots;
  /// Worked examples from a dataset, before an answer for all fields (json form).
  std::vector<WorkedAnswer> worked = {};
  std::vector<Context> contexts;
  /// The fields of the single context are the user's turns; each is asked after the answers so far.
  bool conversation = false;
  Limits limits;
  Sampling sampling;
  std::uint64_t seed = 1;
  /// The system message. If missing, the prompt file's.
  std::optional<std::string> system = {};
};

/// Parses a Job in the form of job.schema.json. Fields without a name get one. `where` is its name
/// in errors. `defaults`: limits, sampling and seed for missing keys. ConfigError: unknown keys,
/// wrong types, no context, two fields with the same name in a context, or a conversation with
/// several contexts or an empty turn.
Job parse_job(const Json& json, const std::string& where, Job defaults = {});
OrderedJson to_json(const Job& job);

/// ConfigError, whose message starts with `where`: the sampling settings do not define a
/// distribution.
void check_sampling(const Sampling& sampling, const std::string& where);

}  // namespace pardec
