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

TEST_CASE("pieces joined are the ids of the prompt as one text, for every tokenizer") {
  Job job = two_products();
  job.worked.push_back({"an earlier é question", "<result>\n{}\n</result>"});
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
      const ChatTemplate chat = find_chat_template(chat_name);

      const Pieces json = make_pieces(job, Form::json, prompt, chat, tokenizer);
      CHECK(json.whole_prompt() ==
            tokenizer.encode(prompt_text(job, Form::json, prompt, chat), true));
      REQUIRE(json.segments.size() == 4);
      const JsonSkeleton skeleton = json_skeleton(job.contexts);
      std::string bytes;
      for (const Token id : json.segments[2]) bytes += tokenizer.bytes(id);
      CHECK(bytes == skeleton.segments[2]);  // no dummy prefix in later pieces

      const Pieces value = make_pieces(job, Form::value, prompt, chat, tokenizer);
      REQUIRE(value.fields.size() == 2);
      CHECK(value.field_prompt(0, 0) ==
            tokenizer.encode(prompt_text(job, Form::value, prompt, chat), true));
      Job other = job;  // only the other product
      other.contexts.erase(other.contexts.begin());
      CHECK(value.field_prompt(1, 0) ==
            tokenizer.encode(prompt_text(other, Form::value, prompt, chat), true));
      // Text that is asked alone begins with the ids that many prompts share.
      CHECK(make_pieces(other, Form::value, prompt, chat, tokenizer).prefix == value.prefix);
      CHECK(value.prefix.size() + 10 > tokenizer.encode("S\n\nExtract.\n\nV", true).size());
      // Every field prompt is prefix, context, field, and has nothing of another context.
      CHECK(value.field_prompt(1, 1) ==
            joined({&value.prefix, &value.contexts[1], &value.fields[1][1]}));
    }
}

TEST_CASE("a token that reaches over a border belongs to the piece after it") {
  // Line breaks and ">" are one token here, so that a context and the text after it share some.
  const Tokenizer tokenizer =
      Tokenizer::load(PARDEC_SOURCE_DIR "/experiments/quickstart/tokenizer.json");
  const PromptFile prompt = parse_prompt_file("[context]\n{text}>\n[field]\n{question}\n", "w");
  Job job;
  job.contexts.push_back({"a", "", "One", {{"", "\nWho?", {}}, {"", "What?", {}}}});
  job.contexts.push_back({"b", "", "Two", {{"", "\n\nWho?", {}}}});
  for (const char* name : {"plain", "chatml"}) {
    const ChatTemplate chat = find_chat_template(name);
    const Pieces pieces = make_pieces(job, Form::value, prompt, chat, tokenizer);
    for (size_t c = 0; c < 2; ++c)
      for (size_t f = 0; f < job.contexts[c].fields.size(); ++f) {
        Job alone = job;
        alone.contexts = {job.contexts[c]};
        alone.contexts[0].fields = {job.contexts[c].fields[f]};
        CHECK(pieces.field_prompt(c, f) ==
              tokenizer.encode(prompt_text(alone, Form::value, prompt, chat), true));
      }
    CHECK(tokenizer.decode(pieces.contexts[0], false) == "One");  // ">\n\n" is one token
    CHECK_FALSE(pieces.fields[0][0] == pieces.fields[0][1]);
  }
}

TEST_CASE("the prompt's text has the parts in order") {
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

TEST_CASE("worked examples of whole answers are earlier turns of JSON prompts only") {
  Job job = two_products();
  job.shots.clear();
  const auto text = [&](Form form) {
    return prompt_text(job, form, wording(), find_chat_template("chatml"));
  };
  const std::string without = text(Form::json), value = text(Form::value);
  job.worked = {{"Q1", "A1"}, {"Q2", "A2"}};
  const std::string turns =
      "<|im_start|>user\nQ1<|im_end|>\n<|im_start|>assistant\nA1<|im_end|>\n"
      "<|im_start|>user\nQ2<|im_end|>\n<|im_start|>assistant\nA2<|im_end|>\n";
  const std::size_t at = without.find("<|im_start|>user");
  CHECK(text(Form::json) == without.substr(0, at) + turns + without.substr(at));
  CHECK(text(Form::value) == value);
  CHECK(user_content(job, wording()) ==
        "Extract.\n\nJ\n\n<p id=\"1\">Nike Air</p>\n<p id=\"2\">Puma {n} é</p>\n");
}

TEST_CASE("an unknown chat template is answered with similar names") {
  CHECK_THROWS_WITH(find_chat_template("chatmll"),
                    "unknown chat template 'chatmll'; did you mean 'chatml'?");
}

TEST_CASE("if all fields are asked at once, each is listed with its context") {
  Job job;
  job.contexts.push_back({"a", "", "Text.", {{"q1", "Who?", {}}, {"q2", "What?", {"x", "y"}}}});
  const PromptFile prompt = parse_prompt_file(
      "[context]\n<{n}>{text}\n[listed]\n{name}: "
      "{question}{choices}\n[field]\n{question}{choices}\n",
      "w.txt");
  const ChatTemplate plain = find_chat_template("plain");
  CHECK(prompt_text(job, Form::json, prompt, plain) ==
        "<1>Text.\nq1: Who?\nq2: What?\nA. x\nB. y\n\n<result>");
  job.contexts[0].fields.erase(job.contexts[0].fields.begin());
  CHECK(prompt_text(job, Form::value, prompt, plain) == "<1>Text.\nWhat?\nA. x\nB. y\n");
}

TEST_CASE("later turns of a conversation begin after an answer") {
  Job job;
  job.conversation = true;
  job.contexts.push_back({"a", "", "", {{"1", "Hi.", {}}, {"2", "Why?", {}}}});
  const PromptFile prompt = parse_prompt_file("[context]\n{text}\n[field]\n{question}\n", "w.txt");
  const Tokenizer tokenizer =
      Tokenizer::load(PARDEC_SOURCE_DIR "/experiments/quickstart/tokenizer.json");
  const auto texts = [&](const char* chat) {
    const Pieces pieces = make_pieces(job, Form::free, prompt, find_chat_template(chat), tokenizer);
    return std::vector<std::string>{tokenizer.decode(pieces.field_prompt(0, 0), false),
                                    tokenizer.decode(pieces.fields[0][1], false)};
  };
  CHECK(texts("plain") == std::vector<std::string>{"Hi.\n", "\n\nWhy?\n"});
  CHECK(texts("llama-2") ==
        std::vector<std::string>{"[INST] Hi. [/INST]", " </s><s>[INST] Why? [/INST]"});
  CHECK(texts("chatml")[1] ==
        "<|im_end|>\n<|im_start|>user\nWhy?<|im_end|>\n<|im_start|>assistant\n");
}
