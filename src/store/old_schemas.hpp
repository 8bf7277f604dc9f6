#pragma once
#include <cstdint>
#include <string>

#include "src/support/text.hpp"

/// What databases of earlier schema versions lack, as SQL.
namespace pardec {

/// The key of a row `job` of table `schema`.job of that version. Before version 4 its examples'
/// keys were joined by '+', which they may hold themselves: they are read from the job's
/// generations, which were stored in their order.
inline std::string job_key_sql(const std::string& schema, const std::string& job,
                               std::int64_t version) {
  if (version >= 4) return job + ".key";
  return str(
      "coalesce(nullif((SELECT json_group_array(example) FROM (SELECT sample.key AS example "
      "FROM ",
      schema, ".generation JOIN ", schema,
      ".sample ON sample.id = sample_id "
      "WHERE job_id = ",
      job, ".id ORDER BY generation.id)), '[]'), json_array(", job, ".key))");
}

}  // namespace pardec
