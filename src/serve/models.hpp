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
  std::string decoder;            ///< name of the decoder in the registry
  Json options = Json::object();  ///< options that were set explicitly
  std::shared_ptr<const Decoder> algorithm;
};

/// The model ids of a network with name NAME: NAME itself, with the first decoder; NAME:DECODER for
/// each decoder; and the aliases, given as "ID=DECODER,OPTION=VALUE...". `taught`: the settings in
/// the network's training record; an option that is not set takes its value from them.
/// ConfigError: a decoder or option is unknown, a value is out of range, an id occurs twice, or a
/// decoder is one that another server runs.
std::vector<ServedModel> served_models(const std::string& name,
                                       const std::vector<std::string>& decoders,
                                       const std::vector<std::string>& aliases, const Json& taught);

/// The model that a request asks for: the model with the request's model id (without an id, the
/// first model), modified by the decoder and options in the request's member `pardec`. Only with
/// the id NAME of the first model may the request name another decoder, for which `models` must
/// have the id NAME:DECODER. ApiError 404: there is no model with this id. ApiError 400: the
/// decoder is not allowed, or an option is unknown or has an invalid value.
ServedModel chosen_model(const std::vector<ServedModel>& models, const Ask& ask);

}  // namespace pardec::serve
