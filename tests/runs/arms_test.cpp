#include "src/runs/arms.hpp"

#include <algorithm>

#include "decoders/training_formats.hpp"
#include "src/runs/baseline_arms.hpp"
#include "src/support/error.hpp"
#include "src/support/text.hpp"
#include "src/tasks/checkpoint_fit.hpp"
#include "src/tasks/request.hpp"
#include "tests/support/catch.hpp"

using namespace pardec;

TEST_CASE("arms come from --decoder, --arm and --set; an arm's own option wins") {
  const auto arms = make_arms({"ar"}, {"h8=hpd,k_max=8,batch_size=2", "h=hpd,hpd.stack=3"},
                              {"hpd.k_max=30", "ask=separately", "ar.cascade=true"}, 5);
  REQUIRE(arms.size() == 3);
  CHECK(arms[0].options == Json{{"ask", "separately"}});
  CHECK(arms[0].batch_size == 5);
  CHECK(arms[0].cascade);
  CHECK_FALSE(arms[1].cascade);
  CHECK(arms[1].options == Json{{"k_max", 8}});
  CHECK(arms[1].batch_size == 2);
  CHECK(arms[2].options == Json{{"k_max", 30}, {"stack", 3}});
}

TEST_CASE("an option of an arm may be a list with commas") {
  const auto arms =
      make_arms({}, {"a=aspd,tokens=1,2,3,4,5,</Para>,max_steps=9,batch_size=2"}, {}, 1);
  CHECK(arms.front().options.at("tokens") == "1,2,3,4,5,</Para>");
  CHECK(arms.front().options.at("max_steps") == 9);
  CHECK(arms.front().batch_size == 2);
  const auto set = arms_of_experiment(
      Json::parse(R"([{"name": "aspd", "set": {"tokens": "1,2,3,4,5,6", "max_steps": 9}}])"),
      Json(), "f");
  CHECK(make_arms({}, set, {}, 1).front().options.at("tokens") == "1,2,3,4,5,6");
  CHECK_THROWS_WITH(
      arms_of_experiment(Json::parse(R"([{"name": "aspd", "set": {"tokens": "1,a=2"}}])"), Json(),
                         "f"),
      Catch::Contains("without , and ="));
}

TEST_CASE("option values are numbers, booleans or text") {
  CHECK(option_value("true") == Json(true));
  CHECK(option_value("-3") == Json(-3));
  CHECK(option_value("0.5") == Json(0.5));
  CHECK(option_value("fix-3") == Json("fix-3"));
  CHECK(option_value("[1]") == Json("[1]"));
}

TEST_CASE("wrong arms are refused with similar names") {
  CHECK_THROWS_WITH(make_arms({}, {}, {}, 1), Catch::Contains("no decoder was named"));
  CHECK_THROWS_WITH(make_arms({"hdp"}, {}, {}, 1), "unknown decoder 'hdp'; did you mean 'hpd'?");
  CHECK_THROWS_WITH(make_arms({"ar", "ar"}, {}, {}, 1),
                    Catch::Contains("two arms are labelled 'ar'"));
  CHECK_THROWS_WITH(make_arms({"hpd"}, {}, {"hpd.kmax=3"}, 1),
                    "`set` hpd.kmax: no arm has this option; did you mean 'hpd.k_max'?");
  CHECK_THROWS_WITH(make_arms({"ar"}, {}, {"hpd.k_max=3"}, 1),
                    Catch::Contains("no arm has this option"));
  CHECK_THROWS_WITH(make_arms({}, {"x=hpd,kmax=3"}, {}, 1),
                    "`arm` x: decoder hpd has no option 'kmax'; did you mean 'k_max'?");
  CHECK_THROWS_WITH(make_arms({}, {"hpd"}, {}, 1),
                    "`arm` is 'hpd', expected LABEL=NAME[,option=value...]");
  CHECK_THROWS_WITH(make_arms({}, {"x=hpd,cascade=2"}, {}, 1),
                    "arm x: cascade is 2, expected true or false");
  for (const char* size : {"0", "-3", "1.5", "99999999999"})
    CHECK_THROWS_WITH(
        make_arms({}, {str("x=hpd,batch_size=", size)}, {}, 1),
        str("arm x: batch_size is ", size, ", expected a whole number from 1 to 2147483647"));
}

