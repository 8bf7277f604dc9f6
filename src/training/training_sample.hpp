#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/model/visibility.hpp"
#include "src/prompt/pieces.hpp"
#include "src/support/types.hpp"

namespace pardec {

/// One training sequence: its rows in any order, with the labels that they have in decoding
/// (visibility.hpp), and the targets of some rows.
struct TrainingSample {
  Tokens tokens;
  std::vector<RowLabel> labels;  ///< one per token
  Segments segments;
  std::vector<std::pair<int, Token>> targets;  ///< (row, target token)
  bool cut = false;                            ///< whether the text was cut at the context length

  void add(Token token, const RowLabel& label) {
    tokens.push_back(token);
    labels.push_back(label);
  }
  /// Makes `token` the target of the last row. REQUIRES: there is a row.
  void expect(Token token) { targets.emplace_back(static_cast<int>(tokens.size()) - 1, token); }
};

/// A job with its reference answers.
struct TrainingExample {
  Job job;
  /// form that the training format needs; `free` for open prompts and conversations
  Form form = Form::json;
  Pieces pieces;  ///< pieces of the prompt in this form
  /// Reference answers: [context][field]; for a conversation, [0][turn]. None: the value is absent.
  std::vector<std::vector<std::optional<std::string>>> references;
  /// `unknown[context][field]`: true if the value is in the sequence but is not a target, because
  /// the value may be wrong. If `unknown` is empty, all values are targets.
  std::vector<std::vector<bool>> unknown;
  /// seed of the random decisions of a format; each epoch has another seed
  std::uint64_t seed = 1;
  /// Whether the last answer of an open prompt is incomplete. If so, the end of this answer is not
  /// a target.
  bool unfinished = false;
};

/// Builds training sequences for a decoder. Each format belongs to one decoder, and gives rows the
/// same labels as the decoder does.
class TrainingFormat {
 public:
  virtual ~TrainingFormat() = default;
  /// The name in --format.
  virtual std::string_view name() const = 0;
  /// The form of the pieces in TrainingExample, except for open prompts and conversations (`free`).
  virtual Form form() const = 0;
  /// The maximum number of contexts per job. The contexts of a job have the same category.
  virtual int stack() const = 0;
  /// Whether the format supports open prompts and conversations.
  virtual bool takes_text() const { return true; }
  /// One sequence for each prompt that the decoder would make from the example. Empty: an open
  /// answer is not suitable for this format. ConfigError: the example is not suitable for another
  /// reason.
  virtual std::vector<TrainingSample> samples(const TrainingExample& example) const = 0;
};

}  // namespace pardec
