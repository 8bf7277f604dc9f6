// Loaders of texts with questions: SQuAD, RACE, NarrativeQA, LongHealth.
#include <string>

#include "src/support/error.hpp"
#include "src/support/text.hpp"
#include "tests/datasets/files.hpp"

using namespace pardec;
using namespace pardec::test;

namespace {

/// A SQuAD file of one article with one paragraph that has these questions.
std::string squad(const std::string& qas, const std::string& context = "A b\u00fcg c d.") {
  return R"({"version":"v2.0","data":[{"title":"T","paragraphs":[{"context":")" + context +
         R"(","qas":[)" + qas + "]}]}]}";
}

std::string question(const std::string& id, const std::string& answers,
                     const std::string& impossible = "false") {
  return R"({"id":")" + id + R"(","question":"What?","answers":[)" + answers +
         R"(],"is_impossible":)" + impossible + "}";
}

void squad_fault(const std::string& content, const std::string& message) {
  DataFolder({{"dev-v2.0.json", content}}).check_fault("squad", message);
}

const std::string kGood = question("g", R"({"text":"A","answer_start":0})");

}  // namespace

TEST_CASE("squad: an example is a paragraph with its questions", "[datasets]") {
  const DataFolder files(
      {{"dev-v2.0.json",
        squad(question("i", R"({"text":"c","answer_start":6},{"text":"c d","answer_start":6},)"
                            R"({"text":"c","answer_start":6})") +
              "," + question("j", "", "true"))}});
  const Dataset dataset = files.load("squad");
  CHECK(dataset.split == "dev");
  CHECK(dataset.shape == Shape::questions);
  REQUIRE(dataset.examples.size() == 1);
  const Example& example = dataset.examples[0];
  CHECK(example.id == "dev-0");
  CHECK(example.category == "T");
  CHECK(names(example) == Texts{"q1", "q2"});
  CHECK(example.fields[0].question == "What?");
  CHECK(example.fields[0].id == "i");
  CHECK(example.fields[0].references == Texts{"c", "c d"});
  CHECK(example.fields[1].annotated);
  CHECK(example.fields[1].references.empty());
}

TEST_CASE("squad: 1.1 has no impossible questions, and versions can be named", "[datasets]") {
  const std::string old =
      R"({"data":[{"title":"T","paragraphs":[{"context":"A b","qas":[)"
      R"({"id":"i","question":"Q","answers":[{"text":"b","answer_start":2}]}]}]}],"version":"1.1"})";
  const DataFolder files({{"dev-v1.1.json", old}});
  CHECK(files.load("squad").examples[0].fields[0].references == Texts{"b"});
  files.write("dev-v2.0.json", squad(kGood));
  CHECK(files.load("squad").examples[0].fields[0].id == "g");
  CHECK(files.load("squad", "dev-v1.1").examples[0].fields[0].id == "i");
  CHECK_THROWS_WITH(files.load("squad", "train"), Catch::Contains("train-v2.0.json"));
  CHECK_THROWS_WITH(files.load("squad", "test"), Catch::Contains("no split 'test'"));
}

TEST_CASE("squad: faults name the paragraph or question, and the rest is read", "[datasets]") {
  const std::string at = "data[0].paragraphs[0].qas[";
  squad_fault(squad(kGood + "," + question("i", R"({"text":"c","answer_start":7})")),
              at + "1].answers[0]: 'c' does not occur in the context at code point 7");
  squad_fault(squad(question("i", R"({"text":"c","answer_start":-1})")), "code point -1");
  squad_fault(squad(question("i", R"({"text":"d.x","answer_start":8})")), "code point 8");
  squad_fault(squad(question("i", "")), at + "0]: 'answers' is empty");
  squad_fault(squad(question("i", R"({"text":"c","answer_start":6})", "true")),
              "'is_impossible' is true, but");
  squad_fault(squad(question("i", R"({"text":"c","answer_start":"6"})")),
              "'answer_start' is string, expected a whole number");
  squad_fault(squad(kGood + "," + kGood), "question id 'g' occurs twice");
  squad_fault(squad(R"({"id":"i","answers":[]})"), "has no 'question'");
  squad_fault(R"({"version":"v2.0"})", "has no 'data'");
  squad_fault(squad(""), "has no example of split dev");
  const std::string whole = squad(kGood);
  squad_fault(whole.substr(0, whole.size() - 2), "the text ends");

  Inspection found;
  const Dataset rest = DataFolder({{"dev-v2.0.json", squad(question("i", "") + "," + kGood)}})
                           .load("squad", "", &found);
  CHECK(found.faults.size() == 1);
  REQUIRE(rest.examples.size() == 1);
  CHECK(names(rest.examples[0]) == Texts{"q1"});
  CHECK(rest.examples[0].fields[0].id == "g");
}

