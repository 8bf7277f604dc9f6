#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "decoders/decoder.hpp"
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
  std::shared_ptr<const Decoder> algorithm;  ///< the decoder with these options
  Json taught = Json::object();              ///< of the options: what the network was taught
};

/// The value of an option as it was written: true, false, a number, else text.
Json option_value(const std::string& text);

/// Arms from `--decoder a,b`, `--arm LABEL=NAME[,option=value...]` and `--set
/// [decoder.]option=value`, in this order. An arm's own option beats --set. `batch_size`,
/// `cascade`, `model` and `adapter` are options of every arm, `draft` of one that drafts with a
/// network. ConfigError: no arm, two of one label, unknown decoder or option or a bad value of one,
/// a --set that no arm has.
std::vector<Arm> make_arms(const std::vector<std::string>& decoders,
                           const std::vector<std::string>& arms,
                           const std::vector<std::string>& sets, int batch_size);

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
/// where there is one. None: there is no such arm, or it is this one.
std::optional<size_t> baseline_of(const std::vector<Arm>& arms, size_t arm,
                                  const std::string& baseline);

}  // namespace pardec
