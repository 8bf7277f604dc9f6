#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "src/runs/prepare.hpp"
#include "src/store/store.hpp"

/// The stored state of a run's blocks: finished, still to be run, or disturbed.
namespace pardec {

/// Identifies a block of a dataset by its repeat and position.
using BlockPlace = std::pair<int, size_t>;

/// The stored state of one cell.
struct CellState {
  std::vector<std::set<JobKey>> finished;  ///< by repeat: jobs that need not be run again
  std::vector<std::set<JobKey>> failed;    ///< finished jobs that failed as a whole

  struct Measured {
    RowId block;
    std::int32_t process;  ///< equal numbers: the same process
    BlockTime time;
    std::optional<BlockRepair> again;
  };
  std::map<BlockPlace, Measured> measured;  ///< measured as a whole, without failed jobs
};

/// The jobs and times of each cell, in the order of `cells`. `retry`: failed jobs are to be run
/// again, so they do not count as finished.
std::vector<CellState> cell_states(Store& store, const std::vector<RunCell>& cells, int repeats,
                                   bool retry);

/// The state of one cell's part of a block.
enum class CellBlock {
  fresh,     ///< none of its jobs is finished
  begun,     ///< some jobs are finished, but the whole block has no time
  measured,  ///< it was measured as a whole
  failed,    ///< a failed job is not run again, so the block cannot have a time
};
CellBlock block_of(const RunCell& cell, const CellState& state, const BlockPlace& place);

/// For each cell, whether it must run a block. `more`: the cells that need further blocks. The
/// block concerns these cells, and cells that have begun it. If one process measured the whole
/// block for all these cells, no cell has to run it again. Otherwise all of them run it, because
/// times from two processes cannot be paired. A cell with a failed job does not decide this for the
/// others.
std::vector<bool> cells_to_do(const std::vector<const RunCell*>& cells,
                              const std::vector<const CellState*>& states, const BlockPlace& place,
                              std::vector<bool> more);

/// A block that was disturbed by other processes and has no undisturbed measurement.
struct DisturbedBlock {
  BlockPlace place;
  /// share of the machine taken by other processes in the latest measurement, maximum over cells
  double taken;
  std::map<const RunCell*, RowId> blocks;  ///< the blocks of the cells that one process measured
};
struct DisturbedBlocks {
  std::vector<DisturbedBlock> blocks;  ///< the worst first
  /// number of disturbed blocks whose repeated measurement was undisturbed
  std::int64_t quiet_again = 0;
};
DisturbedBlocks disturbed_blocks(const std::vector<const RunCell*>& cells,
                                 const std::vector<const CellState*>& states);

}  // namespace pardec
