#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "decoders/decoder.hpp"
#include "src/runs/oracle.hpp"
#include "src/support/json.hpp"

namespace pardec {

/// One row of a comparison: a decoder with its options, on a network.
struct Arm {
  std::string label, decoder;
  Json options = Json::object();   ///< names without the decoder's prefix (k_max, not hpd.k_max)
  int batch_size = 1;              ///< number of concurrent jobs
  bool cascade = false;            ///< Engine::set_cascade
  std::string model, draft_model;  ///< folders of the arm's own networks; empty: the run's networks
  std::string adapter;             ///< folder of an adapter for its network; empty: none
  std::optional<std::int64_t> cache_blocks;  ///< the arm's own limit; none: the run's
  std::optional<std::uint64_t> seed;         ///< seed of the arm's random numbers; none: the run's
  OracleSpec oracle;                         ///< the arm's own, or the run's (give_oracle)
  std::shared_ptr<const Decoder> algorithm;  ///< the decoder with these options
  /// the decoder options that the network was trained with
  Json taught = Json::object();
  std::vector<std::string> given;  ///< options that the user set for this arm
  /// a baseline that was added without being requested (src/runs/baseline_arms.hpp)
  bool added = false;
  /// For a cell of a grid (src/runs/grid.hpp): the label of the arm that was expanded, and the
  /// cell's value on each axis.
  std::string of;
  std::map<std::string, Json> place;
};

/// An arm that cannot be run, and the reason.
struct RefusedArm {
  std::string label, reason;
};

/// Parses the value of an option: true, false, a number, or else a string.
Json option_value(const std::string& text);

/// Creates arms from `--decoder a,b` and `--arm LABEL=NAME[,option=value...]`, in this order, and
/// applies `--set [decoder.]option=value`. Options in --arm take precedence over --set.
/// `batch_size`, `cascade`, `model`, `adapter`, `cache_blocks`, `seed` and `oracle` are options of
/// every arm; `draft` is an option of all decoders with a draft network. ConfigError: there is no
/// arm, two arms have the same label, a decoder or option is unknown, a value is invalid, or no arm
/// has an option given by --set.
std::vector<Arm> make_arms(const std::vector<std::string>& decoders,
                           const std::vector<std::string>& arms,
                           const std::vector<std::string>& sets, int batch_size);

/// The names of all options of arms with this decoder: the decoder's own, and those of every arm.
std::vector<std::string> arm_options(const std::string& decoder);
/// Sets an option of the arm, and creates `algorithm` again. ConfigError: the value is invalid.
/// REQUIRES: `option` is one of arm_options.
void put_option(Arm& arm, const std::string& option, const Json& value);

/// Sets options to the values with which the arm's network was trained, unless the user set them.
/// `settings`: from the record of the training.
void take_taught_options(Arm& arm, const Json& settings);

/// The folder that `named` means in an experiment file: the folder with this name in `models`, or
/// else `named` itself. `models`: the file's object NAME -> folder; null: the file has none.
/// ConfigError: the entry in `models` is no folder name.
std::string folder_of_experiment(const Json& models, const std::string& named,
                                 const std::string& where);

/// The decoders of an experiment file, [{"label","name","model","adapter","draft","set":{...}}],
/// converted to values for --arm. `models`: see folder_of_experiment.
std::vector<std::string> arms_of_experiment(const Json& decoders, const Json& models,
                                            const std::string& where);

/// Index of the baseline of `arms[arm]`. If `baseline` is not empty, it is the arm with this label,
/// or the nearest of the cells expanded from the arm with this label. Otherwise, it is the most
/// suitable arm (baseline_rank), preferably on the same network, and among cells of a grid the
/// nearest one. None: there is no such arm, or it is `arms[arm]` itself. `open`: whether the
/// prompts are open. Open prompts can be asked in one way only, and no baselines are added for
/// them.
std::optional<size_t> baseline_of(const std::vector<Arm>& arms, size_t arm,
                                  const std::string& baseline, bool open = false);

}  // namespace pardec
