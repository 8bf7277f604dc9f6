#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "src/runs/prepare.hpp"
#include "src/store/store.hpp"

/// What is stored of a run's blocks: which of them have to be done, and which were disturbed.
namespace pardec {

/// A block of a dataset: its repeat and its position.
using BlockPlace = std::pair<int, size_t>;

/// What is stored of one cell.
struct CellState {
  std::vector<std::set<JobKey>> finished;  ///< by repeat: jobs that need not be done again
  std::vector<std::set<JobKey>> failed;    ///< of these, those that failed as a whole

  struct Measured {
    RowId block;
    std::int32_t process;  ///< equal numbers: one process
    BlockTime time;
    std::optional<BlockRepair> again;
  };
  std::map<BlockPlace, Measured> measured;  ///< whole, and no job failed
};

/// The jobs and the times of each cell, in their order. `retry`: failed jobs are to be done again,
/// so they are not finished.
std::vector<CellState> cell_states(Store& store, const std::vector<RunCell>& cells, int repeats,
                                   bool retry);

/// One cell's part of a block.
enum class CellBlock {
  fresh,     ///< no job of it is done
  begun,     ///< jobs are done, and there is no time of all of it
  measured,  ///< it was measured whole
  failed,    ///< a job failed that is not done again: it can have no time
};
CellBlock block_of(const RunCell& cell, const CellState& state, const BlockPlace& place);

/// Which cells do a block, of those that need it (`more`) or have begun it: all, unless one process
/// measured it whole for every one of them, since times of two processes are no pair. A cell of
/// which a job failed takes no part in that.
std::vector<bool> cells_to_do(const std::vector<const RunCell*>& cells,
                              const std::vector<const CellState*>& states, const BlockPlace& place,
                              std::vector<bool> more);

/// A block of which others had a share of the machine, and which has no quiet time.
struct DisturbedBlock {
  BlockPlace place;
  double taken;  ///< share of the machine, at most over its cells, at the last time
  std::map<const RunCell*, RowId> blocks;  ///< of the cells that one process measured it by
};
struct DisturbedBlocks {
  std::vector<DisturbedBlock> blocks;  ///< the worst first
  std::int64_t quiet_again = 0;  ///< others that were disturbed, and quiet when measured again
};
DisturbedBlocks disturbed_blocks(const std::vector<const RunCell*>& cells,
                                 const std::vector<const CellState*>& states);

}  // namespace pardec
