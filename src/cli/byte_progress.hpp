#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "src/support/progress.hpp"

namespace pardec {

/// A progress bar for bytes, which starts when their number is known.
class ByteProgress {
 public:
  ByteProgress(ProgressStyle style, std::string what) : style_(style), what_(std::move(what)) {}
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
