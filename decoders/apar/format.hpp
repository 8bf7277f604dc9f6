#pragma once
#include <memory>

#include "decoders/apar/apar.hpp"
#include "src/training/training_sample.hpp"

namespace pardec {

/// How threads end in training. Each thread ends with `eos`. The prompt's own thread has no `eos`
/// if `main_has_eos` is false: it ends with a closing text such as `</result>`.
struct AparEnds {
  Token eos = 0;
  bool main_has_eos = true;
};

/// A row of a laid-out tree. Rows are in packed order (paper, Figure 2): a node's tokens and its
/// [Fork], then [Child] and the details, then the next paragraph. Segments are nodes; positions
/// count along each thread's path.
struct AparRow {
  Token token;
  RowLabel label;
  /// next token of its thread; none: in the prompt, or at the end of a thread
  std::optional<Token> target;
};
struct AparLayout {
  std::vector<AparRow> rows;
  Segments segments;
};
AparLayout lay_out(const Tokens& prompt, const ParagraphTree& tree, const AparTokens& control,
                   const AparEnds& ends);

/// One training sequence under the tree's mask. Rows of thread ends are left out: they have no
/// targets, and no other row sees them.
TrainingSample apar_sample(const AparLayout& layout, int prompt_length);

/// The targets of `apar_sample` without a tree mask, as in the official training: one plain
/// sequence per thread, with loss only after its last [Child]. The prompt's own thread has loss on
/// its whole text.
std::vector<TrainingSample> apar_threads(const Tokens& prompt, const ParagraphTree& tree,
                                         const AparTokens& control, const AparEnds& ends);

/// The JSON answer of `ask=together` as a tree: each key is a paragraph, and its value is the
/// details, which end with `eos`. The rest of the answer, up to `</result>`, is the last paragraph.
/// Keys and values are tokenized separately, as in `json_answer_ids`.
ParagraphTree json_answer_tree(const TrainingExample& example, const Tokenizer& tokenizer);

struct AparFormatOptions {
  int stack = 1;          ///< J: number of contexts in one prompt
  bool unrolled = false;  ///< apar_threads instead of apar_sample
  AparTokens control;
  Token eos = 0;
};

/// The format based on `tokenizer`, which must outlive it.
/// Open examples (free form) follow the rules of APAR's data, which look only at the first answer:
/// - It has a paragraph tree: the tree becomes one sequence. There is none if the tree exceeds
///   `context_length`, or if the conversation has no other answer and this one is unfinished.
/// - It teaches that no fork is needed (teaches_no_fork): the whole conversation becomes one plain
///   sequence.
/// - Otherwise there is no sequence.
/// In examples with fields, an absent reference becomes the text "n/a". ConfigError: the tree of a
/// JSON answer exceeds `context_length`.
std::unique_ptr<TrainingFormat> make_apar_format(const AparFormatOptions& options,
                                                 const Tokenizer& tokenizer, int context_length);

/// The entries of `train`'s formats, and their flags.
std::vector<FormatEntry> apar_formats();
std::vector<TrainingOption> apar_training_options();

}  // namespace pardec
