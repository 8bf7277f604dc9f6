#pragma once
#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "datasets/dataset.hpp"
#include "src/asking/asking.hpp"

/// HPD's pseudo-labels: a teacher fills the fields of texts, and what it says is learned.
namespace pardec {

struct LabelTask {
  NamedRecord teacher;  ///< json: all that may change what it replies
  std::int64_t max_tokens = 8192;
};

/// What became of an example.
enum class LabelState {
  labelled,
  unreadable,  ///< the teacher's reply
  refused,     ///< by the teacher
  left_out,    ///< nobody can be asked for it
  undecided,   ///< a reply is missing
};
/// All, in the order in which they are counted.
inline constexpr std::array<LabelState, 5> kLabelStates{
    LabelState::labelled, LabelState::unreadable, LabelState::refused, LabelState::left_out,
    LabelState::undecided};
std::string_view name(LabelState state);

struct LabelledExample {
  Example example;  ///< labelled: its fields have the teacher's values as references
  LabelState state;
  std::string reason;
};

struct LabelResult {
  std::vector<LabelledExample> examples;        ///< in the order of those that were given
  std::int64_t values = 0, absent = 0;          ///< fields that have one, and that have none
  std::map<std::string, std::int64_t> reasons;  ///< of examples without labels
  std::int64_t calls = 0;                       ///< replies that came

  std::int64_t count(LabelState state) const;
};

/// Asks for all fields of each example at once, and once more behind a reply that cannot be used:
/// a value has to stand in the text, or be one of the field's choices. What is stored is not asked
/// for again; as `rewrite_answers`.
LabelResult label_examples(Store* store, const LabelTask& task,
                           const std::vector<Example>& examples, const AskService& ask,
                           const std::function<void(std::int64_t calls)>& progress = {});

/// As dataset jsonl reads them; only those that are labelled.
std::string labelled_lines(const std::vector<LabelledExample>& examples);
/// A line an example: what became of it.
std::string labelled_details(const std::vector<LabelledExample>& examples);

}  // namespace pardec
