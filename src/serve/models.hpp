#pragma once
#include <memory>
#include <string>
#include <vector>

#include "decoders/decoder.hpp"
#include "src/serve/ask.hpp"
#include "src/support/json.hpp"

namespace pardec::serve {

/// A model id, and the decoder that answers under it.
struct ServedModel {
  std::string id;
  std::string decoder;            ///< its name in the registry
  Json options = Json::object();  ///< those that were given
  std::shared_ptr<const Decoder> algorithm;
};

/// The model ids of a network named `name`: first NAME with the first decoder, then NAME:DECODER
/// for each, then the aliases, "ID=DECODER,OPTION=VALUE...". `taught`: the settings of the
/// network's training record, as for take_taught_options. ConfigError: an unknown decoder or
/// option, a value out of range, or an id that occurs twice.
std::vector<ServedModel> served_models(const std::string& name,
                                       const std::vector<std::string>& decoders,
                                       const std::vector<std::string>& aliases, const Json& taught);

/// The model that a request asks for: that of its id (none: the first), with the decoder and the
/// options of its member `pardec`. ApiError: 404, no such model; 400, no such decoder or option, or
/// id and member name different decoders.
ServedModel chosen_model(const std::vector<ServedModel>& models, const Ask& ask);

}  // namespace pardec::serve
