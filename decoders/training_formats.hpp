#pragma once
// The training formats of all decoders, as `train` names and describes them.
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "decoders/decoder.hpp"
#include "src/training/trainer_options.hpp"
#include "src/training/training_sample.hpp"

namespace pardec {

/// The options of all formats, in the order of the registry.
std::vector<TrainingOption> training_options();
/// They as flags gave them: an object of flag (without dashes) -> value. ConfigError as Options.
Options read_training_options(const Json& given);

/// All formats for a reader: "ar (JSON answer), ar-value (one field), ...".
std::string format_meanings();
/// What is trained where no format is named. `extra_heads`: they are trained, not the network.
std::vector<std::string> usual_formats(bool extra_heads);

/// The formats of these names. `scene` outlives them. ConfigError: none or an unknown one is named,
/// extra heads cannot learn one, or the network lacks what one needs.
std::vector<std::unique_ptr<TrainingFormat>> make_formats(const std::vector<std::string>& names,
                                                          const Options& options,
                                                          const FormatScene& scene,
                                                          bool extra_heads);

/// What a training's record says of its formats.
OrderedJson recorded_options(const std::vector<std::string>& names, const Options& options);

/// What of a decoder's options its formats were taught by the `settings` of a training's record, by
/// option: numbers, names, tokens, and `ask` where all that it learned of them ask one way. A
/// decoder without formats writes what the plain one does. None where the network learned none of
/// them.
Json taught_options(const DecoderEntry& decoder, const Json& settings);

/// Where a decoder's options are others than those: e.g. "stack 6, taught 2".
std::vector<std::string> untaught_options(const DecoderEntry& decoder, const Json& options,
                                          const Json& settings);

/// A taught option in words, e.g. "stack 2".
std::string option_text(const std::string& name, const Json& value);

/// The network's first end of sequence. ConfigError, which names the format, where it has none.
Token end_of_sequence(const FormatScene& scene, std::string_view format);

}  // namespace pardec
