#include "src/cli/generate_output.hpp"

#include <algorithm>

#include "src/cli/with_flags.hpp"
#include "src/support/error.hpp"
#include "src/support/text.hpp"
#include "src/support/utf8.hpp"
#include "src/tasks/answers_json.hpp"

namespace pardec {

AnswerFormat parse_answer_format(std::string_view name) {
  if (name == "text") return AnswerFormat::text;
  if (name == "json") return AnswerFormat::json;
  throw ConfigError(str("--format is '", name, "', expected text or json"));
}

AnswerPrinter::AnswerPrinter(std::ostream& out, std::ostream& err,
                             const std::vector<Request>& requests, const Decoder& decoder,
                             const Tokenizer* tokenizer, AnswerFormat format, bool streams)
    : out_(out),
      err_(err),
      requests_(requests),
      decoder_(decoder),
      tokenizer_(tokenizer),
      format_(format),
      streams_(streams && tokenizer && format == AnswerFormat::text) {}

std::function<void(std::string_view)> AnswerPrinter::reader(std::size_t index, const Clock& clock) {
  if (!streams_) return {};
  return [this, index, &clock](std::string_view bytes) {
    if (index != printed_) return;  // another request is being printed
    const std::int64_t begin = clock.now_ns();
    const std::string text = repair_utf8(bytes.substr(0, finished_utf8(bytes)));
    if (text.size() > shown_) {
      out_ << std::string_view(text).substr(shown_);
      out_.flush();
      shown_ = text.size();
    }
    reading_ns_ += clock.now_ns() - begin;
  };
}

void AnswerPrinter::print(std::size_t index, const Answers& answers) {
  if (format_ == AnswerFormat::json) {
    out_ << dump(answers_json(requests_[index].job, decoder_, answers));
  } else if (!tokenizer_) {
    for (std::size_t t = 0; t < answers.tokens.size(); ++t)
      out_ << (t ? "," : "") << answers.tokens[t];
  } else {
    out_ << std::string_view(answers.text).substr(std::min(shown_, answers.text.size()));
  }
  out_ << "\n";
}

void AnswerPrinter::print_ready(const std::vector<std::optional<Answers>>& answers,
                                const std::vector<std::string>& errors) {
  for (; printed_ < requests_.size(); ++printed_, shown_ = 0) {
    if (!errors[printed_].empty()) {
      if (shown_ > 0) out_ << std::endl;
      err_ << "pardec: " << visible_text(with_flags(errors[printed_])) << "\n";
    } else if (answers[printed_]) {
      print(printed_, *answers[printed_]);
      out_.flush();
    } else {
      return;
    }
  }
}

}  // namespace pardec
