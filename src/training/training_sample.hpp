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

/// One training sequence: its rows in any order, under the visibility rule of decoding, and the
/// targets of some of them.
struct TrainingSample {
  Tokens tokens;
  std::vector<RowLabel> labels;  ///< one per token
  Segments segments;
  std::vector<std::pair<int, Token>> targets;  ///< (row, target token)
  bool cut = false;                            ///< the text continues beyond the context length

  void add(Token token, const RowLabel& label) {
    tokens.push_back(token);
    labels.push_back(label);
  }
  /// Sets `token` as the target of the last row so far.
  void expect(Token token) { targets.emplace_back(static_cast<int>(tokens.size()) - 1, token); }
};

/// A job with its reference answers.
struct TrainingExample {
  Job job;
  Form form = Form::json;  ///< the form of the format; `free` for an open prompt or a conversation
  Pieces pieces;           ///< of this form
  /// [context][field]; for a conversation [0][turn]; empty: absent
  std::vector<std::vector<std::optional<std::string>>> references;
  /// [context][field]: the value is part of the sequence but not a target, because its truth is
  /// unknown. Empty: all values are targets.
  std::vector<std::vector<bool>> unknown;
  std::uint64_t seed = 1;  ///< for random choices of a format; different in each epoch
  /// the last answer of an open prompt is incomplete: its end is not a target
  bool unfinished = false;
};

/// Builds the training sequences of a decoder. It belongs to the decoder, and lays out sequences
/// exactly as the decoder computes them.
class TrainingFormat {
 public:
  virtual ~TrainingFormat() = default;
  virtual std::string_view name() const = 0;
  /// The form of the pieces that it needs.
  virtual Form form() const = 0;
  /// The number of contexts of one category in one job.
  virtual int stack() const = 0;
  /// Whether it supports examples in free form: open prompts and conversations.
  virtual bool takes_text() const { return true; }
  /// One sequence per prompt of the decoder. Empty: an open answer is not suitable for this format.
  /// ConfigError: the example is not suitable for another reason.
  virtual std::vector<TrainingSample> samples(const TrainingExample& example) const = 0;
};

}  // namespace pardec
