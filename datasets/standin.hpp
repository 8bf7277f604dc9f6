#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string_view>
#include <vector>

namespace pardec {

/// Mean lengths that a stand-in is made to: in ids of one tokenizer, as its paper gives them.
struct StandinLengths {
  std::int64_t examples = 0;
  double fields = 0;    ///< of an example
  double context = 0;   ///< ids of its text
  double question = 0;  ///< ids of a question, its choices included
  double answer = 0;    ///< ids of a right answer, without an end of sequence; of choices: 1
  /// Examples of split train, for the worked examples of the prompt, and ids of the text of each.
  std::int64_t shots = 0;
  double shot_context = 0;
};

/// Ids of a text that stands behind others.
using CountIds = std::function<std::int64_t(std::string_view)>;

/// The datasets that a stand-in can be made for.
const std::vector<std::string_view>& standin_datasets();

/// Writes files of the published form and of these mean lengths into the new `folder`, and
/// standin.json, by which load_dataset knows them. Words are invented, of `seed`; right answers
/// stand where the published ones do (squad: in the text), but mean nothing. Lengths go evenly from
/// half to one and a half times their mean. REQUIRES: `dataset` is one of standin_datasets().
/// RunError when a file cannot be written.
void write_standin(std::string_view dataset, const std::filesystem::path& folder,
                   const StandinLengths& lengths, std::uint64_t seed, const CountIds& count,
                   std::string_view tokenizer);

}  // namespace pardec
