#include "datasets/published_counts.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

#include "src/support/text.hpp"

namespace pardec {

namespace {

/// Numbers counted in the publishers' files, or given on their pages and in papers
/// (datasets/README.md).
struct PublishedCount {
  std::string_view dataset, split;
  bool questions;  ///< otherwise examples
  std::int64_t count;
  std::string_view file = {};  ///< part of its name, if a split has files of several versions
};

constexpr std::array kPublished{
    PublishedCount{"oa-mine", "test", false, 491},
    PublishedCount{"oa-mine", "train", false, 1452},
    PublishedCount{"ae-110k", "test", false, 524},
    PublishedCount{"ae-110k", "train", false, 1568},
    PublishedCount{"squad", "dev", true, 11873, "v2.0"},
    PublishedCount{"squad", "dev", true, 10570, "v1.1"},
    PublishedCount{"squad", "train", true, 130319, "v2.0"},
    PublishedCount{"squad", "train", true, 87599, "v1.1"},
    PublishedCount{"race", "test", true, 4934},
    PublishedCount{"race", "test-middle", true, 1436},
    PublishedCount{"race", "test-high", true, 3498},
    PublishedCount{"race", "dev", true, 4887},
    PublishedCount{"race", "train", true, 87866},
    PublishedCount{"narrativeqa", "test", false, 355},
    PublishedCount{"narrativeqa", "valid", false, 115},
    PublishedCount{"narrativeqa", "train", false, 1102},
    PublishedCount{"longhealth", "test", true, 400},
    PublishedCount{"mt-bench", "test", false, 80},
    PublishedCount{"vicuna-bench", "test", false, 80},
    PublishedCount{"humaneval-x", "test", false, 164},
    PublishedCount{"xsum", "test", false, 11334},
    PublishedCount{"xsum", "validation", false, 11332},
    PublishedCount{"xsum", "train", false, 204045},
    PublishedCount{"math500", "test", false, 500},
    PublishedCount{"math500", "level-1", false, 43},
    PublishedCount{"math500", "level-2", false, 90},
    PublishedCount{"math500", "level-3", false, 105},
    PublishedCount{"math500", "level-4", false, 128},
    PublishedCount{"math500", "level-5", false, 134},
    PublishedCount{"aime", "2024", false, 30},
    PublishedCount{"aime", "2025", false, 30},
    PublishedCount{"amc23", "test", false, 40},
    PublishedCount{"gpqa", "diamond", false, 198},
    PublishedCount{"gpqa", "main", false, 448},
    PublishedCount{"gpqa", "extended", false, 546},
    PublishedCount{"mmlu", "test", false, 14042},
    PublishedCount{"mmlu", "validation", false, 1531},
    PublishedCount{"mmlu", "dev", false, 285},
    PublishedCount{"commonsense-qa", "validation", false, 1221},
    PublishedCount{"commonsense-qa", "train", false, 9741},
    PublishedCount{"boolq", "validation", false, 3270},
    PublishedCount{"boolq", "train", false, 9427},
    PublishedCount{"piqa", "validation", false, 1838},
    PublishedCount{"piqa", "train", false, 16113},
    PublishedCount{"rte", "validation", false, 277},
    PublishedCount{"rte", "train", false, 2490},
    PublishedCount{"hellaswag", "validation", false, 10042},
    PublishedCount{"hellaswag", "train", false, 39905},
    PublishedCount{"rag-bench", "test", false, 200},
    PublishedCount{"rag-bench", "all", false, 2400},
    PublishedCount{"rag-bench", "train", false, 9600},
};

}  // namespace

std::string fewer_than_published(const Dataset& dataset) {
  if (dataset.sample || dataset.standin) return "";
  std::int64_t questions = 0;
  for (const Example& example : dataset.examples) questions += std::ssize(example.fields);
  for (const PublishedCount& published : kPublished) {
    const bool of_its_files =
        published.file.empty() ||
        std::any_of(dataset.files.begin(), dataset.files.end(), [&](const auto& file) {
          return file.filename().string().find(published.file) != std::string::npos;
        });
    if (published.dataset != dataset.name || published.split != dataset.split || !of_its_files)
      continue;
    const std::int64_t found = published.questions ? questions : std::ssize(dataset.examples);
    return found < published.count
               ? str(found, " ", published.questions ? "questions" : "examples", " of the ",
                     published.count, " that the publisher's files hold")
               : "";
  }
  return "";
}

}  // namespace pardec
