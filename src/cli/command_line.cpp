#include "src/cli/command_line.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <iostream>

#include "src/cli/number_flags.hpp"
#include "src/cli/written_files.hpp"
#include "src/group/group.hpp"
#include "src/support/error.hpp"
#include "src/support/launch.hpp"
#include "src/support/text.hpp"
#include "src/support/version.hpp"

namespace pardec {

namespace {

/// A verb's app that stores the given arguments.
class VerbApp : public CLI::App {
 public:
  VerbApp(const Verb& verb, std::vector<std::string> given)
      : CLI::App(verb.summary, verb.name), arguments(std::move(given)), written(verb.written) {}
  const std::vector<std::string> arguments;
  const Written written;
};

/// --batch-size -> PARDEC_BATCH_SIZE
std::string environment_name(const std::string& flag) {
  std::string name = "PARDEC_";
  for (const char c : flag)
    name += c == '-' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return name;
}

[[noreturn]] void usage_error(const CLI::App& app, const std::string& what) {
  throw ConfigError(str(what, " (see 'pardec ", app.get_name(), " --help')"));
}

/// The error of CLI11, with the location of the value and the expected values.
std::string explain(const CLI::App& app, const CLI::ParseError& error,
                    const std::vector<std::string>& arguments) {
  const std::string said = replace_all(error.what(), "\n", " ");
  for (const CLI::Option* option : app.get_options()) {
    const std::string name = option->get_name(), type = option->get_type_name();
    const std::string expected = type == "N"    ? "a whole number"
                                 : type == "X"  ? "a number"
                                 : type.empty() ? "a value"
                                                : "a value of kind " + type;
    const bool given = std::any_of(arguments.begin(), arguments.end(), [&](const std::string& a) {
      return split(a, '=').front() == name;
    });
    const std::string source =
        given || option->get_envname().empty() ? name : option->get_envname();
    if (const std::string start = str("Could not convert: ", name, " = "); said.starts_with(start))
      return str(source, " is '", said.substr(start.size()), "', expected ", expected);
    if (said.starts_with(name + ": is '")) return source + said.substr(name.size() + 1);
    if (said.starts_with(name + ":") && said.ends_with(" missing"))
      return str(name, " has no value, expected ", expected);
    if (said == name + " is required") return str(app.get_name(), ": ", said);
  }
  return said;
}

constexpr std::string_view kActionGroup = "Flags of ";

/// Whether only certain actions accept this option.
bool is_of_actions(const CLI::Option& option) {
  return option.get_group().starts_with(kActionGroup);
}

/// Whether this action accepts this option. REQUIRES: is_of_actions(option).
bool is_of_action(const CLI::Option& option, const std::string& action) {
  const std::vector<std::string> actions =
      split(option.get_group().substr(kActionGroup.size()), ',');
  return std::any_of(actions.begin(), actions.end(),
                     [&](const std::string& one) { return strip(one) == action; });
}

/// ConfigError: one of the arguments is a flag of other actions.
void refuse_flags_of_others(const CLI::App& app, const std::string& action,
                            const std::vector<std::string>& arguments) {
  for (const CLI::Option* option : app.get_options())
    if (is_of_actions(*option) && !is_of_action(*option, action))
      for (const std::string& argument : arguments)
        if (split(argument, '=').front() == option->get_name())
          usage_error(app, str(option->get_name(), " is a flag of ", app.get_name(), " ",
                               option->get_group().substr(kActionGroup.size()), ", not of ",
                               app.get_name(), " ", action));
}

/// The flags that an action accepts. Without an action, all flags.
std::vector<std::string> long_flags(const CLI::App& app, const std::string& action) {
  std::vector<std::string> flags;
  for (const CLI::Option* option : app.get_options())
    if (action.empty() || !is_of_actions(*option) || is_of_action(*option, action))
      for (const auto& name : option->get_lnames()) flags.push_back("--" + name);
  return flags;
}

/// Restricts the help to this action, without mentioning others.
void narrow_help(CLI::App& app, const Verb& verb, const std::string& action) {
  for (CLI::Option* option : app.get_options()) {
    if (option->get_name() == "action") option->group("");
    if (is_of_actions(*option))
      option->group(is_of_action(*option, action) ? std::string(kActionGroup) + action : "");
  }
  std::vector<std::string> examples;
  for (const auto& line : split(verb.example, '\n'))
    if (std::string(strip(line)).starts_with(str("pardec ", verb.name, " ", action)))
      examples.emplace_back(strip(line));
  if (!examples.empty()) app.footer("Example:\n  " + join(examples, "\n  "));
}

void print_help(const std::vector<Verb>& verbs) {
  std::cout << "pardec: runs parallel decoders of large language models side by side\n\nUsage: "
               "pardec VERB [flags]\n\nVerbs:\n";
  size_t width = 0;
  for (const auto& verb : verbs) width = std::max(width, verb.name.size());
  for (const auto& verb : verbs)
    std::cout << "  " << verb.name << std::string(width + 2 - verb.name.size(), ' ') << verb.summary
              << "\n";
  std::cout << "\nFlags:\n  -h, --help     this text; 'pardec VERB --help' explains a verb\n  "
               "--version      version, commit, libtorch, MPI, flags\n\nExit codes: "
            << kExitCodes << "\n";
}

}  // namespace

std::string flags_of(const std::vector<std::string>& actions) {
  return std::string(kActionGroup) + join(actions, ", ");
}

int run_command_line(const std::vector<Verb>& verbs, int argc, char** argv) {
  const std::string first = argc > 1 ? argv[1] : "--help";
  if (first == "-h" || first == "--help" || first == "help") {
    print_help(verbs);
    return 0;
  }
  if (first == "--version") {
    const Version& v = version();
    std::cout << "pardec " << v.version << " (commit " << v.commit << ", libtorch " << v.torch
              << " " << v.torch_kind << ", " << v.build_type << ", " << v.compiler << ", MPI "
              << (mpi_library().empty() ? "none" : mpi_library()) << ", flags "
              << (v.flags.empty() ? "none" : v.flags) << ")\n";
    return 0;
  }
  std::vector<std::string> names;
  for (const auto& verb : verbs) names.push_back(verb.name);
  const auto verb =
      std::find_if(verbs.begin(), verbs.end(), [&](const Verb& v) { return v.name == first; });
  if (verb == verbs.end())
    throw ConfigError(
        first.starts_with('-')
            ? str("unknown flag '", first, "' before a verb, expected --help, --version or a verb")
            : str("unknown verb '", first, "'", known_names(first, names)));

  VerbApp app(*verb, {argv, argv + argc});
  app.footer("Example:\n  " + verb->example);
  app.allow_extras();
  const std::function<int()> execute = verb->add(app);
  for (CLI::Option* option : app.get_options()) {
    if (option->get_lnames().empty() || option->get_lnames().front() == "help") continue;
    const std::string& flag = option->get_lnames().front();
    if (std::find(verb->without_variable.begin(), verb->without_variable.end(), "--" + flag) ==
        verb->without_variable.end())
      option->envname(environment_name(flag));
    check_numbers(*option);
  }

  std::vector<std::string> arguments(argv + 2, argv + argc);
  const std::vector<std::string> given = arguments;
  const std::string action = !given.empty() && std::find(verb->actions.begin(), verb->actions.end(),
                                                         given[0]) != verb->actions.end()
                                 ? given[0]
                                 : "";
  std::reverse(arguments.begin(), arguments.end());  // CLI11 expects them in reverse order
  try {
    app.parse(arguments);
  } catch (const CLI::CallForHelp&) {
    if (!action.empty()) narrow_help(app, *verb, action);
    std::string help = app.help();
    help = replace_all(help, "Usage: " + verb->name, "Usage: pardec " + verb->name);
    if (!action.empty())  // the positional argument for the action is hidden, and has no name here
      for (const char* hidden : {" [OPTIONS] []", " [OPTIONS] "})
        if (const size_t at = help.find(hidden); at != std::string::npos) {
          const std::string_view rest = std::string_view(help).substr(at + std::strlen(hidden));
          help = str(help.substr(0, at), " ", action, " [OPTIONS]",
                     rest.starts_with(' ') ? "" : " ", rest);
          break;
        }
    help = replace_all(help, "\n\n\n", "\n\n");
    std::cout << help;
    return 0;
  } catch (const CLI::ParseError& error) {
    usage_error(app, explain(app, error, given));
  }
  for (const auto& extra : app.remaining()) {
    if (extra.rfind("-", 0) == 0)
      usage_error(app, str("unknown flag '", extra, "'",
                           known_names(split(extra, '=').front(), long_flags(app, action))));
    usage_error(app, str("unexpected argument '", shortened(extra, 60), "'"));
  }
  const CLI::Option* asked = app.get_option_no_throw("action");
  if (asked && asked->count() > 0 && action.empty() && !verb->actions.empty()) {
    const auto& said = asked->results().front();
    if (std::find(verb->actions.begin(), verb->actions.end(), said) == verb->actions.end())
      throw ConfigError(
          str(verb->name, ": unknown action '", said, "'", known_names(said, verb->actions)));
  }
  if (!action.empty()) refuse_flags_of_others(app, action, given);
  check_written(app, app.written);
  if (const int processes = launch().size; processes > 1 && !verb->several_processes)
    throw ConfigError(str("'pardec ", verb->name, "' is the work of one process, but a launcher ",
                          "such as mpirun started ", processes, "; start it without mpirun"));
  try {
    return execute();
  } catch (const nlohmann::json::exception& error) {
    // Only JSON in a database is read without checking types.
    const CLI::Option* db = app.get_option_no_throw("--db");
    if (!db) throw;
    throw StoreError(db->as<std::string>(),
                     str("holds JSON of another kind than pardec writes (", error.what(),
                         "); was it changed by another program? restore it from a copy"),
                     1);
  }
}

const std::vector<std::string>& command_arguments(const CLI::App& app) {
  return dynamic_cast<const VerbApp&>(app).arguments;
}

void check_experiment(const CLI::App& app, const Json& config) {
  check_written(app, dynamic_cast<const VerbApp&>(app).written, config);
}

}  // namespace pardec
