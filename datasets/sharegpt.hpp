#pragma once
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "datasets/dataset.hpp"

namespace pardec {

/// How APAR reads the structure of a response (appendix B of arXiv:2401.06761).
enum class ResponseForm {
  ordered_list,  ///< at least three points `n. title: detail`, each detail of ten characters or
                 ///< more
  paragraphs,    ///< at least three paragraphs of more than one sentence
  unstructured,  ///< all others, and responses with code, mathematics or addresses
};
std::string_view name(ResponseForm form);
ResponseForm form_of(std::string_view response);

/// ShareGPT, conversations of people with ChatGPT, as one JSON list in a file *.json (the published
/// copies have several names; the first in order of names is read):
///   [{"id": I, "conversations": [{"from": "human", "value": P}, {"from": "gpt", "value": A},
///   ...]}]
/// Each person's turn is asked, the response is its reference. The turns that are kept begin with a
/// person's first turn and alternate. Earlier turns are left out, and so is everything from the
/// first turn that does not alternate or has no response. A conversation with no turns left is left
/// out. The category is "structured" if the first response is an ordered list or paragraphs,
/// otherwise "unstructured": `select` then draws equally many of both categories, as APAR does. The
/// only split is test. Faults: invalid members.
Dataset load_sharegpt(const std::filesystem::path& folder, std::string_view split,
                      Inspection* inspection);

}  // namespace pardec
