// The same faults for all loaders. Each takes the project's sample of its dataset, damaged in one
// way. A damaged file is refused with a place; it never crashes the program, and is never read as
// something else.
#include <fstream>
#include <functional>

#include "datasets/dataset.hpp"
#include "datasets/reading.hpp"
#include "src/support/error.hpp"
#include "src/support/files.hpp"
#include "src/support/text.hpp"
#include "tests/datasets/files.hpp"

using namespace pardec;
using namespace pardec::test;

namespace {

namespace fs = std::filesystem;

struct Case {
  std::string dataset, split, file;
  bool lines = false;       ///< one record a line
  bool ids = false;         ///< a record that occurs twice is a fault
  std::string wrong = "7";  ///< a file of another type
};

const std::vector<Case>& cases() {
  static const std::vector<Case> kCases = {
      {"oa-mine", "test", "test.jsonl", true, false},
      {"ae-110k", "train", "train.jsonl", true, false},
      {"squad", "dev", "dev-v2.0.json", false, false, "[]"},
      {"race", "test", "test/high/1.txt", false, false, "[]"},
      {"narrativeqa", "test", "summaries.csv", false, true, "\x89PNG\r\n\x1A\n"},
      {"narrativeqa", "test", "qaps.csv", false, false, "{\"document_id\": 1}"},
      {"longhealth", "test", "benchmark_v5.json", false, false, "[]"},
      {"amazon-reviews", "test", "meta_Lamps.jsonl", true, true},
      {"amazon-reviews", "test", "attributes/Lamps.json", false, false, "[]"},
      {"mt-bench", "test", "question.jsonl", true, true},
      {"mt-bench", "test", "reference_answer.jsonl", true, false, "{\"question_id\": \"x\"}"},
      {"vicuna-bench", "test", "question.jsonl", true, true},
      {"humaneval-x", "test", "python.jsonl", true, true},
      {"xsum", "test", "XSum-TRAINING-DEV-TEST-SPLIT-90-5-5.json", false, false, "[]"},
      {"cip", "test", "test.jsonl", true, false},
      {"math500", "test", "test.jsonl", true, true},
      {"aime", "2024", "2024.jsonl", true, true},
      {"amc23", "test", "test.jsonl", true, true},
      {"gpqa", "diamond", "gpqa_diamond.csv", false, true, "\x89PNG\r\n\x1A\n"},
      {"sharegpt", "test", "conversations.json", false, false, "{}"},
      {"rag-bench", "test", "test.jsonl", true, false},
      {"mmlu", "test", "test/geography_test.csv", false, false, "\x89PNG\r\n\x1A\n"},
      {"agieval", "test", "own-verbal.jsonl", true, false},
      {"commonsense-qa", "validation", "dev_rand_split.jsonl", true, true},
      {"boolq", "validation", "dev.jsonl", true, false},
      {"piqa", "validation", "valid.jsonl", true, true},
      {"rte", "validation", "dev.tsv", false, false, "a\tb\n1\t2"},
      {"hellaswag", "validation", "hellaswag_val.jsonl", true, false},
      {"jsonl", "test", "test.jsonl", true, false},
  };
  return kCases;
}

/// The sample of a dataset in a folder of its own.
class Copy {
 public:
  explicit Copy(const Case& of) : case_(of) {
    const DatasetEntry& entry = find_dataset(of.dataset);
    folder_ = root_.path() / entry.folders.front();
    fs::copy(*dataset_folder(entry, kSamples), folder_, fs::copy_options::recursive);
  }
  fs::path file() const { return folder_ / case_.file; }
  std::string text() const { return read_file(file()); }
  Dataset load(Inspection* inspection = nullptr) const {
    return load_dataset(find_dataset(case_.dataset), root_.path(), case_.split, "/nowhere",
                        inspection);
  }
  /// Refused by a run with a place; noted by an inspection.
  void check_refused(const std::string& what) const {
    INFO(case_.dataset << "/" << case_.file << ": " << what);
    bool refused = false;
    try {
      load();
    } catch (const DataError& error) {
      refused = true;
      CHECK_THAT(error.what(), Catch::Contains(root_.path().string()));
    } catch (const ConfigError& error) {  // nothing of the split is left
      refused = true;
      CHECK_THAT(error.what(), Catch::Contains(root_.path().string()));
    }
    CHECK(refused);
    Inspection found;
    try {
      load(&found);
      CHECK_FALSE(found.faults.empty());
    } catch (const ConfigError&) {
    }
  }

 private:
  const Case& case_;
  TemporaryFolder root_;
  fs::path folder_;
};

/// For each case: the damage, and that the file is refused.
void refuse_all(const std::string& what, const std::function<bool(const Case&)>& which,
                const std::function<std::string(const Case&, std::string)>& damage) {
  for (const Case& of : cases()) {
    if (!which(of)) continue;
    const Copy copy(of);
    write_file(copy.file(), damage(of, copy.text()));
    copy.check_refused(what);
  }
}

bool any(const Case&) { return true; }

/// Examples as one text, to compare.
std::string all_of(const Dataset& dataset) {
  std::string out;
  for (const Example& example : dataset.examples) {
    out += str(example.id, "|", example.category, "|", example.text, "\n");
    for (const auto& field : example.fields) {
      out += str("  ", field.name, "|", field.question, "|", field.id);
      for (const auto& reference : field.references) out += "|" + reference;
      out += "\n";
    }
  }
  return out;
}

/// Loads like the undamaged file, with one note of that kind.
void read_all_the_same(const std::string& note,
                       const std::function<std::string(const std::string&)>& change) {
  for (const Case& of : cases()) {
    INFO(of.dataset << "/" << of.file << ": " << note);
    const Copy copy(of);
    if (change(copy.text()) == copy.text()) continue;  // a file of one line
    const std::string before = all_of(copy.load());
    write_file(copy.file(), change(copy.text()));
    Inspection found;
    CHECK(all_of(copy.load(&found)) == before);
    CHECK(found.faults.empty());
    CHECK(std::any_of(found.notes.begin(), found.notes.end(), [&](const std::string& text) {
      return text.find(note) != std::string::npos && text.find(of.file) != std::string::npos;
    }));
  }
}

}  // namespace

