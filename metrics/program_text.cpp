#include "metrics/program_text.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <utility>
#include <vector>

#include "metrics/one_of.hpp"
#include "src/support/json.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

using Lines = std::vector<std::string>;

Lines lines_of(std::string_view text) {
  Lines lines = split(text, '\n');
  for (std::string& line : lines)
    if (line.ends_with('\r')) line.pop_back();
  return lines;
}

std::string text_of(const Lines& lines) { return join(lines, "\n"); }

bool is_blank(std::string_view line) { return strip(line).empty(); }

std::size_t indent_of(std::string_view line) {
  const std::size_t at = line.find_first_not_of(" \t");
  return at == std::string_view::npos ? line.size() : at;
}

bool is_name_start(char c) { return std::isalpha(static_cast<unsigned char>(c)) || c == '_'; }
bool is_name(char c) { return is_name_start(c) || std::isdigit(static_cast<unsigned char>(c)); }

std::string_view name_at(std::string_view text) {
  if (text.empty() || !is_name_start(text[0])) return {};
  std::size_t end = 1;
  while (end < text.size() && is_name(text[end])) ++end;
  return text.substr(0, end);
}

/// The name that a line defines: `def f(`, `async def f(`, `f = `; otherwise empty.
std::string_view defined_by(std::string_view line) {
  line = strip(line);
  if (line.starts_with("async ")) line = strip(line.substr(6));
  if (line.starts_with("def ")) return name_at(strip(line.substr(4)));
  const std::string_view name = name_at(line), rest = strip(line.substr(name.size()));
  return rest.starts_with('=') && !rest.starts_with("==") ? name : std::string_view();
}

/// A line without its comment and the white space before it. Approximate: # inside quotes counts as
/// a comment too.
std::string_view without_comment(std::string_view line) {
  return rstrip(line.substr(0, line.find('#')));
}

/// The text after the target of an assignment or a called name: `x`, `x.y[0]`, `a, *b`.
std::string_view after_target(std::string_view line) {
  std::size_t at = 0, open = 0;
  while (at < line.size()) {
    const char c = line[at];
    if (c == '[')
      ++open;
    else if (c == ']' && open)
      --open;
    else if (!open && c == ' ' && (at == 0 || line[at - 1] != ',') &&
             line.substr(at).find_first_not_of(' ') != std::string_view::npos &&
             line[at + line.substr(at).find_first_not_of(' ')] != ',')
      break;
    else if (!open && !is_name(c) && std::string_view(" ,.*").find(c) == std::string_view::npos)
      break;
    ++at;
  }
  return strip(line.substr(at));
}

/// Whether two adjacent words cannot occur in a line of Python ("the sum"), outside of quoted
/// texts.
bool has_prose(std::string_view line) {
  constexpr std::array<std::string_view, 36> kWords{
      "and",    "as",    "assert", "async",  "await",   "break", "class",    "continue", "def",
      "del",    "elif",  "else",   "except", "finally", "for",   "from",     "global",   "if",
      "import", "in",    "is",     "lambda", "match",   "case",  "nonlocal", "not",      "or",
      "pass",   "raise", "return", "try",    "while",   "with",  "yield",    "type",     "print"};
  std::string_view last;
  for (std::size_t at = 0; at < line.size();) {
    const char c = line[at];
    if (c == '"' || c == '\'') {
      const std::string_view three = line.substr(at, 3);
      const bool long_text = three == "\"\"\"" || three == "'''";
      const std::size_t end = long_text ? line.find(three, at + 3) : line.find(c, at + 1);
      // it continues on the next line
      if (long_text && end == std::string_view::npos) return false;
      if (end != std::string_view::npos) at = end + (long_text ? 2 : 0);
    }
    if (!is_name(c)) {
      if (c != ' ') last = {};
      ++at;
      continue;
    }
    std::size_t end = at;
    while (end < line.size() && is_name(line[end])) ++end;
    const std::string_view word = line.substr(at, end - at);
    if (!last.empty() && !is_one_of(last, kWords) && !is_one_of(word, kWords)) return true;
    last = word;
    at = end;
  }
  return false;
}