TEST_CASE("an option of another decoder, or of none, is refused for every decoder") {
  for (const DecoderEntry& entry : decoders()) {
    const std::string name(entry.name);
    INFO(name);
    const auto own = names_of(entry.options);
    const bool drafts = make_decoder(name, Json::object())->drafts_with_model();
    for (const DecoderEntry& other : decoders())
      for (const std::string& option : names_of(other.options)) {
        if (std::count(own.begin(), own.end(), option)) continue;
        if (drafts && option == "draft") continue;  // a folder
        CHECK_THROWS_WITH(
            make_arms({name}, {}, {str(name, ".", option, "=1")}, 1),
            Catch::StartsWith(str("`set` ", name, ".", option, ": no arm has this option; ")));
        CHECK_THROWS_WITH(
            make_arms({}, {str("x=", name, ",", option, "=1")}, {}, 1),
            Catch::StartsWith(str("`arm` x: decoder ", name, " has no option '", option, "'; ")));
      }
    for (const std::string& option : own)
      CHECK_THROWS_WITH(make_arms({name}, {}, {str(name, ".", option, "x=1")}, 1),
                        Catch::Contains(str("did you mean")) &&
                            Catch::Contains(str("'", name, ".", option, "'")));
  }
}

TEST_CASE("data of each kind is asked in a suitable form, or not at all") {
  for (const DecoderEntry& entry : decoders()) {
    INFO(entry.name);
    const auto decoder = make_decoder(entry.name, Json::object());
    CHECK(not_applicable(Shape::attributes, *decoder).empty());
    CHECK(not_applicable(Shape::questions, *decoder).empty());
    CHECK(form_on(Shape::attributes, *decoder) == decoder->form());
    CHECK(form_on(Shape::open, *decoder) == Form::free);
    CHECK(not_applicable(Shape::open, *decoder).empty() == entry.free_running);
  }
  CHECK(not_applicable(Shape::open, *make_decoder("hpd", Json::object())) ==
        "fills the fields of a job, and an open prompt has none");
  PromptFile prompt;
  prompt.instruction = "Read the text.";
  const auto stack = [&](const char* name, Shape shape) {
    return stacking_on(shape, *make_decoder(name, Json::object()), prompt);
  };
  CHECK(stack("hpd", Shape::attributes).examples == 6);
  CHECK(stack("hpd", Shape::questions).examples == 1);
  CHECK(stack("ippd", Shape::questions).examples == 6);
  CHECK(stack("ippd", Shape::open).examples == 1);
  // What the examples of a job have in common: the fields of its one answer, or the words of the
  // instruction.
  CHECK_FALSE(stack("hpd", Shape::attributes).across_categories);
  CHECK(stack("ippd", Shape::attributes).across_categories);
  CHECK(stack("ippd", Shape::questions).across_categories);
  for (const char* slot : {"{category}", "{fields}"}) {
    prompt.instruction = str("Read what is said of ", slot, ".");
    CHECK_FALSE(stack("ippd", Shape::attributes).across_categories);
    CHECK_FALSE(stack("ippd", Shape::questions).across_categories);
  }
}

TEST_CASE("the needs of a decoder are found without a network's weights") {
  CheckpointFace face;
  face.config.vocab_size = 20;
  face.config.layers = 5;
  const auto needs = [&](const char* name, const Json& options = Json::object()) {
    return needs_of(*make_decoder(name, options), &face, "");
  };
  CHECK(needs("ar").text == "-");
  CHECK_FALSE(needs("ar").lacking);
  CHECK(needs("apar").lacking);
  CHECK_THAT(needs("apar").text, Catch::Contains("apar.fork_token"));
  CHECK(needs("apar", {{"fork_token", 7}, {"child_token", 8}}).text == "[Fork] is 7, [Child] 8");
  CHECK_THAT(needs("apar", {{"fork_token", 7}, {"child_token", 20}}).text,
             Catch::Contains("the network's vocabulary goes from 0 to 19"));
  CHECK(needs("aspd", {{"tokens", "1,2,3,4,5,6"}}).text ==
        "<Title> is 1, </Title> 2, <Branch> 3, </Branch> 4, <Para> 5, </Para> 6");
  CHECK(needs("space", {{"mask_token", 3}}).text == "[M] is 3");
  CHECK(needs("self-speculative", {{"skip_mlp", "none"}}).text ==
        "guesses without 2 of 5 attentions and 0 of 5 MLPs");
  CHECK(needs("self-speculative", {{"skip_mlp", "9"}}).lacking);
  CHECK(needs("speculative").text == "a draft model (`draft_model`)");
  CHECK(needs_of(*make_decoder("apar", Json::object()), nullptr, "").text == "-");
}

