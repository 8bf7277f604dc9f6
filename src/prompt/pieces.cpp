#include "src/prompt/pieces.hpp"

#include "src/prompt/jinja/python_text.hpp"
#include "src/prompt/json_answer.hpp"
#include "src/support/error.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

/// The same pieces as texts.
struct Texts {
  std::string prefix;
  std::vector<std::string> contexts;
  std::vector<std::vector<std::string>> fields;
  std::string closing;
  std::string turn_opening, turn_closing, next_turn;
};

/// Takes white space off the ends of what the user says, where the chat template does.
void strip_words(Texts& texts, const ChatTemplate::Turn& turn, bool conversation) {
  const auto strip = [](std::string& text, bool left) {
    text = jinja::strip_text(text, left, !left);
    return text.empty();
  };
  if (turn.strips_left) {
    const bool no_prefix = strip(texts.prefix, true);
    bool no_context = no_prefix;  // in json form: none so far
    for (size_t c = 0; c < texts.contexts.size(); ++c) {
      if (texts.fields.empty() ? no_context : no_prefix)
        no_context = strip(texts.contexts[c], true);
      for (size_t f = 0; !texts.fields.empty() && f < texts.fields[c].size(); ++f)
        if (no_context || (conversation && f > 0)) strip(texts.fields[c][f], true);
    }
  }
  if (!turn.strips_right) return;
  for (auto& fields : texts.fields)
    for (std::string& field : fields) strip(field, false);
  if (texts.fields.empty() && !texts.contexts.empty()) strip(texts.contexts.back(), false);
}

Texts make_texts(const Job& job, Form form, const PromptFile& prompt, const ChatTemplate& chat) {
  std::vector<ChatMessage> messages;
  if (!prompt.system.empty()) messages.push_back({"system", prompt.system});
  const ChatTemplate::Turn turn = chat.open_turn(messages);

  Texts texts;
  if (form == Form::free) texts.turn_opening = turn.before, texts.turn_closing = turn.after;
  if (form == Form::free || job.conversation) texts.next_turn = chat.between_turns(messages);
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
      return fill(wording,
                  {{"name", field.name},
                   {"question", field.question},
                   {"choices", lettered(field.choices)}},
                  str(prompt.name, ": ", section));
    };
    if (form == Form::json) {
      if (prompt.listed.empty()) continue;
      for (const Field& field : context.fields)
        texts.contexts.back() += worded(prompt.listed, field, "[listed]") + "\n";
      continue;
    }
    auto& fields = texts.fields.emplace_back();
    for (const Field& field : context.fields)
      fields.push_back(worded(prompt.field, field, "[field]"));
  }
  strip_words(texts, turn, job.conversation);
  texts.prefix = turn.before + texts.prefix;
  for (auto& fields : texts.fields)
    for (size_t f = 0; f < fields.size(); ++f)
      fields[f] = (job.conversation && f > 0 ? texts.next_turn : "") + fields[f] + turn.after;
  if (form == Form::json) texts.closing = turn.after + std::string(kAnswerOpening);
  return texts;
}

void append(Tokens& to, const Tokens& more) { to.insert(to.end(), more.begin(), more.end()); }

}  // namespace

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
    return tokenizer.encode_piece(text, std::exchange(first, false), !chat.has_special_tokens());
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
  pieces.next_turn = texts.next_turn;
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
