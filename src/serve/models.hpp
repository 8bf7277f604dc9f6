#pragma once
#include <memory>
#include <string>
#include <vector>

#include "decoders/decoder.hpp"
#include "src/serve/ask.hpp"
#include "src/support/json.hpp"

namespace pardec::serve {

/// A model id that clients can request, with its decoder.
struct ServedModel {
  std::string id;
  std::string decoder;  ///< name of the decoder in the registry
  /// {option: value}: the options whose values come from an alias, a request or the network's
  /// training record; the other options have their defaults
  Json options = Json::object();
  std::shared_ptr<const Decoder> algorithm;  ///< the decoder with these options
};

/// The models of a network, in this order:
/// - the id `name`, with the first decoder
/// - the id NAME:DECODER for each of `decoders`, where NAME is `name`
/// - the id of each alias. `aliases` have the form "ID=DECODER,OPTION=VALUE...".
/// `taught`: the settings in the network's training record. If an alias does not set an option, and
/// the record has the option, the value is taken from the record. ConfigError: a decoder or option
/// is unknown, a value is out of range, an id occurs twice, or another server runs the decoder
/// (DecoderEntry::elsewhere). REQUIRES: `decoders` is not empty.
std::vector<ServedModel> served_models(const std::string& name,
                                       const std::vector<std::string>& decoders,
                                       const std::vector<std::string>& aliases, const Json& taught);

/// The model that a request asks for: the model with the request's model id (without an id, the
/// first model), modified by the decoder and options in the request's member `pardec`. A request
/// for the first model, whose id is NAME, may name any decoder for which `models` has the id
/// NAME:DECODER. A request for another model may name only this model's decoder. ApiError 404:
/// there is no model with this id. ApiError 400: the decoder is not allowed, or an option is
/// unknown or has an invalid value. REQUIRES: `models` is not empty.
ServedModel chosen_model(const std::vector<ServedModel>& models, const Ask& ask);

}  // namespace pardec::serve
