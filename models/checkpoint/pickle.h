#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace encdec {

// What a pickle builds, without running anything of it: objects that name each other by their places in a table.
// One opcode makes at most one object, and an object is put into a container once for each opcode that made or fetched
// it, so memory grows with the text, never faster: nothing is copied, however often it is named. Objects may contain
// themselves; who walks through them must not follow them without a bound.
class Pickle {
 public:
  using Index = std::uint32_t;

  struct None {};
  // What weights do not need: numbers beyond 64 bits, sets of attributes, ...
  struct Opaque {};
  // Views of the pickle's bytes.
  struct Text {
    std::string_view text;
  };
  struct Global {
    std::string_view module;
    std::string_view name;

    friend bool operator==(const Global& a, const Global& b) = default;
  };
  struct Tuple {
    std::vector<Index> items;
  };
  struct List {
    std::vector<Index> items;
  };
  struct Dict {
    std::vector<std::pair<Index, Index>> items;  // in order; a key may be there twice
  };
  // An object outside of the pickle, such as a storage of PyTorch.
  struct Persistent {
    Index id = 0;
  };
  // function(*arguments), not called. What BUILD would add to it is left out.
  struct Call {
    Index function = 0;
    Index arguments = 0;
  };
  using Object =
      std::variant<None, Opaque, bool, std::int64_t, double, Text, Global, Tuple, List, Dict, Persistent, Call>;

  // Whether a pickle may name this global. OrderedDict() of the module collections always may: it is a dict.
  using Allowed = bool (*)(const Global& global);

  // Parses a pickle of protocol 2 to 5, as picklers write it, to its STOP opcode at the end of `bytes`; the bytes must
  // outlive the object. Throws FileError, naming `file` and the byte, for opcodes outside a short list, for globals
  // that are not allowed, and for text that breaks the rules of the stack machine or is larger than the limits.
  Pickle(std::span<const std::byte> bytes, const std::string& file, Allowed allowed);

  // The same for a pickle that `bytes` begin with, whatever is behind it.
  static Pickle first_of(std::span<const std::byte> bytes, const std::string& file, Allowed allowed);

  // How many bytes it has.
  std::size_t size() const { return size_; }

  // A tensor takes some 200 bytes and 20 objects; the largest checkpoints have some thousand tensors a file.
  static constexpr std::size_t kMaxBytes = 32u << 20;
  static constexpr std::size_t kMaxObjects = 1u << 20;

  Index root() const { return root_; }
  // All of them, in the order in which they are made.
  std::span<const Object> objects() const { return objects_; }
  const Object& operator[](Index index) const { return objects_[index]; }
  // Null if the object is of another kind.
  template <class Kind>
  const Kind* get(Index index) const {
    return std::get_if<Kind>(&objects_[index]);
  }

 private:
  Pickle() = default;

  std::vector<Object> objects_;
  Index root_ = 0;
  std::size_t size_ = 0;
};

}  // namespace encdec
