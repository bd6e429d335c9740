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

// The objects that a pickle describes. A pickle is a program; it is interpreted here without calling anything. Objects
// refer to each other by their indices in a table. They may contain themselves, so limit the depth when you follow
// references.
//
// Memory stays in proportion to the pickle. Each opcode makes or fetches at most one object, which is then put into at
// most one container. Nothing is copied, however often it is referenced.
class Pickle {
 public:
  using Index = std::uint32_t;

  struct None {};
  // An object that weights do not need, such as an integer beyond 64 bits or a set of attributes.
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
    std::vector<std::pair<Index, Index>> items;  // in order; a key may occur twice
  };
  // A reference to an object outside the pickle, such as a storage of PyTorch.
  struct Persistent {
    Index id = 0;
  };
  // The call function(*arguments), which is not executed. Attributes that BUILD would set on its result are dropped.
  struct Call {
    Index function = 0;
    Index arguments = 0;
  };
  using Object =
      std::variant<None, Opaque, bool, std::int64_t, double, Text, Global, Tuple, List, Dict, Persistent, Call>;

  // Returns whether a pickle may name this global. collections.OrderedDict() is always allowed and becomes a Dict.
  using Allowed = bool (*)(const Global& global);

  // Parses a pickle of protocol 2 to 5, in the form that Python's picklers write. Its STOP opcode must be at the end of
  // `bytes`. REQUIRES: `bytes` outlive this object. Throws FileError, naming `file` and the byte, for an opcode that is
  // not in a short list, for a global that is not allowed, for a pickle that breaks the rules of the stack machine, and
  // for one that exceeds the limits.
  Pickle(std::span<const std::byte> bytes, const std::string& file, Allowed allowed);

  // The same for a pickle at the beginning of `bytes`, which may be followed by anything.
  static Pickle first_of(std::span<const std::byte> bytes, const std::string& file, Allowed allowed);

  // Returns the number of bytes of the pickle.
  std::size_t size() const { return size_; }

  // A tensor takes about 200 bytes and 20 objects. The largest checkpoints have a few thousand tensors per file.
  static constexpr std::size_t kMaxBytes = 32u << 20;
  static constexpr std::size_t kMaxObjects = 1u << 20;

  Index root() const { return root_; }
  // Returns all objects, in the order in which they were made.
  std::span<const Object> objects() const { return objects_; }
  const Object& operator[](Index index) const { return objects_[index]; }
  // Returns null if the object is of another kind.
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
