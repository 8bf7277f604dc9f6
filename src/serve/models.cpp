#include "src/serve/models.hpp"

#include <algorithm>

#include "src/runs/arms.hpp"
#include "src/serve/api_error.hpp"
#include "src/support/error.hpp"
#include "src/support/text.hpp"

namespace pardec::serve {

namespace {

ServedModel served(std::string id, Arm arm, const Json& taught) {
  for (const std::string& option : arm.given)
    if (const auto own = names_of(find_decoder(arm.decoder).options);
        std::find(own.begin(), own.end(), option) == own.end())
      throw ConfigError(str("`alias` ", arm.label, ": '", option,
                            "' is an option of runs, expected options of decoder ", arm.decoder));
  take_trained_options(arm, taught);
  return {std::move(id), arm.decoder, arm.options, arm.algorithm};
}

std::string shown_name(const std::string& name) {
  constexpr std::size_t kMost = 200;
  return name.size() <= kMost ? name : repair_utf8(name.substr(0, kMost)) + "...";
}

}  // namespace

std::vector<ServedModel> served_models(const std::string& name,
                                       const std::vector<std::string>& decoders,
                                       const std::vector<std::string>& aliases,
                                       const Json& taught) {
  std::vector<ServedModel> models;
  for (const Arm& arm : make_arms(decoders, aliases, {}, 1)) {
    if (arm.algorithm->elsewhere())
      throw ConfigError(str("`decoder` ", arm.label,
                            " is answered by another server; expected a "
                            "decoder of this program"));
    const bool alias = models.size() > decoders.size();
    if (models.empty()) models.push_back(served(name, arm, taught));
    models.push_back(served(alias ? arm.label : str(name, ":", arm.label), arm, taught));
  }
  for (std::size_t i = 0; i < models.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (models[i].id == models[j].id)
        throw ConfigError(str("`alias` ", models[i].id,
                              " is the id of another model, expected a name of its own"));
  return models;
}

ServedModel chosen_model(const std::vector<ServedModel>& models, const Ask& ask) {
  auto found = models.begin();
  if (!ask.model.empty()) {
    found = std::find_if(models.begin(), models.end(),
                         [&](const ServedModel& one) { return one.id == ask.model; });
    if (found == models.end()) {
      std::vector<std::string> ids;
      for (const ServedModel& one : models) ids.push_back(one.id);
      throw ApiError(
          404, str("there is no model '", shown_name(ask.model), "'; known: ", join(ids, ", ")),
          "model", "model_not_found");
    }
  }
  if (!ask.decoder.empty() && ask.decoder != found->decoder) {
    const bool bare = found == models.begin();
    if (!bare)
      throw ApiError(
          400,
          str("model ", found->id, " is decoder ", found->decoder, ", and 'pardec.decoder' is '",
              shown_name(ask.decoder), "'; expected the same, or model ", models.front().id),
          "pardec");
    const auto named = std::find_if(models.begin() + 1, models.end(), [&](const ServedModel& one) {
      return one.id == str(models.front().id, ":", ask.decoder);
    });
    if (named == models.end())
      throw ApiError(
          400, str("'pardec.decoder' is '", shown_name(ask.decoder), "', which is not served"),
          "pardec");
    found = named;
  }
  ServedModel model = *found;
  if (ask.options.empty()) return model;
  for (const auto& [option, value] : ask.options.items()) model.options[option] = value;
  try {
    model.algorithm = make_decoder(model.decoder, model.options);
  } catch (const ConfigError& error) {
    throw ApiError(400, error.what(), "pardec");
  }
  return model;
}

}  // namespace pardec::serve
