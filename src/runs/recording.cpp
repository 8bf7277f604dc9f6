#include "src/runs/recording.hpp"

#include "src/store/invocations.hpp"
#include "src/support/error.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

RunRow find_recorded(Store& store, const std::string& id, const RunRow& now) {
  const std::string where = str("`oracle` recorded:", id, ": ");
  RunFilter filter;
  filter.dataset = now.dataset.name;
  filter.split = now.dataset.split;
  filter.standin = now.dataset.standin;
  bool any = false;
  auto labels = invocation_labels(store);
  for (RunRow& run : store.find_runs(filter)) {
    if (!run.uuid.starts_with(id) && !run.invocation.starts_with(id) &&
        labels[run.invocation].name != id)
      continue;
    any = true;
    if (run.decoder != now.decoder || run.options != now.options) continue;
    if (!same_ids(run.model, now.model))
      throw ConfigError(str(where, "was recorded on ", run.model.path,
                            ", which has another tokenizer than ", now.model.path,
                            "; expected ids that stand for the same tokens"));
    for (const char* limit : {"max_new_tokens", "per_field", "ignore_eos", "eos"})
      if (run.config.value(limit, Json()) != now.config.value(limit, Json()))
        throw ConfigError(str(where, "the recording has ", limit, " ",
                              dump(run.config.value(limit, Json())), ", this run ",
                              dump(now.config.value(limit, Json())), "; expected the same"));
    return std::move(run);
  }
  if (!any)
    throw ConfigError(str(where, store.path().string(), " has no run on ", now.dataset.name, " ",
                          now.dataset.split_text(),
                          " whose id begins so; expected one of this database"));
  throw ConfigError(str(where, "none of its arms is ", now.decoder, " with ", dump(now.options),
                        "; expected the decoder and options of arm '", now.label, "'"));
}

}  // namespace

Recording read_recording(Store& store, const std::string& id, const RunRow& now) {
  const RunRow run = find_recorded(store, id, now);
  // A job with a single stream has stored that stream; otherwise the streams are those of the
  // fields, context by context.
  Recording recording;
  std::map<JobKey, std::map<std::string, std::vector<Tokens>>> fields;  // [job][example]
  for (const StoredGeneration& generation : store.generations(run.id)) {
    if (generation.repeat != 0) continue;
    for (const FieldAnswer& field : generation.row.fields)
      fields[generation.job][generation.row.sample].push_back(field.tokens);
  }
  for (const JobRow& job : store.jobs(run.id)) {
    if (job.repeat != 0 || job.error) continue;
    Oracle& oracle = recording[job.key];
    oracle.branch_lengths = job.counters.branch_lengths;
    if (!job.tokens.empty()) {
      oracle.streams.push_back(job.tokens);
      continue;
    }
    for (const std::string& example : job.key)
      for (const Tokens& stream : fields[job.key][example]) oracle.streams.push_back(stream);
  }
  return recording;
}

}  // namespace pardec
