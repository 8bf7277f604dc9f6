// Names of settings in messages, and the flags that the command line shows instead.
#include "src/cli/with_flags.hpp"

#include <algorithm>

#include "src/cli/program.hpp"
#include "tests/support/catch.hpp"

using namespace pardec;

TEST_CASE("names of settings become flags, and everything else is unchanged") {
  const std::set<std::string> flags{"batch-size", "dtype", "x"};
  const auto put = [&](const char* text) { return with_flags_of(flags, text); };
  CHECK(put("`batch_size` is 0") == "--batch-size is 0");
  CHECK(put("give `dtype=bf16`, or `batch_size`=2") == "give --dtype bf16, or --batch-size=2");
  CHECK(put("(`x=A=B C`)") == "(--x A=B C)");
  CHECK(put("`dtype=`") == "--dtype ");
  CHECK(put("`batch-size` `dtype``x`") == "--batch-size --dtype--x");
  for (const char* same :
       {"", "`", "``", "```", "`run`", "`dtype", "dtype`", "` dtype`", "`dtype `", "`Dtype`",
        "`=dtype`", "batch_size", "--dtype", "'dtype'", "`--dtype`"})
    CHECK(put(same) == same);
  CHECK(put("`run` or `x` or `y") == "`run` or --x or `y");
  CHECK(put("a ` b `x`") == "a ` b --x");  // a single one is not one of a pair
  CHECK(put("'pardec doctor `x=DIR`'") == "'pardec doctor --x DIR'");
}

TEST_CASE("the flags are those of all verbs") {
  CHECK(with_flags("`batch_size` `k_max` `hardware` `usd_per_hour` `retries` `metric=rouge`") ==
        "--batch-size --k-max --hardware --usd-per-hour --retries --metric rouge");
  CHECK(with_flags("`no_such_setting` `run` `limit`") == "`no_such_setting` --run --limit");
  CHECK(with_flags("`batchsize`") == "`batchsize`");
  for (const Verb& verb : all_verbs()) {
    CLI::App app(verb.summary, verb.name);
    verb.add(app);
    for (const CLI::Option* option : app.get_options())
      for (const std::string& name : option->get_lnames()) {
        std::string setting = name;
        std::replace(setting.begin(), setting.end(), '-', '_');
        CHECK(with_flags("`" + setting + "`") == "--" + name);
      }
  }
}
