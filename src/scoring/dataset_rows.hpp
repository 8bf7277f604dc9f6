#pragma once
#include <vector>

#include "datasets/dataset.hpp"
#include "src/store/rows.hpp"

/// A dataset and its examples as the store's plain rows.
namespace pardec {

/// The split of a stand-in is stored with that word behind it.
DatasetRow dataset_row(const Dataset& dataset);
std::vector<SampleRow> sample_rows(const std::vector<Example>& examples);

}  // namespace pardec
