#pragma once
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "datasets/dataset.hpp"
#include "metrics/attention_model.hpp"
#include "src/tasks/protocol.hpp"
#include "src/tokenizer/tokenizer.hpp"

/// What a dataset's files hold, in numbers.
namespace pardec {

/// Which of the datasets' files are read, and whose ids are counted.
struct CorpusFiles {
  std::string data_root;  ///< folder with one folder a dataset; empty: the project's samples
  std::string split;      ///< empty: all that are there
  std::string tokenizer;  ///< a tokenizer.json or its folder; empty: the quickstart's
};

/// The splits of a dataset whose files are there; the first error where none are.
std::vector<Dataset> load_splits(const DatasetEntry& entry, const CorpusFiles& files,
                                 std::vector<Inspection>* inspections = nullptr);

/// How a dataset's prompts are counted; notes say where they are not the protocol's.
Protocol protocol_of(const DatasetEntry& entry, const Dataset& dataset, const CorpusFiles& files,
                     std::vector<std::string>& notes);

/// The tokenizer that is named, else the quickstart model's.
Tokenizer tokenizer_of(const CorpusFiles& files);

/// A mean that is built up.
struct Mean {
  double sum = 0, count = 0;
  void add(double value) { sum += value, ++count; }
  double value() const { return count > 0 ? sum / count : std::nan(""); }
};

/// One split: counts, and mean lengths in ids.
struct SplitStats {
  std::int64_t examples = 0, all_fields = 0, unanswerable = 0, categories = 0;
  double attributes_per_category = std::nan("");
  Mean fields, present, text, instruction, prompt, question, asked, answer, value;
};
SplitStats stats_of(const Dataset& dataset, const Protocol& protocol, const Tokenizer& tokenizer);

/// What attention does for one dataset, asked field by field, under prefix caching with
/// PagedAttention and under IPPD (appendix A.2); letters are the paper's.
struct AttentionStats {
  std::int64_t examples = 0;
  Mean m, p, c, x, y;
  StagedCost pcpa, ippd;
};
/// In stacks of `contexts`.
AttentionStats attention_of(const Dataset& dataset, const Protocol& protocol,
                            const Tokenizer& tokenizer, int contexts);

/// The paper's model at mean lengths.
struct AttentionRatios {
  double prefill_flop_factor, prefill_access_ratio, decode_flop_factor;
  double pcpa_prefill_intensity, ippd_prefill_intensity, pcpa_decode_intensity,
      ippd_decode_intensity;
};
AttentionRatios attention_ratios(double m, double p, double c, double x, double y);

/// All FLOPs of IPPD over those of PC+PA, and all memory accesses the other way round.
double total_flop_factor(const AttentionStats& stats);
double total_access_ratio(const AttentionStats& stats);

/// Ids that a field's answer takes with its end of sequence, as the IPPD paper counts them; a
/// letter of multiple choice is cut there.
std::size_t answer_ids(const std::string& answer, bool choices, const Tokenizer& tokenizer);

}  // namespace pardec
