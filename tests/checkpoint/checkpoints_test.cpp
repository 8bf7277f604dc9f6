#include "src/checkpoint/checkpoint.hpp"
#include "src/checkpoint/memory_plan.hpp"
#include "tests/support/catch.hpp"

using namespace pardec;

namespace {

ModelOptions quickstart(const std::string& folder, const std::string& dtype = "fp32") {
  return {.model = std::string(PARDEC_SOURCE_DIR) + "/experiments/quickstart/" + folder,
          .dtype = dtype};
}

}  // namespace

TEST_CASE("a network is loaded once while somebody holds it") {
  Checkpoints loaded;
  auto model = loaded.get(quickstart("model"), false);
  CHECK_FALSE(model->tokenizer);
  CHECK(loaded.get(quickstart("model/../model"), true) == model);  // the same folder
  CHECK(model->tokenizer);                                         // is read when it is asked for
  CHECK(loaded.get(quickstart("model", "bf16"), false) != model);  // computes otherwise
  ModelOptions options = quickstart("model");
  options.draft_model = quickstart("draft").model;
  const auto draft = load_draft(options, *model, loaded);
  CHECK(draft != model);
  CHECK(loaded.held(draft_options(options)) == draft);
  options.draft_model = options.model;
  CHECK(load_draft(options, *model, loaded) == model);
  const std::weak_ptr<Checkpoint> held = model;
  model.reset();
  CHECK(held.expired());
  CHECK(loaded.held(quickstart("model")) == nullptr);
}

TEST_CASE("each distinct network of the arms is counted once, or those of one arm at a time") {
  ModelOptions plain = quickstart("model"), small = quickstart("draft"), drafting = plain;
  drafting.draft_model = small.model;
  const auto bytes = [](const std::vector<ModelOptions>& arms, bool together = true) {
    return plan_memory(arms, 16, together).weight_bytes;
  };
  const std::int64_t of_model = bytes({plain}), of_draft = bytes({small});
  CHECK(bytes({drafting}) == of_model + of_draft);
  CHECK(bytes({plain, plain, drafting, small}) == of_model + of_draft);
  CHECK(bytes({plain, small}, false) == of_model);
  CHECK(bytes({plain, drafting, small}, false) == of_model + of_draft);
  CHECK(plan_memory({plain, small, drafting}, 16).networks == 2);
  CHECK(plan_memory({small, plain}, 16).row_bytes == plan_memory({plain}, 16).row_bytes);
  CHECK(plan_memory({plain, drafting}, 16).row_bytes ==
        plan_memory({plain}, 16).row_bytes + plan_memory({small}, 16).row_bytes);
}
