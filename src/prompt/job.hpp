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
/// `free` (see form_on in tasks/request.hpp). The wording of prompts depends on the decoder only
/// through the form.
enum class Form {
  json,   ///< one JSON object with all fields of all contexts, inside <result></result>
  value,  ///< the value of a single field
  free,   ///< an open answer
};
std::string_view name(Form form);

/// The default name of a context's field: "q1", "q2", ... `number`: the field's number, from 1.
std::string nameless_key(size_t number);

/// A field of a context: the name of an attribute, or a question, possibly with choices.
struct Field {
  std::string name;
  std::string question;  ///< empty: only the name is asked for
  /// the texts of the choices, at most kMostChoices (choice_letters.hpp); empty: any answer
  std::vector<std::string> choices;
};

/// A text, and the fields that are asked about it.
struct Context {
  std::string id;
  std::string category;  ///< for the slot {category} of prompt files; may be empty
  std::string text;
  std::vector<Field> fields;
};

/// A worked example of one field, for the prompt (few-shot): the text of a context, what is
/// asked about this text (the name or question of a field, possibly with its choices), and the
/// answer.
struct Shot {
  std::string context, field, answer;
};

/// A worked example of a whole JSON answer, shown as an earlier turn of the conversation.
struct WorkedAnswer {
  std::string asked;   ///< content of the user's turn
  std::string answer;  ///< the complete answer
};

/// Limits on the number of generated tokens.
struct Limits {
  /// for an answer to an open prompt, or for a JSON answer, which has the values of all fields
  int max_new_tokens = 512;
  int per_field = 64;  ///< for each field, if fields are answered one by one
};

/// The input of a decoder. job.schema.json has its JSON form.
struct Job {
  std::string id;
  std::string instruction;
  /// Worked examples of single fields. In free form, they are shown as earlier turns of the
  /// conversation; in the other forms, after the instruction.
  std::vector<Shot> shots;
  /// Worked examples of whole JSON answers. Used only in json form, in addition to `shots`.
  std::vector<WorkedAnswer> worked = {};
  std::vector<Context> contexts;
  /// Whether the job is a conversation. Then there is one context, and its fields are the user's
  /// turns. Each turn is asked after the answers to the earlier turns.
  bool conversation = false;
  Limits limits;
  Sampling sampling;
  std::uint64_t seed = 1;
  /// The system message; none: the system message of the prompt file.
  std::optional<std::string> system = {};
};

/// Parses a Job in the form of job.schema.json. Fields without a name get a default name
/// (nameless_key). `where`: the Job's name for errors. `defaults`: the limits, sampling, seed and
/// system message that are used for missing keys. ConfigError: a key is unknown, a value has the
/// wrong type or is out of range, there is no context, a context has no field or two fields with
/// the same name, a field has neither a name nor a question, a field has more than kMostChoices
/// choices, or a conversation has several contexts or an empty turn.
Job parse_job(const Json& json, const std::string& where, Job defaults = {});
/// The Job in the form of job.schema.json, which has no key for Job::worked.
OrderedJson to_json(const Job& job);

/// Checks sampling settings. `where`: what the error begins with. ConfigError: temperature or top_k
/// is negative, or top_p is not in (0, 1].
void check_sampling(const Sampling& sampling, const std::string& where);

}  // namespace pardec
