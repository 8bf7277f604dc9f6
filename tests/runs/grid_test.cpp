#include "src/runs/grid.hpp"

#include "src/support/error.hpp"
#include "src/support/text.hpp"
#include "tests/support/catch.hpp"

using namespace pardec;

namespace {

std::vector<std::string> labels_of(const std::vector<Arm>& arms) {
  std::vector<std::string> labels;
  for (const Arm& arm : arms) labels.push_back(arm.label);
  return labels;
}

std::optional<std::string> baseline_label(const std::vector<Arm>& arms, const std::string& arm,
                                          const std::string& baseline = "") {
  for (size_t a = 0; a < arms.size(); ++a)
    if (arms[a].label == arm) {
      const auto found = baseline_of(arms, a, baseline);
      return found ? std::optional(arms[*found].label) : std::nullopt;
    }
  throw RunError("no arm " + arm);
}

}  // namespace

TEST_CASE("a grid multiplies the arms that take its axes") {
  const auto cells = expand_grid(make_arms({"ar", "hpd"}, {}, {}, 8),
                                 parse_grid({"hpd.k_max=8,16", "hpd.stack=1,2", "batch_size=1,4"}));
  CHECK(cells.refused.empty());
  CHECK(labels_of(cells.arms) ==
        std::vector<std::string>{
            "ar,batch_size=1", "ar,batch_size=4", "hpd,k_max=8,stack=1,batch_size=1",
            "hpd,k_max=8,stack=1,batch_size=4", "hpd,k_max=8,stack=2,batch_size=1",
            "hpd,k_max=8,stack=2,batch_size=4", "hpd,k_max=16,stack=1,batch_size=1",
            "hpd,k_max=16,stack=1,batch_size=4", "hpd,k_max=16,stack=2,batch_size=1",
            "hpd,k_max=16,stack=2,batch_size=4"});
  const Arm& last = cells.arms.back();
  CHECK(last.options == Json{{"k_max", 16}, {"stack", 2}});
  CHECK(last.batch_size == 4);
  CHECK(last.expanded_from == "hpd");
  CHECK(last.algorithm->options().at("k_max") == 16);
}

TEST_CASE("an arm that already has an option stays out of that axis") {
  const auto cells = expand_grid(make_arms({"hpd"}, {"ar=ar,batch_size=32"}, {}, 8),
                                 parse_grid({"batch_size=1,2"}));
  CHECK(labels_of(cells.arms) ==
        std::vector<std::string>{"hpd,batch_size=1", "hpd,batch_size=2", "ar"});
  CHECK(cells.arms.back().batch_size == 32);
  CHECK(cells.arms.back().expanded_from.empty());
}

TEST_CASE("an axis may name an arm by its label, and settings of every arm") {
  const auto cells =
      expand_grid(make_arms({}, {"a=ar", "b=ar"}, {}, 8),
                  parse_grid({"b.seed=1,2", "cache_blocks=0,64", "a.model=one,two/three"}));
  CHECK(labels_of(cells.arms) ==
        std::vector<std::string>{"a,cache_blocks=0,model=one", "a,cache_blocks=0,model=two/three",
                                 "a,cache_blocks=64,model=one", "a,cache_blocks=64,model=two/three",
                                 "b,seed=1,cache_blocks=0", "b,seed=1,cache_blocks=64",
                                 "b,seed=2,cache_blocks=0", "b,seed=2,cache_blocks=64"});
  CHECK(cells.arms[1].model == "two/three");
  CHECK(cells.arms[2].cache_blocks == 64);
  CHECK(cells.arms[7].seed == 2u);
  CHECK_FALSE(cells.arms[0].seed);
}

TEST_CASE("a cell that its decoder refuses is kept with the reason") {
  const auto cells = expand_grid(make_arms({"ar", "hpd"}, {}, {}, 8),
                                 parse_grid({"hpd.k_max=8,0,x", "hpd.batch_size=1,0"}));
  CHECK(labels_of(cells.arms) == std::vector<std::string>{"ar", "hpd,k_max=8,batch_size=1"});
  REQUIRE(cells.refused.size() == 5);
  CHECK(cells.refused[0].label == "hpd,k_max=8,batch_size=0");
  CHECK(cells.refused[0].reason ==
        "arm hpd,k_max=8,batch_size=0: batch_size is 0, expected a whole number from 1 to "
        "2147483647");
  CHECK(cells.refused[1].label == "hpd,k_max=0,batch_size=1");
  CHECK_THAT(cells.refused[1].reason, Catch::Contains("k_max"));
}

