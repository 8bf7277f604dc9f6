#include "src/checkpoint/checkpoint.hpp"
#include "src/checkpoint/memory_plan.hpp"
#include "src/model/files/extra_heads.hpp"
#include "src/support/error.hpp"
#include "src/support/files.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/data.hpp"

using namespace pardec;

namespace {

ModelOptions quickstart(const std::string& folder, const std::string& dtype = "fp32") {
  return {.model = std::string(PARDEC_SOURCE_DIR) + "/experiments/quickstart/" + folder,
          .dtype = dtype};
}

}  // namespace

TEST_CASE("a network is loaded once while it is in use") {
  Checkpoints loaded;
  auto model = loaded.get(quickstart("model"), false);
  CHECK_FALSE(model->tokenizer);
  CHECK(loaded.get(quickstart("model/../model"), true) == model);  // the same folder
  CHECK(model->tokenizer);                                         // is read when it is needed
  CHECK(loaded.get(quickstart("model", "bf16"), false) != model);  // computes in another way
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

TEST_CASE("the extra heads of an adapter replace the checkpoint's own, and are counted so") {
  const test::TemporaryFolder folder;
  const std::filesystem::path adapter = folder.path();
  ModelOptions plain = quickstart("model"), over = plain;
  over.adapter = adapter.string();
  const ModelConfig config = read_model_config(plain.model);
  CHECK_THROWS_AS(Checkpoints().get(over, false), ModelError);  // holds no adapter
  write_file(adapter / "config.json",
             read_file(std::filesystem::path(plain.model) / "config.json"));
  synthesise_extra_heads({.heads = 3, .blocks = 2, .shares_head = true}, 1, adapter);

  const ExtraHeadShape shape = extra_head_shape(extra_heads_file(plain.model, adapter), config);
  CHECK(shape_text(shape) == "3 of 2 blocks, on the network's own head");
  CHECK(shape_text(extra_head_shape(extra_heads_file(plain.model, ""), config)) ==
        "2 of 1 block, each with a matrix to the vocabulary");
  CHECK(read_face(plain)->config.extra_heads == 2);
  CHECK(read_face(over)->config.extra_heads == 3);
  CHECK(Checkpoints().get(over, false)->model.config().extra_heads == 3);

  const MemoryPlan with = plan_memory({plain}, 16), small = plan_memory({over}, 16);
  const std::int64_t hidden = config.hidden_size, block = hidden * hidden + hidden;
  const auto near = [](std::int64_t bytes, std::int64_t counted) {
    return counted <= bytes && bytes < counted + 5000;  // the file's header
  };
  CHECK(near(with.head_bytes, 4 * 2 * (block + hidden * config.vocab_size)));
  CHECK(near(small.head_bytes, 4 * 3 * 2 * block));
  CHECK(with.weight_bytes - with.head_bytes == small.weight_bytes - small.head_bytes);
  CHECK_THAT(describe(small, {}),
             Catch::Contains("with extra heads of " + shown_bytes(small.head_bytes) + ", cache"));
}

TEST_CASE("extra heads with a record of their own keep the formats of their network") {
  const test::TemporaryFolder folder;
  ModelOptions plain = quickstart("model"), over = plain;
  over.adapter = folder.path().string();
  write_file(folder.path() / "config.json",
             read_file(std::filesystem::path(plain.model) / "config.json"));
  synthesise_extra_heads({.heads = 1, .blocks = 1, .shares_head = true}, 1, folder.path());
  Json record = {{"settings", {{"format", {"apar"}}, {"medusa", {{"heads", 1}}}}}};
  write_file(folder.path() / kTrainingRecord, dump(record));
  const auto formats = Checkpoints().get(plain, false)->formats;
  REQUIRE(formats);
  CHECK(formats != std::vector<std::string>{"apar"});
  CHECK(Checkpoints().get(over, false)->formats == formats);
  record["settings"]["lora"] = {{"rank", 4}};  // then the network itself was trained
  write_file(folder.path() / kTrainingRecord, dump(record));
  CHECK(Checkpoints().get(over, false)->formats == std::vector<std::string>{"apar"});
}

TEST_CASE("auto is bf16 for weights of half precision where the device computes bf16 fast") {
  test::TemporaryFolder folder;
  const auto config_file = folder.path() / "config.json";
  Json config = read_json(std::filesystem::path(quickstart("model").model) / "config.json");
  config.erase("torch_dtype");
  for (const auto& [stored, chosen] :
       {std::pair("bfloat16", Dtype::bf16), std::pair("float16", Dtype::bf16),
        std::pair("float32", Dtype::fp32)}) {
    INFO(stored);
    config["dtype"] = stored;
    write_file(config_file, config.dump());
    CHECK(chosen_dtype({.model = folder.path().string(), .dtype = "auto", .device = "cuda"}) ==
          chosen);
    CHECK(chosen_dtype({.model = folder.path().string(), .dtype = "fp32", .device = "cuda"}) ==
          Dtype::fp32);
  }
}
