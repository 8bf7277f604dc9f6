#include <set>

#include "judges/protocols.hpp"
#include "judges/verdict.hpp"
#include "judges/wording.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

const Json& five_labels() {
  static const Json kLabels{"correct", "incorrect", "missing", "correct null", "hallucination"};
  return kLabels;
}

/// The possible classes of a value; `correct null` includes answers that explicitly say that there
/// is no value.
std::vector<std::string> labels_of(const JudgedField& field) {
  if (field.answer.empty()) return {"missing", "correct null"};
  return {"correct", "incorrect", "correct null", "hallucination"};
}

OrderedJson five_classes_schema(const Subject& subject) {
  OrderedJson classes = OrderedJson::object();
  for (const JudgedField& field : subject.fields)
    classes[field.name] = {{"type", "string"}, {"enum", labels_of(field)}};
  return object_schema(
      {{"explanation", {{"type", "string"}}}, {"classes", object_schema(classes)}});
}

}  // namespace

JudgeProtocol five_classes() {
  const Wording wording = read_wording("five-classes", {"user"});
  JudgeProtocol protocol;
  protocol.name = "five-classes";
  protocol.verdict =
      ClassVerdict{.classes = {"hallucination", "incorrect", "missing", "correct null", "correct"},
                   .right = {"correct", "correct null"},
                   .fitting = labels_of};
  protocol.score = "judge_class";
  protocol.what = "each value into one of five classes by the text alone (HPD)";
  protocol.lacks = [](const Subject& subject) -> std::string {
    std::set<std::string> names;
    for (const JudgedField& field : subject.fields)
      if (!names.insert(field.name).second)
        return str("names for its fields ('", field.name, "' occurs twice)");
    return subject.fields.empty() ? "fields" : subject.text.empty() ? "a text to judge by" : "";
  };
  protocol.ask = [wording](const Subject& subject, Order) {
    return Inquiry{{{"system", wording.filled("system", {})},
                    {"user", wording.filled("user", {{"mark", mark_of(subject)},
                                                     {"text", subject.text},
                                                     {"fields", fields_as_list(subject)},
                                                     {"values", answers_as_json(subject, false)},
                                                     {"opens", std::string(kVerdictOpens)},
                                                     {"closes", std::string(kVerdictCloses)}})}},
                   schema_to_send(five_classes_schema(subject)),
                   "five_classes"};
  };
  protocol.read = [](const Subject& subject, Order, std::string_view reply) -> Reading {
    const FoundVerdict found = find_verdict(reply, five_classes_schema(subject), "classes");
    if (!found.problem.empty()) return {{}, found.problem};
    Reading reading;
    for (const JudgedField& field : subject.fields)
      reading.verdicts.push_back(
          {field.name, found.value["classes"][field.name].get<std::string>()});
    return reading;
  };
  return with_wording(std::move(protocol), wording, five_labels());
}

}  // namespace pardec
