// Loaders of open prompts and conversations, of products, and of the user's own JSON lines.
#include <string>

#include "datasets/sharegpt.hpp"
#include "src/support/error.hpp"
#include "src/support/text.hpp"
#include "tests/datasets/files.hpp"

using namespace pardec;
using namespace pardec::test;

TEST_CASE("mt-bench: turns are the fields of a conversation", "[datasets]") {
  const std::string questions =
      R"({"question_id":81,"category":"c","turns":["one","two"]})"
      "\n"
      R"({"question_id":82,"category":"c","turns":["three","four"],"reference":["","r4"]})"
      "\n";
  const DataFolder files({{"question.jsonl", questions}});
  const Dataset dataset = files.load("mt-bench");
  CHECK(dataset.shape == Shape::open);
  REQUIRE(dataset.examples.size() == 2);
  const Example& first = dataset.examples[0];
  CHECK(first.id == "81");
  CHECK(first.conversation);
  CHECK(first.text.empty());
  CHECK(names(first) == Texts{"turn 1", "turn 2"});
  CHECK(first.fields[1].question == "two");
  CHECK_FALSE(first.fields[0].annotated);
  CHECK_FALSE(dataset.examples[1].fields[0].annotated);
  CHECK(dataset.examples[1].fields[1].references == Texts{"r4"});
  CHECK(first.cluster != dataset.examples[1].cluster);

  const auto answer = [](const std::string& id, const std::string& turns) {
    return R"({"question_id":)" + id + R"(,"choices":[{"index":0,"turns":)" + turns + "}]}\n";
  };
  for (const char* file : {"reference_answer/gpt-4.jsonl", "reference_answer.jsonl"}) {
    files.write(file, answer("81", R"(["a1","a2"])"));
    CHECK(files.load("mt-bench").examples[0].fields[1].references == Texts{"a2"});
    CHECK(files.load("mt-bench").examples[0].fields[1].annotated);
  }
  files.write("reference_answer.jsonl", answer("83", R"(["a1","a2"])"));
  files.check_fault("mt-bench", "reference_answer.jsonl:1: answers question 83");
  files.write("reference_answer.jsonl", answer("81", R"(["a1"])"));
  files.check_fault("mt-bench", "answers 1 turn of question 81, which has 2");
  std::filesystem::remove(files.path() / "reference_answer.jsonl");
  std::filesystem::remove(files.path() / "reference_answer/gpt-4.jsonl");
  files.write("question.jsonl", questions + questions);
  files.check_fault("mt-bench", "id '81' occurs twice");
  files.write("question.jsonl", R"({"question_id":"81","category":"c","turns":["one"]})");
  files.check_fault("mt-bench", "question.jsonl:1: 'question_id' is string");
}

TEST_CASE("vicuna-bench: one turn is no conversation", "[datasets]") {
  const DataFolder files(
      DataFolder::Files{{"question.jsonl", R"({"question_id":1,"category":"c","turns":["one"]})"}});
  const Dataset dataset = files.load("vicuna-bench");
  CHECK(names(dataset.examples[0]) == Texts{"answer"});
  CHECK_FALSE(dataset.examples[0].conversation);
}

TEST_CASE("humaneval-x: the text is the function's head, and the field has its test",
          "[datasets]") {
  const std::string record =
      R"({"task_id":"Python/7","prompt":"def f():\n","canonical_solution":"    return 1\n","test":"assert f() == 1\n"})";
  for (const char* file :
       {"python.jsonl", "humaneval_python.jsonl", "python/data/humaneval_python.jsonl"}) {
    const Example example =
        DataFolder(DataFolder::Files{{file, record}}).load("humaneval-x").examples.at(0);
    CHECK(example.id == "python-7");
    CHECK(example.text == "def f():\n");
    CHECK(example.fields[0].references == Texts{"    return 1\n"});
    CHECK(example.fields[0].test == "assert f() == 1\n");
  }
  DataFolder({{"python.jsonl", replace_all(record, "Python/", "CPP/")}})
      .check_fault("humaneval-x", "'task_id' is 'CPP/7', expected Python/N");
}

