#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "metrics/decoding_metrics.hpp"
#include "src/support/counters.hpp"

namespace pardec {

/// Counts of one response, for a decoder's own columns: a job that did not fail, or one turn of a
/// conversation. For a turn, only the counters that kCounters keeps of turns are set.
struct ResponseCounts : Counts {
  /// 1 if JSON contains all fields, or for a turn; otherwise one per field
  std::int64_t answers = 1;

  /// Its serial and parallel stages; none: the decoder has none.
  std::optional<ParallelCounts> parallel() const {
    if (generated == 0) return std::nullopt;
    return ParallelCounts{generated, branch_tokens, groups, group_branches, decode_ns, parallel_ns};
  }
  /// For a decoder without parallel stages, this is one serial stage in which it chose all ids.
  ParallelCounts stages() const {
    return parallel().value_or(ParallelCounts{.generated = chosen, .decode_ns = decode_ns});
  }
};

/// One column of a comparison, and the format of its numbers.
struct OwnColumn {
  std::string_view header, key;
  int decimals = 0;      ///< digits after the point
  bool percent = false;  ///< a share, shown in per cent
};

/// Additional columns of a comparison that includes a decoder: the metrics of its paper.
struct OwnColumns {
  std::vector<OwnColumn> columns;  ///< empty: the decoder has none
  std::string_view note;           ///< explanation of the columns, for a table's footnote
  /// One value per column, over the responses of one run of `decoder`: this decoder, or the plain
  /// decoder as its baseline. NaN: no value, as for all other decoders.
  std::vector<double> (*values)(std::string_view decoder,
                                std::span<const ResponseCounts> responses) = nullptr;
};

}  // namespace pardec
