#include "src/model/files/safetensors.hpp"
#include "src/model/files/checkpoint_files.hpp"

#include <cstring>
#include <fstream>

#include "src/model/model.hpp"
#include "src/support/error.hpp"
#include "src/support/files.hpp"
#include "src/support/hashing.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/data.hpp"

using namespace pardec;

namespace {

std::string file_of(const std::string& header, size_t data_bytes) {
  std::string file(8, '\0');
  for (size_t i = 0; i < 8; ++i) file[i] = static_cast<char>(header.size() >> (8 * i) & 0xFF);
  return file + header + std::string(data_bytes, '\1');
}
std::string tensor(const std::string& name, const std::string& dtype, const std::string& shape,
                   const std::string& offsets) {
  return "\"" + name + "\":{\"dtype\":\"" + dtype + "\",\"shape\":" + shape +
         ",\"data_offsets\":" + offsets + "}";
}
std::map<std::string, StoredTensor> parse(std::string& file) {
  return parse_safetensors({reinterpret_cast<std::byte*>(file.data()), file.size()},
                           "x.safetensors");
}
/// The error of a file, which must be one line about it.
std::string error_of(std::string file) {
  try {
    parse(file);
  } catch (const ModelError& error) {
    const std::string what = error.what();
    CHECK(what.starts_with("x.safetensors: "));
    CHECK(what.find('\n') == std::string::npos);
    return what;
  }
  return "no error";
}

const std::string kTwo = "{" + tensor("a", "F32", "[2,3]", "[0,24]") + "," +
                         tensor("b", "BF16", "[4]", "[24,32]") +
                         ",\"__metadata__\":{\"format\":\"pt\"}}";

}  // namespace

TEST_CASE("a good file gives its tensors in place") {
  std::string file = file_of(kTwo, 32);
  const auto tensors = parse(file);
  REQUIRE(tensors.size() == 2);
  CHECK(tensors.at("a").shape == std::vector<std::int64_t>{2, 3});
  CHECK(tensors.at("a").type == StoredType::f32);
  CHECK(reinterpret_cast<char*>(tensors.at("b").data.data()) == file.data() + file.size() - 8);
  CHECK(tensors.at("b").data.size() == 8);
  std::string empty = file_of("{" + tensor("none", "F16", "[0,5]", "[0,0]") + "," +
                                  tensor("one", "F64", "[]", "[0,8]") + "}",
                              8);
  CHECK(parse(empty).at("one").data.size() == 8);
}

TEST_CASE("a file cut at any byte is an error") {
  const std::string file = file_of(kTwo, 32);
  for (size_t size = 0; size < file.size(); ++size)
    CHECK(error_of(file.substr(0, size)) != "no error");
  CHECK(error_of(file.substr(0, 5)) ==
        "x.safetensors: has 5 bytes, expected a safetensors file (at least 8 bytes)");
  CHECK_THAT(error_of(file.substr(0, 40)),
             Catch::Contains("is truncated: its header has") && Catch::Contains("only 32 follow"));
  CHECK(error_of(file.substr(0, file.size() - 1)) ==
        "x.safetensors: tensor \"b\" ends at byte 32 of the data, but the file has only 31 "
        "(truncated, or a lying header)");
  CHECK_THAT(error_of(file + "x"),
             Catch::Contains("has 33 bytes of data, but its tensors cover only 32"));
}

