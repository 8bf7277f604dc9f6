#pragma once
#include <memory>
#include <string>
#include <vector>

#include "decoders/decoder.hpp"
#include "src/serve/ask.hpp"
#include "src/support/json.hpp"

namespace pardec::serve {

/// A model id that clients can request, with its decoder. All models of a server share one network.
struct ServedModel {
  std::string id;
  std::string decoder;  ///< name of the decoder in the registry
  /// a JSON object that maps option names to values: the options whose values come from an alias, a
  /// request or the network's training record; all other options have their defaults
  Json options = Json::object();
  std::shared_ptr<const Decoder> algorithm;  ///< the decoder with these options
};

/// The models that the server offers, in this order:
/// - the model with the id `name`, which has the first decoder
/// - for each of `decoders`, the model with the id NAME:DECODER, where NAME is `name`
/// - for each of `aliases`, the model with the id ID. An alias has the form
///   "ID=DECODER,OPTION=VALUE...".
/// `taught`: the settings in the network's training record. If this record has an option that no
/// alias sets for a model, the model has the value in the record (take_trained_options).
/// ConfigError: a decoder or option is unknown, a value is out of range, an id occurs twice, or
/// another server runs the decoder (DecoderEntry::elsewhere). REQUIRES: `decoders` is not empty.
std::vector<ServedModel> served_models(const std::string& name,
                                       const std::vector<std::string>& decoders,
                                       const std::vector<std::string>& aliases, const Json& taught);

/// The model for a request: the model with the id Ask::model, or, if Ask::model is empty, the first
/// model. For the first model, whose id is NAME, Ask::decoder may name a different decoder. The
/// result is then the model with the id NAME:DECODER. For all other models, Ask::decoder must be
/// empty or the model's own decoder. In the result, the values in Ask::options replace the model's
/// option values. `models`: the result of served_models. ApiError 404: there is no model with the
/// id Ask::model. ApiError 400: the decoder is not allowed, or an option is unknown or has an
/// invalid value. REQUIRES: `models` is not empty.
ServedModel chosen_model(const std::vector<ServedModel>& models, const Ask& ask);

}  // namespace pardec::serve
