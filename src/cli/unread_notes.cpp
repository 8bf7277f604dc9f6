#include "src/cli/unread_notes.hpp"

#include "src/support/number_text.hpp"
#include "src/support/text.hpp"

namespace pardec {

std::vector<std::string> unread_notes(const std::vector<Workload>& workloads) {
  std::vector<std::string> notes;
  for (const Workload& work : workloads) {
    std::vector<std::string> columns;
    for (const UnreadColumn& column : work.dataset.unread)
      columns.push_back(str(column.name, " (", counted(column.records, "record"), ")"));
    if (!columns.empty())
      notes.push_back(str(work.dataset.name, ": columns that are not read: ", join(columns, ", "),
                          "; --strict-columns makes an error of them"));
  }
  return notes;
}

}  // namespace pardec
