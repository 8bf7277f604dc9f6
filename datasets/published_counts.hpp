#pragma once
#include <string>

#include "datasets/dataset.hpp"

namespace pardec {

/// A text with both numbers if a dataset's files contain fewer records than the publisher states.
/// Empty: they do not, the published number for this split is not known, or the data are not the
/// publisher's.
std::string fewer_than_published(const Dataset& dataset);

}  // namespace pardec
