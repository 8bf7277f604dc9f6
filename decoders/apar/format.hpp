#pragma once
#include <memory>

#include "decoders/apar/apar.hpp"
#include "src/training/training_sample.hpp"

namespace pardec {

/// How threads end in training.
struct AparEnds {
  Token eos = 0;  ///< the end-of-sequence id at the end of threads
  /// Whether the prompt's own thread ends with `eos` too. False: this thread ends with a closing
  /// text such as `</result>`.
  bool main_has_eos = true;
};

/// One row of a prompt and a paragraph tree that are laid out as one sequence.
struct AparRow {
  Token token;
  RowLabel label;
  /// The token that is to be chosen from this row. None: the row is in the prompt, but is not the
  /// last row of the prompt; or the row ends a thread.
  std::optional<Token> target;
};
/// A prompt and a paragraph tree, laid out as one sequence by lay_out.
struct AparLayout {
  std::vector<AparRow> rows;
  Segments segments;  ///< segment n belongs to node n of the tree
};
/// Lays out a prompt and the tree of its answer as one sequence. The rows are in the order of the
/// paper's Figure 2: the tokens of a node and the node's [Fork], then [Child] and the details of
/// the node, then the next paragraph. Each node is a segment; the prompt is in the root's segment.
/// Positions count along the path of a thread.
AparLayout lay_out(const Tokens& prompt, const ParagraphTree& tree, const AparTokens& control,
                   const AparEnds& ends);

/// One training sequence with the tree's mask, i.e. each row sees the rows that its thread sees in
/// decoding. The last row of each thread is left out, because it has no target and no other row
/// sees it. `prompt_length`: number of rows of the prompt.
TrainingSample apar_sample(const AparLayout& layout, int prompt_length);

/// One causal sequence for each thread, without a tree mask, as in the official training. Together
/// the sequences have the targets of apar_sample. In the sequence of the prompt's own thread, the
/// targets are all tokens of the thread after the prompt. The sequence of another thread begins
/// with the prompt and the text before the thread, and has targets only after its last [Child].
std::vector<TrainingSample> apar_threads(const Tokens& prompt, const ParagraphTree& tree,
                                         const AparTokens& control, const AparEnds& ends);

/// The JSON answer of ask=together as a tree, without control tokens and end-of-sequence ids. Each
/// key is a paragraph, and the key's value is the paragraph's details. The rest of the answer, up
/// to
/// `</result>`, is the last paragraph. Keys and values are tokenized separately, as in
/// json_answer_ids. REQUIRES and ConfigError: see json_answer_ids.
ParagraphTree json_answer_tree(const TrainingExample& example, const Tokenizer& tokenizer);

/// Options of APAR's training sequences.
struct AparFormatOptions {
  int stack = 1;          ///< number of contexts in one prompt
  bool unrolled = false;  ///< whether sequences are made by apar_threads instead of apar_sample
  AparTokens control;
  Token eos = 0;  ///< the last token of threads (AparEnds)
};

/// Creates the training format. `tokenizer` must outlive it. In examples with fields, the text of
/// an absent reference is "n/a". Open examples (free form) follow the rules of APAR's data, which
/// look only at the first answer. If the answer has a paragraph tree (paragraph_tree), the tree
/// becomes a sequence, or one sequence per thread if `unrolled`. The example is left out if the
/// tree exceeds `context_length` positions, or if the answer is unfinished and is the only answer.
/// If the answer shows that no fork is needed (teaches_no_fork), the whole conversation becomes one
/// causal sequence. In all other cases, the example is left out too.
///
/// The format's `samples` throws ConfigError if the tree of a JSON answer exceeds `context_length`
/// positions, or if the contexts have different fields.
std::unique_ptr<TrainingFormat> make_apar_format(const AparFormatOptions& options,
                                                 const Tokenizer& tokenizer, int context_length);

/// APAR's training formats, and their flags of `train`.
std::vector<FormatEntry> apar_formats();
std::vector<TrainingOption> apar_training_options();

}  // namespace pardec
