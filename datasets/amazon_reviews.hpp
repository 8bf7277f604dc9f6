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
/// An example is a product. The text of the example has the product's title, description and
/// features, under the headings Title, Description and Bullets. A heading is left out if the record
/// has nothing for it. The fields are the attributes of the product's category. There are no
/// references: fields are not annotated, and a judge scores the answers. Categories are read in
/// alphabetical order. The only split is test. Products without a title are left out; an inspection
/// notes the number of these products.
/// ConfigError: there is no such split, there is no meta_CATEGORY.jsonl, or the file with a
/// category's attributes is missing. DataError: a member is invalid, a list of attributes is empty,
/// or an attribute is defined twice.
Dataset load_amazon_reviews(const std::filesystem::path& folder, std::string_view split,
                            Inspection* inspection);

}  // namespace pardec