/// Whether a line can be a top-level line of Python.
bool looks_like_code(std::string_view whole) {
  const std::string_view line = strip(whole);
  if (line.empty() || (line[0] != '#' && has_prose(without_comment(line)))) return false;
  if (std::string_view("#@)]}").find(line[0]) != std::string_view::npos) return true;
  if (line.starts_with("\"\"\"") || line.starts_with("'''")) return true;
  const std::string_view code = without_comment(line);
  const std::string_view word = name_at(line), rest = strip(line.substr(word.size()));
  constexpr std::array<std::string_view, 7> kAlone{"pass",  "break", "continue", "return",
                                                   "raise", "yield", "else"};
  constexpr std::array<std::string_view, 13> kBlocks{"if",    "for",   "while", "with",    "try",
                                                     "def",   "class", "elif",  "finally", "except",
                                                     "async", "else",  "match"};
  constexpr std::array<std::string_view, 9> kSimple{"return", "raise",  "yield",    "assert", "del",
                                                    "global", "import", "nonlocal", "await"};
  if (is_one_of(word, kAlone) && (code.size() == word.size() || code == "else:")) return true;
  if (word == "for" && rest.find(" in ") == std::string_view::npos) return false;
  if ((word == "try" || word == "finally") && !rest.starts_with(':')) return false;
  if (word == "assert" && rest.ends_with('!')) return false;
  if (is_one_of(word, kBlocks) &&
      (code.ends_with(':') || code.find(": ") != std::string_view::npos ||
       std::string_view("(,\\[{").find(code.back()) != std::string_view::npos))
    return true;
  if (is_one_of(word, kSimple) && !rest.empty()) return true;
  if (word == "from") return rest.find(" import ") != std::string_view::npos;
  if (line[0] == '(' || line[0] == '[') {  // (a, b) = ...
    const std::size_t end = line.find(line[0] == '(' ? ')' : ']');
    const std::string_view after =
        end == std::string_view::npos ? std::string_view() : strip(line.substr(end + 1));
    return after.starts_with('=') && !after.starts_with("==");
  }
  if (word.empty() && line[0] != '*') return false;
  const std::string_view after = after_target(line);
  constexpr std::array<std::string_view, 14> kAssigned{
      "//=", "**=", ">>=", "<<=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", ":=", "="};
  for (const std::string_view sign : kAssigned)
    if (after.starts_with(sign) && after.size() > sign.size() && after[sign.size()] != '=')
      return true;
  if (after.starts_with(':') && after.find('=') != std::string_view::npos) return true;
  // A call that ends with the line.
  return after.starts_with('(') && !word.empty() && line.find('(') > 0 &&
         line[line.find('(') - 1] != ' ' && !code.empty() &&
         std::string_view(")(,[{:\\").find(code.back()) != std::string_view::npos;
}

// Fenced blocks.

struct Block {
  std::string language;  ///< in lower case; empty: not named
  Lines lines;
};

/// The first word after a fence: "python", "{.python .numberLines}", "Python 3", "py:solve.py".
std::string language_of(std::string_view info) {
  const std::string lower = lower_ascii(std::string(info));
  std::size_t begin = 0;
  while (begin < lower.size() && !is_name_start(lower[begin])) ++begin;
  std::size_t end = begin;
  while (end < lower.size() && (is_name(lower[end]) || lower[end] == '+' || lower[end] == '#'))
    ++end;
  const std::string word = lower.substr(begin, end - begin);
  // "{.language-python}", "code python"
  if ((word == "language" || word == "lang" || word == "code") && end < lower.size())
    return language_of(lower.substr(end));
  return word;
}

bool is_python(std::string_view language) {
  constexpr std::array<std::string_view, 9> kPython{
      "python", "py", "python3", "py3", "ipython", "pyi", "cpython", "sage", "python2"};
  return is_one_of(language, kPython);
}

/// Whether this is a language that the task's program cannot be in. Other words may be a title or a
/// name.
bool is_other_language(std::string_view language) {
  constexpr std::array<std::string_view, 38> kOthers{
      "bash", "sh",    "shell",    "zsh",        "console",    "terminal", "cmd",    "powershell",
      "text", "txt",   "plain",    "plaintext",  "output",     "out",      "json",   "yaml",
      "xml",  "html",  "toml",     "ini",        "diff",       "java",     "js",     "javascript",
      "ts",   "rust",  "go",       "c",          "cpp",        "c++",      "csharp", "ruby",
      "sql",  "latex", "makefile", "dockerfile", "pseudocode", "pycon"};
  return is_one_of(language, kOthers);
}

