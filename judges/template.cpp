#include <algorithm>
#include <map>

#include "judges/protocols.hpp"
#include "judges/verdict.hpp"
#include "judges/wording.hpp"
#include "src/support/error.hpp"
#include "src/support/text.hpp"
#include "src/support/wording.hpp"

namespace pardec {

namespace {

struct Template {
  std::string file, name, system, prompt, verdict;
  bool compares = false;
  Json schema;
  OrderedJson sent;  ///< the schema in the form that is sent
  std::map<std::string, double> values;

  const Json& verdict_schema() const { return schema.at("properties").at(verdict); }
};

/// The slots that a template may use for a subject.
std::map<std::string, std::string> template_slots(const Subject& subject, bool compares,
                                                  Order order) {
  const bool whole = !subject.turn;
  const JudgedField* field = whole ? nullptr : &subject.fields.at(*subject.turn);
  std::map<std::string, std::string> slots{
      {"mark", mark_of(subject)},
      {"category", subject.category},
      {"text", subject.text},
      {"question", whole ? fields_as_list(subject) : field->question},
      {"reference", whole ? "" : join(field->references, "\nor: ")}};
  const std::string own = whole ? answers_as_json(subject, false) : field->answer;
  if (!compares) {
    slots["answer"] = own;
    return slots;
  }
  const std::string other = whole ? answers_as_json(subject, true) : field->other;
  const bool method_first = order == Order::method_first;
  slots["answer_a"] = method_first ? own : other;
  slots["answer_b"] = method_first ? other : own;
  return slots;
}

Template read_template(const std::filesystem::path& file) {
  Template out;
  const Json json = read_json(file);
  JsonReader read(json, file.string());
  out.file = file.string();
  out.name = read.required<std::string>("name");
  out.compares = read.optional<bool>("compares", false);
  out.system = read.optional<std::string>("system", "");
  out.prompt = read.required<std::string>("prompt");
  out.schema = read.any("schema");
  out.verdict = read.required<std::string>("verdict");
  if (const Json& values = read.any("values"); !values.is_null()) {
    JsonReader numbers(values, read.where("values"));
    for (const auto& [label, value] : values.items())
      out.values[label] = numbers.required<double>(label);
  }
  read.finish();
  check_schema(out.schema, read.where("schema"));
  out.sent = schema_to_send(read_ordered_json(file).at("schema"));
  if (!out.schema.contains("properties") || !out.schema["properties"].contains(out.verdict))
    throw ConfigError(
        str(read.where("verdict"), " is '", out.verdict, "', expected a property of the schema"));
  const Json& verdict = out.verdict_schema();
  const auto type = verdict.at("type").get<std::string>();
  const bool labels = type == "string" && verdict.contains("enum");
  if (!labels && type != "number" && type != "integer" && type != "boolean")
    throw ConfigError(str(read.where("verdict"), ": '", out.verdict, "' is of type ", type,
                          ", expected a number, a boolean, or a string with an enum"));
  if (out.compares && (!labels || verdict["enum"] != Json{"A", "B", "tie"}))
    throw ConfigError(str(read.where("verdict"),
                          ": two answers are compared, expected an enum "
                          "[\"A\", \"B\", \"tie\"]"));
  for (const auto& [label, value] : out.values)
    if (!labels ||
        std::find(verdict["enum"].begin(), verdict["enum"].end(), label) == verdict["enum"].end())
      throw ConfigError(str(read.where("values"), " has '", label,
                            "', which is not in the enum of '", out.verdict, "'"));
  // Reports unknown slots now, before anything is paid for.
  Subject nothing;
  nothing.fields.emplace_back();
  nothing.turn = 0;
  for (const std::string* text : {&out.system, &out.prompt})
    fill(*text, template_slots(nothing, out.compares, Order::method_first), out.file);
  return out;
}

JudgeVerdict verdict_of(const Template& form, const Json& said, Order order) {
  const Json& value = said.at(form.verdict);
  if (value.is_boolean()) return {"", value.get<bool>() ? "true" : "false", value ? 1.0 : 0.0};
  if (value.is_number()) return {"", "", value.get<double>()};
  const auto label = value.get<std::string>();
  if (form.compares) return {"", winner_label(label, order)};
  const auto number = form.values.find(label);
  JudgeVerdict verdict{"", label};
  if (number != form.values.end()) verdict.value = number->second;
  return verdict;
}

}  // namespace

JudgeProtocol from_template(const std::filesystem::path& file) {
  const Template form = read_template(file);
  JudgeProtocol protocol;
  protocol.name = form.name;
  protocol.what = str("template ", form.file);
  const bool counts = form.verdict_schema()["type"] != "string" || !form.values.empty();
  protocol.score = form.compares ? "judge_preference" : counts ? "judge_template" : "";
  GradeVerdict grade;
  if (form.verdict_schema().contains("enum") && form.verdict_schema()["type"] == "string")
    grade.labels = form.verdict_schema()["enum"].get<std::vector<std::string>>();
  if (form.compares)
    protocol.verdict = PreferenceVerdict();
  else
    protocol.verdict = std::move(grade);
  protocol.ask = [form](const Subject& subject, Order order) {
    const auto slots = template_slots(subject, form.compares, order);
    Inquiry inquiry{{}, form.sent, "verdict"};
    if (!form.system.empty())
      inquiry.messages.push_back({"system", fill(form.system, slots, form.file)});
    inquiry.messages.push_back({"user", fill(form.prompt, slots, form.file)});
    return inquiry;
  };
  protocol.read = [form](const Subject&, Order order, std::string_view reply) -> Reading {
    const FoundVerdict found = find_verdict(reply, form.schema, form.verdict);
    if (!found.problem.empty()) return {{}, found.problem};
    return {{verdict_of(form, found.value, order)}, ""};
  };
  protocol.record = {{"system", form.system},
                     {"prompt", form.prompt},
                     {"verdict", form.verdict},
                     {"values", form.values},
                     {"compares", form.compares}};
  return with_wording(std::move(protocol), read_wording("template", {}), form.schema);
}

}  // namespace pardec
