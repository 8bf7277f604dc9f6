#include "decoders/training_formats.hpp"

#include <algorithm>

#include "src/support/error.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

bool named(const std::vector<std::string>& names, const FormatEntry& format) {
  return std::find(names.begin(), names.end(), format.name) != names.end();
}

void check_for_extra_heads(const FormatEntry& format) {
  if (format.plain_text) return;
  const auto texts = formats_that(&FormatEntry::plain_text);
  throw ConfigError(str("format ", format.name,
                        " does not go with `medusa_heads`, which are to guess what medusa and apar "
                        "write; expected ",
                        join({texts.begin(), texts.end()}, ", ")));
}

}  // namespace

std::vector<TrainingOption> training_options() {
  std::vector<TrainingOption> all;
  for (const DecoderEntry& decoder : decoders())
    all.insert(all.end(), decoder.training_options.begin(), decoder.training_options.end());
  return all;
}

Options read_training_options(const Json& given) {
  std::vector<Option> table;
  for (const TrainingOption& option : training_options()) table.push_back(option.option);
  return Options::of_training(table, given);
}

const FormatEntry& find_format(std::string_view name) {
  std::vector<std::string> known;
  for (const DecoderEntry& decoder : decoders())
    for (const FormatEntry& format : decoder.formats) {
      if (format.name == name) return format;
      known.emplace_back(format.name);
    }
  throw ConfigError(str("unknown training format '", name, "'", known_names(name, known)));
}

std::vector<std::string_view> formats_that(bool FormatEntry::*property) {
  std::vector<std::string_view> names;
  for (const DecoderEntry& decoder : decoders())
    for (const FormatEntry& format : decoder.formats)
      if (format.*property) names.push_back(format.name);
  return names;
}

std::string format_meanings() {
  std::vector<std::string> all;
  for (const DecoderEntry& decoder : decoders())
    for (const FormatEntry& format : decoder.formats)
      all.push_back(str(format.name, " (", format.meaning, ")"));
  return join(all, ", ");
}

std::vector<std::string> usual_formats(bool extra_heads) {
  if (extra_heads) return {kPlainDecoder};
  return {kPlainDecoder, "hpd"};
}

std::vector<std::unique_ptr<TrainingFormat>> make_formats(const std::vector<std::string>& names,
                                                          const Options& options,
                                                          const FormatScene& scene,
                                                          bool extra_heads) {
  if (names.empty())
    throw ConfigError(
        str("no training format was named; give `format` ", join(usual_formats(extra_heads), ",")));
  std::vector<std::unique_ptr<TrainingFormat>> formats;
  for (const std::string& name : names) formats.push_back(find_format(name).make(options, scene));
  if (extra_heads)
    for (const std::string& name : names) check_for_extra_heads(find_format(name));
  return formats;
}

OrderedJson recorded_options(const std::vector<std::string>& names, const Options& options) {
  OrderedJson record = OrderedJson::object();
  for (const DecoderEntry& decoder : decoders()) {
    const bool taught =
        std::any_of(decoder.formats.begin(), decoder.formats.end(),
                    [&](const FormatEntry& format) { return named(names, format); });
    for (const TrainingOption& option : decoder.training_options) {
      const OrderedJson& value = options.all().at(std::string(option.option.name));
      const auto parts = split(option.recorded, '.');
      if (parts.size() == 1)
        record[parts[0]] = value;
      else if (taught)
        record[parts[0]][parts[1]] = value;
    }
  }
  return record;
}

Json trained_options(const DecoderEntry& decoder, const Json& settings) {
  const DecoderEntry& taught_as =
      decoder.formats.empty() && !decoder.trained ? find_decoder(kPlainDecoder) : decoder;
  const auto names = settings.value("format", std::vector<std::string>());
  std::vector<const FormatEntry*> learned;
  for (const FormatEntry& format : taught_as.formats)
    if (named(names, format)) learned.push_back(&format);
  Json taught = Json::object();
  if (learned.empty()) return taught;
  const std::vector<std::string> options = names_of(decoder.options);
  const auto has = [&](const std::string& name) {
    return std::find(options.begin(), options.end(), name) != options.end();
  };
  const std::string own = str(taught_as.name, "_");  // ar_stack: the stack of ar
  for (const TrainingOption& trained : taught_as.training_options) {
    const std::vector<std::string> parts = split(trained.recorded, '.');
    const std::string& recorded = parts.back();
    const std::string name = recorded.starts_with(own) ? recorded.substr(own.size()) : recorded;
    const Json of = parts.size() == 1 ? settings : settings.value(parts.front(), Json::object());
    if (!of.is_object()) continue;
    const Json value = of.value(recorded, Json());
    const bool text = value.is_string() && !value.get_ref<const std::string&>().empty();
    if (has(name) && (value.is_number() || text)) taught[name] = value;
  }
  const std::string_view asks = learned.front()->asks;
  if (has("ask") && !asks.empty() && std::all_of(learned.begin(), learned.end(), [&](auto* format) {
        return format->asks == asks;
      }))
    taught["ask"] = asks;
  return taught;
}

std::vector<std::string> options_beyond_training(const DecoderEntry& decoder, const Json& options,
                                                 const Json& settings) {
  std::vector<std::string> untaught;
  const auto smaller_too = [&](const std::string& name) {
    return std::any_of(decoder.training_options.begin(), decoder.training_options.end(),
                       [&](const TrainingOption& trained) {
                         return trained.smaller_too && split(trained.recorded, '.').back() == name;
                       });
  };
  const Json all = trained_options(decoder, settings);
  for (const auto& [name, taught] : all.items())
    if (const Json now = options.value(name, Json());
        !now.is_null() && now != taught && !(now < taught && smaller_too(name)))
      untaught.push_back(str(option_text(name, now), ", trained with ", option_text("", taught)));
  return untaught;
}

std::string option_text(const std::string& name, const Json& value) {
  return str(name, name.empty() ? "" : " ",
             value.is_string() ? value.get<std::string>() : dump(value));
}

Token end_of_sequence(const FormatScene& scene, std::string_view format) {
  if (scene.config.eos.empty())
    throw ConfigError(str("format ", format,
                          " needs an end of sequence; the model's config has no eos_token_id"));
  return scene.config.eos.front();
}

}  // namespace pardec