TEST_CASE("race: a file is a passage, and the reference is the letter", "[datasets]") {
  const auto passage = [](const std::string& answers, const std::string& options) {
    return R"({"article":"P","questions":["Q1?","Q2 _ ."],"options":)" + options +
           R"(,"answers":)" + answers + R"(,"id":"x"})";
  };
  const std::string options = R"([["a","b"],["a","b","c"]])";
  const DataFolder files(
      {{"test/middle/10.txt", passage(R"(["A","C"])", options)},
       {"test/middle/9.txt", passage(R"(["B","A"])", options)},
       {"test/high/1.txt", "\xEF\xBB\xBF" + passage(R"(["A","B"])", options) + "\r\n"},
       {"test/high/notes.md", "not a passage"}});
  const Dataset all = files.load("race");
  REQUIRE(all.examples.size() == 3);
  CHECK(all.examples[0].id == "middle-9");  // by number, not by spelling
  CHECK(all.examples[1].id == "middle-10");
  CHECK(all.examples[2].category == "high");
  CHECK(all.examples[0].fields[0].choices == Texts{"a", "b"});
  CHECK(all.examples[1].fields[1].references == Texts{"C"});
  CHECK(all.examples[0].cluster == all.examples[2].cluster);
  CHECK(files.load("race", "test-high").examples.size() == 1);
  CHECK(files.load("race", "test-middle").examples.size() == 2);
  CHECK_THROWS_WITH(files.load("race", "dev"), Catch::Contains("is missing"));
  CHECK_THROWS_WITH(files.load("race", "test-hard"), Catch::Contains("test-high"));

  Inspection found;
  files.load("race", "", &found);
  CHECK(found.faults.empty());
  CHECK(found.notes.size() == 2);  // byte order mark and CRLF of one file

  files.write("test.jsonl", "an export, which is not read\n");
  CHECK(files.load("race").examples.size() == 3);

  files.write("test/high/2.txt", passage(R"(["A","D"])", options));
  files.check_fault("race", "high/2.txt: answers[1] is 'D' of 3 options");
  files.write("test/high/2.txt", passage(R"(["A"])", options));
  files.check_fault("race", "2 questions, 2 options and 1 answer");
  files.write("test/high/2.txt", passage(R"(["A","B"])", R"([["a","b"],"c"])"));
  files.check_fault("race", "options[1] is string, expected a list");
  files.write("test/high/2.txt", R"({"article":"P", "questions":)");
  files.check_fault("race", "high/2.txt:1: is not valid JSON: the text ends");
  files.write("test/high/2.txt", "");
  files.check_fault("race", "high/2.txt:1: is not valid JSON");
}

