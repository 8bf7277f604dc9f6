#pragma once
#include <memory>

#include "decoders/hpd/hpd.hpp"
#include "src/training/training_sample.hpp"

namespace pardec {

/// HPD's training sequence in the order of the text: p, seg_1, v_1, seg_2, v_2, ... The rows have
/// the labels of `layout`. `values[r]` are the ids of value r, as in decoding (hpd_values). Each id
/// of a value is a target: the first id is the target of row end(seg_r), and each later id is the
/// target of the row of the preceding id. The last id of a value is a target only and never an
/// input, as in decoding. `unknown[r]`: true if the ids of value r are not targets. If `unknown` is
/// empty, the ids of all values are targets.
TrainingSample hpd_sample(const HpdLayout& layout, const std::vector<Tokens>& values,
                          const std::vector<bool>& unknown = {});

/// Creates the training format. `tokenizer` must outlive it. The text of an absent value is "n/a".
/// An unknown value (TrainingExample::unknown) is in the sequence too, as "n/a" but without
/// targets, because the skeleton has all fields of the category. If all values are unknown, there
/// is no sequence. The format's `samples` throws ConfigError if a prompt, its skeleton and the
/// positions reserved for the values exceed `context_length` positions.
std::unique_ptr<TrainingFormat> make_hpd_format(const HpdOptions& options,
                                                const Tokenizer& tokenizer, int context_length);

/// HPD's training formats, and their flags of `train`.
std::vector<FormatEntry> hpd_formats();
std::vector<TrainingOption> hpd_training_options();

}  // namespace pardec
