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
  NamedRecord teacher;             ///< its json has everything that may affect the replies
  std::int64_t max_tokens = 8192;  ///< maximum number of tokens of a reply
};

/// The outcome of an example.
enum class LabelState {
  labelled,
  unreadable,  ///< the teacher's reply contains no valid values
  refused,     ///< the teacher refused
  left_out,    ///< no question can be made from the example
  undecided,   ///< there is no reply yet, or the call failed
};
/// All states, in the order in which they are listed.
inline constexpr std::array<LabelState, 5> kLabelStates{
    LabelState::labelled, LabelState::unreadable, LabelState::refused, LabelState::left_out,
    LabelState::undecided};
std::string_view name(LabelState state);

struct LabelledExample {
  Example example;  ///< if labelled, the references of its fields are the teacher's values
  LabelState state;
  std::string reason;  ///< why the example is not labelled; empty if it is
};

struct LabelResult {
  std::vector<LabelledExample> examples;  ///< in the order of the given examples
  std::int64_t values = 0, absent = 0;    ///< number of fields with and without a value
  /// "STATE: reason" -> number of examples that are not labelled for this reason
  std::map<std::string, std::int64_t> reasons;
  std::int64_t calls = 0;  ///< number of replies received

  std::int64_t count(LabelState state) const;
};

/// Labels the examples. Each question asks for all fields of one example. A value must occur in the
/// example's text or be one of the field's choices. After an invalid reply, the question is
/// repeated once. Stored replies are reused. `store`: null for a dry run. `progress`: called with
/// the number of replies so far; may be empty. Errors of `ask` are passed on.
LabelResult label_examples(Store* store, const LabelTask& task,
                           const std::vector<Example>& examples, const AskService& ask,
                           const std::function<void(std::int64_t calls)>& progress = {});

/// The examples with state `labelled`, as JSON lines in the form of own_jsonl.hpp.
std::string labelled_lines(const std::vector<LabelledExample>& examples);
/// All examples with their outcomes, one JSON line each.
std::string labelled_details(const std::vector<LabelledExample>& examples);

}  // namespace pardec
