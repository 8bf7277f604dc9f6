#pragma once
#include <memory>

#include "decoders/apar/apar.hpp"
#include "src/training/training_sample.hpp"

namespace pardec {

/// How threads end in training: each with `eos`, but for the prompt's own thread where a closing
/// text in its last tokens ends it.
struct AparEnds {
  Token eos = 0;
  bool main_has_eos = true;
};

/// A tree in packed order (paper, Figure 2): a node's tokens and its [Fork], [Child] and the
/// details, the next paragraph. Segments are nodes, positions run along each thread's own path.
struct AparRow {
  Token token;
  RowLabel label;
  std::optional<Token> target;  ///< what comes next on its thread; none: prompt, or a thread's end
};
struct AparLayout {
  std::vector<AparRow> rows;
  Segments segments;
};
AparLayout lay_out(const Tokens& prompt, const ParagraphTree& tree, const AparTokens& control,
                   const AparEnds& ends);

/// One sequence to learn from under the tree's mask. Rows of threads' ends are left out: they
/// predict nothing and no other row sees them.
TrainingSample apar_sample(const AparLayout& layout, int prompt_length);

/// The same targets without a mask, as in the official training: one plain sequence a thread, with
/// loss behind its last [Child] alone; the prompt's own thread has loss on all of its text.
std::vector<TrainingSample> apar_threads(const Tokens& prompt, const ParagraphTree& tree,
                                         const AparTokens& control, const AparEnds& ends);

/// The JSON answer of `ask=together` as a tree: each key a paragraph, its value the details, which
/// end with `eos`; the rest of the answer, `</result>` last, is the last paragraph. Its ids are
/// cut as ar's.
ParagraphTree json_answer_tree(const TrainingExample& example, const Tokenizer& tokenizer);

struct AparFormatOptions {
  int stack = 1;          ///< J: contexts in one prompt
  bool unrolled = false;  ///< apar_threads in place of apar_sample
  AparTokens control;
  Token eos = 0;
};

/// The format over `tokenizer`, which outlives it. An open answer is a tree by the rules of
/// APAR's data, of a conversation its first; or teaches where not to fork, the whole conversation
/// then; one that is neither makes no sequence, and neither does a tree that is too long. Absent
/// references are taught as "n/a". A position beyond `context_length` is a ConfigError.
std::unique_ptr<TrainingFormat> make_apar_format(const AparFormatOptions& options,
                                                 const Tokenizer& tokenizer, int context_length);

/// What `train` calls them, and their flags.
std::vector<FormatEntry> apar_formats();
std::vector<TrainingOption> apar_training_options();

}  // namespace pardec
