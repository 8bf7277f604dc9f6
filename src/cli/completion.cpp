// `pardec completion`: what shells complete, and the page of `man`, from the verbs' own flags.
#include "src/cli/completion.hpp"

#include <array>
#include <iostream>
#include <memory>

#include "datasets/dataset.hpp"
#include "decoders/decoder.hpp"
#include "src/support/text.hpp"
#include "src/support/version.hpp"

namespace pardec {

namespace {

struct KnownFlag {
  std::string name, type, meaning;  ///< --db, FILE, "database"; a switch has no type
};

struct KnownVerb {
  std::string name, summary, example;
  std::vector<std::string> actions;
  std::vector<KnownFlag> flags;
};

constexpr const char* kName = "completion";
constexpr const char* kSummary = "what a shell completes (bash, zsh, fish), or the page of man";
constexpr const char* kExample =
    "pardec completion bash > ~/.local/share/bash-completion/completions/pardec\n  pardec "
    "completion man > pardec.1";
constexpr std::array kKinds{"bash", "zsh", "fish", "man"};

/// This verb too.
std::vector<KnownVerb> look_at(const std::vector<Verb>& verbs) {
  std::vector<KnownVerb> known;
  for (const Verb& verb : verbs) {
    CLI::App app(verb.summary, verb.name);
    verb.add(app);
    KnownVerb& one =
        known.emplace_back(KnownVerb{verb.name, verb.summary, verb.example, verb.actions, {}});
    for (const CLI::Option* option : app.get_options())
      for (const std::string& name : option->get_lnames())
        one.flags.push_back({"--" + name,
                             option->get_expected_max() > 0 ? option->get_type_name() : "",
                             replace_all(option->get_description(), "\n", " ")});
  }
  known.push_back({kName, kSummary, kExample, {kKinds.begin(), kKinds.end()}, {}});
  return known;
}

std::vector<std::string> names_of_flags(const KnownVerb& verb) {
  std::vector<std::string> names;
  for (const KnownFlag& flag : verb.flags) names.push_back(flag.name);
  return names;
}

std::string decoder_names() {
  std::vector<std::string> names;
  for (const DecoderEntry& entry : decoders()) names.emplace_back(entry.name);
  return join(names, " ");
}

std::string dataset_names() {
  std::vector<std::string> names;
  for (const DatasetEntry& entry : datasets()) names.emplace_back(entry.name);
  return join(names, " ");
}

/// In single quotes, as sh, zsh and fish (with its own escape) read them.
std::string quoted(const std::string& text, const char* quote = "'\\''") {
  return "'" + replace_all(text, "'", quote) + "'";
}

std::string bash(const std::vector<KnownVerb>& verbs) {
  std::vector<std::string> names;
  std::string cases;
  for (const KnownVerb& verb : verbs) {
    names.push_back(verb.name);
    cases +=
        str("    ", verb.name, ") flags=", quoted(join(names_of_flags(verb), " ")),
            verb.actions.empty() ? "" : " actions=" + quoted(join(verb.actions, " ")), " ;;\n");
  }
  return str(R"(# Completion of pardec for bash: source it, or put it where bash-completion looks.
_pardec() {
  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} flags='' actions='' words=''
  case ${COMP_WORDS[1]} in
)",
             cases, "  esac\n  if [ \"$COMP_CWORD\" -eq 1 ]; then words='", join(names, " "),
             " --help --version'\n  elif [ \"$before\" = --decoder ]; then words='",
             decoder_names(), "'\n  elif [ \"$before\" = --dataset ]; then words='",
             dataset_names(), R"('
  elif [[ $word == -* ]]; then words=$flags
  elif [ "$COMP_CWORD" -eq 2 ]; then words=$actions
  fi
  COMPREPLY=($(compgen -W "$words" -- "$word"))
}
complete -o default -F _pardec pardec
)");
}

