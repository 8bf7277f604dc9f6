#include "src/prompt/pieces.hpp"

#include <array>

#include "src/prompt/json_answer.hpp"
#include "src/support/error.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

constexpr std::array kChatTemplates{
    ChatTemplate{"plain", "{system}\n\n{user}\n", "{user}\n", "\n\n"},
    ChatTemplate{"chatml",
                 "<|im_start|>system\n{system}<|im_end|>\n<|im_start|>user\n{user}<|im_end|>\n<|im_"
                 "start|>assistant\n",
                 "<|im_start|>user\n{user}<|im_end|>\n<|im_start|>assistant\n", "<|im_end|>\n"},
    ChatTemplate{"llama-2", "[INST] <<SYS>>\n{system}\n<</SYS>>\n\n{user} [/INST]",
                 "[INST] {user} [/INST]", " </s><s>"},
};

/// The same pieces as texts.
struct Texts {
  std::string prefix;
  std::vector<std::string> contexts;
  std::vector<std::vector<std::string>> fields;
  std::string closing;
  std::string turn_opening, turn_closing;
};

/// What stands between an answer and the user's next turn.
std::string between_turns(const ChatTemplate& chat) {
  return str(chat.after_answer, chat.user_only.substr(0, chat.user_only.find("{user}")));
}

Texts make_texts(const Job& job, Form form, const PromptFile& prompt, const ChatTemplate& chat) {
  // The template is rendered with the user slot left open, and cut there.
  constexpr std::string_view kUser = "{user}";
  const std::string_view markup = prompt.system.empty() ? chat.user_only : chat.with_system;
  const size_t user = markup.find(kUser);
  const std::string before =
      replace_all(std::string(markup.substr(0, user)), "{system}", prompt.system);
  const std::string after(markup.substr(user + kUser.size()));

  Texts texts;
  texts.prefix = before;
  if (form == Form::free) texts.turn_opening = before, texts.turn_closing = after;
  const auto answer = prompt.answer.find(form);
  for (const std::string& part :
       {job.instruction, answer == prompt.answer.end() ? std::string() : answer->second})
    if (!part.empty()) texts.prefix += part + "\n\n";
  for (const auto& shot : job.shots)
    texts.prefix +=
        fill(prompt.shot,
             {{"context", shot.context}, {"field", shot.field}, {"answer", shot.answer}},
             prompt.name + ": [shot]") +
        "\n\n";

  for (size_t c = 0; c < job.contexts.size(); ++c) {
    const Context& context = job.contexts[c];
    std::string text =
        fill(prompt.context,
             {{"n", std::to_string(form == Form::json ? c + 1 : 1)}, {"text", context.text}},
             prompt.name + ": [context]");
    texts.contexts.push_back(text.empty() ? text : text + "\n");
    const auto worded = [&](const std::string& wording, const Field& field, const char* section) {
      std::string choices;
      for (size_t i = 0; i < field.choices.size(); ++i)
        choices += str("\n", static_cast<char>('A' + i), ". ", field.choices[i]);
      return fill(wording,
                  {{"name", field.name}, {"question", field.question}, {"choices", choices}},
                  str(prompt.name, ": ", section));
    };
    if (form == Form::json) {
      if (prompt.listed.empty()) continue;
      for (const Field& field : context.fields)
        texts.contexts.back() += worded(prompt.listed, field, "[listed]") + "\n";
      continue;
    }
    auto& fields = texts.fields.emplace_back();
    for (const Field& field : context.fields) {
      const std::string asked = worded(prompt.field, field, "[field]") + after;
      const bool later = job.conversation && !fields.empty();
      fields.push_back(later ? between_turns(chat) + asked : asked);
    }
  }
  if (form == Form::json) texts.closing = after + std::string(kAnswerOpening);
  return texts;
}

void append(Tokens& to, const Tokens& more) { to.insert(to.end(), more.begin(), more.end()); }

}  // namespace

const ChatTemplate& find_chat_template(std::string_view name) {
  std::vector<std::string> known;
  for (const auto& chat : kChatTemplates) {
    if (chat.name == name) return chat;
    known.emplace_back(chat.name);
  }
  throw ConfigError(str("unknown chat template '", name, "'", known_names(name, known)));
}

Tokens Pieces::whole_prompt() const {
  Tokens ids = prefix;
  for (const auto& context : contexts) append(ids, context);
  append(ids, closing);
  return ids;
}

Tokens Pieces::field_prompt(size_t context, size_t field) const {
  Tokens ids = prefix;
  append(ids, contexts[context]);
  append(ids, fields[context][field]);
  return ids;
}

Pieces make_pieces(const Job& job, Form form, const PromptFile& prompt, const ChatTemplate& chat,
                   const Tokenizer& tokenizer) {
  const Texts texts = make_texts(job, form, prompt, chat);
  Pieces pieces;
  bool first = true;  // the first piece that is not empty begins the text
  const auto encode = [&](const std::string& text) {
    if (text.empty()) return Tokens{};
    return tokenizer.encode_piece(text, std::exchange(first, false));
  };
  pieces.prefix = encode(texts.prefix);
  const bool after_prefix = first;
  for (const auto& context : texts.contexts) {
    if (form != Form::json) first = after_prefix;  // each context follows the prefix directly
    pieces.contexts.push_back(encode(context));
    if (form == Form::json) continue;
    auto& fields = pieces.fields.emplace_back();
    const bool after_context = first;
    for (const auto& field : texts.fields[pieces.contexts.size() - 1]) {
      first = after_context && (!job.conversation || fields.empty());
      fields.push_back(encode(field));
    }
  }
  pieces.closing = encode(texts.closing);
  pieces.turn_opening = texts.turn_opening;
  pieces.turn_closing = texts.turn_closing;
  pieces.next_turn = between_turns(chat);
  if (form == Form::json)
    for (const auto& segment : json_skeleton(job.contexts).segments)
      pieces.segments.push_back(encode(segment));
  return pieces;
}

std::string prompt_text(const Job& job, Form form, const PromptFile& prompt,
                        const ChatTemplate& chat) {
  const Texts texts = make_texts(job, form, prompt, chat);
  if (form != Form::json)
    return texts.prefix + texts.contexts.front() + texts.fields.front().front();
  return texts.prefix + join(texts.contexts, "") + texts.closing;
}

}  // namespace pardec
