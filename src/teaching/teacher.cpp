#include "src/teaching/teacher.hpp"

#include "judges/verdict.hpp"
#include "judges/wording.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

constexpr std::string_view kNone = "none";

Inquiry inquiry_of(const Wording& wording, std::map<std::string, std::string> slots,
                   const OrderedJson& schema, const char* name) {
  slots["opens"] = std::string(kVerdictOpens);
  slots["closes"] = std::string(kVerdictCloses);
  return {{{"system", wording.filled("system", {})}, {"user", wording.filled("user", slots)}},
          schema_to_send(schema),
          name};
}

const OrderedJson& rewrite_schema() {
  static const OrderedJson kSchema =
      object_schema({{"parallel", {{"type", "boolean"}}}, {"answer", {{"type", "string"}}}});
  return kSchema;
}

OrderedJson values_schema(const std::vector<WantedValue>& wanted) {
  OrderedJson properties = OrderedJson::object();
  for (const WantedValue& value : wanted) {
    OrderedJson& property = properties[value.name] = {{"type", "string"}};
    if (value.choices.empty()) continue;
    property["enum"] = value.choices;
    property["enum"].push_back(kNone);
  }
  return object_schema(properties);
}

Wording values_wording() { return read_wording("attribute-values", {"user"}); }

}  // namespace

Inquiry ask_rewrite(const std::string& question, const std::string& answer) {
  const Wording wording = read_wording("aspd-rewrite", {"user"});
  return inquiry_of(wording,
                    {{"mark", mark_of(std::vector{question, answer})},
                     {"question", question},
                     {"answer", answer}},
                    rewrite_schema(), "aspd_rewrite");
}

RewriteReading read_rewrite(std::string_view reply) {
  const FoundVerdict found = find_verdict(reply, rewrite_schema(), "");
  if (!found.problem.empty()) return {"", found.problem};
  const auto answer = found.value["answer"].get<std::string>();
  if (!found.value["parallel"].get<bool>()) return {};
  if (strip(answer).empty()) return {"", "'parallel' is true, and 'answer' is empty"};
  return {answer, ""};
}

Inquiry ask_values(const std::string& category, const std::string& text,
                   const std::vector<WantedValue>& wanted) {
  std::vector<std::string> lines, texts{category, text};
  for (const WantedValue& value : wanted) {
    lines.push_back(str("- ", value.name, value.question.empty() ? "" : ": ", value.question,
                        value.choices.empty() ? "" : str(" [", join(value.choices, " | "), "]")));
    texts.push_back(lines.back());
  }
  return inquiry_of(values_wording(),
                    {{"mark", mark_of(texts)},
                     {"category", category},
                     {"text", text},
                     {"fields", join(lines, "\n")}},
                    values_schema(wanted), "attribute_values");
}

Inquiry ask_values_again(Inquiry inquiry, const std::string& reply, const std::string& problem) {
  return asked_again(values_wording(), std::move(inquiry), reply, problem);
}

ValuesReading read_values(const std::string& text, const std::vector<WantedValue>& wanted,
                          std::string_view reply) {
  const FoundVerdict found = find_verdict(reply, values_schema(wanted), "");
  if (!found.problem.empty()) return {{}, found.problem};
  ValuesReading reading;
  for (const WantedValue& want : wanted) {
    const std::string value(strip(found.value[want.name].get<std::string>()));
    if (value == kNone) {
      reading.values.emplace_back();
      continue;
    }
    if (value.empty()) return {{}, str("'", want.name, "' is empty, expected \"none\"")};
    if (want.choices.empty() && text.find(value) == std::string::npos)
      return {{},
              str("'", want.name, "' is '", value,
                  "', which does not occur in the text letter by letter; expected a piece of it, "
                  "or \"none\"")};
    reading.values.emplace_back(value);
  }
  return reading;
}

}  // namespace pardec
