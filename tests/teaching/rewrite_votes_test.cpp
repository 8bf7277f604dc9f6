#include "src/teaching/rewrite_votes.hpp"

#include "tests/support/catch.hpp"

using namespace pardec;

namespace {

const Rewrite kRewrite{"What is good in tea and coffee?",
                       "Both wake you up.",
                       {{"Tea", "Tea calms."}, {"Coffee", "Coffee warms."}},
                       "Both wake you up. Tea calms. Coffee warms.",
                       "Both wake you up.\nTea calms.\nCoffee warms."};

}  // namespace

TEST_CASE("each check of a rewritten answer shows what it needs, and reads its own verdict") {
  const auto prompt = [](RewriteCheck check) {
    return ask_about(kRewrite, check).messages[1].text;
  };
  using enum RewriteCheck;
  for (const char* part : {"Both wake you up.", "Tea:\nTea calms.", "Coffee:\nCoffee warms."})
    CHECK(prompt(independence).find(part) != std::string::npos);
  for (const RewriteCheck check : {format, integrity})
    for (const auto& part : {kRewrite.original, kRewrite.rewritten})
      CHECK(prompt(check).find(part) != std::string::npos);
  CHECK(read_vote(R"({"explanation": "", "independent": true})", independence).yes == true);
  CHECK(read_vote(R"({"explanation": "", "intact": false})", format).yes == false);
  CHECK_FALSE(read_vote(R"({"explanation": "", "independent": true})", integrity).yes);
  CHECK_FALSE(read_vote(R"({"explanation": "", "same": "yes"})", integrity).yes);
  const std::string yes = R"(<pardec:verdict>{"explanation": "", "same": true}</pardec:verdict>)",
                    no = R"(<pardec:verdict>{"explanation": "", "same": false}</pardec:verdict>)";
  CHECK(read_vote(yes + yes, integrity).yes == true);
  CHECK(read_vote(yes + no, integrity).problem.find("contradict") != std::string::npos);
}

TEST_CASE("a check is passed by three votes of three") {
  const RewriteVote yes{true, ""}, no{false, ""}, unread{std::nullopt, "?"};
  CHECK(accepted({yes, yes, yes}));
  CHECK_FALSE(accepted({yes, yes, no}));
  CHECK_FALSE(accepted({yes, unread, yes}));
  CHECK_FALSE(accepted({yes, yes}));
}
