#include "src/cli/setting_flags.hpp"

#include <CLI/CLI.hpp>
#include <type_traits>

#include "src/cli/with_flags.hpp"
#include "src/settings/run_settings.hpp"
#include "src/settings/training_settings.hpp"
#include "src/support/hub_cache.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

/// A row's help with flags instead of settings. (with_flags cannot be used: it needs the verbs,
/// which are made from rows.)
std::string help_of(const Setting& setting) {
  static const std::set<std::string> kFlags = [] {
    std::set<std::string> flags;
    RunSettings run, sweep{.sweep = true};
    TrainingSettings training;
    for (const Settings& rows : {settings_of(run), settings_of(sweep), settings_of(training)})
      for (const Setting& row : rows) flags.insert(replace_all(row.name, "_", "-"));
    return flags;
  }();
  return with_flags_of(kFlags, setting.help);
}

CLI::Option* add_entry(CLI::App& app, const std::string& flag, const OptionEntry& entry,
                       const std::string& help) {
  const auto keep = [object = entry.object, name = std::string(entry.option.name)](
                        const auto& value) { (*object)[name] = value; };
  switch (entry.option.type) {
    case Option::Type::flag:
      return app.add_flag_callback(
          flag, [keep] { keep(true); }, help);
    case Option::Type::whole:
      return app.add_option_function<int>(flag, keep, help);
    case Option::Type::number:
      return app.add_option_function<double>(flag, keep, help);
    case Option::Type::text:
    case Option::Type::token:
      break;
  }
  return app.add_option_function<std::string>(flag, keep, help);
}

}  // namespace

CLI::Option* add_flag(CLI::App& app, const Setting& setting) {
  const std::string flag = "--" + replace_all(setting.name, "_", "-");
  const std::string help = help_of(setting);
  const SettingTraits& traits = setting.traits;
  CLI::Option* added = std::visit(
      [&](const auto& held) {
        using Held = std::decay_t<decltype(held)>;
        if constexpr (std::is_same_v<Held, OptionEntry>) {
          return add_entry(app, flag, held, help);
        } else if constexpr (std::is_same_v<Held, bool*>) {
          return app.add_flag(flag, *held, help);
        } else {
          if constexpr (std::is_same_v<Held, std::vector<std::string>*>)
            // CLI11's own lists lose brackets: "[Fork],[Child]".
            if (traits.one_text)
              return app.add_option_function<std::string>(
                  flag, [held](const std::string& given) { *held = split(given, ','); }, help);
          CLI::Option* option = app.add_option(flag, *held, help);
          if (traits.commas) option->delimiter(',');
          if (traits.checkpoint) option->transform(checkpoint_path);
          if constexpr (std::is_same_v<Held, std::vector<std::string>*>) {
            if (traits.shows_default && !held->empty()) option->capture_default_str();
          } else if (traits.shows_default) {
            option->capture_default_str();
          }
          return option;
        }
      },
      setting.value);
  if (!setting.unit.empty()) added->type_name(setting.unit);
  if (!traits.default_text.empty()) added->default_str(traits.default_text);
  return added;
}

void add_flags(CLI::App& app, const Settings& settings) {
  for (const Setting& setting : settings) add_flag(app, setting);
}

std::set<std::string> given_settings(const CLI::App& app) {
  std::set<std::string> given;
  for (const CLI::Option* option : app.get_options())
    if (option->count() > 0)
      for (const std::string& name : option->get_lnames())
        given.insert(replace_all(name, "-", "_"));
  return given;
}

}  // namespace pardec
