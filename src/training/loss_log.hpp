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
  std::int64_t step = 0, tokens = 0;         ///< number of updates and of tokens so far
  double learning_rate = 0, train_loss = 0;  ///< of this update (Trainer::Report::loss)
  std::optional<double> validation_loss;     ///< none: there was no validation at this step
  double seconds = 0;                        ///< training time so far, over all sessions
  double tokens_per_second = 0;              ///< of this update
  GuessRanks validation_ranks = {};          ///< empty without a validation; not in the file
};

/// The losses of a training run as a CSV file with the header
/// step,tokens,lr,train_loss,validation_loss,seconds,tokens_per_second. Each update is a row;
/// validation_loss is empty if there was no validation. Rows are kept in memory. The file is
/// written as a whole with each checkpoint, so that file and checkpoint agree.
class LossLog {
 public:
  /// A log without rows. `csv`: the file, which is not read.
  explicit LossLog(std::filesystem::path csv) : csv_(std::move(csv)) {}
  /// Reads the file, which an earlier session wrote, and adds its rows up to and including update
  /// `step`. DataError: the file cannot be read, or a row does not consist of seven numbers (the
  /// validation loss may be empty).
  void read_through(std::int64_t step);
  void add(const LossRow& row) { rows_.push_back(row); }
  const std::vector<LossRow>& rows() const { return rows_; }
  /// Writes the file. RunError: writing fails.
  void write() const;

 private:
  std::filesystem::path csv_;
  std::vector<LossRow> rows_;
};

/// Draws the losses in the file `csv` over the number of tokens, as an SVG file, with gnuplot.
/// Returns whether the file was written; it is not if gnuplot is missing or failed.
bool draw_loss(const std::filesystem::path& csv, const std::filesystem::path& svg);

}  // namespace pardec
