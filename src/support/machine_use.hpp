#pragma once
#include <cstdint>
#include <optional>

namespace pardec {

/// What a stretch of time took of the machine, and what others took meanwhile. Empty: the system
/// does not say.
struct MachineUse {
  std::optional<std::int64_t> cpu_ns;     ///< CPU time of this process
  std::optional<std::int64_t> waited_ns;  ///< its threads were ready, and others had the cores
  std::optional<std::int64_t> stolen_ns;  ///< cores taken by the host of a virtual machine, or by a
                                          ///< quota of this process's group
  std::optional<double> mhz;              ///< mean clock of the cores, at the end
};

/// Share of the time of `threads` threads in `wall_ns` that others took; NaN: not known.
double taken_share(const MachineUse& use, std::int64_t wall_ns, int threads);

/// From this share on, a time says more of the machine than of the program.
inline constexpr double kDisturbedShare = 0.05;

/// Counts from where it was made.
class MachineMeter {
 public:
  MachineMeter();
  MachineUse read() const;

 private:
  MachineUse begin_;
};

}  // namespace pardec
