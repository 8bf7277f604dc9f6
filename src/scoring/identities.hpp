#pragma once
#include <string>

#include "src/store/store.hpp"

namespace pardec {

/// Notes for every method of an invocation how its answers compare with its baseline's: identical
/// field by field?, else the first token at which a value departs from the baseline's, and how
/// close the two best logits were there.
void mark_identities(Store& store, const std::string& invocation);

}  // namespace pardec
