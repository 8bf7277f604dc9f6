#include "src/teaching/teacher.hpp"

#include "src/support/text.hpp"
#include "tests/support/catch.hpp"

using namespace pardec;

TEST_CASE(
    "a teacher is shown question and answer, and rewrites the answer or says that nothing is "
    "parallel") {
  const Inquiry inquiry = ask_rewrite("Why tea?", "It calms.\nIt warms.");
  const std::string& prompt = inquiry.messages[1].text;
  CHECK(prompt.find("Why tea?") != std::string::npos);
  CHECK(prompt.find("It calms.\nIt warms.") != std::string::npos);
  CHECK(prompt.find("<Branch>one: ") != std::string::npos);
  CHECK(inquiry.schema["required"].size() == 2);
  CHECK(read_rewrite(R"({"parallel": true, "answer": "<Title>a"})").answer == "<Title>a");
  const RewriteReading serial = read_rewrite(R"({"parallel": false, "answer": "It calms."})");
  CHECK((serial.answer.empty() && serial.problem.empty()));
  for (const char* reply :
       {R"({"parallel": true, "answer": " "})", R"({"parallel": true})", "<Title>"})
    CHECK_FALSE(read_rewrite(reply).problem.empty());
  const auto marked = [](const char* answer) {
    return str(R"(<pardec:verdict>{"parallel": true, "answer": ")", answer, "\"}</pardec:verdict>");
  };
  CHECK(read_rewrite(marked("a") + marked("a")).answer == "a");
  CHECK(read_rewrite(marked("a") + marked("b")).problem.find("contradict") != std::string::npos);
}

TEST_CASE("a teacher's value occurs in the text, is a choice, or none") {
  const std::string text = "Acme Tea, 3 oz";
  const std::vector<WantedValue> wanted{{"Brand", "", {}},
                                        {"Kind", "Which kind?", {"tea", "coffee"}}};
  const Inquiry inquiry = ask_values("Drinks", text, wanted);
  for (const char* part :
       {"Drinks", "Acme Tea, 3 oz", "- Brand\n", "- Kind: Which kind? [tea | coffee]"})
    CHECK(inquiry.messages[1].text.find(part) != std::string::npos);
  CHECK(inquiry.schema["properties"]["Kind"]["enum"] == Json{"tea", "coffee", "none"});
  const ValuesReading good = read_values(text, wanted, R"({"Brand": " Acme ", "Kind": "tea"})");
  REQUIRE(good.problem.empty());
  CHECK(good.values == std::vector<std::optional<std::string>>{"Acme", "tea"});
  const ValuesReading none = read_values(text, wanted, R"({"Brand": "none", "Kind": "none"})");
  CHECK(none.values == std::vector<std::optional<std::string>>(2));
  for (const char* reply :
       {R"({"Brand": "acme", "Kind": "tea"})", R"({"Brand": "", "Kind": "tea"})",
        R"({"Brand": "Acme"})", R"({"Brand": "Acme", "Kind": "milk"})",
        R"({"Brand": null, "Kind": "tea"})", "Acme"})
    CHECK_FALSE(read_values(text, wanted, reply).problem.empty());
  CHECK(read_values(text, wanted,
                    R"({"Brand": "Acme", "Kind": "tea"} <pardec:verdict>{"Brand": "none", )"
                    R"("Kind": "tea"}</pardec:verdict>)")
            .problem.find("contradict") != std::string::npos);
  const Inquiry again = ask_values_again(inquiry, "Acme", "it is no JSON");
  REQUIRE(again.messages.size() == 4);
  CHECK(again.messages[3].text.find("it is no JSON") != std::string::npos);
}
