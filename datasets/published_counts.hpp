#pragma once
#include <string>

#include "datasets/dataset.hpp"

namespace pardec {

/// If a dataset's files contain fewer records than the publisher's, a text with both numbers.
/// Empty: they do not, the published number for this split is unknown, or this is not the
/// publisher's data.
std::string fewer_than_published(const Dataset& dataset);

}  // namespace pardec