TEST_CASE("a false header is an error") {
  const auto one = [](const std::string& dtype, const std::string& shape,
                      const std::string& offsets, size_t bytes) {
    return error_of(file_of("{" + tensor("a", dtype, shape, offsets) + "}", bytes));
  };
  CHECK(one("F32", "[2]", "[0,8]", 8) == "no error");
  CHECK_THAT(one("F32", "[2]", "[0,800]", 8),
             Catch::Contains("ends at byte 800 of the data, but the file has only 8"));
  CHECK_THAT(one("F32", "[3]", "[0,8]", 8),
             Catch::Contains("has 8 bytes, expected 12 for F32 of shape [3]"));
  CHECK_THAT(one("BF16", "[2]", "[0,8]", 8), Catch::Contains("has 8 bytes, expected 4 for BF16"));
  CHECK(one("I8", "[8]", "[0,8]", 8) == "no error");  // a network may not need it
  CHECK_THAT(one("F32", "[2]", "[8,0]", 8), Catch::Contains("expected [begin, end]"));
  CHECK_THAT(one("F32", "[2]", "[0]", 8), Catch::Contains("expected [begin, end]"));
  CHECK_THAT(one("F32", "[2]", "[-8,0]", 8), Catch::Contains("expected [begin, end]"));
  CHECK_THAT(one("F32", "[-2]", "[0,8]", 8),
             Catch::Contains("expected sizes that a file can hold"));
  CHECK_THAT(one("F32", "[2.0]", "[0,8]", 8),
             Catch::Contains("expected sizes that a file can hold"));
  CHECK_THAT(one("F32", "\"2\"", "[0,8]", 8), Catch::Contains("expected an array"));
  CHECK_THAT(one("F32", "[4294967296,4294967296,4]", "[0,8]", 8),
             Catch::Contains("expected sizes that a file can hold"));
  CHECK_THAT(one("F32", "[2]", "[8,16]", 16),
             Catch::Contains("starts at byte 8 of the data, expected 0: tensors leave a hole"));
  CHECK_THAT(
      error_of(file_of("{" + tensor("a", "F32", "[2]", "[0,8]") + "," +
                           tensor("b", "F32", "[2]", "[4,12]") + "}",
                       12)),
      Catch::Contains("tensor \"b\" starts at byte 4 of the data, expected 8: tensors overlap"));
  CHECK_THAT(error_of(file_of("{\"a\":{\"dtype\":\"F32\",\"shape\":[2]}}", 8)),
             Catch::Contains("has no 'data_offsets'"));
  CHECK_THAT(error_of(file_of("{\"a\":7}", 8)), Catch::Contains("tensor \"a\" has no 'dtype'"));
  CHECK_THAT(error_of(file_of("{\"a\\n\\u0000\":7}", 8)),
             Catch::Contains("tensor \"a\\n\\u0000\""));
  CHECK_THAT(error_of(file_of("{\"a\": nonsense", 0)), Catch::Contains("that is not valid JSON"));
  CHECK_THAT(error_of(file_of("[1]", 0)), Catch::Contains("is JSON array, expected an object"));
  CHECK_THAT(
      error_of(std::string(8, '\xFF') + "{}"),
      Catch::Contains("says that its header has 18446744073709551615 bytes, expected at most"));
  CHECK_THAT(error_of(file_of(std::string(100000, '['), 0)),
             Catch::Contains("nested deeper than 512 levels"));
}

TEST_CASE("a file that is written is read back, and no temporary file remains") {
  const test::TemporaryFolder folder;
  const std::vector<TensorToWrite> tensors{
      {"x",
       StoredType::f32,
       {3},
       [](std::span<std::byte> bytes) { std::memset(bytes.data(), 7, bytes.size()); }},
      {"y", StoredType::bf16, {2, 2}, [](std::span<std::byte> bytes) {
         std::memset(bytes.data(), 9, bytes.size());
       }}};
  write_safetensors(folder.path() / "model.safetensors", tensors);
  const CheckpointFiles checkpoint(folder.path());
  CHECK(checkpoint.tensors().at("x").tensor.data[11] == std::byte{7});
  CHECK(checkpoint.tensors().at("y").tensor.data[0] == std::byte{9});
  CHECK(checkpoint.tensors().at("y").tensor.shape == std::vector<std::int64_t>{2, 2});
  CHECK_FALSE(std::filesystem::exists(folder.path() / "model.safetensors.tmp"));
  CHECK_THROWS_WITH(write_safetensors(folder.path() / "no" / "folder", tensors),
                    Catch::Contains("cannot be written"));
}

