#include "judges/wording.hpp"

#include <algorithm>
#include <array>

#include "judges/verdict.hpp"
#include "src/support/error.hpp"
#include "src/support/files.hpp"
#include "src/support/hashing.hpp"
#include "src/support/project_files.hpp"
#include "src/support/text.hpp"
#include "src/support/wording.hpp"

namespace pardec {

std::string Wording::filled(const std::string& section,
                            const std::map<std::string, std::string>& slots) const {
  const auto found = sections.find(section);
  if (found == sections.end()) throw ConfigError(str(file, ": has no [", section, "] section"));
  return fill(found->second, slots, str(file, " [", section, "]"));
}

Wording read_wording(const std::string& name, const std::vector<std::string>& sections) {
  const auto path = project_file(str("judges/prompts/", name, ".txt"));
  Wording wording{path.string(), read_file(path), {}};
  std::vector<std::string> known = sections;
  known.insert(known.end(), {"system", "again"});
  wording.sections = sections_of(wording.content, wording.file, known);
  return wording;
}

std::string mark_of(const std::vector<std::string>& texts) {
  std::string all;
  for (const std::string& text : texts) all += str(text.size(), ":", text);
  return sha256(all).substr(0, 12);
}

std::string mark_of(const Subject& subject) {
  std::vector<std::string> texts{subject.text};
  for (const JudgedField& field : subject.fields) {
    texts.insert(texts.end(), {field.name, field.question, field.answer, field.other});
    texts.insert(texts.end(), field.references.begin(), field.references.end());
  }
  return mark_of(texts);
}

std::string answers_as_json(const Subject& subject, bool other) {
  OrderedJson values = OrderedJson::object();
  for (const JudgedField& field : subject.fields) {
    const std::string& answer = other ? field.other : field.answer;
    values[field.name] = answer.empty() ? OrderedJson() : OrderedJson(answer);
  }
  return dump(values);
}

std::string fields_as_list(const Subject& subject) {
  std::vector<std::string> lines;
  for (const JudgedField& field : subject.fields)
    lines.push_back(str("- ", field.name, field.question.empty() ? "" : ": ", field.question));
  return join(lines, "\n");
}

bool shows_reference(const Subject& subject, const JudgedField& field, ShowReferences references) {
  constexpr std::array<std::string_view, 3> kChecked{"math", "reasoning", "coding"};
  if (field.references.empty() || references == ShowReferences::never) return false;
  return references == ShowReferences::always ||
         std::find(kChecked.begin(), kChecked.end(), subject.category) != kChecked.end();
}

std::string winner_label(const std::string& said, Order order) {
  if (said == "tie") return said;
  return (said == "A") == (order == Order::method_first) ? "method" : "baseline";
}

OrderedJson object_schema(const OrderedJson& properties) {
  std::vector<std::string> required;
  for (const auto& [key, property] : properties.items()) required.push_back(key);
  return {{"type", "object"},
          {"properties", properties},
          {"required", required},
          {"additionalProperties", false}};
}

Inquiry asked_again(const Wording& wording, Inquiry inquiry, const std::string& reply,
                    const std::string& problem) {
  inquiry.messages.push_back({"assistant", reply.empty() ? " " : reply});
  inquiry.messages.push_back({"user", wording.filled("again", {{"problem", problem}})});
  return inquiry;
}

JudgeProtocol with_wording(JudgeProtocol protocol, const Wording& wording, const Json& schema) {
  protocol.record["name"] = protocol.name;
  protocol.record["wording"] = wording.content;
  protocol.record["schema"] = schema;
  protocol.hash = sha256(dump(protocol.record));
  protocol.ask_again = [wording](Inquiry inquiry, const std::string& reply,
                                 const std::string& problem) {
    return asked_again(wording, std::move(inquiry), reply, problem);
  };
  if (!protocol.lacks) protocol.lacks = [](const Subject&) { return std::string(); };
  return protocol;
}

}  // namespace pardec
