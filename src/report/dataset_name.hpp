#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "datasets/dataset.hpp"
#include "src/report/table.hpp"
#include "src/store/rows.hpp"

namespace pardec {

/// A dataset's name for readers. If the data are not the publisher's, the name says so: "squad (own
/// sample)" or "squad (stand-in)".
std::string shown_name(const Dataset& dataset);
std::string shown_name(const DatasetRow& dataset);

/// The columns that identify the dataset of a row. In csv and json, these are the plain name,
/// whether the data are the project's own sample, and whether the data are a stand-in.
std::vector<Column> dataset_columns();
/// The cells of a dataset in the columns of dataset_columns().
std::vector<Cell> dataset_cells(const Dataset& dataset);
std::vector<Cell> dataset_cells(const DatasetRow& dataset);
/// The cells of a dataset of which only the name is known. The other cells are no_cell().
std::vector<Cell> dataset_cells(const std::string& name);
/// Puts dataset_columns() before other columns, or a dataset's cells before other cells.
std::vector<Column> with_dataset(std::vector<Column> others);
std::vector<Cell> with_dataset(std::vector<Cell> dataset, std::vector<Cell> others);

/// Notes that explain "own sample" and "stand-in" after a dataset's name.
inline constexpr const char* kSampleNote =
    "own sample: the project's small sample, not the publisher's data.";
inline constexpr const char* kStandinMark =
    "stand-in: generated words of the published lengths; only speed can be read from it.";

}  // namespace pardec
