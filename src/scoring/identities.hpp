#pragma once
#include <string>

#include "src/store/store.hpp"

namespace pardec {

/// Compares the answers of every arm of an invocation with its baseline's, and stores the results:
/// whether all fields are equal, or else the first token that differs, and the gap between the two
/// best logits there.
void mark_identities(Store& store, const std::string& invocation);

}  // namespace pardec
