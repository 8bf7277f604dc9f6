#pragma once
#include <map>
#include <string>
#include <vector>

#include "src/cli/command_line.hpp"

namespace pardec {

/// A placeholder for the names of runs, in the lists of completion_words. A list with this
/// placeholder has no other words. In the generated shell script, the placeholder becomes a call of
/// `pardec completion runs DB`, which prints names_of_runs(DB). DB is the database of the command
/// line that is completed (--db or PARDEC_DB).
inline constexpr const char* kRunWords = "@runs";

/// The words that can complete a command line, as a map from places in the command line to words.
/// These places exist:
/// - `VERB:FLAG`, e.g. `run:--decoder`: the value of the flag
/// - `VERB/`: the first argument of the verb
/// - `VERB/WORD`: the second argument of the verb, if the first argument is WORD
/// - `VERB/WORD/`: the third argument and later arguments, if the first argument is WORD
/// Places without words are not in the map. A word that ends in `=` or `:` is the beginning of an
/// argument, so the shell adds no space after this word.
std::map<std::string, std::vector<std::string>> completion_words(const std::vector<Verb>& verbs);

/// The runs of a database, newest first: for each run, its name, or the first 8 characters of its
/// id if the run has no name. `db`: path of the database. The result is empty if the database has
/// no runs, does not exist, or cannot be read.
std::vector<std::string> names_of_runs(const std::string& db);

}  // namespace pardec
