#pragma once
#include <memory>

#include "decoders/hpd/hpd.hpp"
#include "src/training/training_sample.hpp"

namespace pardec {

/// HPD's training sequence in natural order: p, seg_1, v_1, seg_2, v_2, ... with the positions,
/// orders and ranks of `layout`. `values[r]` are the ids to choose for value r, as the decoder
/// would choose them: through the first with a line break, K_max at most. Each is a target: of row
/// end(seg_r) the first, of row v_{r,k} the next; of values that are `unknown` (empty: none) none
/// is. The last one is a target alone and never an input, as in decoding.
TrainingSample hpd_sample(const HpdLayout& layout, const std::vector<Tokens>& values,
                          const std::vector<bool>& unknown = {});

/// The format over `tokenizer`, which outlives it. Absent references are taught as "n/a",
/// unknown ones fed so: the skeleton is the category's own. `context_length`: positions of the
/// network; a stack that does not fit is a ConfigError.
std::unique_ptr<TrainingFormat> make_hpd_format(const HpdOptions& options,
                                                const Tokenizer& tokenizer, int context_length);

/// What `train` calls them, and their flags.
std::vector<FormatEntry> hpd_formats();
std::vector<TrainingOption> hpd_training_options();

}  // namespace pardec
