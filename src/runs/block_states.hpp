#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "src/runs/prepare.hpp"
#include "src/store/store.hpp"

/// The stored state of a run's blocks: which are finished, which must still be run, and which were
/// disturbed.
namespace pardec {

/// A block of a dataset: (repeat, position). Both are counted from 0.
using BlockPlace = std::pair<int, size_t>;

/// The stored state of one cell (an arm on a dataset).
struct CellState {
  std::vector<std::set<JobKey>> finished;  ///< [repeat]: jobs that need not be run again
  /// [repeat]: the jobs in `finished` that failed as a whole
  std::vector<std::set<JobKey>> failed;

  /// The measurement of one block.
  struct Measured {
    RowId block;           ///< id of the stored block
    std::int32_t process;  ///< the process that measured the block; see BlockFigures::process
    BlockTime time;
    /// the second measurement, by --repair; none: the block was not measured again
    std::optional<BlockRepair> again;
  };
  std::map<BlockPlace, Measured> measured;  ///< blocks measured as a whole, without failed jobs
};

/// Reads the state of each cell, in the order of `cells`. `repeats`: the number of repeats of the
/// run (--runs). `retry`: failed jobs will be run again, so they do not count as finished.
/// StoreError: the database cannot be read. REQUIRES: the rows of the cells are stored
/// (RunRow::id).
std::vector<CellState> cell_states(Store& store, const std::vector<RunCell>& cells, int repeats,
                                   bool retry);

/// The state of one cell's part of a block.
enum class CellBlock {
  fresh,  ///< none of its jobs is finished
  /// some jobs are finished, but the block has no time, or one of its jobs will be run again
  begun,
  measured,  ///< it was measured as a whole
  failed,    ///< a job failed as a whole and will not be run again, so the block has no time
};
/// The state of a cell's part of the block at `place`.
CellBlock block_state(const RunCell& cell, const CellState& state, const BlockPlace& place);

/// Decides which cells must run the block at `place`. Returns [cell]: true if the cell must run the
/// block. `more[cell]`: true if the cell needs more blocks. `cells`, `states`, `more` and the
/// result have the same order. The decision is made for two kinds of cells together: cells that
/// need more blocks, and cells that have begun the block (any state except CellBlock::fresh). If
/// one process measured the block for all of these cells, none of them runs the block again.
/// Otherwise all of these cells run the block, because times from two processes cannot be paired.
/// Cells with state CellBlock::failed do not affect the decision. Their value in the result is
/// always true, so that their jobs without a stored result are run.
std::vector<bool> cells_to_do(const std::vector<const RunCell*>& cells,
                              const std::vector<const CellState*>& states, const BlockPlace& place,
                              std::vector<bool> more);

/// A block that was disturbed by other processes and has no undisturbed measurement.
struct DisturbedBlock {
  BlockPlace place;
  /// share of the CPU time of the run's threads, from 0 to 1, that other programs took during the
  /// latest measurement (taken_share); maximum over cells
  double taken;
  /// maps each cell to the id of its stored block; one process measured all of these blocks
  std::map<const RunCell*, RowId> blocks;
};
/// The disturbed blocks of one dataset.
struct DisturbedBlocks {
  std::vector<DisturbedBlock> blocks;  ///< the most disturbed first
  /// number of disturbed blocks whose second measurement (`--repair`) was undisturbed
  std::int64_t quiet_again = 0;
};
/// Finds the disturbed blocks of one dataset. `cells`: all cells on this dataset. `states`: their
/// states, in the same order. A block that several processes measured is left out.
DisturbedBlocks disturbed_blocks(const std::vector<const RunCell*>& cells,
                                 const std::vector<const CellState*>& states);

}  // namespace pardec
