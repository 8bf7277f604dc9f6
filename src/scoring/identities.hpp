#pragma once
#include <string>

#include "src/store/store.hpp"

namespace pardec {

/// Stores for every method of an invocation how its answers compare with its baseline's: whether
/// all fields are equal; otherwise the first token at which a value differs, and the gap between
/// the two best logits there.
void mark_identities(Store& store, const std::string& invocation);

}  // namespace pardec
