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
/// which names the setting and the line: the text has another form, a list is empty, or the file is
/// empty. DataError: the file cannot be read.
std::vector<Tokens> parse_token_lists(const std::string& text);

/// The text of a prompt. `given`: the text itself, or `-` for the content of `in` without its final
/// line break.
std::string prompt_of(const std::string& given, std::istream& in);

/// Reads a file with one Job, or a .jsonl file with one Job per line. `options`: the limits,
/// sampling and seed for Jobs that do not set them. Empty lines of a .jsonl file are skipped.
/// DataError: the file cannot be read or is not JSON. ConfigError: a Job is invalid (parse_job), or
/// see DecodeOptions::sampling.
std::vector<Job> read_jobs(const std::string& file, const DecodeOptions& options);

/// The user's requests, in the given order.
struct GivenRequests {
  std::vector<Request> requests;
  std::vector<std::string> errors;  ///< one text per request; an empty text: the request is valid
  /// how the prompts differ from the prompts of the network's training (taught_otherwise)
  std::set<std::string> notes;
  /// the prompt file for further requests that the decoder itself makes (Decoder::wording); null:
  /// it makes none
  std::unique_ptr<PromptFile> wording;
};

/// Makes requests from lists of token ids. ConfigError: an id is not in the vocabulary, or see
/// DecodeOptions::sampling. REQUIRES: no id is negative.
GivenRequests token_requests(const std::vector<Tokens>& lists, const ModelConfig& config,
                             const DecodeOptions& options);
/// Makes requests from jobs. `open`: whether the jobs are open prompts. If a job's prompt cannot be
/// made (make_pieces), the error is stored in `errors`; for a single job it is thrown. ConfigError:
/// the decoder does not support conversations, but a job is one. Other errors: see choose_prompt
/// and taught_otherwise. REQUIRES: the session has a tokenizer.
GivenRequests job_requests(std::vector<Job> jobs, bool open, const Decoder& decoder,
                           const DecodeOptions& options, const Session& session);

}  // namespace pardec
