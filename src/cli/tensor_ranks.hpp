#pragma once
#include <memory>

#include "src/checkpoint/checkpoint.hpp"
#include "src/model/ranks/ranks.hpp"

namespace pardec {

/// If model.parallel is `tensor`: joins the processes that mpirun started, so that these processes
/// compute each network together. In rank 0, also sets model.ranks to the result. The result must
/// outlive all networks. ConfigError: this process was started alone, or model.memory_limit is set.
/// Other errors: see Ranks::join. If model.parallel has another value, only returns null: each
/// process has whole networks.
std::unique_ptr<Ranks> join_tensor_ranks(ModelOptions& model);

/// The whole work of a verb in a rank above 0: computes this rank's part of each pass until rank 0
/// ends. Then returns exit code 0. A first SIGINT or SIGTERM has no effect, because rank 0 decides
/// when to stop. Of `model`, only `threads` is used. Errors: see follow.
int follow_rank_0(Ranks& ranks, const ModelOptions& model);

}  // namespace pardec
