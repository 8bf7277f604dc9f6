#include <set>

#include "decoders/decoder.hpp"
#include "src/support/error.hpp"
#include "src/support/text.hpp"
#include "tests/support/catch.hpp"

using namespace pardec;

namespace {

std::set<std::string> names(const DecoderEntry& entry) {
  const auto all = names_of(entry.options);
  return {all.begin(), all.end()};
}

}  // namespace

TEST_CASE("decoders describe their options, and refuse senseless values") {
  CHECK(make_decoder("hpd", Json::object())->options().dump() ==
        R"({"k_max":30,"stack":6,"isolated":"none"})");
  CHECK(
      make_decoder("hpd", {{"k_max", 4}, {"stack", 2}, {"isolated", "values"}})->options().dump() ==
      R"({"k_max":4,"stack":2,"isolated":"values"})");
  CHECK(
      make_decoder("ar", Json::object())->options().dump() ==
      R"({"ask":"together","forced_keys":false,"stack":1,"prefix_cache":"none","choose":"written"})");
  CHECK(make_decoder("ippd", Json::object())->options().dump() ==
        R"({"contexts":6,"prefix_cache":false})");
  CHECK(make_decoder("ippd", {{"contexts", 3}})->stack() == 3);
  CHECK(make_decoder("ippd", Json::object())->form() == Form::value);
  CHECK(make_decoder("ar", {{"ask", "separately"}})->form() == Form::value);
  CHECK(make_decoder("ar", Json::object())->form() == Form::json);
  CHECK(make_decoder("hpd", Json::object())->form() == Form::json);
  CHECK(make_decoder("hpd", {{"stack", 3}})->stack() == 3);

  CHECK_THROWS_AS(make_decoder("hdp", Json::object()), ConfigError);
  CHECK_THROWS_WITH(make_decoder("hpd", {{"kmax", 4}}), Catch::Contains("did you mean 'k_max'"));
  CHECK_THROWS_AS(make_decoder("hpd", {{"k_max", 0}}), ConfigError);
  CHECK_THROWS_AS(make_decoder("hpd", {{"stack", 0}}), ConfigError);
  CHECK_THROWS_AS(make_decoder("hpd", {{"isolated", "yes"}}), ConfigError);
  CHECK_THROWS_AS(make_decoder("hpd", {{"k_max", "many"}}), ConfigError);
  CHECK_THROWS_AS(make_decoder("ar", {{"ask", "nicely"}}), ConfigError);
  CHECK_THROWS_AS(make_decoder("ar", {{"ask", "separately"}, {"forced_keys", true}}), ConfigError);
  CHECK_THROWS_AS(make_decoder("ar", {{"stack", 0}}), ConfigError);
  CHECK_THROWS_WITH(make_decoder("ar", {{"ask", "separately"}, {"prefix_cache", "all"}}),
                    "ar.prefix_cache is 'all', expected none, instruction or context");
  CHECK_THROWS_WITH(make_decoder("ar", {{"prefix_cache", "context"}}),
                    "ar.prefix_cache goes with ask=separately only");
  CHECK_THROWS_WITH(make_decoder("ippd", {{"contexts", 0}}),
                    "ippd.contexts is 0, expected 1 to 1024");
  CHECK_THROWS_AS(make_decoder("ippd", {{"prefix_cache", 1}}), ConfigError);
}

TEST_CASE("every decoder refuses unknown options, and names its own") {
  std::set<std::string> all;
  for (const DecoderEntry& entry : decoders()) all.merge(names(entry));
  for (const DecoderEntry& entry : decoders()) {
    INFO(entry.name);
    const std::set<std::string> own = names(entry);
    // The options that it reports are among them.
    const auto decoder = make_decoder(entry.name, Json::object());
    const OrderedJson options = decoder->options();
    for (const auto& [option, value] : options.items()) CHECK(own.contains(option));
    for (const std::string& option : own) {
      const std::string misspelt = option + "x";
      CHECK_THROWS_WITH(make_decoder(entry.name, {{misspelt, 1}}),
                        Catch::Contains(str("unknown option '", misspelt, "'; did you mean")) &&
                            Catch::Contains(str("'", option, "'")));
    }
    for (const std::string& option : all) {
      if (own.contains(option)) continue;
      CHECK_THROWS_WITH(
          make_decoder(entry.name, {{option, 1}}),
          Catch::StartsWith(str("decoder ", entry.name, ": unknown option '", option, "'; ")));
    }
  }
}

TEST_CASE("no integer option can make a pass that exceeds memory") {
  // Caps, which 0 removes. The limits of a whole answer apply with them.
  const std::set<std::string> caps = {"max_threads", "max_depth", "max_total"};
  int bounded = 0;
  for (const DecoderEntry& entry : decoders()) {
    const OrderedJson options = make_decoder(entry.name, Json::object())->options();
    for (const auto& [option, value] : options.items()) {
      if (!value.is_number_integer() || caps.contains(option)) continue;
      INFO(entry.name << "." << option);
      for (const int wrong : {2'000'000'000, 0, -1})
        CHECK_THROWS_WITH(make_decoder(entry.name, {{option, wrong}}),
                          Catch::StartsWith(str(entry.name, ".", option, " is ", wrong)) &&
                              Catch::Contains("expected"));
      ++bounded;
    }
  }
  CHECK(bounded >= 20);
  CHECK_THROWS_WITH(make_decoder("space", {{"k", 1'000'000}}),
                    "space.k is 1000000, expected 1 to 63");
  CHECK_THROWS_WITH(make_decoder("lookahead", {{"window", 1000}, {"guesses", 1000}}),
                    Catch::Contains("make 8000 rows a pass, expected at most 4096"));
  CHECK_THROWS_WITH(make_decoder("aspd", {{"positions", "fix-65537"}}),
                    Catch::Contains("with N from 1 to 65536"));
  CHECK_THROWS_AS(make_decoder("medusa", {{"tree", "1x1000x1000"}}), ConfigError);
}

TEST_CASE("a row says which option stacks examples, and the decoder accepts that number") {
  for (const DecoderEntry& entry : decoders()) {
    INFO(entry.name);
    const auto decoder = make_decoder(entry.name, Json::object());
    const Json options = Json::parse(decoder->options().dump());
    CHECK(stack_asked(entry, options) == decoder->stack());
    if (entry.stack_option.empty()) continue;
    const auto three = make_decoder(entry.name, {{std::string(entry.stack_option), 3}});
    CHECK(three->stack() == 3);
    CHECK(stack_asked(entry, Json::parse(three->options().dump())) == 3);
  }
}
