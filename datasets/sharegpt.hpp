#pragma once
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "datasets/dataset.hpp"

namespace pardec {

/// The structure of a response, by the rules of APAR (appendix B of arXiv:2401.06761).
enum class ResponseForm {
  ordered_list,  ///< at least three points `n. title: detail`, each detail of at least ten bytes
  paragraphs,    ///< at least three paragraphs of more than one sentence
  unstructured,  ///< everything else, and all responses with code, mathematics or addresses
};
/// "ordered list", "paragraphs" or "unstructured".
std::string_view name(ResponseForm form);
/// The structure of this response.
ResponseForm form_of(std::string_view response);

/// ShareGPT: conversations of people with ChatGPT, as one JSON list in a file *.json. Published
/// copies have different names; the alphabetically first file (except kStandinNote) is read:
///   [{"id": I, "conversations": [{"from": "human", "value": P}, {"from": "gpt", "value": A},
///   ...]}]
/// ("user" and "chatgpt" are read as "human" and "gpt".) The fields are the person's turns; the
/// references are the responses. Turns before the person's first turn are left out. After that,
/// turns are kept as long as person and response alternate and are not blank. A last turn without a
/// response is left out, and so is a conversation without any remaining turn.
///
/// The category is "structured" if the first response is an ordered list or paragraphs, otherwise
/// "unstructured". Thus `select` draws equally many of both, as APAR does. The only split is test.
/// ConfigError: there is no such split or no file. DataError: a member is invalid.
Dataset load_sharegpt(const std::filesystem::path& folder, std::string_view split,
                      Inspection* inspection);

}  // namespace pardec
