#include "src/prompt/prompt_file.hpp"

#include <algorithm>
#include <set>

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
  std::set<std::string> seen;
  std::string* current = nullptr;
  long number = 0;
  for (const auto& line : split(replace_all(content, "\r\n", "\n"), '\n')) {
    ++number;
    if (line.size() > 2 && line.front() == '[' && line.back() == ']') {
      const std::string section = line.substr(1, line.size() - 2);
      const auto found = sections.find(section);
      if (found == sections.end())
        throw ConfigError(str(name, ":", number, ": unknown section '", section, "'",
                              known_names(section, known)));
      if (!seen.insert(section).second)
        throw ConfigError(str(name, ":", number, ": section '", section, "' stands there twice"));
      current = found->second;
    } else if (current) {
      *current += line + "\n";
    }
  }
  for (auto& [section, text] : sections) {
    while (!text->empty() && text->back() == '\n') text->pop_back();
    while (!text->empty() && text->front() == '\n') text->erase(0, 1);
  }
  if (prompt.context.empty() && seen.contains("skeleton")) {
    for (const char* section : {"skeleton", "points", "point"})
      if (sections.at(section)->empty())
        throw ConfigError(str(name, ": has no [", section, "] section beside [skeleton]"));
  } else if (prompt.context.empty())
    throw ConfigError(str(name, ": has no [context] section, expected one that holds {text}"));
  prompt.content = std::move(content);
  return prompt;
}

std::string fill(std::string_view wording, const std::map<std::string, std::string>& slots,
                 const std::string& where) {
  std::string out;
  for (size_t at = 0; at < wording.size();) {
    const size_t open = wording.find('{', at);
    const size_t close = open == std::string_view::npos ? open : wording.find('}', open);
    if (close == std::string_view::npos) {
      out += wording.substr(at);
      break;
    }
    out += wording.substr(at, open - at);
    const std::string slot(wording.substr(open + 1, close - open - 1));
    const bool is_name =
        !slot.empty() && slot.find_first_not_of("abcdefghijklmnopqrstuvwxyz_") == std::string::npos;
    if (!is_name) {  // braces of the wording itself, as in JSON
      out += '{';
      at = open + 1;
      continue;
    }
    const auto found = slots.find(slot);
    if (found == slots.end()) {
      std::vector<std::string> known;
      for (const auto& [key, value] : slots) known.push_back(key);
      throw ConfigError(str(where, ": unknown slot {", slot, "}", known_names(slot, known)));
    }
    out += found->second;
    at = close + 1;
  }
  return out;
}

std::string lettered(const std::vector<std::string>& choices) {
  std::string text;
  for (size_t i = 0; i < choices.size(); ++i)
    text += str("\n", static_cast<char>('A' + i), ". ", choices[i]);
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
    add(categories, context.category);
    for (const auto& field : context.fields) add(fields, dump(Json(field.name)));
  }
  return fill(prompt.instruction,
              {{"category", join(categories, ", ")},
               {"fields", join(fields, ", ")},
               {"context_count", std::to_string(form == Form::json ? contexts.size() : 1)}},
              prompt.name + ": [instruction]");
}

}  // namespace pardec