TEST_CASE("a cell is compared with the baseline at the nearest place") {
  const auto arms = expand_grid(make_arms({"ar", "hpd"}, {}, {}, 8),
                                parse_grid({"batch_size=1,4", "hpd.k_max=8,16"}))
                        .arms;
  CHECK(baseline_label(arms, "hpd,batch_size=4,k_max=8") == "ar,batch_size=4");
  CHECK(baseline_label(arms, "hpd,batch_size=1,k_max=16") == "ar,batch_size=1");
  CHECK(baseline_label(arms, "ar,batch_size=4") == "ar,batch_size=1");
  CHECK_FALSE(baseline_label(arms, "ar,batch_size=1"));
  // --baseline names a cell, or the arm from which cells were made.
  CHECK(baseline_label(arms, "hpd,batch_size=4,k_max=8", "ar,batch_size=1") == "ar,batch_size=1");
  CHECK(baseline_label(arms, "ar,batch_size=4", "ar,batch_size=1") == "ar,batch_size=1");
  CHECK(baseline_label(arms, "ar,batch_size=4", "hpd") == "hpd,batch_size=4,k_max=8");
  CHECK_FALSE(baseline_label(arms, "hpd,batch_size=4,k_max=8", "hpd"));
  CHECK_THROWS_WITH(baseline_label(arms, "ar,batch_size=1", "at"),
                    Catch::Contains("`baseline`: no arm is labelled 'at'; did you mean 'ar'"));
}

TEST_CASE("grids of an experiment file") {
  const auto axes = grid_of_experiment(
      Json::parse(R"({"ippd.contexts": [1, 2], "ar.model": ["tuned", "other"]})"),
      Json{{"tuned", "models/tuned"}}, "f.json");
  REQUIRE(axes.size() == 2);
  CHECK(axes[0].key == "ar.model");
  CHECK(axes[0].values == std::vector<Json>{"models/tuned", "other"});
  CHECK(axes[1].values == std::vector<Json>{1, 2});
  CHECK(grid_of_experiment(Json(), Json(), "f.json").empty());
}

TEST_CASE("an invalid grid is refused with where, what and what was expected") {
  const auto refused = [](const std::string& flag) {
    return expand_grid(make_arms({"ar", "hpd"}, {"h=hpd,k_max=4"}, {}, 8), parse_grid({flag}));
  };
  CHECK_THROWS_WITH(refused("hpd.k_max"),
                    "`grid` is 'hpd.k_max', expected KEY=V1,V2,..., e.g. hpd.k_max=8,16,30");
  CHECK_THROWS_WITH(refused("=8"), Catch::Contains("`grid` is '=8', expected KEY="));
  CHECK_THROWS_WITH(refused(".k_max=8"),
                    "`grid`: the key is '.k_max', expected OPTION or DECODER.OPTION");
  CHECK_THROWS_WITH(refused("hpd.=8"),
                    "`grid`: the key is 'hpd.', expected OPTION or DECODER.OPTION");
  CHECK_THROWS_WITH(refused("hpd.k_max="), Catch::Contains("a value of hpd.k_max is empty"));
  CHECK_THROWS_WITH(refused("hpd.k_max=8,8"),
                    "`grid`: hpd.k_max has the value 8 twice, expected once");
  CHECK_THROWS_WITH(
      refused("hpd.kmax=8"),
      Catch::Contains("grid: no arm has an option 'hpd.kmax'; did you mean 'hpd.k_max'"));
  CHECK_THROWS_WITH(refused("hpf.k_max=8"), Catch::Contains("did you mean 'hpd.k_max'"));
  CHECK_THROWS_WITH(refused("h.k_max=8"), Catch::Contains("given for arm 'h' already"));
  CHECK_THROWS_WITH(parse_grid({"seed=1", "seed=2"}),
                    Catch::Contains("seed is given twice, expected all its values once"));
  std::string many = "seed=0";
  for (int i = 1; i < 100; ++i) many += str(",", i);
  CHECK_THROWS_WITH(expand_grid(make_arms({"ar"}, {}, {}, 8),
                                parse_grid({many, "batch_size=1,2,3,4,5,6,7,8,9,10,11"})),
                    Catch::Contains("more than 1000 cells"));
  for (const char* grid : {"[]", R"({"hpd.k_max": 8})", R"({"hpd.k_max": []})",
                           R"({"hpd.k_max": [[8]]})", R"({"hpd.k_max": [null]})"}) {
    INFO(grid);
    CHECK_THROWS_WITH(grid_of_experiment(Json::parse(grid), Json(), "f.json"),
                      Catch::StartsWith("f.json: 'grid'") && Catch::Contains("expected"));
  }
}
