#pragma once
#include <memory>

#include "decoders/apar/apar.hpp"
#include "src/training/training_sample.hpp"

namespace pardec {

/// How threads end in training: with `eos`. If `main_has_eos` is false, the prompt's own thread has
/// no `eos`; it ends with a closing text such as `</result>`.
struct AparEnds {
  Token eos = 0;
  bool main_has_eos = true;
};

/// A row of a paragraph tree as one sequence. The rows are in the order of the paper's Figure 2: a
/// node's tokens and its [Fork], then [Child] and the details, then the next paragraph. Each node
/// is a segment. Positions count along the path of a thread.
struct AparRow {
  Token token;
  RowLabel label;
  /// the next token of the thread; none: the row is in the prompt, or ends a thread
  std::optional<Token> target;
};
struct AparLayout {
  std::vector<AparRow> rows;
  Segments segments;
};
AparLayout lay_out(const Tokens& prompt, const ParagraphTree& tree, const AparTokens& control,
                   const AparEnds& ends);

/// One training sequence with the tree's mask. The last row of each thread is left out, because it
/// has no target and no other row sees it.
TrainingSample apar_sample(const AparLayout& layout, int prompt_length);

/// The same targets without a tree mask, as in the official training: one causal sequence per
/// thread, with targets only after its last [Child]. In the sequence of the prompt's own thread,
/// the whole answer is a target.
std::vector<TrainingSample> apar_threads(const Tokens& prompt, const ParagraphTree& tree,
                                         const AparTokens& control, const AparEnds& ends);

/// The JSON answer of ask=together as a tree. Each key is a paragraph, and its value is the
/// paragraph's details, which end with `eos`. The rest of the answer, up to `</result>`, is the
/// last paragraph. Keys and values are tokenized separately, as in json_answer_ids.
ParagraphTree json_answer_tree(const TrainingExample& example, const Tokenizer& tokenizer);

struct AparFormatOptions {
  int stack = 1;          ///< J: number of contexts in one prompt
  bool unrolled = false;  ///< uses apar_threads, not apar_sample
  AparTokens control;
  Token eos = 0;
};

/// Creates the training format. `tokenizer` must outlive it. Open examples (free form) follow the
/// rules of APAR's data, which look only at the first answer: - If it has a paragraph tree, the
/// tree becomes one sequence. There is no sequence if the tree exceeds `context_length`, or if the
/// answer is unfinished and is the only one. - If it shows that no fork is needed
/// (teaches_no_fork), the whole conversation becomes one causal sequence. - Otherwise there is no
/// sequence. In examples with fields, an absent reference is the text "n/a". ConfigError: the tree
/// of a JSON answer exceeds `context_length`.
std::unique_ptr<TrainingFormat> make_apar_format(const AparFormatOptions& options,
                                                 const Tokenizer& tokenizer, int context_length);

/// APAR's training formats, and their flags of `train`.
std::vector<FormatEntry> apar_formats();
std::vector<TrainingOption> apar_training_options();

}  // namespace pardec
