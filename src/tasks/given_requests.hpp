#pragma once
#include <iosfwd>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "src/tasks/session.hpp"

/// Requests that the user gives directly, without a dataset.
namespace pardec {

/// Parses lists of token ids. `text`: `1,2,3`, or `@FILE` with one such list per line. ConfigError,
/// which names --prompt-tokens and the line: it has another form.
std::vector<Tokens> parse_token_lists(const std::string& text);

/// The text of a prompt. `given`: the text itself, or `-` for the content of `in` without its final
/// line feed.
std::string prompt_of(const std::string& given, std::istream& in);

/// Reads a file with one Job, or a .jsonl file with one Job per line. `options`: has the limits,
/// sampling and seed for Jobs that do not set them. DataError, ConfigError: the file or a Job is
/// invalid.
std::vector<Job> read_jobs(const std::string& file, const DecodeOptions& options);

/// The user's requests, in the given order.
struct GivenRequests {
  std::vector<Request> requests;
  std::vector<std::string> errors;  ///< one per request; empty: the request is valid
  /// differences between the prompts and those in the network's training
  std::set<std::string> notes;
  std::unique_ptr<PromptFile> wording;  ///< wording of requests that only the decoder makes
};

/// Makes requests from lists of token ids. ConfigError: an id is not in the vocabulary.
GivenRequests token_requests(const std::vector<Tokens>& lists, const ModelConfig& config,
                             const DecodeOptions& options);
/// Makes requests from jobs. `open`: whether the jobs are open prompts. The error of an invalid job
/// is stored in `errors`; if it is the only job, the error is thrown.
GivenRequests job_requests(std::vector<Job> jobs, bool open, const Decoder& decoder,
                           const DecodeOptions& options, const Session& session);

}  // namespace pardec
