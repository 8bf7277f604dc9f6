#pragma once
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "datasets/dataset.hpp"
#include "metrics/attention_model.hpp"
#include "metrics/decoding_metrics.hpp"
#include "src/tasks/protocol.hpp"
#include "src/tokenizer/tokenizer.hpp"

/// Statistics of a dataset's files.
namespace pardec {

/// The files of the datasets to read, and the tokenizer that measures lengths.
struct CorpusFiles {
  /// folder that contains one folder per dataset; empty: the project's samples
  std::string data_root;
  std::string split;      ///< empty: all splits that exist
  std::string tokenizer;  ///< a tokenizer.json or its folder; empty: the quickstart model's
};

/// Loads the splits of a dataset for which files exist. `inspections`: if not null, gets one entry
/// per loaded split. ConfigError: no split can be loaded (the message is about the first split).
/// DataError: a file is invalid.
std::vector<Dataset> load_splits(const DatasetEntry& entry, const CorpusFiles& files,
                                 std::vector<Inspection>* inspections = nullptr);

/// The protocol that the statistics of prompts assume. Adds a note to `notes` for each deviation
/// from the dataset's own protocol.
Protocol protocol_of(const DatasetEntry& entry, const Dataset& dataset, const CorpusFiles& files,
                     std::vector<std::string>& notes);

/// Loads the tokenizer `files.tokenizer`; by default, the quickstart model's. Errors: see
/// Tokenizer::load.
Tokenizer tokenizer_of(const CorpusFiles& files);

/// The mean of the values that were added; NaN: none were added.
struct Mean {
  double sum = 0, count = 0;
  void add(double value) { sum += value, ++count; }
  double value() const { return count > 0 ? sum / count : std::nan(""); }
};

/// Statistics of one split. `all_fields` is the number of fields, and `unanswerable` the number of
/// annotated fields without a reference. `fields` and `present` are the mean numbers of fields per
/// example, and of fields with a reference per example. All other means are lengths in tokens.
/// `text` is the text of an example, `prompt` a whole prompt, and `instruction` the part of a
/// prompt before the example. `asked` is the part of a prompt that asks for one field, `question` a
/// field's question with its choices, `answer` a reference answer, and `value` a value in the JSON
/// answer.
struct SplitStats {
  std::int64_t examples = 0, all_fields = 0, unanswerable = 0, categories = 0;
  /// mean number of annotated attributes per category; NaN: the dataset is not about attributes
  double attributes_per_category = std::nan("");
  Mean fields, present, text, instruction, prompt, question, asked, answer, value;
};
/// Computes the statistics of a split. ConfigError: see make_pieces.
SplitStats stats_of(const Dataset& dataset, const Protocol& protocol, const Tokenizer& tokenizer);

/// How parallel the reference answers of a corpus are, as ASPD's Figure 1 counts it: in tokens of
/// text, without control tokens. A branch has the tokens of `TITLE: CONTENT`; all others are those
/// of serial text and titles.
struct StructureStats {
  std::int64_t answers = 0;  ///< all first references
  /// Answers with branches in ASPD's markup (branch_markup.hpp), and answers without markup that
  /// APAR's rules divide (paragraph_tree): one group, whose branches are the details.
  std::int64_t marked = 0, by_rules = 0;
  Mean tokens;              ///< of an answer
  ParallelMetrics metrics;  ///< PPD, DP and ABN; the speeds are 0
};
/// The parallel structure of the first reference of each field. ConfigError: the markup of an
/// answer is invalid.
StructureStats structure_of(const Dataset& dataset, const Tokenizer& tokenizer);

/// The cost of attention for a dataset that is asked field by field: with prefix caching and
/// PagedAttention (PC+PA), and with IPPD. The letters are those of the IPPD paper, appendix A.2: m
/// is the number of questions; p, c, x and y are the lengths in tokens of instruction, context,
/// question and answer. All are means.
struct AttentionStats {
  std::int64_t examples = 0;
  Mean m, p, c, x, y;
  StagedCost pcpa, ippd;
};
/// `contexts`: number of examples per prompt. ConfigError: see make_pieces.
AttentionStats attention_of(const Dataset& dataset, const Protocol& protocol,
                            const Tokenizer& tokenizer, int contexts);

/// The results of the IPPD paper's cost model (appendix A.2) for mean lengths m, p, c, x, y, where
/// an answer is half decoded. FLOP factors are IPPD's FLOPs divided by those of PC+PA. The access
/// ratio is PC+PA's memory accesses divided by those of IPPD. Intensities are FLOPs per memory
/// access.
struct AttentionRatios {
  double prefill_flop_factor, prefill_access_ratio, decode_flop_factor;
  double pcpa_prefill_intensity, ippd_prefill_intensity, pcpa_decode_intensity,
      ippd_decode_intensity;
};
AttentionRatios attention_ratios(double m, double p, double c, double x, double y);

/// Total FLOPs of IPPD, divided by those of PC+PA.
double total_flop_factor(const AttentionStats& stats);
/// Total memory accesses of PC+PA, divided by those of IPPD.
double total_access_ratio(const AttentionStats& stats);

/// The number of token ids of a field's answer after a space, counted as in the IPPD paper.
/// `choices`: whether the field is a multiple-choice question. If so, only the answer (a letter)
/// counts; otherwise the end of sequence counts, too.
std::size_t answer_ids(const std::string& answer, bool choices, const Tokenizer& tokenizer);

}  // namespace pardec
