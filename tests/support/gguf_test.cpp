#include "src/support/gguf.hpp"

#include <fstream>

#include "src/support/error.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/data.hpp"
#include "tests/support/gguf_file.hpp"

using namespace pardec;
using namespace pardec::test;

namespace {

/// A file with one entry of each kind and two tensors.
GgufBytes whole_file() {
  return {
      .entries = {gguf_entry("general.architecture", "llama"), gguf_entry("n", 7),
                  gguf_entry("eps", 6, little_endian(1e-5f)),
                  gguf_entry("yes", 7, little_endian<std::uint8_t>(1)),
                  gguf_entry("names", 9,
                             little_endian<std::uint32_t>(8) + little_endian<std::uint64_t>(2) +
                                 gguf_string("a") + gguf_string("bc")),
                  gguf_entry("kinds", 9,
                             little_endian<std::uint32_t>(5) + little_endian<std::uint64_t>(2) +
                                 little_endian<std::int32_t>(-3) + little_endian<std::int32_t>(4))},
      .tensors = {gguf_tensor("first", {2, 3}, 0, 0), gguf_tensor("blocks", {64, 2}, 8, 32)},
      .data = std::string(32 + 4 * 34, '\1')};
}

Gguf parsed(std::string& file) {
  return {{reinterpret_cast<std::byte*>(file.data()), file.size()}, "x.gguf"};
}

/// The error of a file, which must be one line about it.
std::string gguf_error(std::string file) {
  try {
    parsed(file);
  } catch (const ModelError& error) {
    const std::string what = error.what();
    CHECK(what.starts_with("x.gguf: "));
    CHECK(what.find('\n') == std::string::npos);
    return what;
  }
  return "no error";
}
void check_gguf_error(const GgufBytes& file, const std::string& expected) {
  const std::string found = gguf_error(file.bytes());
  INFO(found << "\nexpected: " << expected);
  CHECK(found.find(expected) != std::string::npos);
}

}  // namespace

TEST_CASE("a GGUF file gives its metadata and its tensors in place") {
  std::string file = whole_file().bytes();
  const Gguf gguf = parsed(file);
  CHECK(gguf.text("general.architecture") == "llama");
  CHECK(gguf.whole("n") == 7);
  CHECK(gguf.number("n") == 7.0);
  CHECK(gguf.number("eps") == 1e-5);  // not 9.99999974e-6
  CHECK(gguf.flag("yes") == true);
  CHECK(gguf.texts("names") == std::vector<std::string_view>{"a", "bc"});
  CHECK(gguf.wholes("kinds") == std::vector<std::int64_t>{-3, 4});
  CHECK(gguf.numbers("kinds") == std::vector<double>{-3, 4});
  CHECK(gguf.is_array("names"));
  CHECK_FALSE(gguf.is_array("n"));
  CHECK_FALSE(gguf.whole("missing"));
  REQUIRE(gguf.tensors().size() == 2);
  const GgufTensor& first = gguf.tensors().at("first");
  CHECK(first.shape == std::vector<std::int64_t>{3, 2});  // the outermost size first
  CHECK(first.data.size() == 24);
  const GgufTensor& blocks = gguf.tensors().at("blocks");
  CHECK(std::string(blocks.type->name) == "Q8_0");
  CHECK(reinterpret_cast<char*>(blocks.data.data()) == file.data() + file.size() - 4 * 34);
}

TEST_CASE("a value of another type is an error that names the key and both types") {
  std::string file = whole_file().bytes();
  const Gguf gguf = parsed(file);
  CHECK_THROWS_WITH(gguf.whole("general.architecture"),
                    "x.gguf: metadata 'general.architecture' has type string, expected a whole "
                    "number below 2^63");
  CHECK_THROWS_WITH(gguf.text("n"), "x.gguf: metadata 'n' has type u32, expected string");
  CHECK_THROWS_WITH(gguf.whole("kinds"),
                    "x.gguf: metadata 'kinds' is an array, expected one value");
  CHECK_THROWS_WITH(gguf.texts("n"), "x.gguf: metadata 'n' is u32, expected an array");
  CHECK_THROWS_WITH(gguf.flag("n"), "x.gguf: metadata 'n' has type u32, expected bool");
}

