#pragma once
#include <string>

#include "datasets/dataset.hpp"

namespace pardec {

/// Where a dataset's files hold fewer records than the publisher's: how many, of how many. Empty:
/// they do not, or nothing is known of this split, or it is not the publisher's data.
std::string fewer_than_published(const Dataset& dataset);

}  // namespace pardec
