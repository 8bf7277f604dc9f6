#pragma once
#include <filesystem>
#include <string_view>

#include "datasets/dataset.hpp"

namespace pardec {

/// Amazon Reviews 2023 (Hou et al. 2024): the metadata of products, as the authors publish it.
/// There are one or more files meta_CATEGORY.jsonl with records
///
///   {"parent_asin": I, "title": T, "description": [D, ...], "features": [F, ...], ...}
///
/// The attributes to extract are in attributes/CATEGORY.json, a file that the authors do not
/// publish:
///
///   {"attributes": [{"name": N, "definition": D}, ...]}
///
/// The text of an example is title, description and features, each after its name. There are no
/// references: fields are not annotated, and a judge scores the answers. Categories are read in
/// alphabetical order. The only split is test. Products without a title are left out, and a note
/// has their number. DataError: a member is invalid, a category has no definitions, or an attribute
/// is defined twice.
Dataset load_amazon_reviews(const std::filesystem::path& folder, std::string_view split,
                            Inspection* inspection);

}  // namespace pardec
