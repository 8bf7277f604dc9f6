#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string_view>
#include <vector>

namespace pardec {

/// The mean lengths of a stand-in, in ids of one tokenizer, as reported by its paper.
struct StandinLengths {
  std::int64_t examples = 0;
  double fields = 0;    ///< per example
  double context = 0;   ///< ids of the text
  double question = 0;  ///< ids of a question including its choices
  double answer = 0;    ///< ids of a right answer, without end of sequence; 1 for choices
  /// Number of examples of split train, for the worked examples of the prompt, and ids of the text
  /// of each.
  std::int64_t shots = 0;
  double shot_context = 0;
};

/// Number of ids of a text that follows other text.
using CountIds = std::function<std::int64_t(std::string_view)>;

/// The datasets that a stand-in can be made for.
const std::vector<std::string_view>& standin_datasets();

/// Writes files in the published format with these mean lengths into the new `folder`, and
/// standin.json, by which load_dataset recognises them. Words are invented, based on `seed`. Right
/// answers are in the usual places (squad: in the text), but have no meaning. Lengths are spread
/// evenly from half to one and a half times their mean. REQUIRES: `dataset` is one of
/// standin_datasets(). RunError: a file cannot be written.
void write_standin(std::string_view dataset, const std::filesystem::path& folder,
                   const StandinLengths& lengths, std::uint64_t seed, const CountIds& count,
                   std::string_view tokenizer);

}  // namespace pardec