TEST_CASE("an index leads to its shards, and must be true") {
  const test::TemporaryFolder folder;
  const auto shard = [&](const std::string& file, const std::string& name) {
    write_safetensors(folder.path() / file,
                      {{name, StoredType::f32, {1}, [](std::span<std::byte> bytes) {
                          std::memset(bytes.data(), 1, 4);
                        }}});
  };
  const auto index = [&](const std::string& text) {
    write_file(folder.path() / "model.safetensors.index.json", text);
  };
  const auto open = [&] {
    const CheckpointFiles checkpoint(folder.path());
    return checkpoint.tensors().size();
  };
  CHECK_THROWS_WITH(
      open(), Catch::Contains(
                  "has no weights, expected model.safetensors or model.safetensors.index.json"));
  shard("a.safetensors", "a");
  shard("b.safetensors", "b");
  index(R"({"weight_map": {"a": "a.safetensors", "b": "b.safetensors"}})");
  CHECK(open() == 2);
  index(R"({"weight_map": {"a": "a.safetensors", "b": "c.safetensors"}})");
  CHECK_THROWS_WITH(open(),
                    Catch::Contains("names shard \"c.safetensors\", which is not in the folder"));
  index(R"({"weight_map": {"a": "b.safetensors", "b": "a.safetensors"}})");
  CHECK_THROWS_WITH(open(), Catch::Contains("b.safetensors: has no tensor \"a\", which") &&
                                Catch::Contains("index.json says it has"));
  index(R"({"weight_map": {"a": "../a.safetensors"}})");
  CHECK_THROWS_WITH(open(), Catch::Contains("expected a file name"));
  index(R"({"weight_map": {"a": 3}})");
  CHECK_THROWS_WITH(open(), Catch::Contains("expected a file name"));
  index(R"({"metadata": {}})");
  CHECK_THROWS_WITH(open(), Catch::Contains("has no 'weight_map'"));
  index("{");
  CHECK_THROWS_AS(open(), ModelError);
  shard("b.safetensors", "a");
  index(R"({"weight_map": {"a": "a.safetensors", "b": "b.safetensors"}})");
  CHECK_THROWS_WITH(open(),
                    Catch::Contains("has tensor \"a\", which") && Catch::Contains("has too"));
}

TEST_CASE("a synthetic checkpoint has the same bytes for the same seed") {
  const test::TemporaryFolder folder;
  const Json config = {
      {"model_type", "llama"},    {"vocab_size", 64},         {"hidden_size", 32},
      {"intermediate_size", 48},  {"torch_dtype", "float32"}, {"num_hidden_layers", 2},
      {"num_attention_heads", 4}, {"eos_token_id", 2},        {"attention_bias", true}};
  const auto made = [&](std::uint64_t seed, const char* name) {
    synthesise_checkpoint(config, seed, folder.path() / name);
    return sha256_file(folder.path() / name / "model.safetensors");
  };
  const std::string first = made(1, "a");
  CHECK(first ==
        "56bd5f080c9198a9ace6503f1ea7417bd9c5653641e310c52b5e393ea619af6e");  // also on another
                                                                              // machine
  CHECK(made(1, "b") == first);
  CHECK(made(2, "c") != first);
  const ModelConfig read = read_model_config(folder.path() / "a");
  CHECK(read.dtype == "bfloat16");
  CHECK(read.eos == std::vector<Token>{2});
  CHECK(read_json(folder.path() / "a" / "config.json").at("architectures") ==
        Json{"LlamaForCausalLM"});
  const CheckpointFiles checkpoint(folder.path() / "a");
  CHECK(static_cast<std::int64_t>(checkpoint.tensors().size()) == 1 + 2 * (2 + 7 + 4) + 2);
  CHECK(checkpoint.tensors().at("model.norm.weight").tensor.data[1] ==
        std::byte{0x3F});  // 1.0 is 0x3F80
  CHECK(checkpoint.tensors().at("model.layers.1.self_attn.q_proj.bias").tensor.data[1] ==
        std::byte{0});
  CHECK_THROWS_AS(synthesise_checkpoint(Json{{"model_type", "t5"}}, 1, folder.path() / "d"),
                  ModelError);
}