bool holds_blocks(std::string_view language) { return language == "markdown" || language == "md"; }

/// A line that opens a fence: its indentation or quotation, mark, length, and the rest.
struct Fence {
  std::size_t indent;
  char mark;
  std::size_t length;
  std::string info;
};

std::optional<Fence> fence_in(std::string_view line) {
  const std::size_t at = line.find_first_not_of(" \t>");
  if (at == std::string_view::npos) return std::nullopt;
  const char mark = line[at];
  const bool quotes = mark == '\'' || mark == '"';
  if (mark != '`' && mark != '~' && !quotes) return std::nullopt;
  std::size_t end = at;
  while (end < line.size() && line[end] == mark) ++end;
  if (end - at < 3) return std::nullopt;
  Fence fence{at, mark, end - at, std::string(strip(line.substr(end)))};
  // Backticks after the fence make it inline code; quotes open a block only with a language.
  if (mark == '`' && fence.info.find('`') != std::string::npos) return std::nullopt;
  if (quotes && !(end - at == 3 && is_python(lower_ascii(fence.info)))) return std::nullopt;
  return fence;
}

/// The line of the closing fence may contain prose; a fence in a docstring is indented further.
bool closes(const Fence& open, std::string_view line) {
  const std::size_t at = line.find_first_not_of(" \t>");
  if (at == std::string_view::npos || at > open.indent + 3) return false;
  std::size_t end = at;
  while (end < line.size() && line[end] == open.mark) ++end;
  if (end - at < open.length) return false;
  const std::string_view rest = strip(line.substr(end));
  const std::string language = language_of(rest);
  return rest.empty() ||
         (rest.find(' ') != std::string_view::npos && rest.find('`') == std::string_view::npos &&
          !is_python(language) && !is_other_language(language));
}

/// The length of the code in a line of a block that ends with the fence: "return x```"; otherwise
/// none.
std::optional<std::size_t> code_before_end(const Fence& open, std::string_view line) {
  const std::string_view whole = rstrip(line);
  const std::size_t code = whole.find_last_not_of(open.mark) + 1;
  const bool ends = open.mark == '`' && code > 0 && whole.size() - code == open.length &&
                    whole.substr(0, code).find('`') == std::string_view::npos;
  return ends && indent_of(line) < code ? std::optional(code) : std::nullopt;
}

/// A line of a block without the `indent` characters of the list or quotation around it.
std::string inside(std::string_view line, std::size_t indent, bool quoted) {
  std::size_t at = 0;
  while (at < std::min(indent, line.size()) &&
         (line[at] == ' ' || line[at] == '\t' || (quoted && line[at] == '>')))
    ++at;
  return std::string(line.substr(at));
}

/// Other marks of code, on separate lines or next to the code.
constexpr std::array<std::pair<std::string_view, std::string_view>, 10> kMarks{{
    {"<code class=\"language-python\">", "</code>"},
    {"<code class=\"python\">", "</code>"},
    {"[python]", "[/python]"},
    {"[code]", "[/code]"},
    {"<python>", "</python>"},
    {"<code>", "</code>"},
    {"\\begin{lstlisting}", "\\end{lstlisting}"},
    {"\\begin{verbatim}", "\\end{verbatim}"},
    {"\\begin{minted}", "\\end{minted}"},
    {"#+begin_src", "#+end_src"},
}};

/// The blocks of an answer, and the text around them, in which each block is one line "```".
struct Blocks {
  std::vector<Block> all;
  Lines outside, before;       ///< before: text before the first fence
  bool first_is_bare = false;  ///< the first fence names no language, and may be a closing one
};

void add_inline(std::string_view line, std::vector<Block>& blocks) {
  const std::size_t open = line.find("```"), end = line.find("```", open + 3);
  if (end == std::string_view::npos) return;
  std::string_view code = strip(line.substr(open + 3, end - open - 3));
  Block block;
  if (const auto word = name_at(code); is_python(lower_ascii(std::string(word)))) {
    block.language = "python";
    code = strip(code.substr(word.size()));
  }
  block.lines = {std::string(code)};
  blocks.push_back(std::move(block));
}

