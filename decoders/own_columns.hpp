#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "metrics/decoding_metrics.hpp"

namespace pardec {

/// What one prompt was answered with, for a decoder's own columns: a job that did not fail, or one
/// turn of a conversation. Times are nanoseconds.
struct ResponseCounts {
  std::int64_t answers = 1;  ///< one where JSON holds all fields, or of a turn; else one a field
  std::int64_t prompt_tokens = 0, chosen = 0, decode_ns = 0;
  std::int64_t branches = 0;     ///< streams of choices
  std::int64_t cached_peak = 0;  ///< rows in the cache at most
  std::int64_t text_tokens = 0, text_attended = 0;
  std::optional<ParallelCounts> parallel;  ///< its serial and parallel stages; none: it has none

  /// Of a decoder without parallel stages: one serial stage, in which it chose all ids.
  ParallelCounts stages() const {
    return parallel.value_or(ParallelCounts{.generated = chosen, .decode_ns = decode_ns});
  }
};

/// One column of a comparison, and how its numbers are shown.
struct OwnColumn {
  std::string_view header, key;
  int decimals = 0;      ///< behind the point
  bool percent = false;  ///< a share, shown in per cent
};

/// The columns that a comparison has besides where a decoder takes part: what its paper counts.
struct OwnColumns {
  std::vector<OwnColumn> columns;  ///< empty: it has none of its own
  std::string_view note;           ///< what they say, for a table's foot
  /// One value a column, over the responses of one run of `decoder`: this one, or the plain one
  /// that it is compared with. NaN: there is none, as for all other decoders.
  std::vector<double> (*values)(std::string_view decoder,
                                std::span<const ResponseCounts> responses) = nullptr;
};

}  // namespace pardec
