#pragma once
#include <map>
#include <string>

#include "decoders/decoder.hpp"
#include "src/store/store.hpp"

namespace pardec {

/// The tokens that `--oracle recorded:RUN` forces: the choices of a stored run, by job.
using Recording = std::map<JobKey, Oracle>;

/// Reads the recording for the run `now` from a stored run. The recording has all jobs of the
/// stored run's first repeat that have no error. `id`: a prefix of the uuid of a run or of an
/// invocation, or the name of an invocation. Among several matching runs, the newest run with the
/// decoder, options and dataset of `now` is used, because these determine the order of the tokens.
/// ConfigError: there is no such run, its network has other token ids than the network of `now`
/// (same_ids), or its answers had other limits or end-of-sequence ids. StoreError, DataError: see
/// Store.
Recording read_recording(Store& store, const std::string& id, const RunRow& now);

}  // namespace pardec
