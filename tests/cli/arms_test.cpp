#include "src/cli/arms.hpp"

#include "src/support/error.hpp"
#include "tests/support/catch.hpp"

using namespace pardec;

TEST_CASE("arms come from --decoder, --arm and --set; an arm's own option wins") {
  const auto arms = make_arms({"ar"}, {"h8=hpd,k_max=8,batch_size=2", "h=hpd,hpd.stack=3"},
                              {"hpd.k_max=30", "ask=separately"}, 5);
  REQUIRE(arms.size() == 3);
  CHECK(arms[0].options == Json{{"ask", "separately"}});
  CHECK(arms[0].batch_size == 5);
  CHECK(arms[1].options == Json{{"k_max", 8}});
  CHECK(arms[1].batch_size == 2);
  CHECK(arms[2].options == Json{{"k_max", 30}, {"stack", 3}});
}

TEST_CASE("option values are numbers, booleans or text") {
  CHECK(option_value("true") == Json(true));
  CHECK(option_value("-3") == Json(-3));
  CHECK(option_value("0.5") == Json(0.5));
  CHECK(option_value("fix-3") == Json("fix-3"));
  CHECK(option_value("[1]") == Json("[1]"));
}

TEST_CASE("wrong arms are refused with the near names") {
  CHECK_THROWS_WITH(make_arms({}, {}, {}, 1), Catch::Contains("no decoder was named"));
  CHECK_THROWS_WITH(make_arms({"hdp"}, {}, {}, 1), "unknown decoder 'hdp'; did you mean 'hpd'?");
  CHECK_THROWS_WITH(make_arms({"ar", "ar"}, {}, {}, 1),
                    Catch::Contains("two arms are labelled 'ar'"));
  CHECK_THROWS_WITH(make_arms({"hpd"}, {}, {"hpd.kmax=3"}, 1),
                    "--set hpd.kmax: no arm has this option; did you mean 'hpd.k_max'?");
  CHECK_THROWS_WITH(make_arms({"ar"}, {}, {"hpd.k_max=3"}, 1),
                    Catch::Contains("no arm has this option"));
  CHECK_THROWS_WITH(make_arms({}, {"x=hpd,kmax=3"}, {}, 1),
                    "--arm x: decoder hpd has no option 'kmax'; did you mean 'k_max'?");
  CHECK_THROWS_WITH(make_arms({}, {"hpd"}, {}, 1), "--arm is 'hpd', expected option=value");
  CHECK_THROWS_WITH(make_arms({}, {"x=hpd,batch_size=0"}, {}, 1),
                    "arm x: batch_size is 0, expected at least 1");
}

TEST_CASE("each arm's baseline is the one its paper compares with") {
  const auto arms = make_arms({},
                              {"hpd=hpd", "sep=ar,ask=separately", "forced=ar,forced_keys=true",
                               "ar=ar", "stacked=ar,stack=6"},
                              {}, 1);
  CHECK(baseline_of(arms, 0, "") == 3u);
  CHECK(baseline_of(arms, 1, "") == 3u);
  CHECK(baseline_of(arms, 3, "") == std::nullopt);
  CHECK(baseline_of(arms, 0, "sep") == 1u);
  CHECK(baseline_of(arms, 1, "sep") == std::nullopt);
  CHECK_THROWS_WITH(baseline_of(arms, 0, "arr"),
                    "--baseline: no arm is labelled 'arr'; did you mean 'ar'?");
}

TEST_CASE("an experiment file's decoders are arms") {
  const auto specs = arms_of_experiment(
      Json::parse(
          R"([{"label":"a","name":"hpd","set":{"k_max":8,"isolated":"values"}},{"name":"ar"}])"),
      "x.json");
  const auto arms = make_arms({}, specs, {}, 1);
  CHECK(arms[0].options == Json{{"isolated", "values"}, {"k_max", 8}});
  CHECK(arms[1].label == "ar");
  CHECK_THROWS_WITH(arms_of_experiment(Json::parse(R"([{"nam":"ar"}])"), "x.json"),
                    "x.json: 'decoders'[0]: 'name' is missing");
}
