// JSON lines, by the loaders that read them: the first byte chooses one.
#include <array>

#include "datasets/dataset.hpp"
#include "src/support/error.hpp"
#include "tests/fuzz/input.hpp"

namespace {

struct Target {
  const char* dataset;
  const char* file;
};
constexpr std::array kTargets{Target{"jsonl", "test.jsonl"},
                              Target{"oa-mine", "train.jsonl"},
                              Target{"cip", "test.jsonl"},
                              Target{"math500", "test.jsonl"},
                              Target{"humaneval-x", "python.jsonl"},
                              Target{"mt-bench", "question.jsonl"},
                              Target{"squad", "dev-v2.0.json"},
                              Target{"race", "test/high/1.txt"},
                              Target{"longhealth", "benchmark_v5.json"},
                              Target{"sharegpt", "conversations.json"},
                              Target{"amc23", "test.jsonl"}};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace pardec;
  if (size == 0) return 0;
  const Target& target = kTargets[data[0] % kTargets.size()];
  const std::string name = target.dataset;
  test::put(name + "/" + target.file, test::text_of(data + 1, size - 1));
  const std::string split = name == "oa-mine" ? "train" : name == "race" ? "test-high" : "";
  const DatasetEntry& entry = find_dataset(name);
  try {
    load_dataset(entry, test::scratch(), split, "");
  } catch (const Error&) {
  }
  Inspection found;
  load_dataset(entry, test::scratch(), split, "", &found);
  return 0;
}
