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
  Json options = Json::object();             ///< names without the decoder's own
  int batch_size = 1;                        ///< jobs in flight
  bool cascade = false;                      ///< Engine::set_cascade
  std::string model, draft_model;            ///< folders of its own; empty: those of the run
  std::string adapter;                       ///< folder, over its network; empty: none
  std::optional<std::int64_t> cache_blocks;  ///< its own limit; none: the run's
  std::optional<std::uint64_t> seed;         ///< of its random numbers; none: the run's
  OracleSpec oracle;                         ///< its own, or by give_oracle that of the run
  std::shared_ptr<const Decoder> algorithm;  ///< the decoder with these options
  Json taught = Json::object();              ///< of the options: what the network was taught
  std::vector<std::string> given;            ///< options that somebody wrote for it
  bool added = false;  ///< a baseline that nobody named (src/runs/baseline_arms.hpp)
  /// Of a cell of a grid (src/runs/grid.hpp): the arm that it was made of, and its place, by axis.
  std::string of;
  std::map<std::string, Json> place;
};

/// An arm that cannot be run, and why.
struct RefusedArm {
  std::string label, reason;
};

/// The value of an option as it was written: true, false, a number, else text.
Json option_value(const std::string& text);

/// Arms from `--decoder a,b`, `--arm LABEL=NAME[,option=value...]` and `--set
/// [decoder.]option=value`, in this order. An arm's own option beats --set. `batch_size`,
/// `cascade`, `model`, `adapter`, `cache_blocks`, `seed` and `oracle` are options of every arm,
/// `draft` of one that drafts with a network. ConfigError: no arm, two of one label, unknown
/// decoder or option or a bad value of one, a --set that no arm has.
std::vector<Arm> make_arms(const std::vector<std::string>& decoders,
                           const std::vector<std::string>& arms,
                           const std::vector<std::string>& sets, int batch_size);

/// What an arm of this decoder may be given: the decoder's own options, and those of every arm.
std::vector<std::string> arm_options(const std::string& decoder);
/// Gives it to the arm; `algorithm` is made anew by make_decoder. ConfigError for a value of an
/// option of every arm that is none. REQUIRES: one of arm_options.
void put_option(Arm& arm, const std::string& option, const Json& value);

/// Gives an arm the options that its network was taught by the `settings` of a training's record,
/// where nobody gave others.
void take_taught_options(Arm& arm, const Json& settings);

/// The folder that an experiment file means by `named`: that of `models` (null: it has none) under
/// this name, else a folder by itself. ConfigError.
std::string folder_of_experiment(const Json& models, const std::string& named,
                                 const std::string& where);

/// The decoders of an experiment file, [{"label","name","model","adapter","draft","set":{...}}], as
/// texts of
/// --arm. `models` is its object of names and folders, or null; what is no name there is a folder.
std::vector<std::string> arms_of_experiment(const Json& decoders, const Json& models,
                                            const std::string& where);

/// Index of the arm that `arms[arm]` is compared with: the one labelled `baseline` if that is not
/// empty, else the first of those that serve best (baseline_rank), of these one on the same network
/// where there is one, and of cells of a grid one at the nearest place. `baseline` may also name
/// the arm that cells were made of: then the nearest of these. None: there is no such arm, or it is
/// this one. `open`: on open prompts, which all arms ask one way, and for which none is added.
std::optional<size_t> baseline_of(const std::vector<Arm>& arms, size_t arm,
                                  const std::string& baseline, bool open = false);

}  // namespace pardec