TEST_CASE("the table of faults has every dataset", "[datasets]") {
  for (const auto& entry : datasets())
    CHECK(std::any_of(cases().begin(), cases().end(),
                      [&](const Case& of) { return of.dataset == entry.name; }));
  for (const Case& of : cases()) {
    INFO(of.dataset << "/" << of.file);
    CHECK_FALSE(Copy(of).load().examples.empty());
  }
}

TEST_CASE("a truncated file is refused", "[datasets]") {
  refuse_all("cut in its last record", any,
             [](const Case&, std::string text) { return text.substr(0, text.size() - 12); });
  // Cut in the middle, at any place. A JSON-lines or CSV file that is cut between two records looks
  // complete, so this cuts inside a record.
  refuse_all("cut in the middle", any, [](const Case&, std::string text) {
    std::size_t at = text.size() / 2;
    while (text[at - 1] == '\n' || text[at] == '\n') ++at;
    return text.substr(0, at);
  });
  refuse_all("empty", any, [](const Case&, std::string) { return ""; });
}

TEST_CASE("a file of another type is refused", "[datasets]") {
  refuse_all("another type", any, [](const Case& of, std::string) { return of.wrong + "\n"; });
  refuse_all("bytes", any, [](const Case&, std::string) {
    return std::string("\x1F\x8B\x08\0\0\0\0\0\xFF\xFE", 10);
  });
  for (const Case& of : cases()) {
    // the files of these are those of a folder
    if (of.dataset == "race" || of.dataset == "mmlu") continue;
    const Copy copy(of);
    fs::remove(copy.file());
    fs::create_directory(copy.file());
    INFO(of.dataset << "/" << of.file);
    CHECK_THROWS_AS(copy.load(), Error);
  }
}

TEST_CASE("an id that occurs twice is refused", "[datasets]") {
  refuse_all(
      "every record twice", [](const Case& of) { return of.ids; },
      [](const Case& of, std::string text) {
        if (of.lines) return text + text;
        return text + text.substr(text.find('\n') + 1);  // CSV: the header is not split
      });
}

TEST_CASE("byte order mark and CRLF are accepted by every loader", "[datasets]") {
  read_all_the_same("byte order mark",
                    [](const std::string& text) { return "\xEF\xBB\xBF" + text; });
  read_all_the_same("CRLF",
                    [](const std::string& text) { return replace_all(text, "\n", "\r\n"); });
}

TEST_CASE("a line of 100 MB is refused by every loader of lines", "[datasets]") {
  for (const Case& of : cases()) {
    if (!of.lines && !of.file.ends_with(".csv")) continue;
    INFO(of.dataset << "/" << of.file);
    const Copy copy(of);
    {
      std::ofstream out(copy.file(), std::ios::binary | std::ios::app);
      const std::string piece(1 << 20, 'x');
      for (int i = 0; i < 100; ++i) out << piece;
    }
    Inspection found;
    copy.load(&found);
    CHECK(std::any_of(found.faults.begin(), found.faults.end(), [](const std::string& fault) {
      return fault.find("is longer than 64 MiB") != std::string::npos;
    }));
    CHECK_THROWS_AS(copy.load(), DataError);
  }
}

TEST_CASE("empty references and answers that do not occur are refused", "[datasets]") {
  struct Edit {
    std::string dataset, file, from, to, message;
  };
  const std::vector<Edit> edits = {
      {"oa-mine", "test.jsonl", "\": 1}", "\": 0}", "has score"},
      {"squad", "dev-v2.0.json", "\"answer_start\": ", "\"answer_start\": 9", "does not occur"},
      {"race", "test/high/1.txt", "\"answers\": [\"", "\"answers\": [\"Z", "answers[0] is"},
      {"longhealth", "benchmark_v5.json", "\"correct\": \"", "\"correct\": \"never said ",
       "which is none of"},
      {"cip", "test.jsonl", "\"response\": \"", "\"response\": \"\", \"was\": \"", "is empty"},
      {"math500", "test.jsonl", "\"answer\": \"", "\"answer\": \" \", \"was\": \"", "is empty"},
      {"humaneval-x", "python.jsonl", "\"test\": \"", "\"test\": \"\", \"was\": \"", "is empty"},
  };
  for (const Edit& edit : edits) {
    INFO(edit.dataset << ": " << edit.message);
    const auto of = std::find_if(cases().begin(), cases().end(), [&](const Case& c) {
      return c.dataset == edit.dataset && c.file == edit.file;
    });
    REQUIRE(of != cases().end());
    const Copy copy(*of);
    std::string text = copy.text();
    const std::size_t at = text.find(edit.from);
    REQUIRE(at != std::string::npos);
    write_file(copy.file(), text.replace(at, edit.from.size(), edit.to));
    CHECK_THROWS_WITH(copy.load(), Catch::Contains(edit.message));
    copy.check_refused(edit.message);
  }
}
