#pragma once
#include <string>

#include "datasets/dataset.hpp"

namespace pardec {

/// A message with both counts, if a dataset has fewer examples (or questions) than the publisher's
/// files. Empty: there are enough, the published count for this split is not known, or the data are
/// not the publisher's.
std::string fewer_than_published(const Dataset& dataset);

}  // namespace pardec
