#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "src/support/progress.hpp"

namespace pardec {

/// A progress bar on stderr that counts bytes, e.g. of a download. The bar appears at the first
/// call, since the total is often not known before.
class ByteProgress {
 public:
  /// `what`: a text before the count, e.g. the name of a file.
  ByteProgress(ProgressStyle style, std::string what) : style_(style), what_(std::move(what)) {}
  /// Shows the progress. `done`: number of bytes so far. The value of `done` in the first call is
  /// the number of bytes that were present before the start. These bytes do not affect the estimate
  /// of the remaining time. `total`: number of all bytes; 0: unknown. Only the `total` of the first
  /// call is used.
  void operator()(std::int64_t done, std::int64_t total) {
    if (!bar_) bar_.emplace(style_, what_, total, done);
    bar_->update(done, "bytes");
  }

 private:
  ProgressStyle style_;
  std::string what_;
  std::optional<Progress> bar_;
};

}  // namespace pardec
