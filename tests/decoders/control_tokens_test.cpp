#include "decoders/control_tokens.hpp"

#include "src/support/error.hpp"
#include "src/support/files.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/data.hpp"
#include "tests/support/decoding.hpp"

using namespace pardec;
using namespace pardec::test;

TEST_CASE(
    "control tokens: by option, otherwise by name, otherwise an error that says how to name them") {
  TemporaryFolder folder;
  write_file(folder.path() / "tokenizer.json", line_break_tokenizer().dump());
  const Tokenizer tokenizer = Tokenizer::load(folder.path() / "tokenizer.json");
  const auto find = [&](const std::string& given, const std::vector<std::string>& names) {
    return find_control_token({"x.fork_token", given, names}, &tokenizer, 600);
  };
  CHECK(find("", {"[Fork]", "<pad>", "<unk>"}) == 3);  // the first name that exists
  CHECK(find("17", {"<pad>"}) == 17);  // a given token takes precedence over one found by name
  CHECK(find("<unk>", {"<pad>"}) == 2);
  CHECK(find_control_token({"x.fork_token", "17", {}}, nullptr, 600) == 17);

  CHECK_THROWS_WITH(find("", {"[Fork]", "[F]"}),
                    "tokenizer.json has no token [Fork] or [F]; weights that were trained with it "
                    "(`adapter=DIR`) bring it, else name one by id or text: `set=x.fork_token=ID`");
  CHECK_THROWS_WITH(
      find("[Fork]", {"<pad>"}),
      "x.fork_token is '[Fork]', which is no token of tokenizer.json; expected one of "
      "its tokens, or an id");
  CHECK_THROWS_WITH(find("600", {}),
                    "x.fork_token is id 600, the network's vocabulary goes from 0 to 599");
  CHECK_THROWS_AS(find("-1", {}), ConfigError);
  CHECK_THROWS_WITH(find_control_token({"x.fork_token", "", {"<pad>"}}, nullptr, 600),
                    "x.fork_token is not given and no tokenizer is read, expected an id: "
                    "`set=x.fork_token=ID`");
  CHECK_THROWS_AS(find_control_token({"x.fork_token", "<pad>", {}}, nullptr, 600), ConfigError);

  CHECK_NOTHROW(check_different({{"a", "", {}}, {"b", "", {}}}, {1, 2}));
  CHECK_THROWS_WITH(check_different({{"a", "", {}}, {"b", "", {}}}, {1, 1}),
                    "a and b are both id 1, expected two different tokens");
}