Blocks fenced_blocks(const Lines& lines) {
  Blocks out;
  bool any = false;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const auto fence = fence_in(lines[i]);
    if (!fence) {
      if (!any) out.before.push_back(lines[i]);
      out.outside.push_back(lines[i]);
      if (lines[i].find("```") != std::string::npos) add_inline(lines[i], out.all);
      continue;
    }
    if (!any) out.first_is_bare = fence->info.empty();
    any = true;
    out.outside.emplace_back("```");
    Block block{language_of(fence->info), {}};
    const bool quoted = lines[i].substr(0, fence->indent).find('>') != std::string::npos;
    bool nested = holds_blocks(block.language);
    for (++i; i < lines.size() && !closes(*fence, lines[i]); ++i) {
      block.lines.push_back(inside(lines[i], fence->indent, quoted));
      if (const auto code = code_before_end(*fence, block.lines.back())) {
        block.lines.back().resize(*code);
        break;
      }
      const auto inner = fence_in(block.lines.back());
      nested = nested || (inner && inner->indent < 4 && is_python(language_of(inner->info)));
    }
    if (nested) {
      const Blocks deeper = fenced_blocks(block.lines);
      out.all.insert(out.all.end(), deeper.all.begin(), deeper.all.end());
    } else {
      out.all.push_back(std::move(block));
    }
  }
  return out;
}

/// Replaces HTML's five character entities.
std::string without_entities(std::string text) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kEntities{
      {{"&lt;", "<"},
       {"&gt;", ">"},
       {"&quot;", "\""},
       {"&#39;", "'"},
       {"&#x27;", "'"},
       {"&amp;", "&"}}};
  for (const auto& [entity, character] : kEntities)
    for (std::size_t at = 0; (at = text.find(entity, at)) != std::string::npos; ++at)
      text.replace(at, entity.size(), character);
  return text;
}

/// Blocks between kMarks outside of fences.
std::vector<Block> marked_blocks(const std::string& text) {
  std::vector<Block> blocks;
  const std::string lower = lower_ascii(text);
  for (const auto& [open, close] : kMarks)
    for (std::size_t at = lower.find(open); at != std::string::npos;) {
      std::size_t begin = at + open.size();
      const std::size_t end = lower.find(close, begin);
      const std::size_t line_end = lower.find('\n', begin);
      // "\begin{minted}{python}" and "#+begin_src python :results output"
      if ((open[0] == '\\' || open[0] == '#') && line_end < end) begin = line_end;
      std::string inner = text.substr(begin, end == std::string::npos ? end : end - begin);
      if (open[0] == '<') inner = without_entities(std::move(inner));
      Block block{"", lines_of(inner)};
      if (!block.lines.empty() && is_blank(block.lines.front()))
        block.lines.erase(block.lines.begin());
      blocks.push_back(std::move(block));
      at = end == std::string::npos ? end : lower.find(open, end);
    }
  return blocks;
}

// Definitions and bodies.

/// For each line, whether it continues an earlier line: a triple-quoted text, and with `brackets`
/// also open brackets or a backslash at the end.
std::vector<bool> goes_on(const Lines& lines, bool brackets = true) {
  std::vector<bool> inside;
  std::string_view three;
  std::size_t depth = 0;
  bool joined = false;
  for (const std::string& line : lines) {
    inside.push_back(!three.empty() || (brackets && (depth > 0 || joined)));
    char quote = 0;
    for (std::size_t at = 0; at < line.size(); ++at) {
      const char c = line[at];
      const std::string_view here = std::string_view(line).substr(at, 3);
      if (c == '\\') {
        ++at;
      } else if (!three.empty()) {
        if (here != three) continue;
        three = {};
        at += 2;
      } else if (quote) {
        if (c == quote) quote = 0;
      } else if (c == '#') {
        break;
      } else if (here == "\"\"\"" || here == "'''") {
        three = here == "\"\"\"" ? "\"\"\"" : "'''";
        at += 2;
      } else if (c == '"' || c == '\'') {
        quote = c;
      } else if (std::string_view("([{").find(c) != std::string_view::npos) {
        ++depth;
      } else if (std::string_view(")]}").find(c) != std::string_view::npos && depth > 0) {
        --depth;
      }
    }
    joined = line.ends_with('\\');
  }
  return inside;
}

