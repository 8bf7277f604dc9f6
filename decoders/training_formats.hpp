#pragma once
// The training formats of all decoders, with the names and descriptions used by `train`.
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
/// Parses these options from flags: an object of flag (without dashes) -> value. ConfigError as in
/// Options.
Options read_training_options(const Json& given);

/// ConfigError: there is no format with that name.
const FormatEntry& find_format(std::string_view name);
/// Names of the formats that have this property, e.g. &FormatEntry::plain_text.
std::vector<std::string_view> formats_that(bool FormatEntry::*property);

/// A list of all formats: "ar (JSON answer), ar-value (one field), ...".
std::string format_meanings();
/// The default formats. `extra_heads`: the heads are trained, not the network.
std::vector<std::string> usual_formats(bool extra_heads);

/// The formats with these names. `scene` must outlive them. ConfigError: no name or an unknown one,
/// a format that extra heads cannot be trained on, or a requirement that the network lacks.
std::vector<std::unique_ptr<TrainingFormat>> make_formats(const std::vector<std::string>& names,
                                                          const Options& options,
                                                          const FormatScene& scene,
                                                          bool extra_heads);

/// The entry of a training's record about its formats.
OrderedJson recorded_options(const std::vector<std::string>& names, const Options& options);

/// The options with which the decoder's formats were trained, as an object from option to value,
/// from the `settings` of a training's record. It has numbers, names and tokens, and `ask` only if
/// all trained formats of the decoder ask in the same way. A decoder without formats of its own
/// uses those of the plain decoder, since both write the same text. None: the network was not
/// trained on any of these formats.
Json taught_options(const DecoderEntry& decoder, const Json& settings);

/// The options of a decoder that the training was not for, e.g. "stack 6, trained with 2".
std::vector<std::string> untaught_options(const DecoderEntry& decoder, const Json& options,
                                          const Json& settings);

/// A trained option as text, e.g. "stack 2".
std::string option_text(const std::string& name, const Json& value);

/// The network's first end-of-sequence id. ConfigError, which names the format: it has none.
Token end_of_sequence(const FormatScene& scene, std::string_view format);

}  // namespace pardec
