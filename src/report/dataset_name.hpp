#pragma once
#include <string>

#include "datasets/dataset.hpp"
#include "src/store/rows.hpp"

namespace pardec {

/// A dataset's name in a table, which says so where it is not the publisher's data.
std::string shown_name(const Dataset& dataset);
std::string shown_name(const DatasetRow& dataset);
/// What these marks mean, for the notes of a table.
inline constexpr const char* kSampleNote =
    "own sample: the project's small sample, not the publisher's data.";
inline constexpr const char* kStandinMark =
    "stand-in: generated words of the published lengths; speed alone can be read from it.";

}  // namespace pardec
