#pragma once
#include <memory>
#include <string>
#include <vector>

#include "decoders/decoder.hpp"
#include "src/serve/ask.hpp"
#include "src/support/json.hpp"

namespace pardec::serve {

/// A model id that clients can request, and the decoder behind it.
struct ServedModel {
  std::string id;
  std::string decoder;            ///< name of the decoder in the registry
  Json options = Json::object();  ///< options that were set explicitly
  std::shared_ptr<const Decoder> algorithm;
};

/// The model ids of a network with name NAME: NAME itself, with the first decoder; NAME:DECODER for
/// each decoder; and the aliases, given as "ID=DECODER,OPTION=VALUE...". `taught`: the settings in
/// the network's training record (take_taught_options). ConfigError: a decoder or option is
/// unknown, a value is out of range, or an id occurs twice.
std::vector<ServedModel> served_models(const std::string& name,
                                       const std::vector<std::string>& decoders,
                                       const std::vector<std::string>& aliases, const Json& taught);

/// The model that a request asks for: the one with the request's model id (without an id, the
/// first), modified by the decoder and options in the member `pardec`. ApiError 404: there is no
/// such model. ApiError 400: there is no such decoder or option, or id and member name different
/// decoders.
ServedModel chosen_model(const std::vector<ServedModel>& models, const Ask& ask);

}  // namespace pardec::serve
