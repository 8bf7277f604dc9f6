#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "metrics/decoding_metrics.hpp"

namespace pardec {

/// What is known of one job that did not fail, for a decoder's own columns. Times are nanoseconds.
struct JobCounts {
  std::int64_t answers = 1;  ///< one where JSON holds all fields, else one a field
  std::int64_t chosen = 0, forwards = 0, decode_ns = 0;
  std::int64_t branches = 0;     ///< streams of choices
  std::int64_t cached_peak = 0;  ///< rows in the cache at most
  std::int64_t text_tokens = 0, text_attended = 0;
  std::optional<ParallelCounts> parallel;  ///< its serial and parallel stages; none: it has none
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
  /// One value a column, over the jobs of one run of `decoder`: this one, or the plain one that it
  /// is compared with. NaN: there is none, as for all other decoders.
  std::vector<double> (*values)(std::string_view decoder,
                                std::span<const JobCounts> jobs) = nullptr;
};

}  // namespace pardec
