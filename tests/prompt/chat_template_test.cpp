#include "src/prompt/chat_template.hpp"

#include <filesystem>

#include "src/prompt/pieces.hpp"
#include "src/support/error.hpp"
#include "src/support/files.hpp"
#include "tests/support/catch.hpp"

using namespace pardec;

namespace {

const std::vector<ChatMessage> kTalk{
    {"system", "Be brief."}, {"user", "Hi"}, {"assistant", "Yo"}, {"user", "Bye"}};

/// An empty folder that is removed after the test.
struct Folder {
  std::filesystem::path path = std::filesystem::temp_directory_path() / "pardec_chat_template_test";
  Folder() {
    std::filesystem::remove_all(path);
    std::filesystem::create_directories(path);
  }
  ~Folder() { std::filesystem::remove_all(path); }
  void write(const char* name, const std::string& text) const { write_file(path / name, text); }
};

}  // namespace

TEST_CASE("the built-in templates write what their models were trained on") {
  const std::pair<const char*, const char*> cases[] = {
      {"plain", "Be brief.\n\nHi\nYo\n\nBye\n"},
      {"chatml",
       "<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\nHi<|im_end|>\n"
       "<|im_start|>assistant\nYo<|im_end|>\n<|im_start|>user\nBye<|im_end|>\n"
       "<|im_start|>assistant\n"},
      {"bare", "Be brief.\n\nHi\n\nYo\n\nBye"},
      {"llama-2", "[INST] <<SYS>>\nBe brief.\n<</SYS>>\n\nHi [/INST] Yo </s><s>[INST] Bye [/INST]"},
      {"llama-3",
       "<|start_header_id|>system<|end_header_id|>\n\nBe brief.<|eot_id|>"
       "<|start_header_id|>user<|end_header_id|>\n\nHi<|eot_id|>"
       "<|start_header_id|>assistant<|end_header_id|>\n\nYo<|eot_id|>"
       "<|start_header_id|>user<|end_header_id|>\n\nBye<|eot_id|>"
       "<|start_header_id|>assistant<|end_header_id|>\n\n"},
      {"phi-4",
       "<|im_start|>system<|im_sep|>Be brief.<|im_end|><|im_start|>user<|im_sep|>Hi<|im_end|>"
       "<|im_start|>assistant<|im_sep|>Yo<|im_end|><|im_start|>user<|im_sep|>Bye<|im_end|>"
       "<|im_start|>assistant<|im_sep|>"},
      {"vicuna", "Be brief. USER: Hi ASSISTANT: Yo</s>USER: Bye ASSISTANT:"},
  };
  CHECK(std::size(cases) == chat_template_names().size());
  for (const auto& [name, text] : cases) {
    CAPTURE(name);
    CHECK(find_chat_template(name).render(kTalk, true) == text);
  }
  CHECK(find_chat_template("vicuna").render({{"user", "Hi"}}, true) ==
        "A chat between a curious user and an artificial intelligence assistant. The assistant "
        "gives helpful, detailed, and polite answers to the user's questions. USER: Hi ASSISTANT:");
  CHECK(find_chat_template("llama-2").render({{"user", "Hi"}}, true) == "[INST] Hi [/INST]");
  CHECK(find_chat_template("chatml").render({{"user", "Hi"}, {"assistant", "Yo"}}, false) ==
        "<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\nYo<|im_end|>\n");
}

TEST_CASE("a checkpoint's own template is found where transformers finds it") {
  const Folder folder;
  CHECK(choose_chat_template("auto", folder.path).name() == "plain");
  folder.write("tokenizer_config.json", R"({"chat_template": [
      {"name": "tool_use", "template": "T"},
      {"name": "default", "template": "{{ bos_token }}{{ messages[0].content }}{{ eos_token }}{{ mood }}"}],
      "bos_token": {"content": "<b>", "lstrip": false}, "eos_token": "<e>", "pad_token": null})");
  const ChatTemplate own = choose_chat_template("auto", folder.path, {"mood=calm"});
  CHECK(own.name() == "checkpoint");
  CHECK(own.has_special_tokens());
  CHECK(own.render({{"user", "Hi"}}, true) == "<b>Hi<e>calm");
  folder.write("chat_template.jinja", "{{ mood is false }} {{ strftime_now('%Y-%m-%d') }}");
  CHECK(choose_chat_template("auto", folder.path, {"mood=false"}).render({}, true) ==
        "True 2024-07-26");
  CHECK(choose_chat_template("chatml", folder.path).name() == "chatml");
}