TEST_CASE("xsum: the authors' sections, or JSON lines", "[datasets]") {
  const std::string list = "XSum-TRAINING-DEV-TEST-SPLIT-90-5-5.json";
  const std::string article =
      "[SN]URL[SN]\nu\n\n[SN]TITLE[SN]\nt\n\n[SN]FIRST-SENTENCE[SN]\nfirst.\n\n[SN]RESTBODY[SN]\na."
      "\nb.\n";
  const DataFolder files({{list, R"({"train":[],"validation":[],"test":["7"]})"},
                          {"bbc-summary-data/7.summary", replace_all(article, "\n", "\r\n")}});
  const Example example = files.load("xsum").examples.at(0);
  CHECK(example.id == "7");
  CHECK(example.text == "a.\nb.");
  CHECK(example.fields[0].references == Texts{"first."});
  files.write("bbc-summary-data/7.summary",
              "[SN]URL[SN]\nu\n[SN]FIRST-SENTENCE[SN]\n[SN]RESTBODY[SN]\na\n");
  files.check_fault("xsum", "7.summary: has no text after [SN]FIRST-SENTENCE[SN]");
  std::filesystem::remove(files.path() / "bbc-summary-data/7.summary");
  files.check_fault("xsum", "7.summary");

  const DataFolder lines(
      DataFolder::Files{{"test.jsonl", R"({"document":"d","summary":"s","id":"9"})"}});
  CHECK(lines.load("xsum").examples[0].text == "d");
  CHECK(lines.load("xsum").examples[0].id == "9");
}

TEST_CASE("cip and math500: one prompt, one reference", "[datasets]") {
  const Example cip =
      DataFolder(DataFolder::Files{{"test.jsonl", R"({"prompt":"p","response":"r"})"}})
          .load("cip")
          .examples.at(0);
  CHECK(cip.fields[0].question == "p");
  CHECK(cip.fields[0].references == Texts{"r"});
  const std::string record =
      R"({"problem":"p","solution":"s","answer":"\\frac12","subject":"Algebra","level":2,"unique_id":"u"})";
  const Example problem = DataFolder({{"test.jsonl", record}}).load("math500").examples.at(0);
  CHECK(problem.id == "u");
  CHECK(problem.category == "Algebra");
  CHECK(problem.fields[0].references == Texts{"\\frac12"});
}

TEST_CASE("math500: the problems of one level", "[datasets]") {
  const auto record = [](int level) {
    return str(R"({"problem":"p)", level, R"(","answer":"1","subject":"S","level":)", level,
               R"(,"unique_id":"u)", level, "\"}\n");
  };
  const DataFolder files(DataFolder::Files{{"test.jsonl", record(1) + record(2) + record(5)}});
  CHECK(files.load("math500").examples.size() == 3);
  CHECK(files.load("math500", "level-2").examples.at(0).id == "u2");
  CHECK(files.load("math500", "level-2").examples.size() == 1);
  CHECK_THROWS_WITH(files.load("math500", "level-6"), Catch::Contains("level-1"));
}

TEST_CASE("aime and amc23: numbers and texts are answers, under either name", "[datasets]") {
  const DataFolder files(
      DataFolder::Files{{"2024.jsonl", R"({"id":60,"problem":"p","answer":"073"})"},
                        {"2025.jsonl", R"({"question":"q","answer":73})"},
                        {"test.jsonl", R"({"id":0,"question":"q","answer":27.0})"
                                       "\n"
                                       R"({"id":1,"question":"r","answer":0.25})"}});
  CHECK(files.load("aime").examples.at(0).id == "60");
  CHECK(files.load("aime").examples.at(0).fields[0].references == Texts{"073"});
  CHECK(files.load("aime", "2025").examples.at(0).id == "2025-0");
  CHECK(files.load("aime", "2025").examples.at(0).fields[0].references == Texts{"73"});
  CHECK(files.load("amc23").examples.at(0).fields[0].references == Texts{"27"});
  CHECK(files.load("amc23").examples.at(1).fields[0].references == Texts{"0.25"});
  files.write("2025.jsonl", R"({"question":"q","answer":[73]})");
  CHECK_THROWS_WITH(files.load("aime", "2025"), Catch::Contains("expected a number or a text"));
}

TEST_CASE("gpqa: the reference is the letter of the right choice, wherever it stands",
          "[datasets]") {
  const std::string head =
      "Question,Correct Answer,Incorrect Answer 1,Incorrect Answer 2,Incorrect Answer 3\n";
  std::string rows;
  for (int i = 0; i < 40; ++i) rows += str("Question ", i, "?,right,wrong,false,untrue\n");
  const DataFolder files(DataFolder::Files{{"gpqa_diamond.csv", head + rows}});
  std::map<std::string, int> letters;
  for (const Example& example : files.load("gpqa").examples) {
    const std::string letter = example.fields[0].references.at(0);
    ++letters[letter];
    CHECK(example.fields[0].question.find(letter + ") right") != std::string::npos);
    CHECK(example.fields[0].question.find("\nD) ") != std::string::npos);
  }
  CHECK(letters.size() == 4);
  for (const auto& [letter, count] : letters) CHECK(count >= 4);
  // the order does not depend on the row
  const DataFolder one(
      DataFolder::Files{{"gpqa_diamond.csv", head + "Question 7?,right,wrong,false,untrue\n"}});
  CHECK(one.load("gpqa").examples[0].fields[0].question ==
        files.load("gpqa").examples[7].fields[0].question);
}