TEST_CASE("a damaged GGUF file is an error that names the place") {
  GgufBytes file = whole_file();
  const auto with = [&](auto&& change) {
    GgufBytes other = whole_file();
    change(other);
    return other;
  };
  check_gguf_error(with([](GgufBytes& f) { f.magic = "GGML"; }), "does not begin with 'GGUF'");
  check_gguf_error(with([](GgufBytes& f) { f.version = 1; }), "has version 1, expected 2 or 3");
  check_gguf_error(with([](GgufBytes& f) { f.version = 0x03000000; }), "expected 2 or 3, little");
  check_gguf_error(with([](GgufBytes& f) { f.entries[1] = f.entries[0]; }),
                   "has metadata 'general.architecture' twice");
  check_gguf_error(with([](GgufBytes& f) { f.tensors[1] = f.tensors[0]; }),
                   "has tensor 'first' twice");
  check_gguf_error(with([](GgufBytes& f) { f.entries[1] = gguf_entry("n", 13, ""); }),
                   "metadata 'n' has value type 13 at byte");
  check_gguf_error(with([](GgufBytes& f) {
                     f.entries[4] = gguf_entry("names", 9, little_endian<std::uint32_t>(9));
                   }),
                   "metadata 'names' is an array of arrays");
  check_gguf_error(with([](GgufBytes& f) {
                     f.entries[4] = gguf_entry("names", 9,
                                               little_endian<std::uint32_t>(8) +
                                                   little_endian<std::uint64_t>(1'000'000'000'000));
                   }),
                   "1000000000000 elements of metadata 'names', expected at most");
  check_gguf_error(
      with([](GgufBytes& f) { f.entries[0] = little_endian<std::uint64_t>(1'000'000) + "key"; }),
      "the key of metadata entry 0 at byte 32 needs 1000000 bytes, but only");
  check_gguf_error(with([](GgufBytes& f) {
                     f.tensors[0] = gguf_tensor("first", {2, 3}, 99, 0);
                   }),
                   "tensor 'first' has type 99 at byte");
  check_gguf_error(with([](GgufBytes& f) {
                     f.tensors[0] = gguf_tensor("first", {1, 1, 1, 1, 1}, 0, 0);
                   }),
                   "tensor 'first' has 5 sizes, expected at most 4");
  check_gguf_error(with([](GgufBytes& f) {
                     f.tensors[0] = gguf_tensor("first", {1ull << 40, 1ull << 40}, 0, 0);
                   }),
                   "which no file can hold");
  check_gguf_error(with([](GgufBytes& f) {
                     f.tensors[0] = gguf_tensor("first", {~0ull, 2}, 0, 0);
                   }),
                   "which no file can hold");
  check_gguf_error(
      with([](GgufBytes& f) {
        f.tensors[1] = gguf_tensor("blocks", {48, 2}, 8, 32);
      }),
      "tensor 'blocks' has rows of 48 numbers, expected a multiple of 32, the block of "
      "Q8_0");
  check_gguf_error(with([](GgufBytes& f) {
                     f.tensors[1] = gguf_tensor("blocks", {64, 2}, 8, 36);
                   }),
                   "tensor 'blocks' starts at byte 36 of the data, expected a multiple of 32");
  check_gguf_error(with([](GgufBytes& f) {
                     f.tensors[1] = gguf_tensor("blocks", {64, 2}, 8, 0);
                   }),
                   "tensors overlap");
  check_gguf_error(with([](GgufBytes& f) {
                     f.tensors[1] = gguf_tensor("blocks", {64, 2}, 8, 320);
                   }),
                   "tensor 'blocks' has 136 bytes from byte 320 of the data on, but the file has "
                   "only 168 bytes");
  check_gguf_error(with([](GgufBytes& f) { f.data.pop_back(); }), "only 167 bytes of data");
  check_gguf_error(with([](GgufBytes& f) { f.entries[1] = gguf_entry("general.alignment", 24); }),
                   "'general.alignment' is 24, expected a power of two");
  // A number of things that the bytes cannot hold.
  for (const size_t at : {8u, 16u}) {
    std::string bytes = file.bytes();
    bytes.replace(at, 8, little_endian<std::uint64_t>(1ull << 60));
    const std::string found = gguf_error(bytes);
    INFO(found);
    CHECK(found.find(at == 8 ? "1152921504606846976 tensors, expected at most"
                             : "1152921504606846976 metadata entries, expected at most") !=
          std::string::npos);
  }
}

TEST_CASE("a GGUF file that is cut anywhere is an error") {
  const std::string file = whole_file().bytes();
  for (size_t bytes = 0; bytes < file.size(); ++bytes)
    CHECK(gguf_error(file.substr(0, bytes)) != "no error");
}

TEST_CASE("a model's path names a GGUF file, or a folder with one") {
  const TemporaryFolder folder;
  const auto put = [&](const char* name) { std::ofstream(folder.path() / name) << "x"; };
  CHECK_FALSE(gguf_file(folder.path()));
  CHECK_FALSE(gguf_file(folder.path() / "a.gguf"));
  put("a.gguf");
  CHECK(gguf_file(folder.path()) == folder.path() / "a.gguf");
  CHECK(gguf_file(folder.path() / "a.gguf") == folder.path() / "a.gguf");
  put("b.gguf");
  CHECK_FALSE(gguf_file(folder.path()));  // which one is unclear
  CHECK(gguf_file(folder.path() / "b.gguf") == folder.path() / "b.gguf");
  std::filesystem::remove(folder.path() / "b.gguf");
  put("config.json");
  CHECK_FALSE(gguf_file(folder.path()));  // the checkpoint of the folder
}
