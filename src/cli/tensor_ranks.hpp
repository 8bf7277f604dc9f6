#pragma once
#include <memory>

#include "src/checkpoint/checkpoint.hpp"
#include "src/model/ranks/ranks.hpp"

namespace pardec {

/// With `parallel=tensor`: joins the processes that mpirun started, so that they compute each
/// network together. In rank 0, sets model.ranks. The result must outlive all networks. Null: each
/// process has whole networks. ConfigError: this process was started alone, or `memory_limit` is
/// set. Other errors: see Ranks::join.
std::unique_ptr<Ranks> join_tensor_ranks(ModelOptions& model);

/// The whole verb of a rank above 0: follows rank 0 until it ends. Returns the exit code 0. Errors:
/// see follow.
int follow_rank_0(Ranks& ranks, const ModelOptions& model);

}  // namespace pardec
