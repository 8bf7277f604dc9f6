#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "src/group/group.hpp"
#include "src/scoring/task_metrics.hpp"

namespace pardec {

/// Divides the computation of the metric `likelihood` for many answers among the processes of
/// `group`, which must all call this function. A free process takes the next example that no
/// process has taken. In rank 0, returns [example][row], in the order of `examples`; in other
/// ranks, returns an empty list. The rows equal those that one process alone would compute.
/// `examples`: only read in rank 0, which sends them to the others. `likelihood`: computes the rows
/// with this process's network (AnswerLikelihood). `network`: the hash of the network's files.
/// `taken`: called before this process scores an example, with the number of examples that any
/// process has taken earlier. ConfigError, in rank 0: another process has a different network.
/// RunError: another process fails. Other errors: those of `likelihood`.
std::vector<std::vector<ScoreRow>> share_likelihoods(
    Group& group, const std::vector<ScoredExample>& examples, const ScoreExample& likelihood,
    const std::string& network, const std::function<void(std::int64_t count)>& taken);

}  // namespace pardec
