// A service: an OpenAI-compatible server (vLLM, llama.cpp, TGI, an API, `pardec serve`) continues
// the plain decoder's prompts. Its answers, scores and times can be compared with those of the
// decoders. Prompts, limits, sampling and the parsing of answers are the same as for every decoder
// that can continue any prompt. Only the generated text comes from the server
// (DecoderContext::elsewhere).
//
// Differences from a decoder: no network runs in this program, so there are no rows, passes or
// logits to count. Times are measured by the client.
#include "decoders/service/service.hpp"

#include <limits>

#include "src/support/error.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

constexpr std::array kModes{
    Named<PromptMode>{"auto", PromptMode::automatic}, Named<PromptMode>{"ids", PromptMode::ids},
    Named<PromptMode>{"text", PromptMode::text}, Named<PromptMode>{"chat", PromptMode::chat}};

class ServiceDecoder final : public FreeRunningDecoder {
 public:
  explicit ServiceDecoder(const Options& options) : FreeRunningDecoder(options) {
    const bool file = !options.text("file").empty();
    for (const char* own : {"url", "model", "key"})
      if (file && !options.text(own).empty())
        throw ConfigError(str("service.", own,
                              " and service.file are given; expected one of them, "
                              "the file has all of url, model and key"));
    if (file) return;
    for (const char* needed : {"url", "model"})
      if (options.text(needed).empty())
        throw ConfigError(str("service.", needed,
                              " is missing; expected e.g. "
                              "url=http://127.0.0.1:8000/v1,model=NAME, or file=FILE"));
    if (options.number("budget") > 0)
      throw ConfigError("service.budget needs the prices of the service, which service.file has");
  }

  Task<Stream> stream(StreamRequest request, const DecoderContext& context) const override {
    if (!context.elsewhere)
      throw ConfigError("a service answers the arms of runs only; expected a decoder");
    return context.elsewhere->stream(std::move(request), context);
  }
};

}  // namespace

std::string_view name(PromptMode mode) {
  for (const Named<PromptMode>& one : kModes)
    if (one.value == mode) return one.name;
  return "";
}

ServiceOptions service_options(const OrderedJson& options) {
  ServiceOptions read;
  const auto text = [&](const char* key) { return options.at(key).get<std::string>(); };
  read.url = text("url"), read.model = text("model"), read.key = text("key");
  read.file = text("file"), read.tokenizer = text("tokenizer");
  read.budget = options.at("budget").get<double>();
  for (const Named<PromptMode>& one : kModes)
    if (one.name == text("mode")) read.mode = one.value;
  return read;
}

DecoderEntry service_entry() {
  return {
      .name = "service",
      .source = "-",
      .options = with_asking(
          {Option::text("url", "",
                        "base URL of an OpenAI-compatible server, e.g. "
                        "http://127.0.0.1:8000/v1"),
           Option::text("model", "", "the model's name at the server"),
           Option::text("key", "", "environment variable with the key"),
           Option::text("file", "",
                        "JSON description of the service, instead of url, model and "
                        "key: prices, deadlines, retries, parameters"),
           Option::one_of("mode", kModes,
                          "how prompts are sent: ids, text, messages, or the first of these that "
                          "the server takes"),
           Option::text("tokenizer", "",
                        "folder with tokenizer and chat template of its network; "
                        "by default the run's"),
           Option::number("budget", 0, {0, std::numeric_limits<int>::max()},
                          "most money over all runs of the database; 0: no limit")}),
      .make = make_as<ServiceDecoder>,
      .elsewhere = true,
      .stack_option = "stack",
  };
}

}  // namespace pardec
