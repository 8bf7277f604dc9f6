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
  std::string label, decoder;  ///< unique name of the arm; name of the decoder
  /// a JSON object that maps options to values; the names of the options do not have the decoder's
  /// prefix (k_max, not hpd.k_max)
  Json options = Json::object();
  int batch_size = 1;              ///< maximum number of jobs that run at the same time
  bool cascade = false;            ///< see Engine::set_cascade
  std::string model, draft_model;  ///< folders of the arm's own networks; empty: the run's networks
  /// folder of an adapter for the arm's network; empty: the run's adapter, or no adapter if the arm
  /// has its own `model`
  std::string adapter;
  /// maximum number of blocks of the KV cache; none: the run's limit
  std::optional<std::int64_t> cache_blocks;
  std::optional<std::uint64_t> seed;  ///< seed of the arm's random numbers; none: the run's seed
  /// the arm's own oracle, or the run's oracle after give_oracle
  OracleSpec oracle;
  std::shared_ptr<const Decoder> algorithm;  ///< the decoder with these options
  /// the options that take_trained_options has set, with their values
  Json trained_options = Json::object();
  std::vector<std::string> given;  ///< names of the options that were set (make_arms, put_option)
  /// a baseline that was added without being requested (src/runs/baseline_arms.hpp)
  bool added = false;
  /// For a cell of a grid (src/runs/grid.hpp): `expanded_from` is the label of the arm that was
  /// expanded, and `cell` maps the key of each axis (GridAxis::key) to the cell's value. Both are
  /// empty for other arms.
  std::string expanded_from;
  std::map<std::string, Json> cell;
};

/// An arm that cannot be run, and the reason.
struct RefusedArm {
  std::string label, reason;
};

/// Parses the value of an option: true, false, a number, or else a string.
Json option_value(const std::string& text);

/// Creates arms from `--decoder a,b` and `--arm LABEL=NAME[,option=value...]`, in this order, and
/// applies `--set [decoder.]option=value`. Options in --arm take precedence over --set. In --arm, a
/// part between commas that has no `=` belongs to the preceding value, so that a value can be a
/// list with commas. `batch_size`, `cascade`, `model`, `adapter`, `cache_blocks`, `seed` and
/// `oracle` are options of every arm; `draft` is an option of all decoders with a draft network.
/// The parameter `batch_size` is the batch size of arms that do not set this option. ConfigError:
/// there is no arm, a text has another form, two arms have the same label, a decoder or option is
/// unknown, an option is given twice, a value is invalid, or no arm has an option given by --set.
std::vector<Arm> make_arms(const std::vector<std::string>& decoders,
                           const std::vector<std::string>& arms,
                           const std::vector<std::string>& sets, int batch_size);

/// The names of all options of arms with this decoder: the decoder's own options, and those of
/// every arm (make_arms). ConfigError: there is no such decoder.
std::vector<std::string> arm_options(const std::string& decoder);
/// Sets an option of the arm, adds it to Arm::given, and creates `algorithm` again. ConfigError:
/// the value is invalid. REQUIRES: `option` is one of arm_options.
void put_option(Arm& arm, const std::string& option, const Json& value);

/// Sets options to the values with which the arm's network was trained, except options in
/// Arm::options, which the user set. Records the changed options in Arm::trained_options.
/// `settings`: the settings in the network's training record (read_training_record). ConfigError: a
/// recorded value does not fit the arm's other options.
void take_trained_options(Arm& arm, const Json& settings);

/// The checkpoint that `named` means in an experiment file: the entry with this name in `models`,
/// or else `named` itself. The name of a network on the Hub becomes its folder in the cache
/// (checkpoint_path). `models`: the JSON object in the file that maps names to checkpoints; null:
/// the file has no such object. ConfigError, which starts with `where`: `models` is not an object,
/// or the entry is not a string.
std::string folder_of_experiment(const Json& models, const std::string& named,
                                 const std::string& where);

/// The decoders of an experiment file, [{"label","name","model","adapter","draft","set":{...}}],
/// converted to values for --arm. `models`: see folder_of_experiment. ConfigError, which starts
/// with `where`: the JSON has another form, a decoder or option is unknown, or a label, folder or
/// value has characters that --arm cannot express.
std::vector<std::string> arms_of_experiment(const Json& decoders, const Json& models,
                                            const std::string& where);

/// Index of the baseline of `arms[arm]`. If `baseline` is not empty, the baseline is the arm with
/// this label, or the nearest of the cells that were expanded from an arm with this label.
/// Otherwise, it is the most suitable arm (baseline_rank), and among equally suitable arms the
/// nearest one. An arm on the same network and adapter is nearer than an arm on others. If this
/// does not decide, the arm that has the same value on more axes of the grid is nearer. None: there
/// is no suitable arm, or `arms[arm]` is itself a baseline. `open`: whether the prompts are open.
/// Added baselines (Arm::added) are not used for open prompts, because there is only one way to ask
/// open prompts. ConfigError: `baseline` is not empty, and is neither the label of an arm nor the
/// label of an arm that was expanded into cells.
std::optional<size_t> baseline_of(const std::vector<Arm>& arms, size_t arm,
                                  const std::string& baseline, bool open = false);

}  // namespace pardec