std::string zsh(const std::vector<KnownVerb>& verbs) {
  const auto described = [](const std::string& name, const std::string& meaning) {
    return quoted(str(replace_all(name, ":", "\\:"), ":", replace_all(meaning, ":", "\\:")));
  };
  std::vector<std::string> names;
  std::string cases;
  for (const KnownVerb& verb : verbs) {
    names.push_back(described(verb.name, verb.summary));
    std::vector<std::string> flags;
    for (const KnownFlag& flag : verb.flags) flags.push_back(described(flag.name, flag.meaning));
    cases += str("    ", verb.name, ") flags=(", join(flags, " "), ") actions=(",
                 join(verb.actions, " "), ") ;;\n");
  }
  return str(R"(#compdef pardec
# Completion of pardec for zsh: a file _pardec in a folder of $fpath, or source it.
_pardec() {
  local -a verbs flags actions
  verbs=()",
             join(names, " "), ")\n  case ${words[2]} in\n", cases,
             "  esac\n  if (( CURRENT == 2 )); then _describe verb verbs\n"
             "  elif [[ ${words[CURRENT-1]} == --decoder ]]; then compadd ",
             decoder_names(), "\n  elif [[ ${words[CURRENT-1]} == --dataset ]]; then compadd ",
             dataset_names(), R"(
  elif [[ $PREFIX == -* ]]; then _describe -o flag flags
  elif (( CURRENT == 3 && ${#actions} )); then compadd -a actions
  else _files
  fi
}
if [ "${funcstack[1]}" = _pardec ]; then _pardec "$@"; else compdef _pardec pardec; fi
)");
}

std::string fish(const std::vector<KnownVerb>& verbs) {
  const auto text = [](const std::string& said) {
    return quoted(replace_all(said, "\\", "\\\\"), "\\'");
  };
  std::string out = "# Completion of pardec for fish: ~/.config/fish/completions/pardec.fish\n";
  for (const KnownVerb& verb : verbs)
    out += str("complete -c pardec -f -n __fish_use_subcommand -a ", verb.name, " -d ",
               text(verb.summary), "\n");
  for (const KnownVerb& verb : verbs) {
    const std::string of =
        str("complete -c pardec -n '__fish_seen_subcommand_from ", verb.name, "'");
    for (const std::string& action : verb.actions) out += str(of, " -a ", action, "\n");
    for (const KnownFlag& flag : verb.flags) {
      out += str(of, " -l ", flag.name.substr(2), flag.type.empty() ? "" : " -r",
                 flag.name == "--decoder"   ? " -f -a '" + decoder_names() + "'"
                 : flag.name == "--dataset" ? " -f -a '" + dataset_names() + "'"
                                            : "",
                 " -d ", text(flag.meaning), "\n");
    }
  }
  return out;
}

std::string man(const std::vector<KnownVerb>& verbs) {
  const auto text = [](const std::string& said) {
    const std::string escaped = replace_all(replace_all(said, "\\", "\\e"), "-", "\\-");
    return escaped.starts_with('.') || escaped.starts_with('\'') ? "\\&" + escaped : escaped;
  };
  std::string out = str(".TH PARDEC 1 \"\" \"pardec ", version().version,
                        "\"\n.SH NAME\npardec \\- runs parallel decoders of large language models "
                        "side by side\n.SH SYNOPSIS\n.B pardec\n.I VERB\n[flags]\n.SH VERBS\n");
  for (const KnownVerb& verb : verbs) {
    out += str(".SS ", verb.name, "\n", text(verb.summary), "\n");
    if (!verb.actions.empty()) out += str(".PP\nActions: ", text(join(verb.actions, ", ")), "\n");
    for (const KnownFlag& flag : verb.flags)
      out += str(".TP\n\\fB", text(flag.name), "\\fR ", text(flag.type), "\n", text(flag.meaning),
                 "\n");
    out += ".PP\nExample:\n.nf\n";
    for (const std::string& line : split(verb.example, '\n'))
      out += text(std::string(strip(line))) + "\n";
    out += ".fi\n";
  }
  return out +
         ".SH EXIT STATUS\n0 good, 1 the run failed, 2 usage or input, 3 finished with failed "
         "samples, or with a warning under \\-\\-strict, 4 reproduce decided a claim otherwise "
         "than expected, 130 stopped by Ctrl\\-C.\n";
}

}  // namespace

Verb completion_verb(const std::vector<Verb>& verbs) {
  return {kName, kSummary, kExample, [verbs](CLI::App& app) -> std::function<int()> {
            auto kind = std::make_shared<std::string>();
            app.add_option("shell", *kind, "bash, zsh, fish or man")->required();
            return [kind, verbs] {
              const auto known = look_at(verbs);
              if (*kind == "bash")
                std::cout << bash(known);
              else if (*kind == "zsh")
                std::cout << zsh(known);
              else if (*kind == "fish")
                std::cout << fish(known);
              else if (*kind == "man")
                std::cout << man(known);
              else
                throw ConfigError(str("completion: there is no '", *kind, "'",
                                      known_names(*kind, {kKinds.begin(), kKinds.end()})));
              return 0;
            };
          }};
}

}  // namespace pardec
