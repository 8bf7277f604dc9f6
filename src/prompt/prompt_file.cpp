#include "src/prompt/prompt_file.hpp"

#include <algorithm>

#include "src/support/choice_letters.hpp"
#include "src/support/error.hpp"
#include "src/support/text.hpp"

namespace pardec {

PromptFile parse_prompt_file(std::string content, const std::string& name) {
  PromptFile prompt;
  prompt.name = name;
  std::map<std::string, std::string*> sections = {{"system", &prompt.system},
                                                  {"instruction", &prompt.instruction},
                                                  {"shot", &prompt.shot},
                                                  {"context", &prompt.context},
                                                  {"field", &prompt.field},
                                                  {"listed", &prompt.listed},
                                                  {"skeleton", &prompt.skeleton},
                                                  {"points", &prompt.points},
                                                  {"point", &prompt.point},
                                                  {"answer json", &prompt.answer[Form::json]},
                                                  {"answer value", &prompt.answer[Form::value]},
                                                  {"answer free", &prompt.answer[Form::free]}};
  std::vector<std::string> known;
  for (const auto& [section, text] : sections) known.push_back(section);
  const auto given = sections_of(content, name, known);
  for (const auto& [section, text] : given) *sections.at(section) = text;
  if (prompt.context.empty() && given.contains("skeleton")) {
    for (const char* section : {"skeleton", "points", "point"})
      if (sections.at(section)->empty())
        throw ConfigError(str(name, ": has no [", section, "] section beside [skeleton]"));
  } else if (prompt.context.empty())
    throw ConfigError(str(name, ": has no [context] section, expected one that holds {text}"));
  prompt.content = std::move(content);
  return prompt;
}

std::string lettered(const std::vector<std::string>& choices) {
  std::string text;
  for (size_t i = 0; i < choices.size(); ++i) text += str("\n", choice_letter(i), ". ", choices[i]);
  return text;
}

std::string asked(const Field& field, size_t number) {
  if (field.question.empty()) return field.name;
  const bool named = !field.name.empty() && field.name != nameless_key(number);
  return named ? field.name + ": " + field.question : field.question;
}

std::map<std::string, std::string> slots_of(const Field& field, size_t number) {
  return {{"name", field.name},
          {"question", field.question},
          {"asked", asked(field, number)},
          {"entry", field.name + (field.question.empty() ? "" : ": " + field.question)},
          {"choices", lettered(field.choices)}};
}

bool shows_choices(const PromptFile& prompt) {
  return prompt.field.find("{choices}") != std::string::npos;
}

bool speaks_of_category(const PromptFile& prompt) {
  return prompt.instruction.find("{category}") != std::string::npos ||
         prompt.instruction.find("{fields}") != std::string::npos;
}

std::string instruction_for(const PromptFile& prompt, const std::vector<Context>& contexts,
                            Form form) {
  std::vector<std::string> fields, categories;
  const auto add = [](std::vector<std::string>& to, std::string more) {
    if (std::find(to.begin(), to.end(), more) == to.end()) to.push_back(std::move(more));
  };
  for (const Context& context : contexts) {
    if (!context.category.empty()) add(categories, context.category);
    for (const auto& field : context.fields) add(fields, dump(Json(field.name)));
  }
  return fill(prompt.instruction,
              {{"category", join(categories, ", ")},
               {"fields", join(fields, ", ")},
               {"context_count", std::to_string(form == Form::json ? contexts.size() : 1)}},
              prompt.name + ": [instruction]");
}

}  // namespace pardec
