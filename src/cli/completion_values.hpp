#pragma once
#include <map>
#include <string>
#include <vector>

#include "src/cli/command_line.hpp"

namespace pardec {

/// A placeholder for completion words. A list with this placeholder has no other words. The shell
/// replaces the placeholder by the runs in the database of --db (names_of_runs).
inline constexpr const char* kRunWords = "@runs";

/// The words that can complete a command line. The keys of the map are places in the command line:
/// - `VERB:FLAG`, e.g. `run:--decoder`: the value of the flag
/// - `VERB/`: the first argument of the verb
/// - `VERB/WORD`: the second argument, if the first argument is WORD
/// - `VERB/WORD/`: the arguments after the second one
/// Places without words are left out. A word that ends in `=` or `:` is the beginning of an
/// argument, so the shell adds no space after this word.
std::map<std::string, std::vector<std::string>> completion_words(const std::vector<Verb>& verbs);

/// The runs of a database, newest first: the name of each run, or, without a name, the first 8
/// characters of its id. Empty: the database has no runs, does not exist, or cannot be read.
std::vector<std::string> names_of_runs(const std::string& db);

}  // namespace pardec
