#include "encdec/models/tokenizer/pipeline/byte_trie.h"

namespace encdec {
namespace {

std::uint64_t key_of(ByteTrie::Node node, char byte) {
  return std::uint64_t{node} << 8 | static_cast<std::uint8_t>(byte);
}

}  // namespace

void ByteTrie::insert(std::string_view text, std::int32_t value) {
  Node node = kRoot;
  for (const char byte : text) {
    const std::uint64_t key = key_of(node, byte);
    std::size_t index = slot(key);
    if (edges_[index].key == kFree) {
      // Keep the table at most half full. Every node except the root has one edge.
      if (2 * values_.size() >= edges_.size()) {
        grow();
        index = slot(key);
      }
      edges_[index] = {key, static_cast<Node>(values_.size())};
      values_.push_back(-1);
    }
    node = edges_[index].target;
  }
  values_[node] = value;
}

ByteTrie::Node ByteTrie::step(Node node, char byte) const {
  const std::uint64_t key = key_of(node, byte);
  const Edge& edge = edges_[slot(key)];
  return edge.key == key ? edge.target : kNone;
}

ByteTrie::Node ByteTrie::walk(Node node, std::string_view text) const {
  for (const char byte : text) {
    node = step(node, byte);
    if (node == kNone) break;
  }
  return node;
}

std::optional<std::int32_t> ByteTrie::find(std::string_view text) const {
  const Node node = walk(kRoot, text);
  return node != kNone && values_[node] >= 0 ? std::optional(values_[node]) : std::nullopt;
}

ByteTrie::Match ByteTrie::longest(std::string_view text, Node node) const {
  Match match;
  for (std::size_t end = 0; end < text.size() && node != kNone;) {
    node = step(node, text[end++]);
    if (node != kNone && values_[node] >= 0) match = {end, values_[node]};
  }
  return match;
}

// Returns the key's index in edges_, or the free index at which to insert the key (Fibonacci hashing, linear probing).
std::size_t ByteTrie::slot(std::uint64_t key) const {
  constexpr std::uint64_t kGoldenRatio = 0x9E3779B97F4A7C15;  // 2^64 / golden ratio
  const std::size_t mask = edges_.size() - 1;
  std::size_t index = static_cast<std::size_t>(key * kGoldenRatio >> 24) & mask;
  while (edges_[index].key != key && edges_[index].key != kFree) index = (index + 1) & mask;
  return index;
}

void ByteTrie::grow() {
  std::vector<Edge> old(2 * edges_.size());
  old.swap(edges_);
  for (const Edge& edge : old) {
    if (edge.key != kFree) edges_[slot(edge.key)] = edge;
  }
}

}  // namespace encdec