bool is_comment(std::string_view line) { return strip(line).starts_with('#'); }

/// The least indentation of lines from `begin` on, ignoring comments and continued lines; none:
/// there are no such lines.
std::optional<std::size_t> least_indent(const Lines& lines, std::size_t begin = 0) {
  const auto text = goes_on(lines);
  std::optional<std::size_t> least;
  for (std::size_t i = begin; i < lines.size(); ++i)
    if (!is_blank(lines[i]) && !text[i] && !is_comment(lines[i]))
      least = std::min(least.value_or(indent_of(lines[i])), indent_of(lines[i]));
  return least;
}

/// All lines shifted so that the least indented line has the indentation `indent`.
Lines reindented(Lines lines, const std::string& indent) {
  const std::size_t least = least_indent(lines).value_or(0);
  const auto text = goes_on(lines);
  for (std::size_t i = 0; i < lines.size(); ++i)
    if (!is_blank(lines[i]) && !text[i])
      lines[i] = indent + lines[i].substr(std::min(least, indent_of(lines[i])));
  return lines;
}

bool begins_definition(std::string_view line) {
  return strip(line).starts_with("def ") || strip(line).starts_with("async def ");
}

/// Whether a value is returned outside of all functions, as in a body alone.
bool returns_outside(const Lines& lines) {
  std::optional<std::size_t> function;
  for (const std::string& line : lines) {
    if (is_blank(line)) continue;
    if (function && indent_of(line) <= *function) function.reset();
    const std::string_view word = name_at(strip(line));
    if (!function && (word == "return" || word == "yield")) return true;
    if (!function && begins_definition(line)) function = indent_of(line);
  }
  return false;
}

/// The line that defines a name: the first of the least indented ones, because methods do not
/// count. Assignments in a body do not count either.
std::optional<std::size_t> definition_of(std::string_view name, const Lines& lines) {
  std::optional<std::size_t> found;
  for (std::size_t i = 0; i < lines.size(); ++i)
    if (!name.empty() && defined_by(lines[i]) == name &&
        (!found || indent_of(lines[i]) < indent_of(lines[*found])) &&
        (begins_definition(lines[i]) || !returns_outside(lines)))
      found = i;
  return found;
}

/// Whether the function defined at line `at` is only a stub: `pass`, `...`, or a docstring alone.
bool is_stub(const Lines& lines, std::size_t at) {
  const auto text = goes_on(lines);
  if (!without_comment(lines[at]).ends_with(':')) return false;
  for (std::size_t i = at + 1; i < lines.size(); ++i) {
    const std::string_view line = strip(lines[i]);
    if (line.empty() || line[0] == '#' || text[i]) continue;
    if (indent_of(lines[i]) <= indent_of(lines[at])) break;
    if (line != "pass" && line != "..." && !line.starts_with("import ") &&
        !line.starts_with("raise NotImplementedError") && !line.starts_with("\"\"\"") &&
        !line.starts_with("'''"))
      return false;
  }
  return true;
}

/// The lines typed at Python's prompts (">>> " and "... ") or IPython's, without their output.
Lines typed_in(const Lines& lines) {
  Lines typed;
  for (const std::string& line : lines) {
    std::string_view rest = line;
    rest.remove_prefix(indent_of(line));
    std::size_t size = 0;
    if (rest.starts_with(">>>") || rest.starts_with("...")) size = 3;
    const std::size_t colon = rest.find("]: ");
    if (rest.starts_with("In [") && colon != std::string_view::npos) size = colon + 2;
    if (rest.starts_with("...:")) size = 4;
    if (size == 0) continue;
    rest.remove_prefix(size);
    if (rest.starts_with(' ')) rest.remove_prefix(1);
    typed.emplace_back(rest);
  }
  return typed;
}

