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
  Json options = Json::object();   ///< names without the decoder's prefix
  int batch_size = 1;              ///< number of concurrent jobs
  bool cascade = false;            ///< Engine::set_cascade
  std::string model, draft_model;  ///< folders of the arm's own networks; empty: those of the run
  std::string adapter;             ///< folder of an adapter for its network; empty: none
  std::optional<std::int64_t> cache_blocks;  ///< the arm's own limit; none: the run's
  std::optional<std::uint64_t> seed;         ///< seed of the arm's random numbers; none: the run's
  OracleSpec oracle;                         ///< the arm's own, or the run's (set by give_oracle)
  std::shared_ptr<const Decoder> algorithm;  ///< the decoder with these options
  /// the decoder options that the network was trained with
  Json taught = Json::object();
  std::vector<std::string> given;  ///< options that the user set for this arm
  /// a baseline that was added without being requested (src/runs/baseline_arms.hpp)
  bool added = false;
  /// For a cell of a grid (src/runs/grid.hpp): the label of the original arm, and the cell's values
  /// by axis.
  std::string of;
  std::map<std::string, Json> place;
};

/// An arm that cannot be run, and the reason.
struct RefusedArm {
  std::string label, reason;
};

/// The value of an option from its text: true, false, a number, otherwise a string.
Json option_value(const std::string& text);

/// Arms from `--decoder a,b`, `--arm LABEL=NAME[,option=value...]` and `--set
/// [decoder.]option=value`, in this order. An arm's own option takes precedence over --set.
/// `batch_size`, `cascade`, `model`, `adapter`, `cache_blocks`, `seed` and `oracle` are options of
/// every arm; `draft` is an option of arms whose decoder uses a draft network. ConfigError: there
/// is no arm, two arms have the same label, a decoder or option is unknown, a value is invalid, or
/// no arm has an option given by --set.
std::vector<Arm> make_arms(const std::vector<std::string>& decoders,
                           const std::vector<std::string>& arms,
                           const std::vector<std::string>& sets, int batch_size);

/// The options of arms with this decoder: the decoder's own, and those of every arm.
std::vector<std::string> arm_options(const std::string& decoder);
/// Sets an option of the arm; make_decoder updates `algorithm`. ConfigError: invalid value for an
/// option of every arm. REQUIRES: `option` is one of arm_options.
void put_option(Arm& arm, const std::string& option, const Json& value);

/// Sets options to the values with which the arm's network was trained, from the `settings` of the
/// training's record, unless the user set them.
void take_taught_options(Arm& arm, const Json& settings);

/// The folder that an experiment file refers to by `named`: the folder with this name in `models`
/// (null: the file has none), otherwise `named` itself. ConfigError.
std::string folder_of_experiment(const Json& models, const std::string& named,
                                 const std::string& where);

/// The decoders of an experiment file, [{"label","name","model","adapter","draft","set":{...}}], as
/// texts for --arm. `models`: the file's object of names and folders, or null; other names are
/// folders.
std::vector<std::string> arms_of_experiment(const Json& decoders, const Json& models,
                                            const std::string& where);

/// Index of the arm that `arms[arm]` is compared with. If `baseline` is not empty: the arm with
/// this label, or the nearest of the cells made from the arm with this label. Otherwise: the first
/// of the most suitable arms (baseline_rank), preferably on the same network, and for cells of a
/// grid, at the nearest place. None: there is no such arm, or it is the arm itself. `open`: for
/// open prompts, for which there is only one way to ask and no baselines are added.
std::optional<size_t> baseline_of(const std::vector<Arm>& arms, size_t arm,
                                  const std::string& baseline, bool open = false);

}  // namespace pardec
