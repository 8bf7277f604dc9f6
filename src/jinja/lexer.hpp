#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace pardec::jinja {

/// A token of a template.
struct Token {
  enum class Kind {
    data,          ///< text between tags
    output_begin,  ///< {{
    output_end,
    block_begin,  ///< {%
    block_end,
    name,
    string,  ///< a quoted text; Token::text has its escapes resolved
    integer,
    real,
    symbol,  ///< an operator, a bracket or punctuation
    end      ///< after the last token of the template
  };
  Kind kind = Kind::end;
  /// empty for the kinds whose names have `begin` or `end`; numbers are without `_`
  std::string text;
  int line = 1;  ///< line of the template, from 1
};

/// Splits a template into tokens, as jinja2 does with trim_blocks and lstrip_blocks. The line break
/// after a block tag or comment is removed, and so is white space between the beginning of the line
/// and the tag or comment. If a tag begins or ends with `-`, all white space on that side of the
/// tag is removed; with `+`, none is removed. A comment gives no token, and the content of a `raw`
/// block gives a token of kind `data`. All line breaks become \n, and a line break at the end of
/// the template is removed. The last token has the kind `end`. Fault: a lexical error, a tag of
/// more than 2000 tokens, or an escape or number that is not supported.
std::vector<Token> tokenize(std::string_view source);

}  // namespace pardec::jinja
