#include "src/serve/metrics.hpp"

#include <numeric>

#include "src/support/text.hpp"

namespace pardec::serve {

namespace {

std::int64_t sum(const std::vector<std::int64_t>& counts) {
  return std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
}

void add_to(std::vector<std::int64_t>& counts, const std::vector<std::int64_t>& more) {
  if (counts.size() < more.size()) counts.resize(more.size());
  for (std::size_t i = 0; i < more.size(); ++i) counts[i] += more[i];
}

/// A label's value, escaped.
std::string label(const std::string& text) {
  return replace_all(replace_all(replace_all(text, "\\", "\\\\"), "\"", "\\\""), "\n", "\\n");
}

/// Writes the metrics one after the other.
class Page {
 public:
  explicit Page(const std::string& model) : model_(str("model_name=\"", label(model), "\"")) {}

  void begin(std::string_view name, std::string_view type, std::string_view help) {
    name_ = name;
    text_ += str("# HELP ", name, " ", help, "\n# TYPE ", name, " ", type, "\n");
  }
  template <typename Number>
  void value(Number number, std::string_view suffix = "", const std::string& more = "") {
    text_ += str(name_, suffix, "{", model_, more.empty() ? "" : ",", more, "} ", number, "\n");
  }
  template <typename Number>
  void one(std::string_view name, std::string_view type, std::string_view help, Number number) {
    begin(name, type, help);
    value(number);
  }
  const std::string& text() const { return text_; }

 private:
  std::string model_, name_, text_;
};

}  // namespace

GuessCounts guess_counts(const Counters& counters) {
  GuessCounts counts{.drafted = sum(counters.drafted), .accepted = sum(counters.accepted)};
  if (counters.drafted.empty()) return counts;
  counts.steps = counters.drafted.front();
  std::int64_t at_least = counts.steps;  // steps with at least i accepted guesses
  for (std::size_t i = 0; i <= counters.drafted.size(); ++i) {
    const std::int64_t more = i < counters.accepted.size() ? counters.accepted[i] : 0;
    counts.histogram.push_back(at_least - more);
    at_least = more;
  }
  return counts;
}

OrderedJson reply_metrics(const Counters& counters) {
  const GuessCounts counts = guess_counts(counters);
  if (counts.steps == 0) return nullptr;
  const auto share = [](std::int64_t a, std::int64_t b) {
    return static_cast<double>(a) / static_cast<double>(b);
  };
  return {{"speculative_decoding",
           {{"num_spec_tokens", counts.histogram.size() - 1},
            {"num_spec_steps", counts.steps},
            {"num_draft_tokens", counts.drafted},
            {"num_accepted_draft_tokens", counts.accepted},
            {"mean_acceptance_length", 1 + share(counts.accepted, counts.steps)},
            {"draft_acceptance_rate", share(counts.accepted, counts.drafted)},
            {"acceptance_histogram", counts.histogram}}}};
}

void Metrics::Histogram::add(double value) {
  for (std::size_t i = 0; i < kBounds.size(); ++i) below[i] += value <= kBounds[i];
  ++count;
  sum += value;
}

void Metrics::add(const Ended& ended) {
  ++finished_[std::string(ended.finish)];
  prompt_tokens_ += ended.prompt_tokens;
  generated_ += ended.counters.chosen;
  add_to(guesses_.drafted, ended.counters.drafted);
  add_to(guesses_.accepted, ended.counters.accepted);
  queued_.add(ended.queued);
  first_token_.add(ended.first_token);
  whole_.add(ended.whole);
}

std::string Metrics::text(const std::string& model, const Engine& engine) const {
  Page page(model);
  page.one("pardec:num_requests_running", "gauge", "Answers that are being decoded.",
           engine.running);
  page.one("pardec:num_requests_waiting", "gauge", "Answers that wait for a place.",
           engine.waiting);
  page.one("pardec:kv_cache_usage_perc", "gauge",
           "Share of the cache budget in use, from 0 to 1; 0 without a budget.", engine.held_share);
  page.one("pardec:kv_cache_rows", "gauge", "Rows in the cache.", engine.held_rows);
  page.one("pardec:passes_total", "counter", "Forward passes of the network.", engine.passes);
  page.one("pardec:pass_answers_total", "counter", "Answers in a pass, summed over passes.",
           engine.job_passes);
  page.one("pardec:prompt_tokens_total", "counter", "Tokens of prompts.", prompt_tokens_);
  page.one("pardec:generation_tokens_total", "counter", "Tokens chosen.", generated_);
  page.begin("pardec:request_success_total", "counter", "Answers by the reason of their end.");
  for (const char* reason : {"stop", "length", "abort", "error"}) {
    const auto found = finished_.find(reason);
    page.value(found == finished_.end() ? 0 : found->second, "",
               str("finished_reason=\"", reason, "\""));
  }
  const auto histogram = [&](std::string_view name, std::string_view help, const Histogram& of) {
    page.begin(name, "histogram", help);
    for (std::size_t i = 0; i < Histogram::kBounds.size(); ++i)
      page.value(of.below[i], "_bucket", str("le=\"", Histogram::kBounds[i], "\""));
    page.value(of.count, "_bucket", "le=\"+Inf\"");
    page.value(of.count, "_count");
    page.value(of.sum, "_sum");
  };
  histogram("pardec:request_queue_time_seconds", "Time before an answer is begun.", queued_);
  histogram("pardec:time_to_first_token_seconds", "Time to an answer's first token.", first_token_);
  histogram("pardec:e2e_request_latency_seconds", "Time to an answer's end.", whole_);
  // Clients of vLLM read acceptance under these names.
  const GuessCounts counts = guess_counts(guesses_);
  page.one("vllm:spec_decode_num_drafts_total", "counter", "Passes that verified guesses.",
           counts.steps);
  page.one("vllm:spec_decode_num_draft_tokens_total", "counter", "Guesses.", counts.drafted);
  page.one("vllm:spec_decode_num_accepted_tokens_total", "counter", "Accepted guesses.",
           counts.accepted);
  page.begin("vllm:spec_decode_num_accepted_tokens_per_pos_total", "counter",
             "Accepted guesses by their place.");
  for (std::size_t i = 0; i < guesses_.accepted.size(); ++i)
    page.value(guesses_.accepted[i], "", str("position=\"", i, "\""));
  return page.text();
}

}  // namespace pardec::serve
