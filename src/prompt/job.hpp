#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/support/json.hpp"
#include "src/support/sampling.hpp"

namespace pardec {

/// The form of an answer. Each decoder has one form, but open prompts are always answered in form
/// `free` (form_on). Apart from the form, decoders do not depend on the wording of prompts.
enum class Form {
  json,   ///< one JSON object with all fields of all contexts, inside <result></result>
  value,  ///< the value of a single field
  free,   ///< an open answer
};
std::string_view name(Form form);

/// The default name of a context's `number`-th field, counted from 1: "q1", "q2", ...
std::string nameless_key(size_t number);

/// A field of a context: the name of an attribute, or a question, possibly with choices.
struct Field {
  std::string name;
  std::string question;
  std::vector<std::string> choices;
};

/// A text, and the fields that are asked about it.
struct Context {
  std::string id;
  std::string category;
  std::string text;
  std::vector<Field> fields;
};

/// A worked example of one field in the prompt (few-shot).
struct Shot {
  std::string context, field, answer;
};

/// A worked example of a whole JSON answer, shown as an earlier turn of the conversation.
struct WorkedAnswer {
  std::string asked;   ///< content of the user's turn
  std::string answer;  ///< the complete answer
};

/// The maximum numbers of generated tokens.
struct Limits {
  /// per answer to an open prompt, or per answer in which all fields are answered together
  int max_new_tokens = 512;
  int per_field = 64;  ///< per field, if fields are answered one by one
};

/// The input of a decoder. job.schema.json has its JSON form.
struct Job {
  std::string id;
  std::string instruction;
  std::vector<Shot> shots;
  /// For json form: worked examples from a dataset.
  std::vector<WorkedAnswer> worked = {};
  std::vector<Context> contexts;
  /// Whether the job is a conversation: the fields of its only context are the user's turns, each
  /// asked after the answers before it.
  bool conversation = false;
  Limits limits;
  Sampling sampling;
  std::uint64_t seed = 1;
  /// The system message; none: the system message of the prompt file.
  std::optional<std::string> system = {};
};

/// Parses a Job in the form of job.schema.json. Fields without a name get a default name
/// (nameless_key). `where`: the Job's name for errors. `defaults`: the limits, sampling and seed
/// that are used for missing keys. ConfigError: a key is unknown, a value has the wrong type or is
/// out of range, there is no context, a context has no field or two fields with the same name, or a
/// conversation has several contexts or an empty turn.
Job parse_job(const Json& json, const std::string& where, Job defaults = {});
/// The Job in the form of job.schema.json, which has no key for Job::worked.
OrderedJson to_json(const Job& job);

/// Checks sampling settings. ConfigError, which starts with `where`: the settings do not define a
/// distribution.
void check_sampling(const Sampling& sampling, const std::string& where);

}  // namespace pardec
