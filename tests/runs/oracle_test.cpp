// What --oracle forces, and for which arms.
#include "src/runs/oracle.hpp"

#include "src/runs/arms.hpp"
#include "src/support/error.hpp"
#include "src/support/files.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/data.hpp"

using namespace pardec;
using Catch::Matchers::Contains;

namespace {

OracleSpec given(const std::string& text) { return parse_oracle(text, "--oracle"); }

/// The arm of `spec` under an oracle of the run.
Arm under(const std::string& oracle, const std::string& spec) {
  Arm arm = make_arms({}, {spec}, {}, 1).front();
  give_oracle(arm, given(oracle));
  return arm;
}

}  // namespace

TEST_CASE("oracles are read") {
  CHECK(given("").kind.empty());
  CHECK(given("references").kind == "references");
  CHECK(given("recorded:ab:cd").run == "ab:cd");
  CHECK(given("accept:0.5").acceptance->rates == std::vector<double>{0.5});
  CHECK(given("accept:.9,0.5,0").acceptance->rates == std::vector<double>{0.9, 0.5, 0});
  CHECK(given("accept-length:2.25").acceptance->length == 2.25);
  CHECK(given("accept-curve:a:b.json:Vicuna 7B").curves == "a:b.json");
  CHECK(given("accept-curve:a:b.json:Vicuna 7B").network == "Vicuna 7B");
  for (const char* bad : {"accept", "accept:", "accept:0.5,", "accept:1.1", "accept:nan",
                          "accept-length:", "accept-length:0.9", "accept-length:inf",
                          "accept-curve:", "accept-curve:f", "accept-curve:f:", "accept-curve::n",
                          "recorded:", "reference"}) {
    INFO(bad);
    CHECK_THROWS_AS(given(bad), ConfigError);
  }
}

TEST_CASE("an arm's own oracle wins, and ar stays free if other arms guess") {
  CHECK(under("accept:0.5", "s=space,k=3").oracle.text == "accept:0.5");
  CHECK(under("accept:0.5", "s=space,k=3,oracle=accept:0.9,0.1").oracle.text == "accept:0.9,0.1");
  CHECK(under("accept:0.5", "s=space,k=3,oracle=accept:0.9,0.1").oracle.acceptance->rates ==
        std::vector<double>{0.9, 0.1});
  CHECK(under("accept-length:2", "a=ar").oracle.text.empty());
  CHECK(under("references", "a=ar").oracle.kind == "references");
  CHECK_THROWS_WITH(under("accept:0.5", "h=hpd"), Contains("drives decoders that draft"));
  CHECK_THROWS_WITH(under("", "a=ar,oracle=accept:1"), Contains("arm 'a' is ar"));
  CHECK_THROWS_WITH(make_arms({}, {"s=space,oracle=accept:2"}, {}, 1),
                    Contains("arm s: oracle accept: a rate is '2'"));
}

TEST_CASE("a mean length is no more than an arm's guesses can give") {
  CHECK_NOTHROW(under("accept-length:4", "s=space,k=3"));
  CHECK_THROWS_WITH(under("accept-length:4.1", "s=space,k=3"),
                    Contains("checks 3 guesses a pass") && Contains("at most 4"));
  CHECK_NOTHROW(under("accept-length:6", "s=speculative,gamma=5"));
  CHECK_NOTHROW(under("accept-length:11", "s=prompt-lookup,draft=10"));
  CHECK_NOTHROW(under("accept-length:4", "s=medusa,tree=1x2x2x2"));
  CHECK_THROWS_AS(under("accept-length:5", "s=lookahead,ngram=4"), ConfigError);
  CHECK_NOTHROW(under("accept-length:9", "s=speculative,schedule=heuristic"));  // it grows
}

TEST_CASE("a published curve is read at the arm's draft length") {
  const test::TemporaryFolder folder;
  const std::string file = (folder.path() / "curve.json").string();
  const auto write = [&](const char* text) { write_file(file, text); };
  const std::string oracle = "accept-curve:" + file + ":V 7B";
  write(R"({"source": "s", "measure": "accept_length", "draft_lengths": [3, 5, 7],
            "networks": {"V 7B": [2.5, 3.25, null], "V 13B": [1, 2, 9]}})");
  const Arm k5 = under(oracle, "s=space,k=5");
  CHECK(k5.oracle.acceptance->length == 3.25);
  CHECK(k5.oracle.text == "accept-length:3.25 (V 7B, curve.json)");
  CHECK(under(oracle, "s=speculative,gamma=3").oracle.acceptance->length == 2.5);
  CHECK_THROWS_WITH(under(oracle, "s=space,k=7"),
                    Contains("nothing at draft length 7") && Contains("3, 5"));
  CHECK_THROWS_WITH(under("accept-curve:" + file + ":V 8B", "s=space,k=5"),
                    Contains("no network is named 'V 8B'") && Contains("V 7B"));
  CHECK_THROWS_WITH(under("accept-curve:" + file + ":V 13B", "s=space,k=7"),
                    Contains("is 9") && Contains("1 to 8"));
  CHECK_THROWS_WITH(under(oracle, "s=speculative,schedule=heuristic"),
                    Contains("no constant draft length"));
  write(R"({"measure": "accept_rate", "draft_lengths": [4], "networks": {"V 7B": [0.6]}})");
  CHECK(under(oracle, "s=space,k=4").oracle.acceptance->length == Approx(3.4));
  write(R"({"measure": "rate", "draft_lengths": [4], "networks": {}})");
  CHECK_THROWS_WITH(under(oracle, "s=space,k=4"), Contains("'measure' is 'rate'"));
  write(R"({"measure": "accept_rate", "draft_lengths": [4], "networks": {"V 7B": [0.6, 0.7]}})");
  CHECK_THROWS_WITH(under(oracle, "s=space,k=4"), Contains("one for each"));
  CHECK_THROWS_AS(under("accept-curve:none.json:x", "s=space,k=4"), std::exception);
}
