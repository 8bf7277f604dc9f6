#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "datasets/dataset.hpp"
#include "src/report/table.hpp"
#include "src/store/rows.hpp"

namespace pardec {

/// A dataset's name for people, which says if the data are not the publisher's.
std::string shown_name(const Dataset& dataset);
std::string shown_name(const DatasetRow& dataset);

/// The columns that identify the dataset of a row. For programs, they have the plain name, and
/// separate columns for whether it is the project's sample or a stand-in.
std::vector<Column> dataset_columns();
/// The cells of these columns.
std::vector<Cell> dataset_cells(const Dataset& dataset);
std::vector<Cell> dataset_cells(const DatasetRow& dataset);
/// Same, for a dataset without a row in the store.
std::vector<Cell> dataset_cells(const std::string& name);
/// Prepends dataset_columns, or cells made by dataset_cells.
std::vector<Column> with_dataset(std::vector<Column> others);
std::vector<Cell> with_dataset(std::vector<Cell> dataset, std::vector<Cell> others);

/// Notes for tables, which explain "own sample" and "stand-in" after a dataset's name.
inline constexpr const char* kSampleNote =
    "own sample: the project's small sample, not the publisher's data.";
inline constexpr const char* kStandinMark =
    "stand-in: generated words of the published lengths; only speed can be read from it.";

}  // namespace pardec
