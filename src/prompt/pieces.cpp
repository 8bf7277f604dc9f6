#include "src/prompt/pieces.hpp"

#include <algorithm>

#include "src/prompt/json_answer.hpp"
#include "src/support/error.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

/// A job's prompts as texts.
struct Texts {
  /// The user's content: prefix, one context, one of its fields; in json form all contexts.
  std::string prefix;
  std::vector<std::string> contexts;
  std::vector<std::vector<std::string>> fields;
  std::vector<ChatMessage> messages;  ///< messages before the user's content
  std::string before;                 ///< markup before the user's content

  /// The messages of one field's prompt, or of a json answer's.
  std::vector<ChatMessage> said(size_t context, size_t field) const {
    std::vector<ChatMessage> all = messages;
    all.push_back({"user", prefix + (fields.empty() ? join(contexts, "")
                                                    : contexts[context] + fields[context][field])});
    return all;
  }
  /// The same prompt as rendered by the chat template.
  std::string whole(const ChatTemplate& chat, size_t context, size_t field) const {
    return chat.render(said(context, field), true) +
           (fields.empty() ? std::string(kAnswerOpening) : "");
  }
};

/// The user's content for a worked example, shown before an open prompt.
std::string asked_in(const Shot& shot, const PromptFile& prompt) {
  const std::string context =
      fill(prompt.context, {{"n", "1"}, {"text", shot.context}}, prompt.name + ": [context]");
  return str(
      context, context.empty() ? "" : "\n",
      fill(prompt.field, slots_of(Field{"answer", shot.field, {}}, 1), prompt.name + ": [field]"));
}

/// Without `before`.
Texts make_texts(const Job& job, Form form, const PromptFile& prompt) {
  Texts texts;
  if (job.system || !prompt.system.empty())
    texts.messages.push_back({"system", job.system.value_or(prompt.system)});
  if (form == Form::free)  // as earlier turns of the conversation
    for (const Shot& shot : job.shots) {
      texts.messages.push_back({"user", asked_in(shot, prompt)});
      texts.messages.push_back({"assistant", shot.answer});
    }
  if (form == Form::json)
    for (const WorkedAnswer& worked : job.worked) {
      texts.messages.push_back({"user", worked.asked});
      texts.messages.push_back({"assistant", worked.answer});
    }
  const auto answer = prompt.answer.find(form);
  for (const std::string& part :
       {job.instruction, answer == prompt.answer.end() ? std::string() : answer->second})
    if (!part.empty()) texts.prefix += part + "\n\n";
  if (form != Form::free && !job.shots.empty() && prompt.shot.empty())
    throw ConfigError(str("prompt ", prompt.name, " has no [shot] section for the ",
                          job.shots.size(), " worked examples of job ", job.id,
                          "; expected one, or no 'shots'"));
  for (const auto& shot : form == Form::free ? std::vector<Shot>{} : job.shots) {
    const std::string worded = fill(
        prompt.shot, {{"context", shot.context}, {"field", shot.field}, {"answer", shot.answer}},
        prompt.name + ": [shot]");
    // without a context, the line break after the context is at the beginning
    texts.prefix += (shot.context.empty() ? std::string(strip(worded)) : worded) + "\n\n";
  }

  for (size_t c = 0; c < job.contexts.size(); ++c) {
    const Context& context = job.contexts[c];
    std::string text =
        fill(prompt.context,
             {{"n", std::to_string(form == Form::json ? c + 1 : 1)}, {"text", context.text}},
             prompt.name + ": [context]");
    texts.contexts.push_back(text.empty() ? text : text + "\n");
    const auto worded = [&](const std::string& wording, size_t f, const char* section) {
      return fill(wording, slots_of(context.fields[f], f + 1), str(prompt.name, ": ", section));
    };
    if (form == Form::json) {
      if (prompt.listed.empty()) continue;
      for (size_t f = 0; f < context.fields.size(); ++f)
        texts.contexts.back() += worded(prompt.listed, f, "[listed]") + "\n";
      continue;
    }
    auto& fields = texts.fields.emplace_back();
    for (size_t f = 0; f < context.fields.size(); ++f)
      fields.push_back(worded(prompt.field, f, "[field]"));
  }
  return texts;
}

void append(Tokens& to, const Tokens& more) { to.insert(to.end(), more.begin(), more.end()); }

Tokens part(const Tokens& ids, size_t begin, size_t end) {
  return {ids.begin() + static_cast<std::ptrdiff_t>(begin),
          ids.begin() + static_cast<std::ptrdiff_t>(end)};
}

}  // namespace

size_t common(const Tokens& a, const Tokens& b) {
  return static_cast<size_t>(std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first -
                             a.begin());
}

