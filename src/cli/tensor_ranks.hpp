#pragma once
#include <memory>

#include "src/checkpoint/checkpoint.hpp"
#include "src/model/ranks/ranks.hpp"

namespace pardec {

/// If model.parallel is `tensor`: joins the processes that mpirun started, so that they compute
/// each network together. In rank 0, also sets model.ranks to the result. The result must outlive
/// all networks. If model.parallel has another value, returns null: each process has whole
/// networks. ConfigError: this process was started alone, or `memory_limit` is set. Other errors:
/// see Ranks::join.
std::unique_ptr<Ranks> join_tensor_ranks(ModelOptions& model);

/// The whole work of a verb in a rank above 0: computes this rank's parts of the passes until rank
/// 0 ends. Returns exit code 0. Errors: see follow.
int follow_rank_0(Ranks& ranks, const ModelOptions& model);

}  // namespace pardec
