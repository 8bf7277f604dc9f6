// Numbers that are not finite in a checkpoint's files.
#include "src/model/files/weight_check.hpp"

#include <cstring>
#include <limits>

#include "src/model/files/parameters.hpp"
#include "src/model/files/safetensors.hpp"
#include "src/support/error.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/data.hpp"

using namespace pardec;

namespace {

/// A tensor of one row whose first numbers have these bits; the others are zero.
template <typename Bits>
TensorToWrite tensor(const std::string& name, StoredType type, std::vector<Bits> first) {
  return {name, type, {9}, [first = std::move(first)](std::span<std::byte> bytes) {
            std::memset(bytes.data(), 0, bytes.size());
            std::memcpy(bytes.data(), first.data(), first.size() * sizeof(Bits));
          }};
}

}  // namespace

TEST_CASE("NaN and Inf are counted in every type of number, in weights and extra heads") {
  const test::TemporaryFolder folder;
  constexpr double kHuge = std::numeric_limits<double>::max();  // Inf as a float32
  const auto bits = [](double value) {
    std::uint64_t all;
    std::memcpy(&all, &value, sizeof all);
    return all;
  };
  write_safetensors(
      folder.path() / "model.safetensors",
      {tensor<std::uint16_t>("a", StoredType::bf16, {0x7FC0, 0x7F80, 0xFF81, 0x7F7F, 0x0001}),
       tensor<std::uint16_t>("b", StoredType::f16, {0x7C00, 0xFC00, 0x7C01, 0x7BFF}),
       tensor<std::uint32_t>("c", StoredType::f32, {0x7F800001, 0x7F7FFFFF, 0xFF800000}),
       tensor<std::uint64_t>("d", StoredType::f64, {bits(kHuge), bits(1), 0x7FF8000000000000}),
       tensor<std::uint16_t>("good", StoredType::bf16, {0x7F7F, 0xFF7F, 0x8000})});
  WeightCheck found = check_weights(folder.path());
  CHECK(found.tensors == 5);
  REQUIRE(found.not_finite.size() == 4);
  const std::vector<std::pair<int, int>> want = {{2, 1}, {1, 2}, {1, 1}, {1, 1}};
  for (size_t i = 0; i < want.size(); ++i) {
    CHECK(found.not_finite[i].tensor == std::string(1, static_cast<char>('a' + i)));
    CHECK(found.not_finite[i].nan == want[i].first);
    CHECK(found.not_finite[i].infinite == want[i].second);
  }
  CHECK(found.not_finite[0].text() == "2 NaN and 1 Inf of 9 numbers");
  CHECK(found.not_finite[0].file == (folder.path() / "model.safetensors").string());

  write_safetensors(folder.path() / kExtraHeadsFile,
                    {tensor<std::uint16_t>("0.0.weight", StoredType::bf16, {0x7FC0})});
  found = check_weights(folder.path());
  CHECK(found.tensors == 6);
  REQUIRE(found.not_finite.size() == 5);
  CHECK(found.not_finite.back().tensor == "0.0.weight");
  CHECK(found.not_finite.back().text() == "1 NaN of 9 numbers");
  CHECK_THROWS_AS(check_weights(folder.path() / "none"), ModelError);
}
