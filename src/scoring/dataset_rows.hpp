#pragma once
#include <vector>

#include "datasets/dataset.hpp"
#include "src/store/rows.hpp"

/// Converts a dataset and its examples to rows of the store.
namespace pardec {

/// The row of a dataset. Its hash covers names and contents of all files that were read. DataError:
/// a file cannot be read.
DatasetRow dataset_row(const Dataset& dataset);
/// One row per example, in the same order.
std::vector<SampleRow> sample_rows(const std::vector<Example>& examples);

}  // namespace pardec