TEST_CASE("the baseline of each arm is the one of its paper") {
  const auto arms = make_arms({},
                              {"hpd=hpd", "sep=ar,ask=separately", "forced=ar,forced_keys=true",
                               "ar=ar", "stacked=ar,stack=6", "ippd=ippd"},
                              {}, 1);
  CHECK(baseline_of(arms, 0, "") == 3u);
  CHECK(baseline_of(arms, 1, "") == 3u);
  CHECK(baseline_of(arms, 3, "") == std::nullopt);
  CHECK(baseline_of(arms, 5, "") == 1u);
  CHECK(baseline_of(arms, 0, "sep") == 1u);
  CHECK(baseline_of(arms, 1, "sep") == std::nullopt);
  CHECK_THROWS_WITH(baseline_of(arms, 0, "arr"),
                    "`baseline`: no arm is labelled 'arr'; did you mean 'ar'?");
}

TEST_CASE("a free-running arm is compared with the ar that asks in the same way") {
  const auto arms = make_arms(
      {}, {"sep=ar,ask=separately", "tog=ar", "a=prompt-lookup", "b=prompt-lookup,ask=separately"},
      {}, 1);
  CHECK(baseline_of(arms, 2, "") == 1u);
  CHECK(baseline_of(arms, 3, "") == 0u);
  const auto fewer = make_arms({}, {"tog=ar", "b=prompt-lookup,ask=separately"}, {}, 1);
  CHECK(baseline_of(fewer, 1, "") == 0u);
}

TEST_CASE("an arm on another network is compared with the ar on that network, if there is one") {
  const auto arms = make_arms({},
                              {"ar=ar", "ar2=ar,model=B", "hpd=hpd,model=B", "look=prompt-lookup",
                               "only=hpd,model=C", "s=speculative,draft=D"},
                              {}, 1);
  CHECK(arms[1].model == "B");
  CHECK(arms[5].draft_model == "D");
  CHECK(arms[0].model.empty());
  CHECK(baseline_of(arms, 0, "") == std::nullopt);
  CHECK(baseline_of(arms, 1, "") == 0u);
  CHECK(baseline_of(arms, 2, "") == 1u);
  CHECK(baseline_of(arms, 3, "") == 0u);
  CHECK(baseline_of(arms, 4, "") == 0u);
  CHECK(baseline_of(arms, 2, "ar") == 0u);
  CHECK(make_arms({"hpd", "ar"}, {}, {"hpd.model=a,b"}, 1).front().model == "a,b");
  CHECK(make_arms({}, {"p=prompt-lookup,draft=3"}, {}, 1).front().options.at("draft") == 3);
  CHECK_THROWS_WITH(make_arms({}, {"x=ar,draft=D"}, {}, 1),
                    Catch::StartsWith("`arm` x: decoder ar has no option 'draft'"));
  CHECK_THROWS_WITH(make_arms({}, {"x=ar,model="}, {}, 1),
                    "arm x: model is empty, expected a folder");
}

TEST_CASE("an experiment file names its networks") {
  const Json models{{"base", "some/folder"}, {"wrong", 3}};
  const auto specs = arms_of_experiment(
      Json::parse(R"([{"name":"speculative","model":"base","draft":"other/folder"}])"), models,
      "x.json");
  const Arm arm = make_arms({}, specs, {}, 1).front();
  CHECK(arm.model == "some/folder");
  CHECK(arm.draft_model == "other/folder");
  CHECK(folder_of_experiment(Json(), "base", "x.json") == "base");
  CHECK_THROWS_WITH(folder_of_experiment(models, "wrong", "x.json"),
                    "x.json: 'models': 'wrong' is 3, expected a checkpoint folder");
  CHECK_THROWS_WITH(
      folder_of_experiment(Json::array(), "base", "x.json"),
      "x.json: 'models' is array, expected an object of names and checkpoint folders");
}

