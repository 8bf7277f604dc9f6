#pragma once
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "datasets/dataset.hpp"
#include "metrics/attention_model.hpp"
#include "src/tasks/protocol.hpp"
#include "src/tokenizer/tokenizer.hpp"

/// Statistics of a dataset's files.
namespace pardec {

/// Which files of the datasets to read, and the tokenizer for lengths.
struct CorpusFiles {
  std::string data_root;  ///< folder with one folder per dataset; empty: the project's samples
  std::string split;      ///< empty: all splits that exist
  std::string tokenizer;  ///< a tokenizer.json or its folder; empty: the quickstart model's
};

/// The splits of a dataset whose files exist. If there are none, throws the error of the first
/// split.
std::vector<Dataset> load_splits(const DatasetEntry& entry, const CorpusFiles& files,
                                 std::vector<Inspection>* inspections = nullptr);

/// The protocol for counting a dataset's prompts. Notes mention deviations from the dataset's own
/// protocol.
Protocol protocol_of(const DatasetEntry& entry, const Dataset& dataset, const CorpusFiles& files,
                     std::vector<std::string>& notes);

/// The given tokenizer; by default, the quickstart model's.
Tokenizer tokenizer_of(const CorpusFiles& files);

/// An incremental mean.
struct Mean {
  double sum = 0, count = 0;
  void add(double value) { sum += value, ++count; }
  double value() const { return count > 0 ? sum / count : std::nan(""); }
};

/// One split: counts, and means. `fields`, `present`: number of fields of an example, and of those
/// with a reference. The other means are lengths in tokens. `asked`: the part of a prompt that is
/// for one field. `question`: a field's question with its choices. `value`: a value in the JSON
/// answer.
struct SplitStats {
  std::int64_t examples = 0, all_fields = 0, unanswerable = 0, categories = 0;
  double attributes_per_category = std::nan("");
  Mean fields, present, text, instruction, prompt, question, asked, answer, value;
};
SplitStats stats_of(const Dataset& dataset, const Protocol& protocol, const Tokenizer& tokenizer);

/// The cost of attention for one dataset, asked field by field, under prefix caching with
/// PagedAttention and under IPPD (appendix A.2). The letters are the paper's.
struct AttentionStats {
  std::int64_t examples = 0;
  Mean m, p, c, x, y;
  StagedCost pcpa, ippd;
};
/// In stacks of `contexts` examples.
AttentionStats attention_of(const Dataset& dataset, const Protocol& protocol,
                            const Tokenizer& tokenizer, int contexts);

/// The paper's cost model at mean lengths.
struct AttentionRatios {
  double prefill_flop_factor, prefill_access_ratio, decode_flop_factor;
  double pcpa_prefill_intensity, ippd_prefill_intensity, pcpa_decode_intensity,
      ippd_decode_intensity;
};
AttentionRatios attention_ratios(double m, double p, double c, double x, double y);

/// Total FLOPs of IPPD divided by those of PC+PA; total memory accesses of PC+PA divided by those
/// of IPPD.
double total_flop_factor(const AttentionStats& stats);
double total_access_ratio(const AttentionStats& stats);

/// Number of ids of a field's answer including its end of sequence, counted as in the IPPD paper; a
/// multiple-choice answer is cut after its letter.
std::size_t answer_ids(const std::string& answer, bool choices, const Tokenizer& tokenizer);

}  // namespace pardec
