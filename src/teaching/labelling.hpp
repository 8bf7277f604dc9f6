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

/// HPD's pseudo-labels: a teacher fills in the fields of texts, and its values become training
/// data.
namespace pardec {

struct LabelTask {
  NamedRecord teacher;  ///< json: everything that may affect its replies
  std::int64_t max_tokens = 8192;
};

/// The outcome of an example.
enum class LabelState {
  labelled,
  unreadable,  ///< the teacher's reply cannot be read
  refused,     ///< the teacher refused
  left_out,    ///< the example cannot be asked about
  undecided,   ///< a reply is missing
};
/// All states, in the order in which they are listed.
inline constexpr std::array<LabelState, 5> kLabelStates{
    LabelState::labelled, LabelState::unreadable, LabelState::refused, LabelState::left_out,
    LabelState::undecided};
std::string_view name(LabelState state);

struct LabelledExample {
  Example example;  ///< if labelled: the references of its fields are the teacher's values
  LabelState state;
  std::string reason;
};

struct LabelResult {
  std::vector<LabelledExample> examples;        ///< in the order of the given examples
  std::int64_t values = 0, absent = 0;          ///< number of fields with a value, and without one
  std::map<std::string, std::int64_t> reasons;  ///< for examples without labels
  std::int64_t calls = 0;                       ///< number of replies that arrived

  std::int64_t count(LabelState state) const;
};

/// Asks for all fields of each example at once, and a second time after a reply that cannot be
/// used: each value must occur in the text or be one of the field's choices. Stored replies are not
/// asked for again. Errors and `store` are handled as in `rewrite_answers`.
LabelResult label_examples(Store* store, const LabelTask& task,
                           const std::vector<Example>& examples, const AskService& ask,
                           const std::function<void(std::int64_t calls)>& progress = {});

/// The labelled examples in the jsonl form of datasets.
std::string labelled_lines(const std::vector<LabelledExample>& examples);
/// One line per example with its outcome.
std::string labelled_details(const std::vector<LabelledExample>& examples);

}  // namespace pardec
