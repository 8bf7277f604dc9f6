#pragma once
#include <map>
#include <string>
#include <vector>

#include "src/cli/command_line.hpp"

namespace pardec {

/// A placeholder in a list of completion words: the shell replaces it by the names and ids of the
/// runs in the database of --db.
inline constexpr const char* kRunWords = "@runs";

/// The words that can complete a command line, for each place of the command line. The keys of the
/// map are the places, e.g. `run:--decoder`. `VERB:FLAG` is the value of a flag. `VERB/` is the
/// first argument of a verb, `VERB/WORD` is the argument after the first argument WORD, and
/// `VERB/WORD/` stands for all later arguments. After a word that ends in `=` or `:`, the argument
/// continues.
std::map<std::string, std::vector<std::string>> completion_words(const std::vector<Verb>& verbs);

/// The runs of a database, newest first: the name of each run, or, without a name, the first 8
/// characters of its id. Empty: the database has no runs, does not exist, or cannot be read.
std::vector<std::string> names_of_runs(const std::string& db);

}  // namespace pardec
