#include "src/tasks/given_requests.hpp"

#include <istream>
#include <iterator>

#include "src/prompt/pieces.hpp"
#include "src/prompt/prompt_choice.hpp"
#include "src/support/error.hpp"
#include "src/support/files.hpp"
#include "src/support/rng.hpp"
#include "src/support/text.hpp"
#include "src/tasks/checkpoint_fit.hpp"
#include "src/tasks/request.hpp"

namespace pardec {

std::vector<Tokens> parse_token_lists(const std::string& text) {
  std::vector<std::string> lines{text};
  if (text.rfind('@', 0) == 0) {
    lines = split(read_file(text.substr(1)), '\n');
    while (!lines.empty() && strip(lines.back()).empty()) lines.pop_back();
    if (lines.empty())
      throw ConfigError(str("`prompt_tokens`: ", text.substr(1),
                            " is empty, expected token ids such as 1,2,3, one list a line"));
  }
  std::vector<Tokens> lists;
  for (size_t i = 0; i < lines.size(); ++i) {
    Tokens ids;
    for (const auto& item : split(strip(lines[i]).empty() ? std::string() : lines[i], ',')) {
      const std::string number(strip(item));
      size_t used = 0;
      long id = -1;
      try {
        id = std::stol(number, &used);
      } catch (const std::exception&) {
        used = 0;
      }
      if (used == 0 || used != number.size() || id < 0 || id > 0x7FFFFFFF)
        throw ConfigError(str("`prompt_tokens`", lines.size() > 1 ? str(" line ", i + 1) : "",
                              ": '", number, "' is no token id, expected ids such as 1,2,3"));
      ids.push_back(static_cast<Token>(id));
    }
    lists.push_back(std::move(ids));
  }
  return lists;
}

std::string prompt_of(const std::string& given, std::istream& in) {
  if (given != "-") return given;
  std::string text{std::istreambuf_iterator<char>(in), {}};
  if (text.ends_with('\n')) text.pop_back();
  if (text.ends_with('\r')) text.pop_back();
  return text;
}

std::vector<Job> read_jobs(const std::string& file, const DecodeOptions& options) {
  const Job defaults = empty_job(options);
  if (!file.ends_with(".jsonl")) return {parse_job(read_json(file), file, defaults)};
  std::vector<Job> jobs;
  long line = 0;
  for (const auto& text : split(read_file(file), '\n')) {
    ++line;
    if (!strip(text).empty())
      jobs.push_back(parse_job(parse_json(text, file, line), str(file, ":", line), defaults));
  }
  return jobs;
}

GivenRequests token_requests(const std::vector<Tokens>& lists, const ModelConfig& config,
                             const DecodeOptions& options) {
  GivenRequests given;
  for (size_t i = 0; i < lists.size(); ++i) {
    for (const Token id : lists[i])
      if (id >= config.vocab_size)
        throw ConfigError(str("`prompt_tokens`", lists.size() > 1 ? str(" line ", i + 1) : "",
                              ": id ", id, " is beyond the network's vocabulary, expected at most ",
                              config.vocab_size - 1));
    Pieces pieces;
    pieces.prefix = lists[i];
    pieces.contexts.emplace_back();
    pieces.fields.push_back({Tokens{}});
    Job job = open_job(str("prompt-", i + 1), "", options);
    if (i > 0) job.seed = derive_seed(job.seed, job.id);
    given.requests.push_back({std::move(job), Form::free, std::move(pieces), std::nullopt});
    given.errors.emplace_back();
  }
  return given;
}

GivenRequests job_requests(std::vector<Job> jobs, bool open, const Decoder& decoder,
                           const DecodeOptions& options, const Session& session) {
  const std::filesystem::path& model = session.checkpoint.folder;
  const DecoderEntry& entry = find_decoder(decoder.name());
  GivenRequests given;
  if (!decoder.wording().empty())
    given.wording = std::make_unique<PromptFile>(choose_prompt("", decoder.wording(), model));
  for (Job& job : jobs) {
    const Form form = open || job.conversation ? Form::free : decoder.form();
    if (job.conversation && !entry.free_running)
      throw ConfigError(str("decoder ", entry.name, " takes no conversation: it ",
                            not_applicable(Shape::open, decoder)));
    PromptFile prompt = open && options.prompt_file.empty()
                            ? open_prompt()
                            : choose_prompt(options.prompt_file, prompt_name(job), model);
    if (!open) prompt = worded_for(job, std::move(prompt), form);
    const bool taught_task = !open && prompt_name(job) == "attributes";
    if (std::string note = taught_otherwise(model, session.chat, taught_task ? &prompt : nullptr);
        !note.empty())
      given.notes.insert(std::move(note));
    given.requests.push_back({job, form, {}, std::nullopt, given.wording.get()});
    given.requests.back().thinking = session.thinking;
    given.errors.emplace_back();
    try {
      given.requests.back().pieces =
          make_pieces(job, form, prompt, session.chat, *session.tokenizer());
    } catch (const std::exception& error) {
      if (jobs.size() == 1) throw;
      given.errors.back() = reason_of(error);
    }
  }
  return given;
}

}  // namespace pardec