TEST_CASE("narrativeqa: CSV with quotes and line breaks, joined by document", "[datasets]") {
  const std::string head = "document_id,set,question,answer1,answer2,question_tokenized\n";
  const DataFolder files(
      {{"summaries.csv",
        "document_id,set,summary,summary_tokenized\r\n"
        "d1,test,\"One \"\"two\"\", three.\r\n\r\nFour, "
        "5.\",x\r\nd2,valid,Other.,x\r\nd3,test,Unasked.,x\r\n"},
       {"qaps.csv", head + "d1,test,\"Who, and why?\",\"A \"\"b\"\"\",C,x\nd2,valid,Q,A,A,x\n"
                           "d1,test,Where?,Here,Here,x\n"}});
  const Dataset dataset = files.load("narrativeqa");
  REQUIRE(dataset.examples.size() == 1);
  const Example& example = dataset.examples[0];
  CHECK(example.id == "d1");
  CHECK(example.category == "summaries");
  CHECK(example.text == "One \"two\", three.\n\nFour, 5.");
  CHECK(names(example) == Texts{"q1", "q2"});
  CHECK(example.fields[0].question == "Who, and why?");
  CHECK(example.fields[0].references == Texts{"A \"b\"", "C"});
  CHECK(example.fields[1].references == Texts{"Here"});
  CHECK(files.load("narrativeqa", "valid").examples[0].text == "Other.");
  files.write("documents.csv", "document_id,set,kind\nd1,test,movie\n");
  CHECK(files.load("narrativeqa").examples[0].category == "movie");
  files.write("test.jsonl", "an export, which is not read\n");
  CHECK(files.load("narrativeqa").examples[0].id == "d1");

  files.write("qaps.csv", head + "d1,test,\"Who?\n\nWhen?\",a,b,x\nd9,test,Q,a,b,x\n");
  files.check_fault("narrativeqa", "qaps.csv:5: document d9 has no summary");
  files.write("qaps.csv", "\n" + head + "\n \t\nd9,test,Q,a,b,x\n");
  files.check_fault("narrativeqa", "qaps.csv:5: document d9 has no summary");
  files.write("qaps.csv", head + "d1,test,Q,a,b,x\n\nd1,test,a \"q\" b,a,b,x\n");
  CHECK(files.load("narrativeqa").examples.at(0).fields.at(1).question == "a \"q\" b");
  files.write("qaps.csv", head + "d1,test,Q,a,b,x\nd1,test,Q,a,b\n");
  files.check_fault("narrativeqa", "qaps.csv:3: has 5 fields, the header 6");
  files.write("qaps.csv", head + "d1,test,Q,a,,x\n");
  files.check_fault("narrativeqa", "qaps.csv:2: column 'answer2' is empty");
  files.write("qaps.csv", head + "d1,test,Q,a,b,x\nd1,test,\"Q,a,b,x\n");
  files.check_fault("narrativeqa", "qaps.csv:3: is not valid CSV from here on");
  Inspection found;
  files.write("qaps.csv", head + "d1,test,Q,a,b,cut in its last colu");
  files.load("narrativeqa", "", &found);
  CHECK(found.faults.empty());
  CHECK_THAT(found.notes.back(), Catch::Contains("qaps.csv: ends without a line break"));
  files.write("qaps.csv", "document_id,set,question,answer1\n");
  files.check_fault("narrativeqa", "qaps.csv:1: has no column 'answer2'");
  files.write("qaps.csv", "");
  files.check_fault("narrativeqa", "qaps.csv: is empty");
}

TEST_CASE("longhealth: a patient is one text with all documents", "[datasets]") {
  const auto patient = [](const std::string& correct) {
    return R"({"p_02":{"name":"N","texts":{"text_0":"First.","text_1":"Second."},"questions":[)"
           R"({"No":4,"question":"Q?","answer_a":"v","answer_b":"w ","answer_c":"x",)"
           R"("answer_d":"y","answer_e":"z","correct":")" +
           correct + R"(","answer_location":{}}]}})";
  };
  const DataFolder files({{"benchmark_v5.json", patient("w")}});
  const Example example = files.load("longhealth").examples.at(0);
  CHECK(example.id == "p_02");
  CHECK(example.text == "Document 1:\nFirst.\n\nDocument 2:\nSecond.");
  CHECK(example.fields[0].choices == Texts{"v", "w ", "x", "y", "z"});
  CHECK(example.fields[0].references == Texts{"B"});
  CHECK(example.fields[0].id == "4");
  files.write("benchmark_v5.json", patient("u"));
  files.check_fault("longhealth", "p_02.questions[0]: 'correct' is 'u', which is none of");
}

