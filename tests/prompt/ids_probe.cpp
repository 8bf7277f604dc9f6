// Gives ids to ids_oracle.py: one JSON object on each line of stdin, one on each line of stdout.
//   {"chat": name}                   {"template": text of the built-in template}
//   {"tokenizer": file, "folder": checkpoint, "chat": name, "system": text, "turns": [text ...],
//    "answers": [text ...]}          {"ids": [the ids computed before the first answer, before the
//                                    second ...], "off": turns reported to differ from their text}
#include <iostream>
#include <map>

#include "src/prompt/pieces.hpp"
#include "src/support/error.hpp"

using namespace pardec;

namespace {

Json conversation(const Json& asked, const Tokenizer& tokenizer, const ChatTemplate& chat) {
  PromptFile prompt;
  prompt.field = "{question}";
  prompt.system = asked.at("system");
  Job job;
  job.contexts.emplace_back();
  for (const std::string turn : asked.at("turns")) job.contexts[0].fields.push_back({"", turn, {}});
  job.conversation = asked.at("turns").size() > 1;
  const Pieces pieces = make_pieces(job, Form::free, prompt, chat, tokenizer);

  Tokens said = pieces.field_prompt(0, 0);
  Json ids = Json::array({said});
  std::vector<Spoken> answers;
  const auto add = [&](const Tokens& more) { said.insert(said.end(), more.begin(), more.end()); };
  for (size_t turn = 1; turn < asked.at("turns").size(); ++turn) {
    const std::string text = asked.at("answers")[turn - 1];
    answers.push_back({tokenizer.encode_piece(text, false), text});
    add(answers.back().ids);
    add(pieces.fields[0][turn]);
    ids.push_back(said);
  }
  return {{"ids", ids}, {"off", turns_off_text(pieces, answers, tokenizer)}};
}

}  // namespace

int main() {
  std::map<std::string, Tokenizer> tokenizers;
  std::map<std::string, ChatTemplate> chats;  // the choice reads all files of a checkpoint
  for (std::string line; std::getline(std::cin, line);) {
    Json answer;
    try {
      const Json asked = Json::parse(line);
      if (!asked.contains("turns")) {
        answer["template"] = find_chat_template(asked.at("chat").get<std::string>()).text();
      } else {
        const std::string file = asked.at("tokenizer");
        auto found = tokenizers.find(file);
        if (found == tokenizers.end())
          found = tokenizers.emplace(file, Tokenizer::load(file)).first;
        const std::string name = asked.at("chat"), folder = asked.at("folder");
        auto chat = chats.find(name + " " + folder);
        if (chat == chats.end())
          chat = chats.emplace(name + " " + folder, choose_chat_template(name, folder)).first;
        answer = conversation(asked, found->second, chat->second);
      }
    } catch (const Error& error) {
      answer["error"] = error.what();
    }
    std::cout << answer.dump() << "\n";
  }
}
