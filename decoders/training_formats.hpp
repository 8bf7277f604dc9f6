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
/// Parses these options. `given`: an object flag (without dashes) -> value. ConfigError: see
/// Options.
Options read_training_options(const Json& given);

/// Finds a format by name. ConfigError: there is no such format.
const FormatEntry& find_format(std::string_view name);
/// The names of all formats with this property, e.g. &FormatEntry::plain_text.
std::vector<std::string_view> formats_that(bool FormatEntry::*property);

/// All formats as text: "ar (JSON answer), ar-value (one field), ...".
std::string format_meanings();
/// The default formats. `extra_heads`: whether extra heads are trained, and not the network.
std::vector<std::string> usual_formats(bool extra_heads);

/// Creates the formats with these names. The objects in `scene` must outlive them. ConfigError:
/// there are no names, or one is unknown; extra heads cannot be trained on a format; or the network
/// lacks something that a format needs.
std::vector<std::unique_ptr<TrainingFormat>> make_formats(const std::vector<std::string>& names,
                                                          const Options& options,
                                                          const FormatScene& scene,
                                                          bool extra_heads);

/// The options of these formats, for the training record.
OrderedJson recorded_options(const std::vector<std::string>& names, const Options& options);

/// The decoder options with which a network was trained: an object option -> value. `settings`:
/// from the training record. `ask` is included only if all trained formats of the decoder have the
/// same value. For a decoder without formats of its own, the plain decoder's formats count, since
/// both generate the same text. Empty: the network was not trained on any of these formats.
Json taught_options(const DecoderEntry& decoder, const Json& settings);

/// The options of a decoder whose values the training does not cover, e.g. "stack 6, trained with
/// 2".
std::vector<std::string> untaught_options(const DecoderEntry& decoder, const Json& options,
                                          const Json& settings);

/// An option as text, e.g. "stack 2".
std::string option_text(const std::string& name, const Json& value);

/// The network's first end-of-sequence id. ConfigError, which names `format`: the network has none.
Token end_of_sequence(const FormatScene& scene, std::string_view format);

}  // namespace pardec
