#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace encdec {

// Texts with a value of 0 or more each, looked up byte by byte.
class ByteTrie {
 public:
  using Node = std::uint32_t;
  static constexpr Node kRoot = 0;
  static constexpr Node kNone = ~Node{0};

  // A text that is there already gets the new value.
  void insert(std::string_view text, std::int32_t value);

  // kNone if no text goes on like that.
  Node step(Node node, char byte) const;
  Node walk(Node node, std::string_view text) const;
  // Negative if no text ends at the node.
  std::int32_t value(Node node) const { return values_[node]; }
  std::optional<std::int32_t> find(std::string_view text) const;

  struct Match {
    std::size_t bytes = 0;
    std::int32_t value = -1;  // negative if there is none
  };
  // The longest text that goes on from `node` as `text` begins.
  Match longest(std::string_view text, Node node = kRoot) const;

 private:
  // All edges in one hash table with open addressing: one place in memory for each step.
  struct Edge {
    std::uint64_t key = kFree;  // the node it leaves, and the byte
    Node target = 0;
  };
  static constexpr std::uint64_t kFree = ~std::uint64_t{0};

  std::size_t slot(std::uint64_t key) const;
  void grow();

  std::vector<std::int32_t> values_ = {-1};
  std::vector<Edge> edges_ = std::vector<Edge>(16);
};

}  // namespace encdec
