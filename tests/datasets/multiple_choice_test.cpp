// Loaders of single multiple-choice questions, in every form in which they are published.
#include "src/support/text.hpp"
#include "tests/datasets/files.hpp"

using namespace pardec;
using namespace pardec::test;

namespace {

/// The only example of a folder with this file: "category|text|question|choices|reference".
std::string read_one(const std::string& dataset, const DataFolder::Files& files,
                     const std::string& split = "") {
  const Dataset data = DataFolder(files).load(dataset, split);
  CHECK(data.shape == Shape::questions);
  REQUIRE(data.examples.size() == 1);
  const Example& one = data.examples[0];
  REQUIRE(one.fields.size() == 1);
  const ExampleField& field = one.fields[0];
  REQUIRE(field.references.size() == 1);
  return join(
      {one.category, one.text, field.question, join(field.choices, ","), field.references[0]}, "|");
}

void fault(const std::string& dataset, const std::string& file, const std::string& content,
           const std::string& message) {
  DataFolder({{file, content}}).check_fault(dataset, message);
}

}  // namespace

TEST_CASE("mmlu: rows, and CSV files without header", "[datasets]") {
  const std::string read = "law||Q?|a,b,c,d|C";
  CHECK(read_one("mmlu",
                 {{"test.jsonl", R"({"question":"Q?","subject":"law","choices":["a","b","c","d"],)"
                                 R"("answer":2})"}}) == read);
  CHECK(read_one("mmlu", {{"test/law_test.csv", "Q?,a,b,c,d,C\n"}}) == read);
  CHECK(read_one("mmlu", {{"val/law_val.csv", "\"Q,\nq?\",a,b,c,d,A\n"}}, "validation") ==
        "law||Q,\nq?|a,b,c,d|A");
  fault("mmlu", "test/law_test.csv", "Q?,a,b,c,C\n", "law_test.csv:1: has 5 fields, expected 6");
  fault("mmlu", "test/law_test.csv", "Q?,a,b,c,d,E\n", "expected A, B, C or D");
  fault("mmlu", "test.jsonl", R"({"question":"Q?","subject":"law","choices":["a","b"],"answer":2})",
        "'answer' is 2, expected the number of one of 2 choices");
  fault("mmlu", "test.jsonl", R"({"question":"Q?","subject":"law","choices":["a"],"answer":0})",
        "has 1 choice, expected 2 to 26");
}

TEST_CASE("agieval: passages, marks before options, records of other kinds", "[datasets]") {
  CHECK(read_one("agieval",
                 {{"lsat.jsonl",
                   R"({"passage":"P","question":"Q","options":["(A)x","(B) y"],"label":"B"})"
                   "\n"
                   R"({"passage":null,"question":"Q","options":null,"label":null,"answer":"2"})"
                   "\n"
                   R"({"passage":null,"question":"Q","options":["(A)x","(B)y"],"label":["A","B"]})"
                   "\n"}}) == "lsat|P|Q|x,y|B");
  fault("agieval", "lsat.jsonl",
        R"({"passage":"P","question":"Q","options":["(A)x","(B)y"],"label":"C"})",
        "'label' is 'C', expected one of A, B");
}

TEST_CASE("commonsense-qa: the publisher's form and the Hub's", "[datasets]") {
  const std::string read = "commonsense-qa||Q?|x,y|B";
  CHECK(read_one("commonsense-qa",
                 {{"dev_rand_split.jsonl",
                   R"({"id":"i","answerKey":"B","question":{"stem":"Q?","choices":)"
                   R"([{"label":"A","text":"x"},{"label":"B","text":"y"}]}})"}}) == read);
  CHECK(read_one("commonsense-qa",
                 {{"validation.jsonl",
                   R"({"id":"i","question":"Q?","choices":{"label":["A","B"],"text":["x","y"]},)"
                   R"("answerKey":"B"})"}}) == read);
  fault("commonsense-qa", "validation.jsonl",
        R"({"id":"i","question":"Q?","choices":{"label":["A"],"text":["x","y"]},"answerKey":"A"})",
        "has 1 labels of 2 choices");
}

