#include "judges/protocols.hpp"
#include "judges/shown.hpp"
#include "judges/verdict.hpp"
#include "judges/wording.hpp"

namespace pardec {

JudgeProtocol pairwise(ShowReferences references) {
  const Wording wording = read_wording("pairwise", conversation_sections());
  const OrderedJson schema =
      object_schema({{"explanation", {{"type", "string"}}},
                     {"winner", {{"type", "string"}, {"enum", {"A", "B", "tie"}}}}});
  JudgeProtocol protocol;
  protocol.name = "pairwise";
  protocol.score = "judge_preference";
  protocol.what = "the better one of two answers, in both orders (MT-Bench, SPACE, HPD)";
  protocol.verdict = PreferenceVerdict();
  protocol.record["references"] = static_cast<int>(references);
  protocol.ask = [wording, schema, references](const Subject& subject, Order order) {
    const std::string mark = mark_of(subject);
    std::map<std::string, std::string> slots = shown_context(wording, subject, mark, references);
    const bool method_first = order == Order::method_first;
    slots["first"] =
        shown_conversation(wording, subject, mark, method_first ? Shown::method : Shown::baseline);
    slots["second"] =
        shown_conversation(wording, subject, mark, method_first ? Shown::baseline : Shown::method);
    slots["mark"] = mark;
    return Inquiry{
        {{"system", wording.filled("system", {})}, {"user", wording.filled("user", slots)}},
        schema_to_send(schema),
        "pairwise"};
  };
  protocol.read = [schema](const Subject&, Order order, std::string_view reply) -> Reading {
    const FoundVerdict found = find_verdict(reply, schema, "winner");
    if (!found.problem.empty()) return {{}, found.problem};
    return {{{"", winner_label(found.value["winner"].get<std::string>(), order)}}, ""};
  };
  return with_wording(std::move(protocol), wording, schema);
}

}  // namespace pardec
