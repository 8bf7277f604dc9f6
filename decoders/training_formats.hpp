#pragma once
// The training formats of all decoders, for `train`.
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
/// Parses the options of training_options(). `given`: a JSON object that maps flags, without the
/// dashes at their beginning (e.g. "ar-stack"), to values. ConfigError: see Options::of_training.
Options read_training_options(const Json& given);

/// Finds a format by name. ConfigError: there is no such format; the message suggests similar
/// names.
const FormatEntry& find_format(std::string_view name);
/// The names of all formats for which this member is true, e.g. &FormatEntry::plain_text.
std::vector<std::string_view> formats_that(bool FormatEntry::*property);

/// All formats as text: "ar (JSON answer), ar-value (one field), ...".
std::string format_meanings();
/// The default formats. `extra_heads`: whether only extra heads are trained, and the network is
/// unchanged.
std::vector<std::string> usual_formats(bool extra_heads);

/// Creates the formats with these names. `extra_heads`: see usual_formats. The objects in `scene`
/// must outlive the formats. ConfigError: there are no names, or a name is unknown; extra heads
/// cannot be trained on one of the formats (FormatEntry::plain_text); an option is invalid; or the
/// network lacks something that a format needs.
std::vector<std::unique_ptr<TrainingFormat>> make_formats(const std::vector<std::string>& names,
                                                          const Options& options,
                                                          const FormatScene& scene,
                                                          bool extra_heads);

/// The values of all training options, in the form of the training record
/// (TrainingOption::recorded). `names`: the formats that the network is trained on.
OrderedJson recorded_options(const std::vector<std::string>& names, const Options& options);

/// The decoder options with which a network was trained: a JSON object that maps options to values.
/// `settings`: the settings in the network's training record. A network may be trained on several
/// of the decoder's formats; `ask` is included only if these formats have the same value
/// (FormatEntry::asks). For a decoder that needs no training and has no formats, the formats of
/// `ar` are used, because both decoders generate the same text. Empty: the network was not trained
/// on any of these formats.
Json trained_options(const DecoderEntry& decoder, const Json& settings);

/// The options in `options` whose values differ from the values in training, as text, e.g. "stack
/// 6, trained with 2". Smaller values are left out if the training covers them
/// (TrainingOption::smaller_too). `settings`: see trained_options.
std::vector<std::string> options_beyond_training(const DecoderEntry& decoder, const Json& options,
                                                 const Json& settings);

/// An option as text, e.g. "stack 2"; with an empty name, only the value.
std::string option_text(const std::string& name, const Json& value);

/// The network's first end-of-sequence id. ConfigError, which names `format`: the network has none.
Token end_of_sequence(const FormatScene& scene, std::string_view format);

}  // namespace pardec