TEST_CASE("unusable templates are reported with their file") {
  const Folder folder;
  CHECK_THROWS_WITH(choose_chat_template("auto", folder.path, {"mood=calm"}),
                    Catch::Contains("has no chat template of its own"));
  CHECK_THROWS_WITH(choose_chat_template("chatml", folder.path, {"mood=calm"}),
                    Catch::Contains("but `chat_template` is 'chatml'"));
  CHECK_THROWS_WITH(choose_chat_template("auto", folder.path, {"mood"}),
                    Catch::Contains("expected KEY=VALUE"));
  folder.write("tokenizer_config.json", R"({"chat_template": "a\n{% extends 'b' %}"})");
  CHECK_THROWS_WITH(choose_chat_template("auto", folder.path),
                    Catch::Contains("tokenizer_config.json, chat_template, line 2: {% extends %}"));
  folder.write("tokenizer_config.json", R"({"chat_template": [{"name": "rag", "template": "x"}]})");
  CHECK_THROWS_WITH(
      choose_chat_template("auto", folder.path),
      Catch::Contains("that is the default; `chat_template` takes checkpoint:rag, or"));
  folder.write("chat_template.jinja", "{{ messages[0].content | upper }}");
  CHECK_THROWS_WITH(choose_chat_template("auto", folder.path).open_turn({}),
                    Catch::Contains("shows a turn's words never, expected once"));
}

TEST_CASE(
    "pieces equal the checkpoint's own rendering of the whole, also if it strips white space") {
  Job job;
  job.instruction = "  Extract.";
  job.contexts = {{"a", "", "One", {{"Brand", "", {}}}}, {"b", "", "Two", {{"Brand", "", {}}}}};
  PromptFile prompt = parse_prompt_file(
      "[system]\nS \n[context]\n<{text}>\n[field]\n{name}?  \n[answer json]\nJ\n", "w.txt");
  const Tokenizer tokenizer =
      Tokenizer::load(PARDEC_SOURCE_DIR "/experiments/quickstart/tokenizer.json");
  const Folder folder;
  for (const char* markup :
       {"[{{ m.role }}]{{ m.content }}/", "[{{ m.role }}]{{ m.content | trim }}/",
        "[{{ m.role }}]{{ m.content.rstrip() }}/"}) {
    CAPTURE(markup);
    folder.write("chat_template.jinja",
                 std::string("{% for m in messages %}") + markup +
                     "{% endfor %}{% if add_generation_prompt %}[a]{% endif %}");
    const ChatTemplate chat = choose_chat_template("auto", folder.path);
    const auto rendered = [&](const std::string& words) {
      return chat.render({{"system", prompt.system}, {"user", words}}, true);
    };
    CHECK(prompt_text(job, Form::json, prompt, chat) ==
          rendered("  Extract.\n\nJ\n\n<One>\n<Two>\n") + "<result>");
    CHECK(prompt_text(job, Form::value, prompt, chat) == rendered("  Extract.\n\n<One>\nBrand?  "));
    const Pieces pieces = make_pieces(job, Form::value, prompt, chat, tokenizer);
    CHECK(tokenizer.decode(pieces.field_prompt(0, 0), false) ==
          prompt_text(job, Form::value, prompt, chat));  // not a token of the tokenizer itself
    CHECK(tokenizer.decode(pieces.field_prompt(1, 0), false) ==
          rendered("  Extract.\n\n<Two>\nBrand?  "));
  }
}
