#include "src/cli/tensor_ranks.hpp"

#include "src/cli/signal_stop.hpp"
#include "src/model/device.hpp"
#include "src/support/error.hpp"

namespace pardec {

std::unique_ptr<Ranks> join_tensor_ranks(ModelOptions& model) {
  if (model.parallel != kTensorParallel) return nullptr;
  auto ranks = Ranks::join();
  if (!ranks)
    throw ConfigError(
        "`parallel=tensor` divides each network among the processes that mpirun starts, but this "
        "process was started alone; start the command with mpirun -n N, or leave `parallel` out");
  if (!model.memory_limit.empty())
    throw ConfigError(
        "`memory_limit` plans the memory of a whole network in one process; leave it out with "
        "`parallel=tensor`");
  if (ranks->leads()) model.ranks = ranks.get();
  return ranks;
}

int follow_rank_0(Ranks& ranks, const ModelOptions& model) {
  const SignalStop later;  // rank 0 decides when to stop
  set_threads(model.threads);
  follow(ranks);
  return 0;
}

}  // namespace pardec
