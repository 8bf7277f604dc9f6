#pragma once
#include <filesystem>
#include <string_view>

#include "datasets/dataset.hpp"

namespace pardec {

/// Amazon Reviews 2023 (Hou et al. 2024), the items' metadata as published by its authors: one or
/// more files meta_CATEGORY.jsonl with records
///
///   {"parent_asin": I, "title": T, "description": [D, ...], "features": [F, ...], ...}
///
/// and next to each one attributes/CATEGORY.json with the attributes to extract for products of
/// this category (the publisher has no such file):
///
///   {"attributes": [{"name": N, "definition": D}, ...]}
///
/// The text is title, description and bullets (features), each with its name. There are no
/// references: fields are not annotated, and a judge scores them. Categories are read in the order
/// of their names; the only split is test. Products without a title are left out, and their number
/// is noted. Faults: invalid members, a category without definitions, an attribute defined twice.
Dataset load_amazon_reviews(const std::filesystem::path& folder, std::string_view split,
                            Inspection* inspection);

}  // namespace pardec
