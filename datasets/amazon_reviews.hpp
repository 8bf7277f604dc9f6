#pragma once
#include <filesystem>
#include <string_view>

#include "datasets/dataset.hpp"

namespace pardec {

/// Amazon Reviews 2023 (Hou et al. 2024), the items' metadata, as its authors publish it: one file
/// meta_CATEGORY.jsonl or more, of which a record is
///
///   {"parent_asin": I, "title": T, "description": [D, ...], "features": [F, ...], ...}
///
/// and beside each attributes/CATEGORY.json, which says what is asked of the products of this
/// category (the publisher has no such file):
///
///   {"attributes": [{"name": N, "definition": D}, ...]}
///
/// The text is title, description and bullets (features), each under its name. There are no
/// references: fields are not annotated, and a judge scores them. Categories are read in the order
/// of their names; the one split is test. Products without a title are left out, and their number
/// noted. Faults: members, a category without definitions, an attribute defined twice.
Dataset load_amazon_reviews(const std::filesystem::path& folder, std::string_view split,
                            Inspection* inspection);

}  // namespace pardec
