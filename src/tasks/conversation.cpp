#include "src/tasks/conversation.hpp"

#include "src/support/number_text.hpp"
#include "src/support/rng.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

/// The text of an answer after its thought.
std::string said_text(const FieldResult& answer) {
  const std::string text = answer.text.value_or("");
  if (!answer.thought) return text;
  return std::string(after_thought(text, {answer.thought->text_bytes, answer.thought->open}));
}

/// The ids of a turn's answer in later prompts: the generated ones if they decode to its text, or
/// if the turn's prompt `opened` a thought, which must end.
Tokens spoken(const FieldResult& answer, bool opened, const Tokenizer* tokenizer) {
  Tokens tokens = answer.tokens;
  if (answer.stop == Stop::eos && !tokens.empty()) tokens.pop_back();
  const std::string text = said_text(answer);
  // As in templates, later turns are asked without the thoughts of earlier turns.
  if (tokenizer && answer.thought && answer.thought->text_bytes > 0)
    return opened ? tokens : tokenizer->encode_piece(text, false);
  if (!tokenizer || repair_utf8(bytes_of(tokens, *tokenizer)) == text) return tokens;
  return tokenizer->encode_piece(text, false);
}

/// Adds a turn's own words to those said before.
void add_words(PromptWords& said, const PromptWords& turn) {
  said.messages.insert(said.messages.end(), turn.messages.begin(), turn.messages.end());
  said.text += turn.text;
}

/// One turn of a conversation as a separate request, after `said`.
Request turn_request(const Request& request, size_t turn, Tokens said) {
  Request one = request;
  const auto& fields = request.job.contexts[0].fields;
  one.job.conversation = false;
  one.job.id = str(request.job.id, "/turn-", turn + 1);
  one.job.seed = derive_seed(request.job.seed, one.job.id);
  one.job.contexts[0].fields = {fields[turn]};
  one.pieces.fields = {{request.pieces.fields[0][turn]}};
  if (turn > 0) {
    one.job.instruction.clear();
    one.job.contexts[0].text.clear();
    one.pieces.said = said;
    one.pieces.turn_opening = request.pieces.next_turn;
    one.pieces.prefix = std::move(said);
    one.pieces.contexts = {Tokens{}};
  }
  if (request.oracle) one.oracle = Oracle{{request.oracle->streams.at(turn)}, {}};
  return one;
}

Task<Answers> decode_conversation(const Decoder& decoder, const Request& request,
                                  const DecoderContext& context) {
  Answers answers;
  answers.fields.emplace_back();
  answers.parsed = {true};
  Tokens said;
  PromptWords words;
  for (size_t turn = 0; turn < request.pieces.fields[0].size(); ++turn) {
    if (turn > 0 && context.interrupted()) break;
    Request one = turn_request(request, turn, std::move(said));
    if (!request.words.empty()) {
      add_words(words, request.words[turn]);
      one.words = {words};
    }
    const std::string before = answers.text + (turn > 0 ? "\n\n" : "");
    if (request.reader)
      one.reader = [&](std::string_view text) { request.reader(str(before, text)); };
    Answers answer = co_await decoder.decode(one, context);
    FieldResult& field = answer.fields[0][0];
    said = one.pieces.field_prompt(0, 0);
    const Tokens ids = spoken(field, request.thinking.opened, context.tokenizer);
    said.insert(said.end(), ids.begin(), ids.end());
    const std::string spoke = said_text(field);
    add_words(words, {{{"assistant", spoke}}, spoke});
    answers.text = before + answer.text;
    answers.stop = answer.stop;
    if (turn == 0)
      answers.counters = answer.counters;
    else
      answers.counters.add_after(answer.counters);
    answers.turns.push_back(std::move(answer.counters));
    answers.fields[0].push_back(std::move(field));
  }
  co_return answers;
}

}  // namespace

Task<Answers> decode_request(const Decoder& decoder, const Request& request,
                             const DecoderContext& context) {
  return request.job.conversation ? decode_conversation(decoder, request, context)
                                  : decoder.decode(request, context);
}

int turns_off_text(const Request& request, const Answers& answers, const Tokenizer& tokenizer) {
  if (!request.job.conversation) return 0;
  std::vector<Spoken> said;
  for (const FieldResult& answer : answers.fields[0])
    said.push_back({spoken(answer, request.thinking.opened, &tokenizer),
                    request.thinking.opened ? answer.text.value_or("") : said_text(answer)});
  return turns_off_text(request.pieces, said, tokenizer);
}

std::string describe_turns_off(std::int64_t turns) {
  return str("prompts: ", counted(turns, "later turn"),
             " asked after other ids than those of the conversation tokenized as one text: an "
             "answer keeps its generated ids");
}

}  // namespace pardec