Tokens Pieces::whole_prompt() const {
  Tokens ids = prefix;
  append(ids, rest);
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
  Texts texts = make_texts(job, form, prompt);
  texts.before = chat.open_turn(texts.messages).before;
  Pieces pieces;
  pieces.adds_special = !chat.has_special_tokens();
  pieces.lettered = shows_choices(prompt);
  const auto ids_of = [&](const std::string& text) {
    return tokenizer.encode_piece(text, true, pieces.adds_special);
  };
  const std::string before = texts.before + texts.prefix;
  const Tokens prefix = before.empty() ? Tokens{} : ids_of(before);

  if (form == Form::json) {
    const Tokens whole = ids_of(texts.whole(chat, 0, 0));
    const size_t p = common(prefix, whole);
    pieces.prefix = part(whole, 0, p);
    pieces.rest = part(whole, p, whole.size());
    for (const auto& segment : json_skeleton(job.contexts).segments)
      pieces.segments.push_back(tokenizer.encode_piece(segment, false));
    return pieces;
  }

  std::vector<std::vector<Tokens>> whole(texts.contexts.size());  // [context][field]
  size_t p = prefix.size();
  for (size_t c = 0; c < texts.contexts.size(); ++c)
    for (size_t f = 0; f < (job.conversation ? 1 : texts.fields[c].size()); ++f) {
      whole[c].push_back(ids_of(texts.whole(chat, c, f)));
      p = std::min(p, common(prefix, whole[c].back()));
    }
  pieces.prefix = part(prefix, 0, p);
  for (size_t c = 0; c < texts.contexts.size(); ++c) {
    const Tokens behind = texts.contexts[c].empty() ? Tokens{} : ids_of(before + texts.contexts[c]);
    size_t end = behind.size();
    for (const Tokens& ids : whole[c]) end = std::min(end, common(behind, ids));
    end = std::max(p, end);  // an empty or fully absorbed context ends where the prefix ends
    pieces.contexts.push_back(end > p ? part(behind, p, end) : Tokens{});
    auto& fields = pieces.fields.emplace_back();
    for (const Tokens& ids : whole[c]) fields.push_back(part(ids, end, ids.size()));
  }
  if (form == Form::free) {
    pieces.turn_opening = texts.before;
    pieces.turn_closing = chat.open_turn(texts.messages).after;
    if (job.conversation) pieces.next_turn = chat.between_turns(texts.messages);
  }
  if (!job.conversation) return pieces;
  pieces.turns.push_back(texts.whole(chat, 0, 0));
  for (size_t f = 1; f < texts.fields[0].size(); ++f) {
    pieces.turns.push_back(chat.next_turn(texts.messages, texts.fields[0][f]));
    pieces.fields[0].push_back(tokenizer.encode_piece(pieces.turns[f], false));
  }
  return pieces;
}

int turns_off_text(const Pieces& pieces, const std::vector<Spoken>& answers,
                   const Tokenizer& tokenizer) {
  if (pieces.turns.empty()) return 0;
  int off = 0;
  Tokens said = pieces.field_prompt(0, 0);
  std::string text = pieces.turns[0];
  for (size_t turn = 1; turn < std::min(pieces.turns.size(), answers.size() + 1); ++turn) {
    append(said, answers.at(turn - 1).ids);
    append(said, pieces.fields[0][turn]);
    text += answers[turn - 1].text + pieces.turns[turn];
    off += tokenizer.encode_piece(text, true, pieces.adds_special) != said;
  }
  return off;
}

std::vector<PromptWords> make_words(const Job& job, Form form, const PromptFile& prompt,
                                    const ChatTemplate& chat) {
  const Texts texts = make_texts(job, form, prompt);
  if (form == Form::json) return {{texts.said(0, 0), texts.whole(chat, 0, 0)}};
  std::vector<PromptWords> words;
  for (size_t c = 0; c < texts.contexts.size(); ++c)
    for (size_t f = 0; f < texts.fields[c].size(); ++f)
      if (f == 0 || !job.conversation)
        words.push_back({texts.said(c, f), texts.whole(chat, c, f)});
      else
        words.push_back(
            {{{"user", texts.fields[c][f]}}, chat.next_turn(texts.messages, texts.fields[c][f])});
  return words;
}

std::string user_content(const Job& job, const PromptFile& prompt) {
  return make_texts(job, Form::json, prompt).said(0, 0).back().content;
}

std::string prompt_text(const Job& job, Form form, const PromptFile& prompt,
                        const ChatTemplate& chat) {
  return make_texts(job, form, prompt).whole(chat, 0, 0);
}

}  // namespace pardec
