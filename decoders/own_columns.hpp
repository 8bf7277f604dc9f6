#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "metrics/decoding_metrics.hpp"
#include "src/support/counters.hpp"

namespace pardec {

/// The counts of one response, for a decoder's own columns. A response is a job that did not fail,
/// or a turn of a conversation. For a turn, only the counters with Counter::of_turns are set.
struct ResponseCounts : Counts {
  /// Number of answers: 1 for a JSON answer and for a turn, otherwise one per field.
  std::int64_t answers = 1;

  /// The counts of serial and parallel stages. None: the decoder counts no stages (`generated` is
  /// 0).
  std::optional<ParallelCounts> parallel() const {
    if (generated == 0) return std::nullopt;
    return ParallelCounts{generated, branch_tokens, groups, group_branches, decode_ns, parallel_ns};
  }
  /// Like parallel(). For a decoder without stages: a single serial stage with all chosen tokens.
  ParallelCounts stages() const {
    return parallel().value_or(ParallelCounts{.generated = chosen, .decode_ns = decode_ns});
  }
};

/// A column of a comparison, and the format of its numbers.
struct OwnColumn {
  std::string_view header;  ///< the column's name in tables
  std::string_view key;     ///< the column's name in JSON
  int decimals = 0;         ///< digits after the point
  bool percent = false;     ///< whether the value is a share from 0 to 1, shown in per cent
};

/// Additional columns of comparisons that include a decoder: the metrics of its paper.
struct OwnColumns {
  std::vector<OwnColumn> columns;  ///< empty: the decoder has none
  std::string_view note;           ///< explanation of the columns, for a note below the table
  /// Computes one value per column, from the responses of one run. `decoder`: the decoder of the
  /// run. NaN: there is no value. Only runs of the decoder that has these columns, and of `ar`
  /// as its baseline (kPlainDecoder), have values. Null if there are no columns.
  std::vector<double> (*values)(std::string_view decoder,
                                std::span<const ResponseCounts> responses) = nullptr;
};

}  // namespace pardec