/// Whether a block contains only imports and definitions, so that it can precede another block.
bool defines_alone(const Lines& lines) {
  bool any = false;
  for (const std::string& line : lines) {
    if (is_blank(line) || indent_of(line) > 0) continue;
    constexpr std::array<std::string_view, 5> kDefining{"import", "from", "def", "class", "async"};
    const bool defining = is_one_of(name_at(line), kDefining) || !defined_by(line).empty();
    if (!defining && std::string_view("#@)]}").find(line[0]) == std::string_view::npos)
      return false;
    any = any || defining;
  }
  return any;
}

/// The definition in line `at`, with the adjacent code before and after it.
Lines around_definition(const Lines& all, std::size_t at) {
  const std::size_t indent = indent_of(all[at]);
  const auto text_before = goes_on(all, /*brackets=*/false);
  std::size_t begin = at, end = at + 1;
  for (std::size_t i = at; i-- > 0;) {
    if (is_blank(all[i]) || indent_of(all[i]) > indent || text_before[i]) continue;
    if (indent_of(all[i]) < indent || !looks_like_code(all[i])) break;
    begin = i;
  }
  const Lines after(all.begin() + static_cast<long>(at), all.end());
  const auto text = goes_on(after);
  for (std::size_t i = 1; i < after.size(); ++i) {
    if (is_blank(after[i])) continue;
    if (!text[i] && (indent_of(after[i]) < indent ||
                     (indent_of(after[i]) == indent && !looks_like_code(after[i]))))
      break;
    end = at + i + 1;
  }
  return reindented({all.begin() + static_cast<long>(begin), all.begin() + static_cast<long>(end)},
                    "");
}

/// The first lines of code, up to prose; empty: there are none.
Lines code_in(const Lines& all) {
  const auto is_code = [](const std::string& line) {
    return !is_blank(line) && (indent_of(line) > 0 || looks_like_code(line));
  };
  const auto first = std::find_if(all.begin(), all.end(), is_code);
  const Lines rest(first, all.end());
  const auto text = goes_on(rest);
  std::size_t size = 0;
  for (std::size_t i = 0; i < rest.size(); ++i) {
    if (is_blank(rest[i])) continue;
    if (!text[i] && !is_code(rest[i])) break;
    size = i + 1;
  }
  // The prompt's docstring, closed a second time.
  if (size > 1 && !text[size - 1] &&
      (strip(rest[size - 1]) == "\"\"\"" || strip(rest[size - 1]) == "'''"))
    --size;
  return {rest.begin(), rest.begin() + static_cast<long>(size)};
}

bool is_program_line(const std::string& line) { return !is_blank(line) && strip(line)[0] != '#'; }

/// Whether a line returns a value, as a body does and an example does not.
bool gives_back(const Lines& lines) {
  return std::any_of(lines.begin(), lines.end(), [](const std::string& line) {
    const std::string_view word = name_at(strip(line));
    return word == "return" || word == "yield" || line.find(": return ") != std::string::npos;
  });
}

/// The indentation of the body of the prompt's last function.
std::string body_indent(const Lines& prompt) {
  std::optional<std::size_t> head;
  for (std::size_t i = 0; i < prompt.size(); ++i)
    if (strip(prompt[i]).starts_with("def ")) head = i;
  for (std::size_t i = head.value_or(prompt.size()) + 1; i < prompt.size(); ++i)
    if (!is_blank(prompt[i]) && indent_of(prompt[i]) > indent_of(prompt[*head]))
      return prompt[i].substr(0, indent_of(prompt[i]));
  return "    ";
}

/// The index of the first line after the body, outside of the function.
std::size_t end_of_body(const Lines& code) {
  const auto text = goes_on(code);
  const std::string_view word = name_at(code.front());
  // If the first line has lost its indentation, an indented line follows, or the body ends.
  bool indented = indent_of(code.front()) > 0 || word == "return" || word == "raise";
  for (std::size_t i = 1; i < code.size(); ++i) {
    if (is_blank(code[i]) || text[i]) continue;
    constexpr std::array<std::string_view, 3> kOuter{"def", "class", "async"};
    const bool outer = is_one_of(name_at(code[i]), kOuter) || code[i].starts_with("if __name__");
    if (indent_of(code[i]) == 0 && indented && (outer || indent_of(code.front()) > 0)) return i;
    if (indent_of(code[i]) == 0 && !outer) indented = false;
    if (indent_of(code[i]) > 0 && i == 1) indented = true;
  }
  return code.size();
}