TEST_CASE("Hugging Face's exports: one question on each line; those about one text are one example",
          "[datasets]") {
  const std::string squad =
      R"({"id":"1","title":"T","context":"A b\u00e9c.","question":"Q1","answers":{"text":["b\u00e9c","b\u00e9c"],"answer_start":[2,2]}})"
      "\n"
      R"({"id":"2","title":"T","context":"Other.","question":"Q2","answers":{"text":[],"answer_start":[]}})"
      "\n"
      R"({"id":"3","title":"T","context":"A b\u00e9c.","question":"Q3","answers":{"text":["A"],"answer_start":[0]}})";
  for (const char* name : {"dev.jsonl", "validation.jsonl"}) {
    const Dataset read = DataFolder(DataFolder::Files{{name, squad}}).load("squad");
    REQUIRE(read.examples.size() == 2);
    CHECK(read.examples[0].id == "dev-0");
    CHECK(read.examples[0].category == "T");
    CHECK(names(read.examples[0]) == test::Texts{"q1", "q2"});
    CHECK(read.examples[0].fields[0].references == test::Texts{"b\u00e9c"});
    CHECK(read.examples[0].fields[1].id == "3");
    CHECK(read.examples[1].fields[0].references.empty());
    CHECK(read.examples[1].fields[0].annotated);
  }
  DataFolder(DataFolder::Files{{"train.jsonl", replace_all(squad, "[0]", "[1]")}})
      .check_fault("squad", "train.jsonl:3: answers: 'A' does not occur in the context", "train");

  const std::string race =
      R"({"example_id":"high12.txt","article":"T","question":"Q1","options":["a","b"],"answer":"B"})"
      "\n"
      R"({"example_id":"middle3.txt","article":"U","question":"Q2","options":["a","b"],"answer":"A"})"
      "\n"
      R"({"example_id":"high12.txt","article":"T","question":"Q3","options":["c","d"],"answer":"A"})";
  const DataFolder exams({{"test.jsonl", race}});
  const Dataset read = exams.load("race");
  REQUIRE(read.examples.size() == 2);
  CHECK(read.examples[0].id == "high-12");
  CHECK(read.examples[0].fields.size() == 2);
  CHECK(read.examples[0].fields[1].choices == test::Texts{"c", "d"});
  CHECK(exams.load("race", "test-middle").examples.at(0).id == "middle-3");
  DataFolder(
      DataFolder::Files{{"test.jsonl", replace_all(race, R"("answer":"B")", R"("answer":"C")")}})
      .check_fault("race", "test.jsonl:1: 'answer' is 'C' of 2 options");
  DataFolder(DataFolder::Files{{"test.jsonl", replace_all(race, "middle3", "other3")}})
      .check_fault("race", "test.jsonl:2: 'example_id' is 'other3.txt'");

  const std::string story =
      R"({"document":{"id":"d","kind":"movie","summary":{"text":"S","url":"u"}},"question":{"text":"Q1","tokens":[]},"answers":[{"text":"a"},{"text":"b"}]})"
      "\n"
      R"({"document":{"id":"d","kind":"movie","summary":{"text":"S"}},"question":{"text":"Q2"},"answers":[{"text":"c"},{"text":"c"}]})";
  for (const char* name : {"valid.jsonl", "validation.jsonl"}) {
    const Dataset stories =
        DataFolder(DataFolder::Files{{name, story}}).load("narrativeqa", "valid");
    REQUIRE(stories.examples.size() == 1);
    CHECK(stories.examples[0].category == "movie");
    CHECK(stories.examples[0].text == "S");
    CHECK(stories.examples[0].fields.at(0).references == test::Texts{"a", "b"});
    CHECK(stories.examples[0].fields.at(1).references == test::Texts{"c"});
  }
  CHECK_THROWS_WITH(DataFolder(DataFolder::Files{{"validation-0.parquet", "PAR1"}}).load("squad"),
                    Catch::Contains("validation-0.parquet: is Parquet, and cannot be read: "));
}
