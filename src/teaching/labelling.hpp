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

/// Pseudo-labels, as in the HPD paper: a teacher (a chat service) gives values for the fields of
/// texts, and these values become training data.
namespace pardec {

struct LabelTask {
  NamedRecord teacher;  ///< its json has everything that may affect the replies
  std::int64_t max_tokens = 8192;
};

/// The outcome of an example.
enum class LabelState {
  labelled,
  unreadable,  ///< the teacher's reply contains no valid values
  refused,     ///< the teacher refused
  left_out,    ///< no question can be made from the example
  undecided,   ///< there is no reply yet
};
/// All states, in the order in which they are listed.
inline constexpr std::array<LabelState, 5> kLabelStates{
    LabelState::labelled, LabelState::unreadable, LabelState::refused, LabelState::left_out,
    LabelState::undecided};
std::string_view name(LabelState state);

struct LabelledExample {
  Example example;  ///< if labelled, the references of its fields are the teacher's values
  LabelState state;
  std::string reason;
};

struct LabelResult {
  std::vector<LabelledExample> examples;        ///< in the order of the given examples
  std::int64_t values = 0, absent = 0;          ///< number of fields with and without a value
  std::map<std::string, std::int64_t> reasons;  ///< reason -> number of examples without labels
  std::int64_t calls = 0;                       ///< number of replies received

  std::int64_t count(LabelState state) const;
};

/// Asks for all fields of an example at once. A value must occur in the text or be one of the
/// field's choices. After an invalid reply, the question is repeated once. Stored replies are
/// reused. `store` and errors: see rewrite_answers.
LabelResult label_examples(Store* store, const LabelTask& task,
                           const std::vector<Example>& examples, const AskService& ask,
                           const std::function<void(std::int64_t calls)>& progress = {});

/// The labelled examples as JSON lines for own_jsonl.hpp.
std::string labelled_lines(const std::vector<LabelledExample>& examples);
/// All examples with their outcomes, one JSON line each.
std::string labelled_details(const std::vector<LabelledExample>& examples);

}  // namespace pardec
