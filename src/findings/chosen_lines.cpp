#include "src/findings/chosen_lines.hpp"

#include <algorithm>
#include <filesystem>
#include <map>

#include "src/engine/trace_threads.hpp"
#include "src/support/error.hpp"
#include "src/support/text.hpp"
#include "src/tokenizer/gguf_tokenizer.hpp"

namespace pardec {

namespace {

std::vector<ChosenLine> lines_of_fields(const GenerationRow& row) {
  std::vector<ChosenLine> lines;
  for (const FieldAnswer& field : row.fields)
    if (!field.tokens.empty()) lines.push_back({field.name, field.tokens, {}});
  return lines;
}

/// All lines of a job, including those of its other examples.
std::vector<ChosenLine> lines_of_job(const RunAnswers& answers, const JobRow& job) {
  if (!job.tokens.empty()) return {{"", job.tokens, {}}};
  std::vector<ChosenLine> lines;
  for (const auto& sample : job.key)
    if (const auto found = answers.by_sample.find({sample, job.repeat});
        found != answers.by_sample.end())
      for (auto& line : lines_of_fields(found->second.generation.row))
        lines.push_back(std::move(line));
  return lines;
}

/// Sets the passes of a job's lines if the histogram of tokens emitted per pass determines them:
/// either all lines chose their i-th token in pass i, or one line followed another with one token
/// per pass.
void add_counted_passes(std::vector<ChosenLine>& lines, const JobRow& job) {
  std::vector<std::int64_t> in_step;  // number of tokens of each pass
  std::int64_t all = 0;
  for (const ChosenLine& line : lines) {
    in_step.resize(std::max(in_step.size(), line.tokens.size()));
    for (std::size_t i = 0; i < line.tokens.size(); ++i) ++in_step[i];
    all += std::ssize(line.tokens);
  }
  std::map<std::int64_t, std::int64_t> histogram;
  for (const std::int64_t tokens : in_step) ++histogram[tokens];
  const bool one_by_one = job.counters.emitted == decltype(histogram){{1, all}};
  if (!one_by_one && histogram != job.counters.emitted) return;
  std::int64_t pass = 0;
  for (ChosenLine& line : lines) {
    if (!one_by_one) pass = 0;
    for (std::size_t i = 0; i < line.tokens.size(); ++i) line.passes.push_back(++pass);
  }
}

/// Sets the passes from a trace of the job: for a single stream from its order of choice, otherwise
/// from the thread with the same ids.
void add_traced_passes(std::vector<ChosenLine>& lines, const JobRow& job, const Trace& trace) {
  if (!job.tokens.empty()) {
    if (lines.size() != 1 || trace.emitted.size() != lines.front().tokens.size()) return;
    for (const int row : trace.emitted)
      lines.front().passes.push_back(trace.step[static_cast<std::size_t>(row)] + 1);
    for (const TraceThread& thread : threads_of(trace, is_greedy(trace)))
      for (const TraceToken& token : thread.tokens)
        if (token.fate == TraceToken::Fate::rejected)
          lines.front().rejected.emplace_back(token.step + 1, token.id);
    return;
  }
  struct Thread {
    Tokens ids;
    std::vector<std::int64_t> passes;
    std::vector<std::pair<std::int64_t, Token>> rejected;
    bool taken = false;
  };
  std::vector<Thread> threads;
  for (const TraceThread& one : threads_of(trace, is_greedy(trace))) {
    Thread& thread = threads.emplace_back();
    for (const TraceToken& token : one.tokens) {
      if (token.fate == TraceToken::Fate::rejected) {
        thread.rejected.emplace_back(token.step + 1, token.id);
      } else {
        thread.ids.push_back(token.id);
        thread.passes.push_back(token.step + 1);
      }
    }
  }
  for (ChosenLine& line : lines)
    for (Thread& thread : threads)
      if (!thread.taken && thread.ids.size() >= line.tokens.size() &&
          std::equal(line.tokens.begin(), line.tokens.end(), thread.ids.begin())) {
        thread.taken = true;
        line.passes.assign(thread.passes.begin(),
                           thread.passes.begin() + static_cast<long>(line.tokens.size()));
        line.rejected = thread.rejected;
        break;
      }
}

}  // namespace

std::vector<ChosenLine> chosen_lines(const RunAnswers& answers, const Answered& answer,
                                     const Trace* trace) {
  const GenerationRow& row = answer.generation.row;
  const JobRow& job = *answer.job;
  const bool whole = job.key.size() == 1 && !job.tokens.empty();
  // the answer is part of one stream
  if (!whole && !job.tokens.empty()) return lines_of_fields(row);
  std::vector<ChosenLine> all = lines_of_job(answers, job);
  if (trace)
    add_traced_passes(all, job, *trace);
  else
    add_counted_passes(all, job);
  // The lines of the examples before this one come first.
  std::size_t begin = 0;
  for (std::size_t c = 0; c < answer.context; ++c)
    if (const auto found = answers.by_sample.find({job.key[c], job.repeat});
        found != answers.by_sample.end())
      begin += lines_of_fields(found->second.generation.row).size();
  const std::size_t count = whole ? 1 : lines_of_fields(row).size();
  return {all.begin() + static_cast<long>(begin), all.begin() + static_cast<long>(begin + count)};
}

std::optional<Tokenizer> tokenizer_of(const ModelRow& model) {
  const auto found = tokenizer_file(model.path);
  if (!found) return std::nullopt;
  const std::filesystem::path& file = *found;
  std::error_code error;
  const auto size = std::filesystem::file_size(file, error);
  if (error) return std::nullopt;
  const auto time = std::filesystem::last_write_time(file, error);
  if (error) return std::nullopt;
  const std::string stamp =
      str(file.filename().string(), ":", size, ":", time.time_since_epoch().count(), ";");
  if (model.stamp.find(stamp) == std::string::npos) return std::nullopt;
  try {
    return Tokenizer::load(file);
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace pardec
