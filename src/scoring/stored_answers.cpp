#include "src/scoring/stored_answers.hpp"

#include <algorithm>
#include <limits>

namespace pardec {

RunAnswers read_answers(Store& store, RowId run, const SampleIds& only) {
  RunAnswers answers;
  const Snapshot snapshot(store.database());
  answers.jobs = store.jobs(run, only);
  std::map<std::pair<JobKey, int>, const JobRow*> jobs;
  for (const auto& job : answers.jobs) jobs[{job.key, job.repeat}] = &job;
  answers.generations = store.generations(run, only);
  for (const StoredGeneration& generation : answers.generations) {
    const JobRow* job = jobs.at({generation.job, generation.repeat});
    const auto place = static_cast<size_t>(
        std::find(job->key.begin(), job->key.end(), generation.row.sample) - job->key.begin());
    const std::pair key{generation.row.sample, generation.repeat};
    answers.by_sample.emplace(key, Answered{generation, job, place});
  }
  return answers;
}

namespace {

/// A job's stored data for one field of one example, e.g. gaps; null: there is none.
Json at_field(const Json& held, size_t context, size_t field) {
  const Json nested = held.is_object() ? held.value("fields", Json()) : Json();
  if (!nested.is_array() || context >= nested.size() || field >= nested[context].size()) return {};
  return nested[context][field];
}

}  // namespace

Identity compare_fields(const Answered& baseline, const Answered& method, bool same_ids) {
  Identity identity;
  identity.identical = true;
  std::int64_t before = 0;  // tokens of the preceding fields
  const auto& ours = method.generation.row.fields;
  const auto& theirs = baseline.generation.row.fields;
  for (size_t f = 0; f < ours.size(); ++f) {
    if (f >= theirs.size() || ours[f].text != theirs[f].text) {
      identity.identical = false;
      if (!same_ids) return identity;
      const Tokens other = f < theirs.size() ? theirs[f].tokens : Tokens{};
      const auto mismatch =
          std::mismatch(ours[f].tokens.begin(), ours[f].tokens.end(), other.begin(), other.end());
      const auto index = mismatch.first - ours[f].tokens.begin();
      identity.first_difference = before + index;
      const Json gaps = at_field(method.job->top2, method.context, f);
      if (gaps.is_array() && static_cast<size_t>(index) < gaps.size() &&
          gaps[static_cast<size_t>(index)].is_number())
        identity.gap = gaps[static_cast<size_t>(index)].get<double>();
      return identity;
    }
    before += static_cast<std::int64_t>(ours[f].tokens.size());
  }
  // Open answers have no fields with texts.
  if (ours.empty()) identity.identical = method.generation.row.text == baseline.generation.row.text;
  return identity;
}

double Agreement::share() const {
  return compared ? static_cast<double>(same) / static_cast<double>(compared)
                  : std::numeric_limits<double>::quiet_NaN();
}

void add_unforced(Agreement& agreement, const Answered& baseline, const Answered& method) {
  const auto& our_fields = method.generation.row.fields;
  const auto& their_fields = baseline.generation.row.fields;
  for (size_t f = 0; f < std::min(our_fields.size(), their_fields.size()); ++f) {
    const Json our_choices = at_field(method.job->unforced, method.context, f);
    const Json their_choices = at_field(baseline.job->unforced, baseline.context, f);
    if (!our_choices.is_array() || !their_choices.is_array()) continue;
    for (size_t k = 0; k < std::min(our_choices.size(), their_choices.size()); ++k) {
      ++agreement.compared;
      agreement.same += our_choices[k] == their_choices[k];
      if (our_fields[f].tokens[k] != their_fields[f].tokens[k])
        break;  // the ids before later choices differ
    }
  }
}

bool same_tokens(const FieldAnswer& a, const FieldAnswer& b) {
  const auto answer_ids = [](const FieldAnswer& field) {
    Tokens ids = field.tokens;
    if (field.stop == "eos" && !ids.empty()) ids.pop_back();
    return ids;
  };
  return answer_ids(a) == answer_ids(b);
}

void add_exact(Agreement& agreement, const Answered& baseline, const Answered& method) {
  if (method.generation.row.error || baseline.generation.row.error) return;
  const auto& our_fields = method.generation.row.fields;
  const auto& their_fields = baseline.generation.row.fields;
  for (size_t f = 0; f < std::min(our_fields.size(), their_fields.size()); ++f) {
    ++agreement.compared;
    agreement.same += same_tokens(our_fields[f], their_fields[f]);
  }
}

Agreement agreement_of(Store& store, RowId baseline, RowId method,
                       const std::vector<RowId>& samples,
                       void (*add)(Agreement&, const Answered&, const Answered&)) {
  constexpr std::size_t kAtOnce = 1000;
  Agreement agreement;
  for (std::size_t first = 0; first < samples.size(); first += kAtOnce) {
    const std::vector<RowId> some(
        samples.begin() + static_cast<long>(first),
        samples.begin() + static_cast<long>(std::min(samples.size(), first + kAtOnce)));
    const RunAnswers theirs = read_answers(store, baseline, some),
                     ours = read_answers(store, method, some);
    for (const auto& [key, answered] : ours.by_sample)
      if (const auto found = theirs.by_sample.find(key); found != theirs.by_sample.end())
        add(agreement, found->second, answered);
  }
  return agreement;
}

}  // namespace pardec
