#pragma once
#include <fstream>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "src/cli/project_files.hpp"
#include "src/cli/recording.hpp"
#include "src/cli/run_plan.hpp"
#include "src/cli/workload.hpp"
#include "src/engine/engine.hpp"
#include "src/prompt/chat_template.hpp"
#include "src/store/store.hpp"
#include "src/support/clock.hpp"
#include "src/support/progress.hpp"

namespace pardec {

/// ConfigError where --trace cannot be written, or is the database.
void check_trace(const RunFlags& flags);

/// Everything that is open while an experiment runs: every workload through every arm, each answer
/// stored when it is there.
class Experiment {
 public:
  Experiment(const RunFlags& flags, const std::vector<Arm>& arms,
             const std::vector<std::unique_ptr<Decoder>>& decoders,
             const std::vector<Workload>& workloads, Checkpoint& checkpoint, Checkpoint* draft,
             ChatTemplate chat)
      : flags_(flags),
        arms_(arms),
        decoders_(decoders),
        workloads_(workloads),
        shard_(parse_shard(flags.shard)),
        oracle_(parse_oracle(flags.oracle)),
        checkpoint_(checkpoint),
        draft_(draft),
        chat_(std::move(chat)),
        engine_(checkpoint.model, clock_),
        context_{engine_, &*checkpoint.tokenizer, flags.decode.ignore_eos,
                 draft ? &draft->model : nullptr},
        process_(make_uuid()),
        invocation_(make_uuid()) {
    for (const auto& decoder : decoders_) {
      decoder->check(context_);
      wordings_.push_back(decoder->wording().empty()
                              ? std::nullopt
                              : std::optional(choose_prompt("", decoder->wording(),
                                                            checkpoint.folder)));
    }
    engine_.set_cache_budget(flags.cache);
  }

  /// Finds or makes the rows of all runs in `store`, which outlives this. Nothing is stored when it
  /// throws.
  void begin(Store& store);
  void run();
  /// The signal that stopped `run` early; 0: none did.
  static int stopped_by();
  const std::string& invocation() const { return invocation_; }
  /// Where the prompts of a workload are not what the network was taught with; else empty.
  std::string taught_otherwise(const Workload& work) const {
    // Training is on attributes: no wording of another task was ever taught.
    return pardec::taught_otherwise(
        checkpoint_.folder, chat_,
        work.dataset.shape == Shape::attributes ? &work.protocol.prompt : nullptr);
  }
  std::int64_t failed() const { return failed_; }
  /// Later turns of conversations whose ids are not those of their text (turns_off_text).
  std::int64_t turns_off() const { return turns_off_; }
  std::int64_t finished() const { return finished_; }

 private:
  Json not_applicable_pairs() const;
  RunRow run_row(const Workload& work, size_t arm);
  void find_resumable(std::vector<std::vector<RunRow>>& rows);
  void run_dataset(const Workload& work, const std::vector<RowId>& ids,
                   const std::vector<std::vector<FinishedJob>>& finished, Progress& progress);
  /// The arms in the order in which they do the block at `position`.
  std::vector<size_t> arm_order(size_t position) const;
  void run_block(const Workload& work, const BlockPlan& block, size_t arm, RowId run, int repeat,
                 int position, const std::set<JobKey>& finished, Progress& progress);
  void read_recordings(const std::vector<std::vector<RunRow>>& rows);
  Request make_request(const Workload& work, size_t arm, const JobPlan& plan, int repeat) const;
  /// Engine::run as the arm wants it.
  std::int64_t run_engine(size_t arm, int count, const std::function<Task<void>(int)>& start,
                          const std::function<void(int, Task<void>&)>& done);
  void warm_up(const Workload& work, size_t arm);

  const RunFlags& flags_;
  const std::vector<Arm>& arms_;
  const std::vector<std::unique_ptr<Decoder>>& decoders_;
  const std::vector<Workload>& workloads_;
  Shard shard_;
  OracleFlag oracle_;
  Store* store_ = nullptr;  // from `begin` on
  Checkpoint& checkpoint_;
  Checkpoint* draft_;  // null: no arm drafts with a network
  const ChatTemplate chat_;
  SteadyClock clock_;
  Engine engine_;
  std::vector<std::optional<PromptFile>> wordings_;  // [arm] of its decoder's own requests
  DecoderContext context_;
  std::unique_ptr<std::ofstream> trace_;
  std::vector<std::vector<RowId>> ids_;             // [workload][arm]
  std::vector<std::vector<Recording>> recordings_;  // [workload][arm]; empty: none is forced
  std::string process_, invocation_;
  std::int64_t finished_ = 0, failed_ = 0, turns_off_ = 0, chosen_ = 0, busy_ns_ = 0;
};

}  // namespace pardec