/// The lines of a body indented by `indent`, followed by the lines outside of it. A first line that
/// has lost its indentation gets it back.
Lines as_body(const Lines& code, const std::string& indent) {
  const auto end = code.begin() + static_cast<long>(end_of_body(code));
  Lines body(code.begin(), end);
  std::string& first = body.front();
  if (const auto least = least_indent(body, 1); least && indent_of(first) < *least) {
    const auto next = std::find_if(body.begin() + 1, body.end(),
                                   [](const std::string& line) { return !is_blank(line); });
    const bool all_inside = without_comment(first).ends_with(':') && indent_of(*next) == *least;
    const std::size_t wanted = all_inside ? *least - std::min(*least, indent.size()) : *least;
    if (wanted > indent_of(first)) first.insert(0, std::string(wanted - indent_of(first), ' '));
  }
  body = reindented(std::move(body), indent);
  body.insert(body.end(), end, code.end());
  return body;
}

/// The name of the prompt's last function.
std::string wanted_name(const Lines& prompt) {
  std::string name;
  for (const std::string& line : prompt)
    if (strip(line).starts_with("def ")) name = defined_by(line);
  return name;
}

/// Whether a block imports the function, as its tests do.
bool imports(const std::string& name, const Lines& block) {
  return std::any_of(block.begin(), block.end(), [&](const std::string& line) {
    const std::size_t import = line.find("import ");
    return line.starts_with("from ") && import != std::string::npos &&
           strip(std::string_view(line).substr(import + 7)).starts_with(name);
  });
}

/// Whether `program` uses a name that only `block` defines.
bool is_needed(const Lines& block, const Lines& program) {
  const std::string text = text_of(program);
  return defines_alone(block) &&
         std::any_of(block.begin(), block.end(), [&](const std::string& line) {
           std::string_view name = indent_of(line) ? std::string_view() : defined_by(line);
           if (line.starts_with("class ")) name = name_at(strip(std::string_view(line).substr(6)));
           if (name.empty() || definition_of(name, program)) return false;
           for (std::size_t at = text.find(name); at != std::string::npos;
                at = text.find(name, at + 1)) {
             const std::size_t end = at + name.size();
             if ((at == 0 || !is_name(text[at - 1])) && (end == text.size() || !is_name(text[end])))
               return true;
           }
           return false;
         });
}

/// The first block that defines the function (`stub`: even if it is only a stub), with the
/// definitions of preceding blocks, and those of following blocks that it needs.
std::optional<Lines> defining_block(const std::vector<Block>& blocks, const std::string& name,
                                    bool stub = false) {
  for (const bool other : {false, true}) {
    Lines before;
    for (std::size_t b = 0; b < blocks.size(); ++b) {
      const Block& block = blocks[b];
      if (is_other_language(block.language) && !other) continue;
      const auto at = definition_of(name, block.lines);
      if (at && (stub || !is_stub(block.lines, *at))) {
        Lines program =
            indent_of(block.lines[*at]) ? around_definition(block.lines, *at) : block.lines;
        program.insert(program.begin(), before.begin(), before.end());
        for (std::size_t later = b + 1; later < blocks.size(); ++later)
          if (!is_other_language(blocks[later].language) && is_needed(blocks[later].lines, program))
            program.insert(program.end(), blocks[later].lines.begin(), blocks[later].lines.end());
        return program;
      }
      if (!at && defines_alone(block.lines) && !imports(name, block.lines))
        before.insert(before.end(), block.lines.begin(), block.lines.end());
    }
  }
  return std::nullopt;
}

/// Inline code in single backticks that can be a program: `return 2 * x`, `def f(x): return 2 * x`.
std::vector<Block> inline_code(const Lines& lines) {
  std::vector<Block> blocks;
  for (const std::string& line : lines)
    for (std::size_t open = line.find('`'); open != std::string::npos;) {
      const std::size_t end = line.find('`', open + 1);
      if (end == std::string::npos) break;
      const std::string code = line.substr(open + 1, end - open - 1);
      if (looks_like_code(code)) blocks.push_back({"", {code}});
      open = line.find('`', end + 1);
    }
  return blocks;
}

