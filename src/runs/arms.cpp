#include "src/runs/arms.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "decoders/training_formats.hpp"
#include "src/support/error.hpp"
#include "src/support/hub_cache.hpp"
#include "src/support/text.hpp"

namespace pardec {

Json option_value(const std::string& text) {
  const Json parsed = Json::parse(text, nullptr, false);
  return parsed.is_boolean() || parsed.is_number() ? parsed : Json(text);
}

namespace {

std::pair<std::string, std::string> key_value(const std::string& text, const std::string& flag,
                                              const char* expected = "option=value") {
  const size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0)
    throw ConfigError(str(flag, " is '", text, "', expected ", expected));
  return {text.substr(0, equals), text.substr(equals + 1)};
}

/// Options of all arms; an option of the decoder with the same name takes precedence.
constexpr std::array<std::string_view, 7> kOfArms{"batch_size",   "cascade", "model", "adapter",
                                                  "cache_blocks", "seed",    "oracle"};
/// A further option of arms whose decoder drafts with a network.
constexpr const char* kDraft = "draft";

bool has_option(const DecoderEntry& entry, const std::string& option) {
  const auto options = arm_options(std::string(entry.name));
  return std::find(options.begin(), options.end(), option) != options.end();
}

/// ConfigError, beginning with `where`: the decoder does not have the option.
void check_option(const DecoderEntry& entry, const std::string& option, const std::string& where) {
  if (has_option(entry, option)) return;
  throw ConfigError(str(where, ": decoder ", entry.name, " has no option '", option, "'",
                        known_names(option, arm_options(std::string(entry.name)))));
}

/// An integer of at least `least`. ConfigError, with the arm and the option.
std::int64_t whole_number(const Arm& arm, const std::string& option, const Json& value,
                          std::int64_t least, std::int64_t most) {
  if (!value.is_number_integer() || value < least || value > most)
    throw ConfigError(str("arm ", arm.label, ": ", option, " is ", dump(value),
                          ", expected a whole number from ", least, " to ", most));
  return value.get<std::int64_t>();
}

void put(Arm& arm, const std::string& option, const Json& value) {
  constexpr std::int64_t kMost = std::numeric_limits<int>::max();
  arm.given.push_back(option);
  const std::vector<std::string> own = names_of(find_decoder(arm.decoder).options);
  if (std::find(own.begin(), own.end(), option) != own.end()) {
    arm.options[option] = value;
  } else if (option == "model" || option == "adapter" || option == kDraft) {
    std::string& folder = option == "model"     ? arm.model
                          : option == "adapter" ? arm.adapter
                                                : arm.draft_model;
    folder = value.is_string() ? checkpoint_path(value.get<std::string>()) : dump(value);
    if (folder.empty())
      throw ConfigError(str("arm ", arm.label, ": ", option, " is empty, expected a folder"));
  } else if (option == "cascade") {
    if (!value.is_boolean())
      throw ConfigError(
          str("arm ", arm.label, ": cascade is ", dump(value), ", expected true or false"));
    arm.cascade = value;
  } else if (option == "oracle") {
    arm.oracle = parse_oracle(value.is_string() ? value.get<std::string>() : dump(value),
                              str("arm ", arm.label, ": oracle"));
  } else if (option == "cache_blocks") {
    arm.cache_blocks = whole_number(arm, option, value, 0, kMost);
  } else if (option == "seed") {
    arm.seed = static_cast<std::uint64_t>(
        whole_number(arm, option, value, 0, std::numeric_limits<std::int64_t>::max()));
  } else {
    arm.batch_size = static_cast<int>(whole_number(arm, option, value, 1, kMost));
  }
}

}  // namespace

std::vector<std::string> arm_options(const std::string& decoder) {
  const DecoderEntry& entry = find_decoder(decoder);
  std::vector<std::string> options = names_of(entry.options);
  for (const std::string_view of_arm : kOfArms)
    if (std::find(options.begin(), options.end(), of_arm) == options.end())
      options.emplace_back(of_arm);
  if (entry.drafts_with_model) options.emplace_back(kDraft);
  return options;
}

void put_option(Arm& arm, const std::string& option, const Json& value) {
  put(arm, option, value);
  arm.algorithm = make_decoder(arm.decoder, arm.options);
}