TEST_CASE("an experiment file's decoders are arms") {
  const auto specs = arms_of_experiment(
      Json::parse(
          R"([{"label":"a","name":"hpd","set":{"k_max":8,"isolated":"values"}},{"name":"ar"}])"),
      Json(), "x.json");
  const auto arms = make_arms({}, specs, {}, 1);
  CHECK(arms[0].options == Json{{"isolated", "values"}, {"k_max", 8}});
  CHECK(arms[1].label == "ar");
  CHECK_THROWS_WITH(arms_of_experiment(Json::parse(R"([{"nam":"ar"}])"), Json(), "x.json"),
                    "x.json: 'decoders'[0]: 'name' is missing");
  const auto refused = [](const char* decoders, const std::string& what) {
    CHECK_THROWS_WITH(arms_of_experiment(Json::parse(decoders), Json(), "x.json"),
                      "x.json: 'decoders'[0]: " + what);
  };
  refused(R"([{"name":"hdp"}])", "unknown decoder 'hdp'; did you mean 'hpd'?");
  refused(R"([{"name":"hpd","set":5}])", "'set' is 5, expected an object option: value");
  refused(R"([{"name":"hpd","set":{"kmax":5}}])",
          "'set': decoder hpd has no option 'kmax'; did you mean 'k_max'?");
  refused(R"([{"name":"hpd","set":{"k_max":[8,16]}}])",
          "'set': 'k_max' is [8,16], expected one number, text, true or false");
  refused(R"([{"name":"hpd","label":"a=b"}])",
          "label and name are 'a=b=hpd', expected none of , and = in them");
}

TEST_CASE("an arm takes the options of its network's training, unless others are given") {
  const Json settings = {{"format", {"ar", "hpd"}}, {"stack", 2}, {"k_max", 24}, {"ar_stack", 3}};
  auto arms = make_arms({"ar", "hpd", "prompt-lookup"}, {"own=hpd,stack=5"}, {}, 1);
  for (Arm& arm : arms) take_trained_options(arm, settings);
  CHECK(arms[0].trained_options == Json{{"stack", 3}});
  CHECK(arms[1].trained_options == Json{{"stack", 2}, {"k_max", 24}});
  CHECK(arms[1].algorithm->stack() == 2);
  CHECK(arms[1].algorithm->options()["k_max"] == 24);
  CHECK(arms[2].trained_options == Json{{"stack", 3}});  // it writes the same as ar
  CHECK(arms[3].trained_options == Json{{"k_max", 24}});
  CHECK(arms[3].algorithm->stack() == 5);
  // Asked as in its training, if that is only one way and no other is given.
  const auto asks = [](const Arm& arm) { return arm.algorithm->options()["ask"]; };
  for (const auto& [formats, asked] :
       {std::pair{Json{"ar-value", "hpd"}, "separately"}, std::pair{Json{"ar"}, "together"},
        std::pair{Json{"ar", "ar-value"}, "together"}}) {
    auto asking = make_arms({"ar", "lookahead"}, {"own=ar,ask=together"}, {}, 1);
    for (Arm& arm : asking) take_trained_options(arm, {{"format", formats}, {"ar_stack", 1}});
    CHECK(asks(asking[0]) == asked);
    CHECK(asks(asking[1]) == asked);
    CHECK(asks(asking[2]) == "together");
    CHECK(asking[0].trained_options.contains("ask") == (asks(asking[0]) == "separately"));
    CHECK(
        options_beyond_training(find_decoder("ar"), {{"ask", "together"}}, {{"format", formats}}) ==
        (asks(asking[0]) == "separately"
             ? std::vector<std::string>{"ask together, trained with separately"}
             : std::vector<std::string>{}));
  }
  // The masks of SPACE see those before them alone: fewer than the trained ones are trained, too.
  const Json five{{"format", {"space"}}, {"space", {{"k", 5}}}};
  const DecoderEntry& space = find_decoder("space");
  CHECK(options_beyond_training(space, {{"k", 5}}, five).empty());
  CHECK(options_beyond_training(space, {{"k", 2}}, five).empty());
  CHECK(options_beyond_training(space, {{"k", 6}}, five) ==
        std::vector<std::string>{"k 6, trained with 5"});
  const Json two{{"format", {"hpd"}}, {"stack", 2}};
  CHECK(options_beyond_training(find_decoder("hpd"), {{"stack", 1}}, two) ==
        std::vector<std::string>{"stack 1, trained with 2"});
  auto untaught = make_arms({"hpd"}, {}, {}, 1);
  take_trained_options(untaught[0], {{"format", {"ar"}}, {"stack", 2}});
  CHECK(untaught[0].trained_options.empty());
  take_trained_options(untaught[0], Json::object());
  CHECK(untaught[0].trained_options.empty());
  auto guessing = make_arms({"space"}, {}, {}, 1);
  take_trained_options(guessing[0], {{"format", {"space"}}, {"space", {{"k", 3}}}});
  CHECK(guessing[0].trained_options == Json{{"k", 3}});
  auto damaged = make_arms({"space"}, {}, {}, 1);
  take_trained_options(damaged[0], {{"format", {"space"}}, {"space", "a damaged record"}});
  CHECK(damaged[0].trained_options.empty());
}

