#include "src/scoring/stored_answers.hpp"

#include <algorithm>
#include <limits>

namespace pardec {

RunAnswers read_answers(Store& store, RowId run) {
  RunAnswers answers;
  answers.jobs = store.jobs(run);
  std::map<std::pair<JobKey, int>, const JobRow*> jobs;
  for (const auto& job : answers.jobs) jobs[{job.key, job.repeat}] = &job;
  answers.generations = store.generations(run);
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

/// What a job holds for one field of one example, e.g. gaps; null where it holds nothing.
Json at_field(const Json& held, size_t context, size_t field) {
  const Json nested = held.is_object() ? held.value("fields", Json()) : Json();
  if (!nested.is_array() || context >= nested.size() || field >= nested[context].size()) return {};
  return nested[context][field];
}

}  // namespace

Identity compare_fields(const Answered& baseline, const Answered& method, bool same_ids) {
  Identity identity;
  identity.identical = true;
  std::int64_t before = 0;  // tokens of the fields that came first
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
  // Open answers have no fields of their own text.
  if (ours.empty()) identity.identical = method.generation.row.text == baseline.generation.row.text;
  return identity;
}

double unforced_agreement(const RunAnswers& baseline, const RunAnswers& method) {
  std::int64_t compared = 0, same = 0;
  for (const auto& [key, ours] : method.by_sample) {
    const auto theirs = baseline.by_sample.find(key);
    if (theirs == baseline.by_sample.end()) continue;
    const auto& our_fields = ours.generation.row.fields;
    const auto& their_fields = theirs->second.generation.row.fields;
    for (size_t f = 0; f < std::min(our_fields.size(), their_fields.size()); ++f) {
      const Json our_choices = at_field(ours.job->unforced, ours.context, f);
      const Json their_choices = at_field(theirs->second.job->unforced, theirs->second.context, f);
      if (!our_choices.is_array() || !their_choices.is_array()) continue;
      for (size_t k = 0; k < std::min(our_choices.size(), their_choices.size()); ++k) {
        ++compared;
        same += our_choices[k] == their_choices[k];
        if (our_fields[f].tokens[k] != their_fields[f].tokens[k])
          break;  // from here on they follow different ids
      }
    }
  }
  return compared ? static_cast<double>(same) / static_cast<double>(compared)
                  : std::numeric_limits<double>::quiet_NaN();
}

double exact_match(const RunAnswers& baseline, const RunAnswers& method) {
  const auto answer_ids = [](const FieldAnswer& field) {
    Tokens ids = field.tokens;
    if (field.stop == "eos" && !ids.empty()) ids.pop_back();
    return ids;
  };
  std::int64_t compared = 0, same = 0;
  for (const auto& [key, ours] : method.by_sample) {
    const auto theirs = baseline.by_sample.find(key);
    if (theirs == baseline.by_sample.end() || ours.generation.row.error ||
        theirs->second.generation.row.error)
      continue;
    const auto& our_fields = ours.generation.row.fields;
    const auto& their_fields = theirs->second.generation.row.fields;
    for (size_t f = 0; f < std::min(our_fields.size(), their_fields.size()); ++f) {
      ++compared;
      same += answer_ids(our_fields[f]) == answer_ids(their_fields[f]);
    }
  }
  return compared ? static_cast<double>(same) / static_cast<double>(compared)
                  : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace pardec
