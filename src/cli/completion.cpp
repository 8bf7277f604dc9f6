// `pardec completion`: completion for shells and the manual page, generated from the verbs' flags.
#include "src/cli/completion.hpp"

#include <algorithm>
#include <array>
#include <iostream>
#include <map>
#include <memory>

#include "src/cli/completion_values.hpp"
#include "src/cli/manual_page.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

constexpr const char* kName = "completion";
constexpr const char* kSummary = "print shell completion (bash, zsh, fish) or a manual page";
constexpr const char* kExample =
    "pardec completion bash > ~/.local/share/bash-completion/completions/pardec\n  pardec "
    "completion man > pardec.1";
constexpr std::array kKinds{"bash", "zsh", "fish", "man", "runs"};

/// Words by place, from completion_words.
using Places = std::map<std::string, std::vector<std::string>>;

/// Includes this verb.
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

/// Single-quoted, for sh, zsh and fish (which has its own escape).
std::string quoted(const std::string& text, const char* quote = "'\\''") {
  return "'" + replace_all(text, "'", quote) + "'";
}

/// The function _pardec_words, for bash and zsh: prints the words for a place, one per line. Its
/// second argument is the program, the third the database.
std::string words_function(const Places& places) {
  std::map<std::vector<std::string>, std::vector<std::string>> grouped;  // places by words
  for (const auto& [place, words] : places) grouped[words].push_back(place);
  std::string cases;
  for (const auto& [words, of] : grouped)
    cases += str("    ", join(of, "|"), ") ",
                 words.front() == kRunWords ? "\"$2\" completion runs ${3:+\"$3\"} 2>/dev/null"
                                            : "printf '%s\\n' " + join(words, " "),
                 " ;;\n");
  return "_pardec_words() {\n  case $1 in\n" + cases + "  esac\n}\n";
}

