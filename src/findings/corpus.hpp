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
  /// folder that contains a folder for each dataset; empty: the project's samples
  std::string data_root;
  std::string split;  ///< empty: all splits that exist
  /// path of a tokenizer.json or of its folder; empty: the tokenizer of the quickstart network
  std::string tokenizer;
};

/// Loads the splits of a dataset. Splits that load_dataset rejects with a ConfigError, e.g. because
/// they have no files, are left out. `inspections`: an entry for each loaded split is appended to
/// this list; may be null. ConfigError: no split can be loaded (the message is about the first
/// split). Other errors: see load_dataset.
std::vector<Dataset> load_splits(const DatasetEntry& entry, const CorpusFiles& files,
                                 std::vector<Inspection>* inspections = nullptr);

/// The form and wording in which the dataset's fields are asked by default. The statistics of
/// prompts below assume this protocol. Adds a note to `notes` if the prompts should have few-shot
/// examples, but none are available (there is no train split, or it has too few examples). Errors:
/// see default_protocol.
Protocol protocol_of(const DatasetEntry& entry, const Dataset& dataset, const CorpusFiles& files,
                     std::vector<std::string>& notes);

/// Loads the tokenizer `files.tokenizer`. Errors: see Tokenizer::load.
Tokenizer tokenizer_of(const CorpusFiles& files);

/// The mean of the values that were added; NaN: no value was added.
struct Mean {
  double sum = 0, count = 0;
  void add(double value) { sum += value, ++count; }
  double value() const { return count > 0 ? sum / count : std::nan(""); }
};

/// Statistics of one split. `all_fields`: number of fields. `unanswerable`: number of annotated
/// fields without a reference. `categories`: number of distinct categories. `fields`: mean number
/// of fields in an example. `present`: mean number of fields with a reference in an example. All
/// other means are lengths in tokens:
///   text         the text of an example
///   instruction  the part of a prompt before the example
///   prompt       a whole prompt; in a conversation, only the first prompt counts
///   question     a field's question with its choices
///   asked        the part of a prompt that asks for one field
///   answer       a reference answer
///   value        a reference value in the JSON answer; absent values (null) do not count
/// If the dataset is about attributes, the prompt asks for one JSON answer with all fields, and
/// `question` and `asked` are NaN. Otherwise, each field has a prompt and an answer, and `value` is
/// NaN.
struct SplitStats {
  std::int64_t examples = 0, all_fields = 0, unanswerable = 0, categories = 0;
  /// mean number of annotated attributes in a category; NaN: the dataset is not about attributes
  double attributes_per_category = std::nan("");
  Mean fields, present, text, instruction, prompt, question, asked, answer, value;
};
/// Computes the statistics of a split. ConfigError: see make_job and make_pieces. RunError: see
/// Tokenizer; this also holds for the other functions with a tokenizer.
SplitStats stats_of(const Dataset& dataset, const Protocol& protocol, const Tokenizer& tokenizer);

/// How parallel the reference answers of a corpus are, counted as in Figure 1 of the ASPD paper: in
/// tokens of text, without control tokens. The text of a branch is `TITLE: CONTENT`. The tokens
/// outside branches are the serial text and a second copy of each title, because the titles of a
/// group of branches are also listed before the group.
struct StructureStats {
  std::int64_t answers = 0;  ///< number of answers: the first reference of each field
  /// marked: number of answers with branches in ASPD's markup (parse_markup). by_rules: number of
  /// other answers that APAR's rules divide (paragraph_tree). Here, such an answer is one group,
  /// and the details in the tree are its branches.
  std::int64_t marked = 0, by_rules = 0;
  Mean tokens;              ///< number of tokens of an answer
  ParallelMetrics metrics;  ///< PPD, DP and ABN; the speeds are 0
};
/// The parallel structure of the first reference of each field. ConfigError: the markup of an
/// answer is invalid.
StructureStats structure_of(const Dataset& dataset, const Tokenizer& tokenizer);

/// The cost of attention for a dataset that is asked field by field: with prefix caching and
/// PagedAttention (PC+PA), and with IPPD. The letters have the same meaning as in the IPPD paper,
/// appendix A.2: m is the number of questions of an example; p, c, x and y are the lengths of
/// instruction, context, question and answer in tokens.
struct AttentionStats {
  std::int64_t examples = 0;
  Mean m, p, c, x, y;
  StagedCost pcpa, ippd;  ///< sums over all examples (pcpa_cost, ippd_cost)
};
/// Computes the cost for a dataset, with its reference answers. `contexts`: number of examples in a
/// prompt of IPPD. If the wording names the category, all examples in a prompt have the same
/// category. The last prompt (of a category) may have fewer examples. ConfigError: see make_job and
/// make_pieces.
AttentionStats attention_of(const Dataset& dataset, const Protocol& protocol,
                            const Tokenizer& tokenizer, int contexts);

/// The results of the IPPD paper's cost model (appendix A.2) for mean lengths m, p, c, x, y, with
/// one context in a prompt (attention_model.hpp). The decode_ members are for the step in which
/// half of each answer, y / 2 tokens, is already decoded. FLOP factors are IPPD's FLOPs divided by
/// PC+PA's FLOPs. The access ratio is PC+PA's memory accesses divided by IPPD's memory accesses.
/// Intensities are FLOPs per memory access. pcpa_prefill_intensity is about the prefill of any
/// question but the first of a context: instruction and context are then already cached.
struct AttentionRatios {
  double prefill_flop_factor, prefill_access_ratio, decode_flop_factor;
  double pcpa_prefill_intensity, ippd_prefill_intensity, pcpa_decode_intensity,
      ippd_decode_intensity;
};
AttentionRatios attention_ratios(double m, double p, double c, double x, double y);

/// IPPD's FLOPs divided by PC+PA's FLOPs, over prefill and decoding of all examples.
double total_flop_factor(const AttentionStats& stats);
/// PC+PA's memory accesses divided by IPPD's, over prefill and decoding of all examples.
double total_access_ratio(const AttentionStats& stats);

/// The number of tokens of a field's answer with a space before the text, counted as in the IPPD
/// paper. `choices`: whether the field is a multiple-choice question, so that `answer` is a letter.
/// For other questions, the token that ends the sequence is counted, too.
std::size_t answer_ids(const std::string& answer, bool choices, const Tokenizer& tokenizer);

}  // namespace pardec
