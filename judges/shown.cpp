#include "judges/shown.hpp"

#include "judges/verdict.hpp"
#include "src/support/text.hpp"

namespace pardec {

std::vector<std::string> conversation_sections() {
  return {"user", "document", "turn", "fields", "reference"};
}

std::map<std::string, std::string> shown_context(const Wording& wording, const Subject& subject,
                                                 const std::string& mark,
                                                 ShowReferences references) {
  std::vector<std::string> shown;
  const size_t end = subject.turn ? *subject.turn + 1 : subject.fields.size();
  for (size_t f = 0; f < end; ++f) {
    const JudgedField& field = subject.fields[f];
    if (!shows_reference(subject, field, references)) continue;
    const std::string answer = join(field.references, "\nor: ");
    shown.push_back(subject.fields.size() == 1 ? answer : str(field.name, ": ", answer));
  }
  return {{"document", subject.text.empty()
                           ? ""
                           : wording.filled("document", {{"mark", mark}, {"text", subject.text}})},
          {"reference",
           shown.empty()
               ? ""
               : wording.filled("reference", {{"mark", mark}, {"references", join(shown, "\n")}})},
          {"opens", std::string(kVerdictOpens)},
          {"closes", std::string(kVerdictCloses)}};
}

std::string shown_conversation(const Wording& wording, const Subject& subject,
                               const std::string& mark, Shown shown) {
  if (!subject.turn)
    return wording.filled("fields",
                          {{"mark", mark},
                           {"fields", fields_as_list(subject)},
                           {"values", answers_as_json(subject, shown == Shown::baseline)}});
  std::vector<std::string> turns;
  for (size_t t = 0; t <= *subject.turn; ++t) {
    const JudgedField& field = subject.fields[t];
    turns.push_back(wording.filled(
        "turn", {{"mark", mark},
                 {"question", field.question},
                 {"answer", shown == Shown::baseline ? field.other : field.answer}}));
  }
  return join(turns, "\n");
}

}  // namespace pardec
