#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/support/json.hpp"
#include "src/support/sampling.hpp"

namespace pardec {

/// How an answer is asked for. A decoder states its form and nothing else about prompts.
enum class Form {
  json,   ///< one JSON object inside <result></result> for all fields of all contexts
  value,  ///< one field, its value alone
  free,   ///< an open answer
};
std::string_view name(Form form);

/// The name of a context's `number`-th field where it is given none: "q1", "q2" ...
std::string nameless_key(size_t number);

/// One thing to be answered about a context: an attribute name, or a question with optional
/// choices.
struct Field {
  std::string name;
  std::string question;
  std::vector<std::string> choices;
};

/// One text with what is asked about it.
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

struct Limits {
  int max_new_tokens = 512;  ///< of one answer stream
  int per_field = 64;        ///< of one field's answer, where fields are answered one by one
};

/// What a decoder is given; as JSON: job.schema.json.
struct Job {
  std::string id;
  std::string instruction;
  std::vector<Shot> shots;
  std::vector<Context> contexts;
  /// The fields of the one context are a user's turns: each is asked behind the answers so far.
  bool conversation = false;
  Limits limits;
  Sampling sampling;
  std::uint64_t seed = 1;
  /// What the system says before the user; not given: as the wording has it.
  std::optional<std::string> system = {};
};

/// Reads a Job of the contract's form; fields without a name get one. `where` names it in errors,
/// `defaults` has limits, sampling and seed for where it says none.
/// ConfigError: unknown keys, wrong types, no context, two fields of one name in a context, a
/// conversation of several contexts or with a turn that says nothing.
Job parse_job(const Json& json, const std::string& where, Job defaults = {});
OrderedJson to_json(const Job& job);

/// Throws a ConfigError that starts with `where` when a value makes no distribution.
void check_sampling(const Sampling& sampling, const std::string& where);

}  // namespace pardec
