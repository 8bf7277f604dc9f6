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
  std::int64_t step = 0, tokens = 0;  ///< updates and tokens so far
  double learning_rate = 0, train_loss = 0;
  std::optional<double> validation_loss;  ///< if validated at this step
  double seconds = 0;                     ///< since the run began, over all sessions
  double tokens_per_second = 0;           ///< of this update
  GuessRanks validation_ranks = {};       ///< if validated; not in the file
};

/// The loss of a run as CSV. Header:
/// step,tokens,lr,train_loss,validation_loss,seconds,tokens_per_second. One row per update;
/// validation_loss is empty where no validation was done. Rows are kept in memory, and the file is
/// written as a whole with each checkpoint, so that the two agree.
class LossLog {
 public:
  explicit LossLog(std::filesystem::path csv) : csv_(std::move(csv)) {}
  /// Reads the rows of an earlier session up to `step`. DataError.
  void read_through(std::int64_t step);
  void add(const LossRow& row) { rows_.push_back(row); }
  const std::vector<LossRow>& rows() const { return rows_; }
  void write() const;

 private:
  std::filesystem::path csv_;
  std::vector<LossRow> rows_;
};

/// Draws the loss over tokens as SVG with gnuplot. False: gnuplot is missing, or failed.
bool draw_loss(const std::filesystem::path& csv, const std::filesystem::path& svg);

}  // namespace pardec
