#include "src/prompt/pieces.hpp"

#include "src/prompt/json_answer.hpp"
#include "src/support/error.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/data.hpp"

using namespace pardec;

namespace {

Job two_products() {
  Job job;
  job.id = "j";
  job.instruction = "Extract.";
  job.shots.push_back({"old title", "Brand", "Acme"});
  for (const char* text : {"Nike Air", "Puma {n} é"})
    job.contexts.push_back({text, "Shoes", text, {{"Brand", "", {}}, {"Color", "", {}}}});
  return job;
}

PromptFile wording() {
  return parse_prompt_file(
      "[system]\nS\n[shot]\n{context}|{field}|{answer}\n[context]\n<p "
      "id=\"{n}\">{text}</p>\n[field]\nAttribute: {name}\n"
      "[answer json]\nJ\n[answer value]\nV\n",
      "w.txt");
}

Tokens joined(std::initializer_list<const Tokens*> parts) {
  Tokens all;
  for (const Tokens* part : parts) all.insert(all.end(), part->begin(), part->end());
  return all;
}

}  // namespace

TEST_CASE("pieces joined are the prompt, in every form and for every tokenizer") {
  const Job job = two_products();
  const PromptFile prompt = wording();
  std::vector<std::filesystem::path> tokenizers{PARDEC_SOURCE_DIR
                                                "/experiments/quickstart/tokenizer.json"};
  if (const auto real = test::data("tokenizers"))
    for (const char* family : {"llama-2", "qwen"})
      tokenizers.push_back(*real / family / "tokenizer.json");
  for (const auto& file : tokenizers)
    for (const char* chat_name : {"plain", "chatml", "llama-2"}) {
      CAPTURE(file, chat_name);
      const Tokenizer tokenizer = Tokenizer::load(file);
      const ChatTemplate& chat = find_chat_template(chat_name);

      const Pieces json = make_pieces(job, Form::json, prompt, chat, tokenizer);
      CHECK(tokenizer.decode(json.whole_prompt(), false) ==
            tokenizer.decode(tokenizer.encode(prompt_text(job, Form::json, prompt, chat), true),
                             false));
      REQUIRE(json.segments.size() == 4);
      const JsonSkeleton skeleton = json_skeleton(job.contexts);
      std::string bytes;
      for (const Token id : json.segments[2]) bytes += tokenizer.bytes(id);
      CHECK(bytes == skeleton.segments[2]);  // no dummy prefix in later pieces

      const Pieces value = make_pieces(job, Form::value, prompt, chat, tokenizer);
      REQUIRE(value.fields.size() == 2);
      CHECK(tokenizer.decode(value.field_prompt(0, 0), false) ==
            tokenizer.decode(tokenizer.encode(prompt_text(job, Form::value, prompt, chat), true),
                             false));
      // Every field prompt is prefix, context, field; nothing of another context.
      CHECK(value.field_prompt(1, 1) ==
            joined({&value.prefix, &value.contexts[1], &value.fields[1][1]}));
    }
}

TEST_CASE("the prompt's text holds the parts in order") {
  const std::string text =
      prompt_text(two_products(), Form::json, wording(), find_chat_template("chatml"));
  CHECK(text ==
        "<|im_start|>system\nS<|im_end|>\n<|im_start|>user\nExtract.\n\nJ\n\nold "
        "title|Brand|Acme\n\n<p id=\"1\">Nike Air</p>\n<p id=\"2\">Puma {n} é</p>\n"
        "<|im_end|>\n<|im_start|>assistant\n<result>");
  CHECK(
      prompt_text(two_products(), Form::value, wording(), find_chat_template("plain")) ==
      "S\n\nExtract.\n\nV\n\nold title|Brand|Acme\n\n<p id=\"1\">Nike Air</p>\nAttribute: Brand\n");
}

TEST_CASE("an unknown chat template is answered with the near ones") {
  CHECK_THROWS_WITH(find_chat_template("chatmll"),
                    "unknown chat template 'chatmll'; did you mean 'chatml'?");
}