/// The texts in an answer that is a JSON object, e.g. {"code": "def f(x): ..."}, each as a block.
std::vector<Block> json_texts(std::string_view text) {
  std::vector<Block> blocks;
  const std::size_t begin = text.find('{'), end = text.rfind('}');
  if (begin == std::string_view::npos || end == std::string_view::npos || end < begin)
    return blocks;
  text = text.substr(begin, end - begin + 1);
  if (too_deep(text) != std::string_view::npos) return blocks;
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return blocks;
  for (const auto& [key, value] : json.items())
    if (value.is_string()) {
      const Blocks inner = fenced_blocks(lines_of(value.get_ref<const std::string&>()));
      blocks.insert(blocks.end(), inner.all.begin(), inner.all.end());
      if (inner.all.empty()) blocks.push_back({"", inner.outside});
    }
  return blocks;
}

std::size_t program_lines(const Lines& lines) {
  return static_cast<std::size_t>(std::count_if(lines.begin(), lines.end(), is_program_line));
}

/// Candidates for the function's body, the most likely first.
std::vector<Lines> bodies_in(const Blocks& fenced, const std::vector<Block>& marked) {
  std::vector<Lines> bodies;
  // An answer that continues inside a fence of the prompt closes that fence.
  const Lines before = code_in(fenced.before);
  if (fenced.first_is_bare && program_lines(before) > 0 &&
      program_lines(before) == program_lines(fenced.before))
    bodies.push_back(before);
  for (const bool python : {true, false})
    for (const auto* blocks : {&fenced.all, &marked})
      for (const Block& block : *blocks)
        if (!is_other_language(block.language) && is_python(block.language) == python)
          bodies.push_back(code_in(block.lines));
  bodies.push_back(code_in(fenced.outside));
  std::erase_if(bodies, [](const Lines& body) { return program_lines(body) == 0; });
  std::stable_partition(bodies.begin(), bodies.end(), gives_back);
  return bodies;
}

}  // namespace

std::string task_head(std::string_view prompt) {
  constexpr std::string_view kImports =
      "import math, re, sys, copy, datetime, itertools, collections, heapq, statistics\n"
      "import functools, hashlib, string\nfrom typing import *\nfrom collections import *\n";
  return str(kImports, prompt);
}

std::string code_of(std::string_view prompt, std::string_view answer) {
  const Lines head = lines_of(prompt), lines = lines_of(answer);
  const std::string name = wanted_name(head);
  const Blocks fenced = fenced_blocks(lines);
  const std::vector<Block> marked =
      fenced.all.empty() ? marked_blocks(std::string(answer)) : std::vector<Block>();
  if (const auto program = defining_block(fenced.all, name)) return text_of(*program);
  if (const auto program = defining_block(marked, name)) return text_of(*program);
  if (const auto at = definition_of(name, fenced.outside))
    return text_of(around_definition(fenced.outside, *at));
  std::vector<Block> typed;
  for (const Block& block : fenced.all) typed.push_back({"", typed_in(block.lines)});
  typed.push_back({"", typed_in(fenced.outside)});
  const std::vector<Block> inlined = inline_code(fenced.outside);
  for (const auto& blocks : {typed, inlined, json_texts(answer)})
    if (const auto program = defining_block(blocks, name)) return text_of(*program);
  auto bodies = bodies_in(fenced, marked);
  if (std::none_of(bodies.begin(), bodies.end(), gives_back))
    for (const Block& block : inlined)
      if (gives_back(block.lines)) bodies.insert(bodies.begin(), block.lines);
  std::erase_if(bodies, [&](const Lines& body) { return definition_of(name, body).has_value(); });
  if (!bodies.empty() && gives_back(bodies.front()))
    return text_of(as_body(bodies.front(), body_indent(head)));
  if (const auto stub = defining_block(fenced.all, name, /*stub=*/true)) return text_of(*stub);
  if (!bodies.empty()) return text_of(as_body(bodies.front(), body_indent(head)));
  return fenced.all.empty() ? std::string(answer) : std::string();
}

std::string task_program(std::string_view prompt, std::string_view answer) {
  std::string future, code;
  for (const std::string& line : lines_of(code_of(prompt, answer)))
    (line.starts_with("from __future__ import ") ? future : code) += line + "\n";
  return str(future, task_head(prompt), code);
}

}  // namespace pardec
