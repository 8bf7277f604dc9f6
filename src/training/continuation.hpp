#pragma once
#include <vector>

#include "src/training/training_sample.hpp"

namespace pardec {

/// What comes behind a row's own target in the text: the targets of extra heads 1, 2, ... there.
struct Continuation {
  int row = 0;
  Tokens tokens;
};

/// Of each row with a target that has one, `most` tokens at most. A row goes on in the next one
/// where that feeds what it should choose, one position on in the same segment; the text ends
/// where a row has no target, so that nothing but answers counts.
std::vector<Continuation> continuations(const TrainingSample& sample, int most);

}  // namespace pardec
