#pragma once
#include "src/model/ranks/ranks.hpp"

namespace pardec::test {

/// The processes that compute the networks of this test together (ranks_main.cpp); null: this
/// process alone.
inline Ranks*& ranks() {
  static Ranks* of_this_test = nullptr;
  return of_this_test;
}

}  // namespace pardec::test
