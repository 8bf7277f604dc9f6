#pragma once
#include <memory>

#include "decoders/hpd/hpd.hpp"
#include "src/training/training_sample.hpp"

namespace pardec {

/// HPD's training sequence in natural order: p, seg_1, v_1, seg_2, v_2, ... with the positions,
/// orders and ranks of `layout`. `values[r]` are the ids to choose for value r, as in decoding: up
/// to and including the first one with a line break, at most K_max. Each id is a target: the first
/// one at row end(seg_r), the next ones at rows v_{r,k}. Ids of `unknown` values (empty: none) are
/// not targets. The last id of a value is only a target and never an input, as in decoding.
TrainingSample hpd_sample(const HpdLayout& layout, const std::vector<Tokens>& values,
                          const std::vector<bool>& unknown = {});

/// The format based on `tokenizer`, which must outlive it. Absent references are trained as "n/a";
/// unknown ones are inputs with that text, because the skeleton has all fields of the category.
/// `context_length`: positions of the network. ConfigError: a stack does not fit.
std::unique_ptr<TrainingFormat> make_hpd_format(const HpdOptions& options,
                                                const Tokenizer& tokenizer, int context_length);

/// The entries of `train`'s formats, and their flags.
std::vector<FormatEntry> hpd_formats();
std::vector<TrainingOption> hpd_training_options();

}  // namespace pardec
