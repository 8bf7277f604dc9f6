#pragma once
#include <string>

#include "src/store/store.hpp"

namespace pardec {

/// Compares the answers of every arm of an invocation with the answers of the arm's baseline, and
/// stores the results (compare_fields): whether all fields are equal, or else the first token that
/// differs, and the gap between the two best logits there. Failed answers, and arms with an oracle,
/// are left out.
void mark_identities(Store& store, const std::string& invocation);

}  // namespace pardec
