#pragma once
#include <map>
#include <string>

#include "decoders/decoder.hpp"
#include "src/store/store.hpp"

namespace pardec {

/// The ids that `--oracle recorded:RUN` forces: the choices of a stored run, by job.
using Recording = std::map<JobKey, Oracle>;

/// Reads the recording for the run `now` from the jobs without an error in the first repeat of a
/// stored run. `id`: a prefix of the uuid of a run or of an invocation. If an invocation has
/// several runs, the run with the decoder, options and dataset of `now` is used, because these
/// determine the order of ids. ConfigError: there is no such run, or it had other limits on the
/// length of answers.
Recording read_recording(Store& store, const std::string& id, const RunRow& now);

}  // namespace pardec