TEST_CASE("AR runs in the form that each arm needs") {
  const auto with = [](const std::vector<std::string>& decoders,
                       const std::vector<std::string>& arms, const std::string& baseline = "",
                       const std::vector<std::string>& sets = {}) {
    RunSpec spec;
    spec.arms = make_arms(decoders, arms, sets, 8);
    spec.baseline = baseline;
    add_baselines(spec);
    std::vector<std::string> found;  // label, "*" if it was added, and its baseline
    for (size_t a = 0; a < spec.arms.size(); ++a) {
      const auto other = baseline_of(spec.arms, a, spec.baseline);
      found.push_back(str(spec.arms[a].label, spec.arms[a].added ? "*" : "", " ",
                          spec.arms[a].algorithm->options().value("ask", "-"), " > ",
                          other ? spec.arms[*other].label : "nothing"));
    }
    return found;
  };
  using Found = std::vector<std::string>;
  CHECK(with({"ar", "ippd"}, {}) ==
        Found{"ar together > nothing", "ar-separately* separately > ar", "ippd - > ar-separately"});
  CHECK(with({"ar", "hpd", "prompt-lookup"}, {}) ==
        Found{"ar together > nothing", "hpd - > ar", "prompt-lookup together > ar"});
  CHECK(with({"ippd", "ar"}, {"l=lookahead,ask=separately", "hpd=hpd"}) ==
        Found{"ippd - > ar-separately", "ar together > nothing", "ar-separately* separately > ar",
              "l separately > ar-separately", "hpd - > ar"});
  // What a user asked for is kept.
  CHECK(with({"ippd"}, {"ar=ar,ask=together"}) ==
        Found{"ippd - > nothing", "ar together > nothing"});
  CHECK(with({"ar", "hpd"}, {}, "", {"ar.ask=separately"}) ==
        Found{"ar separately > nothing", "hpd - > nothing"});
  CHECK(with({"ar", "ippd"}, {}, "ar") == Found{"ar together > nothing", "ippd - > ar"});
  CHECK(with({"ar", "ippd"}, {"sep=ar,ask=separately"}) ==
        Found{"ar together > nothing", "ippd - > sep", "sep separately > ar"});
  CHECK(with({"ippd", "hpd"}, {}) == Found{"ippd - > nothing", "hpd - > nothing"});
  // A stacked one is no baseline; one on the arm's own network is preferred.
  CHECK(with({"ippd"}, {"ar=ar,stack=6"}) == Found{"ippd - > nothing", "ar together > nothing"});
  CHECK(with({"ar"}, {"b=ar,model=B", "ippd=ippd,model=B", "ar-separately=hpd"}) ==
        Found{"ar together > nothing", "b together > ar", "b-separately* separately > b",
              "ippd - > b-separately", "ar-separately - > ar"});
}

TEST_CASE("on open prompts all arms ask in one way") {
  RunSpec spec;
  spec.arms = make_arms({"ar", "ippd"}, {}, {}, 8);
  add_baselines(spec);
  REQUIRE(spec.arms.size() == 3);
  CHECK(baseline_of(spec.arms, 2, "") == 1u);
  CHECK(baseline_of(spec.arms, 2, "", /*open=*/true) == 0u);
  const auto arms = make_arms({"ippd"}, {"sep=ar,ask=separately"}, {}, 1);
  CHECK(baseline_of(arms, 0, "", /*open=*/true) == 1u);
  CHECK(baseline_of(arms, 1, "", /*open=*/true) == std::nullopt);
}

TEST_CASE(
    "a network learned a decoder by a format of that decoder, not by a name with the same "
    "beginning") {
  CHECK(learned(find_decoder("hpd"), {"ar", "hpd"}));
  CHECK(learned(find_decoder("aspd"), {"aspd-value"}));
  CHECK_FALSE(learned(find_decoder("hpd"), {"ar", "hpd-of-others"}));
  CHECK_FALSE(learned(find_decoder("hpd"), {}));
}
