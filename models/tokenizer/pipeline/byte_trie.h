#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace encdec {

// A map from texts to non-negative values that is searched byte by byte.
class ByteTrie {
 public:
  using Node = std::uint32_t;
  static constexpr Node kRoot = 0;
  static constexpr Node kNone = ~Node{0};

  // Adds a text, or replaces its value.
  void insert(std::string_view text, std::int32_t value);

  // Return the node that follows `node` after `byte` or `text`; kNone if the trie has no such path.
  Node step(Node node, char byte) const;
  Node walk(Node node, std::string_view text) const;
  // Returns the value of the text that ends at `node`; negative if no text ends there.
  std::int32_t value(Node node) const { return values_[node]; }
  std::optional<std::int32_t> find(std::string_view text) const;

  struct Match {
    std::size_t bytes = 0;
    std::int32_t value = -1;  // negative if there is no match
  };
  // Returns the longest prefix of `text` that leads from `node` to a value.
  Match longest(std::string_view text, Node node = kRoot) const;

 private:
  // All edges are in one hash table with open addressing, so that a step usually touches one cache line.
  struct Edge {
    std::uint64_t key = kFree;  // start node and byte
    Node target = 0;
  };
  static constexpr std::uint64_t kFree = ~std::uint64_t{0};

  std::size_t slot(std::uint64_t key) const;
  void grow();

  std::vector<std::int32_t> values_ = {-1};
  std::vector<Edge> edges_ = std::vector<Edge>(16);
};

}  // namespace encdec
