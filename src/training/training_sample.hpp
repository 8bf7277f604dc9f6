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

/// One sequence to learn from: its rows in any order, under the visibility rule that decoding has,
/// and what some of them should predict.
struct TrainingSample {
  Tokens tokens;
  std::vector<RowLabel> labels;  ///< one per token
  Segments segments;
  std::vector<std::pair<int, Token>> targets;  ///< (row, the token that it should choose)
  bool cut = false;                            ///< the text goes on beyond the context length

  void add(Token token, const RowLabel& label) {
    tokens.push_back(token);
    labels.push_back(label);
  }
  /// The last row so far should choose `token`.
  void expect(Token token) { targets.emplace_back(static_cast<int>(tokens.size()) - 1, token); }
};

/// A job with its right answers.
struct TrainingExample {
  Job job;
  Form form = Form::json;  ///< the format's, or free for an open prompt or a conversation
  Pieces pieces;           ///< of this form
  std::vector<std::vector<std::optional<std::string>>>
      references;  ///< [context][field], of a conversation [0][turn]; empty: absent
  /// [context][field]: its value is fed and no target, as nobody knows it; empty: all are targets.
  std::vector<std::vector<bool>> unknown;
  std::uint64_t seed = 1;   ///< of what a format draws: another one in each epoch
  bool unfinished = false;  ///< the last answer of an open prompt goes on: its end is not learned
};

/// How a decoder's sequences look in training. It lives with the decoder and lays out what the
/// decoder will feed: train what you decode.
class TrainingFormat {
 public:
  virtual ~TrainingFormat() = default;
  virtual std::string_view name() const = 0;
  /// Which pieces it needs.
  virtual Form form() const = 0;
  /// How many contexts of one category it takes into one job.
  virtual int stack() const = 0;
  /// Whether it takes examples in free form: open prompts and conversations.
  virtual bool takes_text() const { return true; }
  /// Whether it leaves values that are `unknown` out of its targets.
  virtual bool skips_unknown() const { return false; }
  /// One sequence per prompt of the decoder. None where an open answer is not one to learn this
  /// format from. ConfigError where the example makes none otherwise.
  virtual std::vector<TrainingSample> samples(const TrainingExample& example) const = 0;
};

}  // namespace pardec