TEST_CASE("rag-bench: the first 200 questions of the file, with their texts", "[datasets]") {
  std::string records;
  for (int i = 0; i < 205; ++i)
    records += str(R"({"context":"c)", i, R"(","question":"q)", i, R"(","answer":"a)", i, "\"}\n");
  const DataFolder files(DataFolder::Files{{"test.jsonl", records}});
  const Dataset bench = files.load("rag-bench");
  CHECK(bench.examples.size() == 200);
  CHECK(bench.examples[199].text == "c199");
  CHECK(bench.examples[199].fields[0].references == Texts{"a199"});
  CHECK(files.load("rag-bench", "all").examples.size() == 205);
}

TEST_CASE("sharegpt: what people say is asked, and what was answered is the reference",
          "[datasets]") {
  const DataFolder files(DataFolder::Files{{"a.json", R"([
    {"id": "two", "conversations": [
      {"from": "system", "value": "s"}, {"from": "gpt", "value": "before"},
      {"from": "human", "value": "u1"}, {"from": "gpt", "value": "a1"},
      {"from": "user", "value": "u2"}, {"from": "chatgpt", "value": "a2"},
      {"from": "human", "value": "u3"}]},
    {"id": "one", "conversations": [
      {"from": "human", "value": "u"}, {"from": "gpt", "value": "a"}, {"from": "gpt", "value": "b"}]},
    {"id": "none", "conversations": []},
    {"id": "empty", "conversations": [
      {"from": "human", "value": "u"}, {"from": "gpt", "value": " "}]}])"}});
  const Dataset dataset = files.load("sharegpt");
  REQUIRE(dataset.examples.size() == 2);
  const Example& two = dataset.examples[0];
  CHECK(two.conversation);
  REQUIRE(two.fields.size() == 2);
  CHECK(two.fields[1].question == "u2");
  CHECK(two.fields[1].references == Texts{"a2"});
  CHECK_FALSE(dataset.examples[1].conversation);
  CHECK(dataset.examples[1].fields[0].name == "answer");
  files.write("a.json", R"([{"id": "x", "conversations": [{"from": "human"}]}])");
  files.check_fault("sharegpt", "conversations[0]");
}

TEST_CASE("sharegpt: structured responses as APAR's appendix B has them", "[datasets]") {
  const std::string list =
      "Three things:\n1. Light: six hours of sun a day\n2. Water: feel the soil each morning\n"
      "3. Harvest: cut the tips often";
  const std::string paragraphs =
      "One thing. It has a reason.\n\nA second thing. It has one too.\n\nThe last. Nothing more.";
  CHECK(form_of(list) == ResponseForm::ordered_list);
  CHECK(form_of(paragraphs) == ResponseForm::paragraphs);
  // two points; details of less than ten characters; points without a title
  CHECK(form_of(list.substr(0, list.find("3."))) == ResponseForm::unstructured);
  CHECK(form_of("1. A: short\n2. B: short\n3. C: short") == ResponseForm::unstructured);
  CHECK(form_of("1. a long point\n2. a long point\n3. a long point") == ResponseForm::unstructured);
  // two paragraphs; paragraphs of one sentence
  CHECK(form_of(paragraphs.substr(0, paragraphs.find("The last"))) == ResponseForm::unstructured);
  CHECK(form_of("One thing\n\nA second\n\nThe last") == ResponseForm::unstructured);
  // code, mathematics and addresses
  for (const char* mark : {"```x```", "$$x$$", "see https://x.org", "\\frac{1}{2}"})
    CHECK(form_of(str(list, "\n", mark)) == ResponseForm::unstructured);
  CHECK(form_of("") == ResponseForm::unstructured);
}

TEST_CASE("a limit draws as many structured as unstructured responses", "[datasets]") {
  std::vector<Example> examples(50);
  for (size_t i = 0; i < examples.size(); ++i) {
    examples[i].id = std::to_string(i);
    examples[i].category = i % 5 == 0 ? "structured" : "unstructured";
  }
  const auto drawn = select(examples, 16, 0, 1);
  CHECK(std::count_if(drawn.begin(), drawn.end(), [](const Example& example) {
          return example.category == "structured";
        }) == 8);
}

TEST_CASE("amazon-reviews: a product's text, and its category's attributes", "[datasets]") {
  const std::string record =
      R"({"parent_asin":"I","title":" T ","description":["D1","D2"],"features":["F1","F2"],"price":3})";
  const std::string attributes =
      R"({"attributes":[{"name":"A","definition":"a"},{"name":"B","definition":"b"}]})";
  const DataFolder files(
      {{"meta_Toys.jsonl", record + "\n" + R"({"parent_asin":"J","title":""})" + "\n"},
       {"attributes/Toys.json", attributes}});
  Inspection found;
  const Dataset dataset = files.load("amazon-reviews", "", &found);
  REQUIRE(dataset.examples.size() == 1);
  CHECK(found.faults.empty());
  CHECK_THAT(found.notes.at(0), Catch::Contains("1 products without a title"));
  const Example& example = dataset.examples[0];
  CHECK(example.text == "Title: T\nDescription: D1 D2\nBullets:\n- F1\n- F2");
  CHECK(example.category == "Toys");
  CHECK(names(example) == Texts{"A", "B"});
  CHECK(example.fields[1].question == "b");
  CHECK_FALSE(example.fields[1].annotated);
  CHECK(dataset.shape == Shape::attributes);
  files.write("attributes/Toys.json", replace_all(attributes, "\"B\"", "\"A\""));
  files.check_fault("amazon-reviews", "attribute 'A' is defined twice");
  files.write("meta_Tools.jsonl", record);
  CHECK_THROWS_WITH(files.load("amazon-reviews"), Catch::Contains("attributes/Tools.json"));
}

TEST_CASE("jsonl: each form of own records", "[datasets]") {
  const auto load = [](const std::string& lines) {
    return DataFolder(DataFolder::Files{{"test.jsonl", lines}}).load("jsonl");
  };
  const Dataset questions = load(
      R"({"text":"t","fields":[{"question":"Q","references":["r"]},{"question":"R","choices":["x","y"],"references":[]},{"question":"S"}]})");
  CHECK(questions.shape == Shape::questions);
  CHECK(questions.examples[0].id == "test-0");
  CHECK(names(questions.examples[0]) == Texts{"q1", "q2", "q3"});
  CHECK(questions.examples[0].fields[1].annotated);
  CHECK(questions.examples[0].fields[1].references.empty());
  CHECK_FALSE(questions.examples[0].fields[2].annotated);
  const std::string product =
      R"({"id":"1","text":"t","category":"c","fields":[{"name":"N","references":["r"]}]})";
  CHECK(load(product).shape == Shape::attributes);
  CHECK(load(R"({"prompt":"p","references":["r"]})").examples[0].fields[0].annotated);
  CHECK(load(R"({"turns":["p","q"]})").examples[0].conversation);
  const Example talk = load(R"({"messages":[{"role":"user","content":"p"},{"role":"assistant",)"
                            R"("content":"a"},{"role":"user","content":"q"}]})")
                           .examples[0];
  REQUIRE(talk.fields.size() == 2);
  CHECK(talk.conversation);
  CHECK(talk.fields[0].references == std::vector<std::string>{"a"});
  CHECK(talk.fields[1].question == "q");
  CHECK_FALSE(talk.fields[1].annotated);

  const auto fault = [](const std::string& lines, const std::string& message) {
    DataFolder(DataFolder::Files{{"test.jsonl", lines}}).check_fault("jsonl", message);
  };
  fault(R"({"prompt":"p"})"
        "\n" +
            product,
        ":2: is of another shape");
  fault(product + "\n" + replace_all(replace_all(product, "\"N\"", "\"M\""), "\"1\"", "\"2\""),
        ":2: has other fields than the records of category 'c'");
  fault(product + "\n" + product, "id '1' occurs twice");
  fault(R"({"text":"t","field":[]})", "has no 'fields'");
  fault(R"({"txt":"t"})", "has neither 'prompt', 'turns', 'messages' nor 'text' and 'fields'");
  fault(R"({"text":"t","fields":[]})", "'fields' is empty");
  fault(R"({"text":"t","fields":[{"references":["r"]}]})",
        "fields[0]: has neither 'name' nor 'question'");
  fault(R"({"text":"t","fields":[{"name":"n"},{"question":"q"}]})", "with and without 'question'");
  fault(R"({"text":"t","fields":[{"name":"n","references":{"r":1}}]})",
        "'references' is object, expected some text, or a number");
  fault(R"({"turns":["p","q"],"references":["r"]})", "'references' is given for several turns");
  fault(R"({"messages":[{"role":"assistant","content":"a"}]})", "expected user");
  fault(R"({"messages":[{"role":"user","content":"a"},{"role":"user","content":"b"}]})",
        "expected assistant");
  fault(R"({"messages":[]})", "'messages' is empty");
}

TEST_CASE("jsonl: system messages, whole numbers, additional keys and empty lines", "[datasets]") {
  const auto load = [](const std::string& lines, Inspection* inspection = nullptr) {
    return DataFolder(DataFolder::Files{{"test.jsonl", lines}}).load("jsonl", "", inspection);
  };
  const Example chat =
      load(R"({"messages":[{"role":"system","content":"s"},{"role":"developer","content":)"
           R"([{"type":"text","text":"d"}]},{"role":"user","content":[{"type":"text","text":"p"},)"
           R"({"type":"text","text":"q"}]},{"role":"assistant","content":"a"}]})")
          .examples[0];
  CHECK(chat.system == "s\n\nd");
  CHECK(chat.fields.at(0).question == "p\nq");
  CHECK(chat.fields[0].references == Texts{"a"});
  CHECK_FALSE(chat.conversation);
  const Example shared =
      load(R"({"id":7,"conversations":[{"from":"system","value":"s"},{"from":"human","value":"p"},)"
           R"({"from":"gpt","value":"a"},{"from":"human","value":"q"}]})")
          .examples[0];
  CHECK(shared.id == "7");
  CHECK(shared.system == "s");
  CHECK(shared.conversation);
  CHECK(shared.fields.size() == 2);
  CHECK(load(R"({"prompt":"p","system":"s"})").examples[0].system == "s");
  CHECK(load(R"({"text":"t","category":3,"fields":[{"id":12,"question":"q"}]})")
            .examples[0]
            .fields[0]
            .id == "12");
  Inspection found;
  const Dataset more = load(R"({"prompt":"a","source":"x","n":[1]})"
                            "\n\n \n"
                            R"({"prompt":"b","source":{"y":2}})",
                            &found);
  CHECK(found.faults.empty());
  REQUIRE(more.examples.size() == 2);
  CHECK(more.examples[1].id == "test-1");
  REQUIRE(more.unread.size() == 2);
  CHECK(more.unread[0].name == "source");
  CHECK(more.unread[0].records == 2);
  CHECK_THAT(more.unread[0].first,
             Catch::Contains("test.jsonl:1: unknown key 'source'; known: id, category"));
  REQUIRE(found.notes.size() == 3);
  CHECK_THAT(found.notes[0], Catch::Contains(":2: is empty, and ignored"));
  CHECK_THAT(found.notes[1], Catch::Contains("key 'source' of 2 records is not read"));
  const auto fault = [](const std::string& lines, const std::string& message) {
    DataFolder(DataFolder::Files{{"test.jsonl", lines}}).check_fault("jsonl", message);
  };
  fault(R"({"messages":[{"role":"user","content":"a"},{"role":"system","content":"b"}]})",
        "messages[1]: 'role' is 'system', expected assistant");
  fault(R"({"messages":[{"role":"system","content":"a"}]})", "'messages' is empty");
  fault(R"({"messages":[{"role":"tool","content":"a"}]})", "'role' is 'tool', expected user");
  fault(R"({"messages":[{"role":"user","content":[{"type":"image_url","url":"x"}]}]})",
        "is of type 'image_url', expected only text");
  fault(R"({"prompt":"p","id":1.5})", "'id' is number, expected");
}

TEST_CASE("own files: lines, a list, tables", "[datasets]") {
  const DataFolder files({{"a.jsonl", R"({"prompt":"p"})"},
                          {"b.json", R"([{"prompt":"p"},{"prompt":"q"}])"},
                          {"c.csv", "ask,right,id,more\n\"one, two\",\"a\nb\",x,1\nq,r,y,2\n"},
                          {"d.tsv", "prompt\tid\nwhat?\t1\nwho?\t2\n"},
                          {"e.csv", "\nprompt;category\nwhat?;k\n"},
                          {"f.parquet", "PAR1"},
                          {"h.jsonl", R"({"prompt":"p","right":"a"})"},
                          {"latin1.csv", "prompt\nplain\ncaf\xE9\n"},
                          {"utf16.tsv", std::string("\xFF\xFEp\0r\0\n\0", 8)}});
  const auto load = [&](const std::string& file, const std::string& columns = "") {
    return load_own_file(*parse_own_file("mine=" + (files.path() / file).string() + columns));
  };
  CHECK(load("a.jsonl").name == "mine");
  CHECK(load("a.jsonl").split == "test");
  CHECK(load("b.json").examples.at(1).fields[0].question == "q");
  const Dataset table = load("c.csv", ":ask:right");
  CHECK(table.shape == Shape::open);
  REQUIRE(table.examples.size() == 2);
  CHECK(table.examples[0].id == "x");
  CHECK(table.examples[0].fields[0].question == "one, two");
  CHECK(table.examples[0].fields[0].references == Texts{"a\nb"});
  REQUIRE(table.unread.size() == 1);
  CHECK(table.unread[0].name == "more");
  CHECK_FALSE(load("c.csv", ":ask").examples[0].fields[0].annotated);
  CHECK(load("h.jsonl", "::right").examples[0].fields[0].references == Texts{"a"});
  CHECK(load("d.tsv").examples.at(1).fields[0].question == "who?");
  CHECK(load("e.csv").examples.at(0).category == "k");
  CHECK_THROWS_WITH(load("c.csv"), Catch::Contains("has no column 'prompt'; known: ask, right"));
  CHECK_THROWS_WITH(load("f.parquet"),
                    Catch::Contains("f.parquet: is Parquet, and cannot be read: "));
  CHECK_THROWS_WITH(load("latin1.csv"), Catch::Contains("latin1.csv:3: is not UTF-8"));
  CHECK_THROWS_WITH(load("utf16.tsv"), Catch::Contains("utf16.tsv:1: is not UTF-8"));
  CHECK_THROWS_WITH(load("g.jsonl"), Catch::Contains("g.jsonl is missing"));
  CHECK_THROWS_WITH(parse_own_file("a=b.jsonl:c:d:e"), Catch::Contains("expected NAME=FILE.jsonl"));
  CHECK_THROWS_WITH(parse_own_file("=b.jsonl"), Catch::Contains("expected NAME=FILE.jsonl"));
  CHECK_THROWS_WITH(parse_own_file("squad=b.jsonl"), Catch::Contains("expected another name"));
  CHECK_FALSE(parse_own_file("squad"));
  CHECK(stored_dataset("mine").name == "jsonl");
  CHECK(stored_dataset("squad").name == "squad");
}

TEST_CASE("jsonl: the reference of a choice is its letter, or its text", "[datasets]") {
  const auto record = [](const std::string& references, const std::string& choices) {
    return R"({"text":"t","fields":[{"question":"Q","choices":)" + choices + R"(,"references":)" +
           references + "}]}";
  };
  const auto read = [&](const std::string& references, const std::string& choices) {
    return DataFolder(DataFolder::Files{{"test.jsonl", record(references, choices)}})
        .load("jsonl")
        .examples[0]
        .fields[0]
        .references;
  };
  const std::string colours = R"(["red","Blue ","dark green"])";
  CHECK(read(R"(["B"])", colours) == Texts{"B"});
  CHECK(read(R"j(["b","(C)","C.","A)"])j", colours) == Texts{"B", "C", "C", "A"});
  CHECK(read(R"(["blue"," dark green","Red"])", colours) == Texts{"B", "C", "A"});
  CHECK(read(R"j(["b) blue"])j", colours) == Texts{"B"});
  CHECK(read(R"(["A"])", R"(["B","A"])") == Texts{"A"});  // a letter goes before a text
  CHECK(read(R"(["x"])", R"(["X","x"])") == Texts{"B"});
  CHECK(read("[]", colours).empty());
  const auto fault = [&](const std::string& references, const std::string& choices,
                         const std::string& message) {
    DataFolder(DataFolder::Files{{"test.jsonl", record(references, choices)}})
        .check_fault("jsonl", message);
  };
  fault(R"(["purple"])", colours, ":1: fields[0]: 'references' has 'purple', expected the letter");
  fault(R"(["D"])", colours, "(A to C) or a choice's text");
  std::string many = R"(["x")";
  for (int i = 0; i < 26; ++i) many += R"(,"y")";
  fault(R"(["x"])", many + "]", "has 27 choices, expected at most 26");
}
