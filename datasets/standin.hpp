#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string_view>
#include <vector>

namespace pardec {

/// The mean lengths of a dataset as a paper reports them, in tokens of one tokenizer.
struct StandinLengths {
  std::int64_t examples = 0;
  double fields = 0;        ///< fields per example
  double context = 0;       ///< tokens of the text
  double question = 0;      ///< tokens of a question with its choices
  double answer = 0;        ///< tokens of a right answer, without end of sequence; 1 for choices
  std::int64_t shots = 0;   ///< narrativeqa: examples in split train, for few-shot prompts
  double shot_context = 0;  ///< narrativeqa: tokens of the text of each of these examples
};

/// Counts the tokens of a text that follows other text.
using CountIds = std::function<std::int64_t(std::string_view)>;

/// The datasets for which a stand-in can be generated.
const std::vector<std::string_view>& standin_datasets();

/// Generates a stand-in: writes files in the publisher's format with these mean lengths to the
/// empty folder `folder`, and standin.json, by which load_dataset recognises a stand-in. About half
/// of the words are common short English words; the other words are invented. Right answers are
/// where they are in the real data (squad: in the text, and every second question has no answer),
/// but have no meaning. Lengths are distributed uniformly between 0.5 and 1.5 times the mean.
///   seed       the files depend only on this seed and the other arguments
///   count      counts tokens with the tokenizer of `lengths`
///   tokenizer  the name of this tokenizer, for standin.json
/// REQUIRES: `dataset` is one of standin_datasets(), and the folder exists. RunError: a file cannot
/// be written.
void write_standin(std::string_view dataset, const std::filesystem::path& folder,
                   const StandinLengths& lengths, std::uint64_t seed, const CountIds& count,
                   std::string_view tokenizer);

}  // namespace pardec
