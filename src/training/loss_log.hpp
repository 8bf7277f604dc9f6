#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "src/training/trainable.hpp"

namespace pardec {

/// One update in the loss file.
struct LossRow {
  std::int64_t step = 0, tokens = 0;  ///< updates and fed tokens so far
  double learning_rate = 0, train_loss = 0;
  std::optional<double> validation_loss;  ///< where it was measured
  double seconds = 0;                     ///< since the run began, over all sittings
  double tokens_per_second = 0;           ///< of this update
  GuessRanks validation_ranks = {};       ///< where they were measured; not in the file
};

/// The loss of a run as CSV: header step,tokens,lr,train_loss,validation_loss,seconds,
/// tokens_per_second, one row an update, an empty field where no validation was made. The rows are
/// in memory, and the file is written whole with each checkpoint, so that the two agree.
class LossLog {
 public:
  explicit LossLog(std::filesystem::path csv) : csv_(std::move(csv)) {}
  /// The rows of an earlier sitting up to `step`. DataError.
  void read_through(std::int64_t step);
  void add(const LossRow& row) { rows_.push_back(row); }
  const std::vector<LossRow>& rows() const { return rows_; }
  void write() const;

 private:
  std::filesystem::path csv_;
  std::vector<LossRow> rows_;
};

/// Draws the loss over fed tokens as SVG through gnuplot. False where there is no gnuplot, or it
/// failed.
bool draw_loss(const std::filesystem::path& csv, const std::filesystem::path& svg);

}  // namespace pardec
