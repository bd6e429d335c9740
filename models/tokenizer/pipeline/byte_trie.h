#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace encdec {

// A map from texts to values of 0 or more, searched byte by byte.
class ByteTrie {
 public:
  using Node = std::uint32_t;
  static constexpr Node kRoot = 0;
  static constexpr Node kNone = ~Node{0};

  // Adds a text, or replaces the value of a text that the trie already has.
  void insert(std::string_view text, std::int32_t value);

  // Return the node after `byte` or after all of `text`; kNone if no text of the trie continues that way.
  Node step(Node node, char byte) const;
  Node walk(Node node, std::string_view text) const;
  // Returns the value of the text that ends at the node; negative if none does.
  std::int32_t value(Node node) const { return values_[node]; }
  std::optional<std::int32_t> find(std::string_view text) const;

  struct Match {
    std::size_t bytes = 0;
    std::int32_t value = -1;  // negative if there is no match
  };
  // Returns the longest continuation of `node` that `text` begins with.
  Match longest(std::string_view text, Node node = kRoot) const;

 private:
  // An edge. All edges are in one hash table with open addressing, so a step usually touches one place in memory.
  struct Edge {
    std::uint64_t key = kFree;  // the node that it starts from, and the byte
    Node target = 0;
  };
  static constexpr std::uint64_t kFree = ~std::uint64_t{0};

  std::size_t slot(std::uint64_t key) const;
  void grow();

  std::vector<std::int32_t> values_ = {-1};
  std::vector<Edge> edges_ = std::vector<Edge>(16);
};

}  // namespace encdec
