#include "decoders/options.hpp"

#include <algorithm>
#include <stdexcept>

#include "decoders/decoder.hpp"
#include "decoders/training_formats.hpp"
#include "src/support/error.hpp"
#include "src/support/text.hpp"
#include "tests/support/catch.hpp"

using namespace pardec;

namespace {

enum class Order { none, down, up };  // counted in another order than the choices have
constexpr std::array kOrders{Named<Order>{"up", Order::up}, Named<Order>{"down", Order::down},
                             Named<Order>{"none", Order::none}};

const std::vector<Option> kTable{
    Option::whole("many", 3, {1, 9}, "how many"), Option::number("share", 0.5, {0, 1}, "of all"),
    Option::flag("loud", false, "or not"),        Option::text("layers", "odd", "which"),
    Option::one_of("order", kOrders, "in which"), Option::token("mark", "what stands there"),
    Option::whole("cap", 0, {}, "at most"),
};

Options read(const Json& given) { return Options::of_decoder("x", kTable, given); }

}  // namespace

TEST_CASE("options that are not given have the defaults of their table, in its order") {
  const Options usual = read(Json::object());
  CHECK(usual.all().dump() ==
        R"({"many":3,"share":0.5,"loud":false,"layers":"odd","order":"up","mark":"","cap":0})");
  CHECK_FALSE(usual.given("many"));
  CHECK(read({{"many", nullptr}}).whole("many") == 3);
  const Options some = read({{"cap", 7}, {"many", 3}, {"share", 1}, {"layers", 4}, {"mark", 12}});
  CHECK(some.given("many"));
  CHECK(some.whole("cap") == 7);
  CHECK(some.number("share") == 1.0);
  CHECK(some.all()["share"].dump() == "1.0");
  CHECK(some.text("layers") == "4");
  CHECK(some.text("mark") == "12");
  CHECK(usual.choice("order", kOrders) == Order::up);
  for (const Named<Order>& one : kOrders)
    CHECK(read({{"order", one.name}}).choice("order", kOrders) == one.value);
  CHECK_THROWS_AS(usual.whole("meny"), std::logic_error);
}

TEST_CASE("an unsuitable option is refused, with its name and what was expected") {
  const auto refused = [](const Json& given, const std::string& why) {
    CHECK_THROWS_WITH(read(given), why);
  };
  refused({{"meny", 1}}, "decoder x: unknown option 'meny'; did you mean 'many'?");
  refused({{"many", 0}}, "x.many is 0, expected 1 to 9");
  refused({{"many", 10}}, "x.many is 10, expected 1 to 9");
  refused({{"many", 1.5}}, "decoder x: 'many' is 1.5, expected a whole number");
  refused({{"cap", -1}}, "x.cap is -1, expected at least 0");
  refused({{"share", 1.5}}, "x.share is 1.5, expected 0 to 1");
  refused({{"share", "much"}}, R"(decoder x: 'share' is "much", expected a number)");
  refused({{"loud", "maybe"}}, R"(decoder x: 'loud' is "maybe", expected true or false)");
  refused({{"layers", true}}, "decoder x: 'layers' is true, expected a string");
  refused({{"order", "sideways"}}, "x.order is 'sideways', expected up, down or none");
  for (const Json& wrong : {Json(1.5), Json(""), Json(true)})
    refused({{"mark", wrong}},
            str("decoder x: 'mark' is ", dump(wrong), ", expected a token's id or its text"));
  CHECK_THROWS_WITH(Options::of_training(kTable, {{"many", 0}}), "`many` is 0, expected 1 to 9");
}

TEST_CASE("every option has a meaning, and a default that is a valid value") {
  for (const DecoderEntry& entry : decoders())
    for (const Option& option : entry.options) {
      INFO(entry.name << "." << option.name);
      CHECK_FALSE(option.meaning.empty());
      if (option.fallback == Json("")) continue;  // none
      CHECK_NOTHROW(
          Options::of_decoder(entry.name, {option}, {{std::string(option.name), option.fallback}}));
    }
}

TEST_CASE("the record of a training has the options of the trained formats") {
  const Options options = read_training_options({{"k-max", 8}, {"fork-token", "5"}});
  CHECK(recorded_options({"ar", "hpd"}, options).dump() == R"({"ar_stack":1,"stack":6,"k_max":8})");
  CHECK(recorded_options({"apar-unrolled"}, options).dump() ==
        R"({"ar_stack":1,"stack":6,"k_max":8,"apar":{"fork_token":"5","child_token":""}})");
  CHECK(recorded_options({"space-value"}, options)["space"].dump() ==
        R"({"k":5,"ar_share":0.5,"mask_token":"","one_pass":false,"mask_groups":1})");
  CHECK(recorded_options({"aspd"}, options)["aspd"].dump() ==
        R"({"positions":"same-seq","mask":"independent","tokens":""})");
  CHECK_THROWS_WITH(read_training_options({{"k-max", 0}}), "`k_max` is 0, expected at least 1");
}

TEST_CASE("a decoder that needs training has a format of its name") {
  for (const DecoderEntry& entry : decoders()) {
    INFO(entry.name);
    const bool taught = std::any_of(entry.formats.begin(), entry.formats.end(),
                                    [&](const auto& format) { return format.name == entry.name; });
    CHECK((!entry.trained || taught));
    for (const FormatEntry& format : entry.formats) CHECK(format.name.starts_with(entry.name));
  }
}
