#include "judges/protocols.hpp"
#include "judges/shown.hpp"
#include "judges/verdict.hpp"
#include "judges/wording.hpp"

namespace pardec {

JudgeProtocol single(ShowReferences references) {
  const Wording wording = read_wording("single", conversation_sections());
  const OrderedJson schema =
      object_schema({{"explanation", {{"type", "string"}}},
                     {"score", {{"type", "number"}, {"minimum", 1}, {"maximum", 10}}}});
  JudgeProtocol protocol;
  protocol.name = "single";
  protocol.verdict = GradeVerdict{.labels = {}, .range = {{1, 10}}};
  protocol.score = "judge_score";
  protocol.what = "one answer graded from 1 to 10 (MT-Bench, APAR, ASPD)";
  protocol.record["references"] = static_cast<int>(references);
  protocol.ask = [wording, schema, references](const Subject& subject, Order) {
    const std::string mark = mark_of(subject);
    std::map<std::string, std::string> slots = shown_context(wording, subject, mark, references);
    slots["conversation"] = shown_conversation(wording, subject, mark, Shown::method);
    return Inquiry{
        {{"system", wording.filled("system", {})}, {"user", wording.filled("user", slots)}},
        schema_to_send(schema),
        "single"};
  };
  protocol.read = [schema](const Subject&, Order, std::string_view reply) -> Reading {
    const FoundVerdict found = find_verdict(reply, schema, "score");
    if (!found.problem.empty()) return {{}, found.problem};
    return {{{"", "", found.value["score"].get<double>()}}, ""};
  };
  return with_wording(std::move(protocol), wording, schema);
}

}  // namespace pardec