std::vector<Arm> make_arms(const std::vector<std::string>& names,
                           const std::vector<std::string>& specs,
                           const std::vector<std::string>& sets, int batch_size) {
  std::vector<Arm> arms;
  std::vector<std::vector<std::pair<std::string, std::string>>> own;
  for (const auto& name : names) {
    arms.push_back({name, std::string(find_decoder(name).name), Json::object(), batch_size});
    own.emplace_back();
  }
  for (const auto& spec : specs) {
    auto parts = split(spec, ',');
    const auto [label, decoder] = key_value(parts.front(), "`arm`", "LABEL=NAME[,option=value...]");
    arms.push_back({label, std::string(find_decoder(decoder).name), Json::object(), batch_size});
    auto& options = own.emplace_back();
    for (size_t i = 1; i < parts.size(); ++i) {
      auto [option, value] = key_value(parts[i], "`arm` " + label);
      // A part without a = continues a list.
      for (; i + 1 < parts.size() && parts[i + 1].find('=') == std::string::npos; ++i)
        value += "," + parts[i + 1];
      if (option.rfind(decoder + ".", 0) == 0) option.erase(0, decoder.size() + 1);
      check_option(find_decoder(decoder), option, "`arm` " + label);
      for (const auto& [known, first] : options)
        if (known == option)
          throw ConfigError(str("`arm` ", label, ": ", option, " is given twice (", first, " and ",
                                value, "), expected once"));
      options.emplace_back(option, value);
    }
  }
  if (arms.empty())
    throw ConfigError(
        str("no decoder was named; give `decoder=", kUsualDecoders, "` or `arm=LABEL=NAME`"));
  for (size_t i = 0; i < arms.size(); ++i)
    for (size_t j = 0; j < i; ++j)
      if (arms[i].label == arms[j].label)
        throw ConfigError(str("two arms are labelled '", arms[i].label,
                              "'; give each its own with `arm=LABEL=NAME`"));

  std::vector<std::string> keys;
  for (const auto& set : sets) {
    const auto [key, value] = key_value(set, "`set`");
    if (std::find(keys.begin(), keys.end(), key) != keys.end())
      throw ConfigError(str("`set` ", key, " is given twice, expected once"));
    keys.push_back(key);
    const size_t dot = key.find('.');
    const std::string decoder = dot == std::string::npos ? "" : key.substr(0, dot);
    const std::string option = dot == std::string::npos ? key : key.substr(dot + 1);
    if (!decoder.empty()) find_decoder(decoder);
    bool used = false;
    for (auto& arm : arms) {
      if ((!decoder.empty() && arm.decoder != decoder) ||
          !has_option(find_decoder(arm.decoder), option))
        continue;
      put(arm, option, option_value(value));
      used = true;
    }
    if (used) continue;
    std::vector<std::string> known;
    for (const auto& arm : arms)
      for (const auto& name : names_of(find_decoder(arm.decoder).options))
        known.push_back(str(arm.decoder, ".", name));
    throw ConfigError(str("`set` ", key, ": no arm has this option", known_names(key, known)));
  }
  for (size_t i = 0; i < arms.size(); ++i)
    for (const auto& [option, value] : own[i]) put(arms[i], option, option_value(value));
  for (Arm& arm : arms) arm.algorithm = make_decoder(arm.decoder, arm.options);
  return arms;
}

void take_trained_options(Arm& arm, const Json& settings) {
  const Json taught = trained_options(find_decoder(arm.decoder), settings);
  for (const auto& [name, value] : taught.items())
    if (!arm.options.contains(name) &&
        arm.algorithm->options().value(name, OrderedJson()) != OrderedJson(value))
      arm.options[name] = arm.trained_options[name] = value;
  if (!arm.trained_options.empty()) arm.algorithm = make_decoder(arm.decoder, arm.options);
}

std::string folder_of_experiment(const Json& models, const std::string& named,
                                 const std::string& where) {
  if (!models.is_object()) {
    if (!models.is_null())
      throw ConfigError(str(where, ": 'models' is ", models.type_name(),
                            ", expected an object of names and checkpoint folders"));
    return checkpoint_path(named);
  }
  const auto found = models.find(named);
  if (found == models.end()) return checkpoint_path(named);
  if (!found->is_string())
    throw ConfigError(str(where, ": 'models': '", named, "' is ", dump(*found),
                          ", expected a checkpoint folder"));
  return checkpoint_path(found->get<std::string>());
}