std::string bash(const std::vector<KnownVerb>& verbs, const Places& places) {
  std::vector<std::string> names;
  std::string cases;
  for (const KnownVerb& verb : verbs) {
    names.push_back(verb.name);
    cases += str("    ", verb.name, ") words=", quoted(join(names_of_flags(verb), "\n")), " ;;\n");
  }
  return str("# Completion of pardec for bash: source it, or put it where bash-completion looks.\n",
             words_function(places), R"sh(_pardec() {
  local word=${COMP_WORDS[COMP_CWORD]} flag value head='' words='' db=${PARDEC_DB:-} i candidate cut
  local -a given=()
  for ((i = 0; i <= COMP_CWORD; ++i)); do  # bash cuts words at =
    if [[ $i -gt 1 && ( ${COMP_WORDS[i]} == = || ${COMP_WORDS[i-1]} == = ) ]]; then given[-1]+=${COMP_WORDS[i]}
    else given+=("${COMP_WORDS[i]}"); fi
  done
  local verb=${given[1]:-} n=$((${#given[@]} - 1)) whole=${given[-1]}
  for ((i = 1; i + 1 < ${#COMP_WORDS[@]}; ++i)); do
    if [[ ${COMP_WORDS[i]} == --db ]]; then db=${COMP_WORDS[i+1]}; fi
    if [[ ${COMP_WORDS[i]} == --db && $db == = ]]; then db=${COMP_WORDS[i+2]:-}; fi
  done
  flag=${given[n-1]} value=$whole
  if [[ $whole == --*=* ]]; then flag=${whole%%=*} value=${whole#*=}; fi
  case $verb in
)sh",
             cases, "  esac\n  if ((n == 1)); then words=",
             quoted(join(names, "\n") + "\n--help\n--version"), R"sh(
  elif [[ $value == -* ]]; then :
  elif [[ $flag == --* ]]; then
    words=$(_pardec_words "$verb:$flag" "${given[0]}" "$db")
    if [[ $value == *,* && $words ]]; then head=${value%,*}, value=${value##*,}; fi
  elif ((n == 2)); then words=$(_pardec_words "$verb/" "${given[0]}" "$db")
  elif ((n == 3)); then words=$(_pardec_words "$verb/${given[2]}" "${given[0]}" "$db")
  else words=$(_pardec_words "$verb/${given[2]}/" "${given[0]}" "$db"); fi
  COMPREPLY=()
  cut=
  if [[ $word != "$whole" && $head$value == *=* ]]; then cut=$head$value cut=${cut%=*}=; fi
  while IFS= read -r candidate; do
    if [[ $candidate && $candidate == "$value"* ]]; then
      candidate=$head$candidate candidate=${candidate#"$cut"}
      if [[ $candidate == *[^[:alnum:]_.,:=/+@-]* ]]; then candidate=$(printf %q "$candidate"); fi
      COMPREPLY+=("$candidate")
    fi
  done <<<"$words"
  if [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *[=:] ]]; then compopt -o nospace 2>/dev/null; fi
  return 0
}
complete -o default -F _pardec pardec
)sh");
}

std::string zsh(const std::vector<KnownVerb>& verbs, const Places& places) {
  const auto described = [](const std::string& name, const std::string& meaning) {
    return quoted(str(replace_all(name, ":", "\\:"), ":", replace_all(meaning, ":", "\\:")));
  };
  std::vector<std::string> names;
  std::string cases;
  for (const KnownVerb& verb : verbs) {
    names.push_back(described(verb.name, verb.summary));
    std::vector<std::string> flags;
    for (const KnownFlag& flag : verb.flags) flags.push_back(described(flag.name, flag.meaning));
    cases += str("    ", verb.name, ") flags=(", join(flags, " "), ") ;;\n");
  }
  return str(
      "#compdef pardec\n# Completion of pardec for zsh: a file _pardec in a folder of $fpath, "
      "or source it.\n",
      words_function(places), R"sh(_pardec() {
  local -a verbs flags offered
  local flag=${words[CURRENT-1]} place db=${PARDEC_DB:-} i
  for (( i = 2; i < ${#words}; ++i )); do
    if [[ ${words[i]} == --db ]]; then db=${words[i+1]}; fi
    if [[ ${words[i]} == --db=* ]]; then db=${words[i]#--db=}; fi
  done
  verbs=()sh",
      join(names, " "), ")\n  case ${words[2]} in\n", cases, R"sh(  esac
  if (( CURRENT == 2 )); then _describe verb verbs; return; fi
  if [[ $PREFIX == --*=* ]]; then flag=${PREFIX%%=*}; compset -P 1 '*='; fi
  if [[ $flag == --* ]]; then place=${words[2]}:$flag
  elif (( CURRENT == 3 )); then place=${words[2]}/
  elif (( CURRENT == 4 )); then place=${words[2]}/${words[3]}
  else place=${words[2]}/${words[3]}/
  fi
  offered=(${(f)"$(_pardec_words "$place" "${words[1]}" "$db")"})
  if [[ $PREFIX == -* ]]; then _describe -o flag flags
  elif (( ${#offered} )); then
    if [[ $flag == --* ]]; then compset -P '*,'; fi
    compadd -S '' -- ${(M)offered:#*[=:]}
    compadd -- ${offered:#*[=:]}
  else _files
  fi
}
if [ "${funcstack[1]}" = _pardec ]; then _pardec "$@"; else compdef _pardec pardec; fi
)sh");
}

std::string fish(const std::vector<KnownVerb>& verbs, const Places& places) {
  const auto text = [](const std::string& said) {
    return quoted(replace_all(said, "\\", "\\\\"), "\\'");
  };
  const auto words_of = [&](const std::string& place) -> std::string {
    const auto found = places.find(place);
    if (found == places.end()) return "";
    return " -f -a " +
           text(found->second.front() == kRunWords ? "(__pardec_runs)" : join(found->second, " "));
  };
  std::string out = R"sh(# Completion of pardec for fish: ~/.config/fish/completions/pardec.fish
function __pardec_runs
  set -l given (commandline -opc)
  set -l db $PARDEC_DB
  for i in (seq 2 (math (count $given) - 1))
    if test $given[$i] = --db
      set db $given[(math $i + 1)]
    end
  end
  $given[1] completion runs $db 2>/dev/null
end
)sh";
  for (const KnownVerb& verb : verbs)
    out += str("complete -c pardec -f -n __fish_use_subcommand -a ", verb.name, " -d ",
               text(verb.summary), "\n");
  for (const KnownVerb& verb : verbs) {
    const std::string seen = str("__fish_seen_subcommand_from ", verb.name);
    const std::string of = str("complete -c pardec -n '", seen, "'");
    if (const auto first = places.find(verb.name + "/"); first != places.end())
      out += str("complete -c pardec -n '", seen, "; and not __fish_seen_subcommand_from ",
                 join(first->second, " "), "'", words_of(first->first), "\n");
    for (const auto& [place, words] : places)
      if (place.starts_with(verb.name + "/") && !place.ends_with('/'))
        out += str("complete -c pardec -n '", seen, "; and __fish_seen_subcommand_from ",
                   place.substr(verb.name.size() + 1), "'", words_of(place), "\n");
    for (const KnownFlag& flag : verb.flags)
      out += str(of, " -l ", flag.name.substr(2), flag.type.empty() ? "" : " -r",
                 words_of(str(verb.name, ":", flag.name)), " -d ", text(flag.meaning), "\n");
  }
  return out;
}

}  // namespace

Verb completion_verb(const std::vector<Verb>& verbs) {
  struct Asked {
    std::string kind, db = "results/pardec.sqlite";
  };
  return {kName, kSummary, kExample, [verbs](CLI::App& app) -> std::function<int()> {
            auto asked = std::make_shared<Asked>();
            app.add_option("shell", asked->kind,
                           "bash, zsh, fish or man; runs: the names of a database's runs, one on "
                           "each line, for use by shells")
                ->required();
            app.add_option("db", asked->db, "runs: the database")->capture_default_str();
            return [asked, verbs] {
              const std::string& kind = asked->kind;
              if (std::find(kKinds.begin(), kKinds.end(), kind) == kKinds.end())
                throw ConfigError(str("completion: there is no '", kind, "'",
                                      known_names(kind, {kKinds.begin(), kKinds.end()})));
              if (kind == "runs") {
                for (const std::string& name : names_of_runs(asked->db)) std::cout << name << "\n";
                return 0;
              }
              const auto known = look_at(verbs);
              Places places = completion_words(verbs);
              places[str(kName, "/")] = {kKinds.begin(), kKinds.end()};
              std::cout << (kind == "bash"   ? bash(known, places)
                            : kind == "zsh"  ? zsh(known, places)
                            : kind == "fish" ? fish(known, places)
                                             : manual_page(known));
              return 0;
            };
          }};
}

}  // namespace pardec
