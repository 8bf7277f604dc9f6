// CSV, by the loader that reads it (narrativeqa): its two files are split at the first zero byte.
#include "datasets/dataset.hpp"
#include "src/support/error.hpp"
#include "tests/fuzz/input.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace pardec;
  const std::string_view text = test::text_of(data, size);
  const std::size_t cut = std::min(text.find('\0'), text.size());
  test::put("narrativeqa/summaries.csv", text.substr(0, cut));
  test::put("narrativeqa/qaps.csv", cut < text.size() ? text.substr(cut + 1) : text);
  const DatasetEntry& entry = find_dataset("narrativeqa");
  try {
    load_dataset(entry, test::scratch(), "test", "");
  } catch (const Error&) {
  }
  Inspection found;
  try {
    load_dataset(entry, test::scratch(), "test", "", &found);
  } catch (const ConfigError&) {  // no question of the split
  }
  return 0;
}
