#pragma once
#include <map>
#include <string>
#include <vector>

#include "src/cli/command_line.hpp"

namespace pardec {

/// A placeholder in a list of completion words. It stands for the names and ids of the runs in the
/// database of --db.
inline constexpr const char* kRunWords = "@runs";

/// The words that complete a place of a command line, by place. Places: `VERB:FLAG`, the value of a
/// flag; `VERB/`, the first argument; `VERB/WORD`, the argument after the word WORD; `VERB/WORD/`,
/// all further arguments. A word that ends in `=` or `:` can be continued.
std::map<std::string, std::vector<std::string>> completion_words(const std::vector<Verb>& verbs);

/// For each run of a database, newest first: its name, otherwise the first 8 characters of its id.
/// Empty: the database does not exist or cannot be read.
std::vector<std::string> names_of_runs(const std::string& db);

}  // namespace pardec
