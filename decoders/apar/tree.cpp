#include "decoders/apar/tree.hpp"

#include <string_view>

namespace pardec {

std::pair<int, int> ParagraphTree::fork(int index) {
  const int n = size(), child = size() + 1;
  for (const int made [[maybe_unused]] : {n, child}) nodes_.emplace_back().parent = index;
  node(index).next_sibling = n;
  node(index).first_child = child;
  return {n, child};
}

std::vector<int> ParagraphTree::ancestors(int index) const {
  std::vector<int> path;
  for (int a = node(index).parent; a >= 0; a = node(a).parent) path.push_back(a);
  return path;
}

std::vector<int> ParagraphTree::restore_order() const {
  std::vector<int> order, open{0};
  while (!open.empty()) {
    const int at = open.back();
    open.pop_back();
    order.push_back(at);
    if (node(at).next_sibling < 0) continue;
    open.push_back(node(at).next_sibling);
    open.push_back(node(at).first_child);
  }
  return order;
}

namespace {

/// Whether the text contains a list number such as "1. ": a digit, a full stop, a space.
bool holds_list_number(std::string_view text) {
  for (size_t dot = text.find(". "); dot != std::string_view::npos; dot = text.find(". ", dot + 1))
    if (dot > 0 && text[dot - 1] >= '0' && text[dot - 1] <= '9') return true;
  return false;
}

/// Adds missing newlines at the beginning, up to `newlines`. Empty text stays empty.
RestoredText led_by(size_t newlines, RestoredText part) {
  size_t has = 0;
  while (has < newlines && has < part.bytes.size() && part.bytes[has] == '\n') ++has;
  if (part.bytes.empty() || has == newlines) return part;
  part.bytes.insert(0, newlines - has, '\n');
  for (size_t& end : part.ends) end += newlines - has;
  return part;
}

void append(RestoredText& to, const RestoredText& part) {
  for (const size_t end : part.ends) to.ends.push_back(to.bytes.size() + end);
  to.bytes += part.bytes;
}

RestoredText restore_from(const ParagraphTree& tree, int index, const Tokenizer& tokenizer) {
  const ParagraphNode& node = tree.node(index);
  RestoredText own;
  for (const Token token : node.tokens) {
    own.bytes += tokenizer.bytes(token);
    own.ends.push_back(own.bytes.size());
  }
  if (node.next_sibling < 0) return own;
  const bool listed = holds_list_number(own.bytes);
  append(own, led_by(listed ? 1 : 0, restore_from(tree, node.first_child, tokenizer)));
  append(own, led_by(2, restore_from(tree, node.next_sibling, tokenizer)));
  return own;
}

}  // namespace

RestoredText restore(const ParagraphTree& tree, const Tokenizer& tokenizer) {
  return restore_from(tree, 0, tokenizer);
}

}  // namespace pardec
