#pragma once
#include <map>
#include <string>

#include "decoders/decoder.hpp"
#include "src/store/store.hpp"

namespace pardec {

/// The ids that `--oracle recorded:RUN` forces: the choices of a stored run, by job.
using Recording = std::map<JobKey, Oracle>;

/// The recording for the arm of `now`: jobs without an error in the first repeat. `id` is a prefix
/// of the uuid of a run or of its invocation. If an invocation has several runs, the one with the
/// same decoder, options and dataset is used, since these determine the order of ids. ConfigError:
/// there is no such run, or it had other limits, under which streams would end elsewhere.
Recording read_recording(Store& store, const std::string& id, const RunRow& now);

}  // namespace pardec
