#include "src/serve/models.hpp"

#include "src/serve/api_error.hpp"
#include "src/support/error.hpp"
#include "tests/support/catch.hpp"

using namespace pardec;
using namespace pardec::serve;

namespace {

std::vector<ServedModel> some() {
  return served_models("net", {"ar", "lookahead"}, {"deep=prompt-lookup,draft=3"}, Json::object());
}

int status_of(const Ask& ask) {
  try {
    chosen_model(some(), ask);
  } catch (const ApiError& error) {
    return error.status;
  }
  return 200;
}

}  // namespace

TEST_CASE("ids of models") {
  std::vector<std::string> ids;
  for (const ServedModel& model : some()) ids.push_back(model.id);
  CHECK(ids == std::vector<std::string>{"net", "net:ar", "net:lookahead", "deep"});
  CHECK_THROWS_AS(served_models("net", {"ar"}, {"net:ar=lookahead"}, Json::object()), ConfigError);
  CHECK_THROWS_AS(served_models("net", {"ar", "none"}, {}, Json::object()), ConfigError);
  CHECK_THROWS_AS(served_models("net", {"ar"}, {"x=prompt-lookup,darft=3"}, Json::object()),
                  ConfigError);
  CHECK_THROWS_AS(served_models("net", {"ar"}, {"x=ar,batch_size=3"}, Json::object()), ConfigError);
}

TEST_CASE("a request chooses a model") {
  const auto models = some();
  CHECK(chosen_model(models, {}).decoder == "ar");
  CHECK(chosen_model(models, {.model = "net:lookahead"}).decoder == "lookahead");
  CHECK(chosen_model(models, {.model = "deep"}).algorithm->options()["draft"] == 3);
  CHECK(chosen_model(models, {.model = "net", .decoder = "lookahead"}).id == "net:lookahead");
  CHECK(chosen_model(models, {.model = "deep", .options = {{"draft", 5}}})
            .algorithm->options()["draft"] == 5);
  CHECK(status_of({.model = "other"}) == 404);
  CHECK(status_of({.model = "deep", .decoder = "ar"}) == 400);
  CHECK(status_of({.decoder = "hpd"}) == 400);
  CHECK(status_of({.options = {{"draft", 5}}}) == 400);
}