std::vector<std::string> arms_of_experiment(const Json& decoders, const Json& models,
                                            const std::string& where) {
  std::vector<std::string> specs;
  if (!decoders.is_array() || decoders.empty())
    throw ConfigError(str(where, ": 'decoders' is ", decoders.type_name(),
                          ", expected a list of {label, name, model, adapter, draft, set}"));
  for (size_t i = 0; i < decoders.size(); ++i) {
    JsonReader read(decoders[i], str(where, ": 'decoders'[", i, "]"));
    const auto name = read.required<std::string>("name");
    std::string spec = read.optional<std::string>("label", name) + "=" + name;
    const Json& set = read.any("set");
    std::string networks;
    const std::string at = str(where, ": 'decoders'[", i, "]: ");
    for (const char* key : {"model", "adapter", "draft"}) {
      const auto named = read.optional<std::string>(key, "");
      if (named.empty()) continue;
      const std::string folder = folder_of_experiment(models, named, where);
      if (folder.find(',') != std::string::npos && folder.find('=') != std::string::npos)
        throw ConfigError(
            str(at, "'", key, "' is ", folder, ", expected a folder without , and = in its name"));
      networks += str(",", key, "=", folder);
    }
    read.finish();
    try {
      find_decoder(name);
    } catch (const ConfigError& error) {
      throw ConfigError(at + error.what());
    }
    if (!set.is_null() && !set.is_object())
      throw ConfigError(str(at, "'set' is ", dump(set), ", expected an object option: value"));
    for (const auto& [option, value] : set.items()) {
      check_option(find_decoder(name),
                   option.starts_with(name + ".") ? option.substr(name.size() + 1) : option,
                   at + "'set'");
      if (value.is_structured() || value.is_null())
        throw ConfigError(str(at, "'set': '", option, "' is ", dump(value),
                              ", expected one number, text, true or false"));
      if (const std::string text = value.is_string() ? value.get<std::string>() : "";
          text.find(',') != std::string::npos && text.find('=') != std::string::npos)
        throw ConfigError(str(at, "'set': '", option, "' is ", dump(value),
                              ", expected a value without , and = in one"));
    }
    if (spec.find(',') != std::string::npos || spec.find('=') != spec.rfind('='))
      throw ConfigError(
          str(at, "label and name are '", spec, "', expected none of , and = in them"));
    spec += networks;
    for (const auto& [option, value] : set.items())
      spec += str(",", option, "=", value.is_string() ? value.get<std::string>() : dump(value));
    specs.push_back(std::move(spec));
  }
  return specs;
}

std::optional<size_t> baseline_of(const std::vector<Arm>& arms, size_t arm,
                                  const std::string& baseline, bool open) {
  const Arm& of = arms[arm];
  std::vector<int> ranks;  // 0: not suitable
  if (baseline.empty()) {
    for (const Arm& other : arms)
      ranks.push_back(open && other.added ? 0
                                          : baseline_rank({of.decoder, of.options},
                                                          {other.decoder, other.options}, open));
  } else {
    std::vector<std::string> labels;
    for (const Arm& other : arms) {
      labels.push_back(other.label);
      ranks.push_back(other.label == baseline || other.expanded_from == baseline);
      if (!other.expanded_from.empty()) labels.push_back(other.expanded_from);
    }
    if (std::find(labels.begin(), labels.end(), baseline) == labels.end())
      throw ConfigError(
          str("`baseline`: no arm is labelled '", baseline, "'", known_names(baseline, labels)));
    if (ranks[arm]) return std::nullopt;
  }
  const auto nearness = [&](size_t other) {
    int near = 0;
    for (const auto& [axis, value] : of.cell) {
      const auto found = arms[other].cell.find(axis);
      near += found != arms[other].cell.end() && found->second == value;
    }
    return std::pair(arms[other].model == of.model && arms[other].adapter == of.adapter, near);
  };
  std::optional<size_t> best;
  for (size_t i = 0; i < arms.size(); ++i) {
    if (ranks[i] == 0) continue;
    if (!best || ranks[i] > ranks[*best] ||
        (ranks[i] == ranks[*best] && i != arm && nearness(i) > nearness(*best)))
      best = i;
  }
  return best == arm ? std::nullopt : best;
}

}  // namespace pardec
