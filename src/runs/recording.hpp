#pragma once
#include <map>
#include <string>

#include "decoders/decoder.hpp"
#include "src/store/store.hpp"

namespace pardec {

/// What `--oracle recorded:RUN` forces: the ids that a stored run chose, by job.
using Recording = std::map<JobKey, Oracle>;

/// The recording of the arm that `now` is about to run. `id` begins the run's uuid or its
/// invocation's; of several runs of one invocation it is the one of the same decoder with the same
/// options on the same dataset, since the ids' order is theirs. Its jobs without error, first
/// repeat. ConfigError: no such run, or other limits, which would end the streams elsewhere.
Recording read_recording(Store& store, const std::string& id, const RunRow& now);

}  // namespace pardec