TEST_CASE("boolq: answers and labels", "[datasets]") {
  const std::string read = "boolq|P|is it?|yes,no|A";
  CHECK(read_one("boolq", {{"dev.jsonl", R"({"question":"is it","passage":"P","answer":true})"}}) ==
        read);
  CHECK(read_one("boolq", {{"validation.jsonl",
                            R"({"question":"is it?","passage":"P","label":1})"}}) == read);
  CHECK(read_one("boolq", {{"train.jsonl", R"({"question":"is it","passage":"P","label":false})"}},
                 "train") == "boolq|P|is it?|yes,no|B");
  fault("boolq", "dev.jsonl", R"({"question":"is it","passage":"P","answer":"yes"})",
        "'answer' is \"yes\"");
}

TEST_CASE("piqa: labels in rows, and in a file of their own", "[datasets]") {
  const std::string row = R"({"goal":"G","sol1":"x","sol2":"y")";
  CHECK(read_one("piqa", {{"valid.jsonl", row + "}"}, {"valid-labels.lst", "1\n"}}) ==
        "piqa||G|x,y|B");
  CHECK(read_one("piqa", {{"validation.jsonl", row + ",\"label\":0}"}}) == "piqa||G|x,y|A");
  DataFolder({{"valid.jsonl", row + "}"}, {"valid-labels.lst", "1\n0\n"}})
      .check_fault("piqa", "valid-labels.lst: has 2 lines, expected one for each of 1 record");
  DataFolder({{"valid.jsonl", row + "}"}, {"valid-labels.lst", "2\n"}})
      .check_fault("piqa", "valid-labels.lst:1: is '2', expected 0 or 1");
  fault("piqa", "valid.jsonl", row + "}", "has no 'label', and valid-labels.lst has 0 lines");
}

TEST_CASE("rte: GLUE's tables, in which quotes have no meaning, and rows", "[datasets]") {
  const std::string read = "rte|He said \"no|He spoke.|True,False|A";
  CHECK(read_one("rte", {{"dev.tsv",
                          "index\tsentence1\tsentence2\tlabel\n"
                          "0\tHe said \"no\tHe spoke.\tentailment\n"}}) == read);
  CHECK(read_one("rte", {{"val.jsonl", R"({"premise":"He said \"no","hypothesis":"He spoke.",)"
                                       R"("label":"entailment"})"}}) == read);
  CHECK(read_one("rte", {{"validation.jsonl", R"({"sentence1":"P","sentence2":"H","label":1})"}}) ==
        "rte|P|H|True,False|B");
  fault("rte", "dev.tsv", "index\tsentence1\tsentence2\tlabel\n0\tP\tH\n",
        "dev.tsv:2: has 3 fields");
  fault("rte", "dev.tsv", "index\tsentence1\tsentence2\tlabel\n0\tP\tH\tmaybe\n",
        "the label is 'maybe'");
}

TEST_CASE("hellaswag: marks of WikiHow are removed", "[datasets]") {
  CHECK(read_one("hellaswag",
                 {{"hellaswag_val.jsonl",
                   R"({"activity_label":"Home","ctx":"[header] How to sweep [title] Take a broom. )"
                   R"([step] Wet it.","endings":["[step] Sweep. [substeps] Rest.","b","c","d"],)"
                   R"("label":"0","source_id":"wikihow~7"})"}}) ==
        "wikihow||Home: How to sweep. Take a broom. Wet it.|Sweep. Rest.,b,c,d|A");
  fault("hellaswag", "hellaswag_val.jsonl",
        R"({"activity_label":"A","ctx":"C","endings":["a","b"],"label":"2"})", "'label' is \"2\"");
}
