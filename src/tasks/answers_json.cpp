#include "src/tasks/answers_json.hpp"

#include "metrics/decoding_metrics.hpp"

namespace pardec {

OrderedJson answers_json(const Job& job, const Decoder& decoder, const Answers& answers) {
  OrderedJson fields = OrderedJson::array();
  for (size_t c = 0; c < answers.fields.size(); ++c)
    for (size_t f = 0; f < answers.fields[c].size(); ++f) {
      const FieldResult& field = answers.fields[c][f];
      fields.push_back({{"context", job.contexts[c].id},
                        {"field", job.contexts[c].fields[f].name},
                        {"text", field.text ? OrderedJson(*field.text) : OrderedJson()},
                        {"tokens", field.tokens},
                        {"stop", name(field.stop)}});
    }
  const Counters& c = answers.counters;
  OrderedJson counters = to_json(c);
  if (c.generated > 0) {
    const ParallelCounts counts{c.generated,      c.branch_tokens, c.groups,
                                c.group_branches, c.decode_ns,     c.parallel_ns};
    const ParallelMetrics of = parallel_metrics(std::span(&counts, 1));
    counters.update({{"dp", of.dp}, {"abn", of.abn}, {"tps", of.tps}, {"p_tps", of.p_tps}});
  }
  return {{"id", job.id},        {"decoder", decoder.name()}, {"options", decoder.options()},
          {"answers", fields},   {"text", answers.text},      {"tokens", answers.tokens},
          {"counters", counters}};
}

}  // namespace pardec
