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

/// Pseudo-labels, as in the paper of HPD (decoders/hpd): a teacher (a network behind a chat
/// service) gives values for the fields of texts, and these values become training data.
namespace pardec {

/// The teacher, and the limit on the length of its replies.
struct LabelTask {
  NamedRecord teacher;             ///< its json has everything that may affect the replies
  std::int64_t max_tokens = 8192;  ///< maximum number of tokens of a reply
};

/// The outcome of the labelling of an example.
enum class LabelState {
  labelled,
  unreadable,  ///< the teacher's reply contains no valid values, or was cut short
  refused,     ///< the teacher refused
  left_out,    ///< the example has no text, or two fields with the same name
  undecided,   ///< there is no reply yet, or the call failed
};
/// All states, in the order in which `data label` prints them.
inline constexpr std::array<LabelState, 5> kLabelStates{
    LabelState::labelled, LabelState::unreadable, LabelState::refused, LabelState::left_out,
    LabelState::undecided};
std::string_view name(LabelState state);

/// An example with its outcome.
struct LabelledExample {
  /// If labelled, the reference of each field is the teacher's value. A field has no reference if
  /// the text does not state the value.
  Example example;
  LabelState state;
  std::string reason;  ///< why the example is not labelled; empty if it is labelled
};

/// The outcomes of all examples.
struct LabelResult {
  std::vector<LabelledExample> examples;  ///< in the order of the given examples
  /// Number of fields of the labelled examples that have a value (`values`), or no value
  /// (`absent`).
  std::int64_t values = 0, absent = 0;
  /// maps "STATE: reason" to the number of examples that are not labelled for this reason
  std::map<std::string, std::int64_t> reasons;
  std::int64_t calls = 0;  ///< number of new replies

  std::int64_t count(LabelState state) const;
};

/// Labels the examples. Each question to the teacher asks for all fields of one example. If a field
/// has choices, its value must be one of them; otherwise the value must occur in the example's text
/// (read_values). After an unreadable reply, the question is asked once more. Stored replies are
/// used again, and new replies are stored. `store`: null if nothing is stored and `ask` sends
/// nothing (a dry run). `progress`: called with the number of new replies so far; may be empty.
/// Errors: see Questioning and read_wording. Exceptions of `ask` pass through.
LabelResult label_examples(Store* store, const LabelTask& task,
                           const std::vector<Example>& examples, const AskService& ask,
                           const std::function<void(std::int64_t calls)>& progress = {});

/// The examples with state `labelled`, as JSON lines in the form of own_jsonl.hpp.
std::string labelled_lines(const std::vector<LabelledExample>& examples);
/// The id and the outcome of each example, as JSON lines.
std::string labelled_details(const std::vector<LabelledExample>& examples);

}  // namespace pardec
