#pragma once
#include <string>

#include "datasets/dataset.hpp"

namespace pardec {

/// Compares the dataset's number of examples (for some datasets, of questions) with the number that
/// the publisher's files have. If the dataset has fewer, the result is a message with both numbers.
/// Empty: there are enough, the published number for this split is not known, or the data are not
/// the publisher's.
std::string fewer_than_published(const Dataset& dataset);

}  // namespace pardec
