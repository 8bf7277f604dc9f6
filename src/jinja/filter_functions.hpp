#pragma once
#include "src/jinja/value.hpp"

namespace pardec::jinja::filter {

// Most filters of the template language, as in jinja2 and transformers; filters.cpp has the others.
// The table in filters.cpp maps the names of filters to functions: for example,
// `value|max(arguments)` calls greatest(value, arguments). Fault: see apply_filter (filters.hpp).

using V = const Value&;
using A = const Arguments&;

// Texts (text_filters.cpp)
Value as_text(V value, A arguments);
Value capitalize(V value, A arguments);
Value center(V value, A arguments);
Value escape(V value, A arguments);
Value filesizeformat(V value, A arguments);
Value force_escape(V value, A arguments);
Value format(V value, A arguments);
Value indent(V value, A arguments);
Value lower(V value, A arguments);
Value pprint(V value, A arguments);
Value replace(V value, A arguments);
Value safe(V value, A arguments);
Value striptags(V value, A arguments);
Value title(V value, A arguments);
Value tojson(V value, A arguments);
Value trim(V value, A arguments);
Value truncate(V value, A arguments);
Value upper(V value, A arguments);
Value urlencode(V value, A arguments);
Value wordcount(V value, A arguments);
Value xmlattr(V value, A arguments);
Value wordwrap(V value, A arguments);  // wordwrap.cpp

// Numbers (number_filters.cpp)
Value absolute(V value, A arguments);
Value round(V value, A arguments);
Value to_real(V value, A arguments);
Value to_whole(V value, A arguments);

// Iterables (sequence_filters.cpp)
Value as_list(V value, A arguments);
Value batch(V value, A arguments);
Value first(V value, A arguments);
Value items(V value, A arguments);
Value join_items(V value, A arguments);
Value last(V value, A arguments);
Value reverse(V value, A arguments);
Value slices(V value, A arguments);
Value sum(V value, A arguments);

// Ordering (order_filters.cpp)
Value dictsort(V value, A arguments);
Value greatest(V value, A arguments);
Value groupby(V value, A arguments);
Value least(V value, A arguments);
Value sort(V value, A arguments);
Value unique(V value, A arguments);

/// Returns the result of attribute_path(value, path, fallback). Before it follows the path, the
/// function takes the steps for this work from the budget of `arguments`. If `path` is None, it
/// returns `value` itself, and takes no steps. Fault: see attribute_path; or the budget is used up.
Value member_of(V value, V path, A arguments, const Value& fallback = {});

}  // namespace pardec::jinja::filter
