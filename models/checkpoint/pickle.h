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

// The objects that a pickle describes. A pickle is a program; this class interprets it without
// calling anything. Objects refer to each other by index, and may contain themselves.
//
// Memory is proportional to the pickle: each opcode creates or fetches at most one object and puts
// it into at most one container. Objects that are referenced many times are not copied.
class Pickle {
 public:
  using Index = std::uint32_t;

  struct None {};
  // An object that tensors do not need, such as an integer of more than 64 bits.
  struct Opaque {};
  // A string: a view of the pickle's bytes. Global's strings are views as well.
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
  // A call function(*arguments), which is not executed. The call's attributes (BUILD) are ignored.
  struct Call {
    Index function = 0;
    Index arguments = 0;
  };
  using Object =
      std::variant<None, Opaque, bool, std::int64_t, double, Text, Global, Tuple, List, Dict, Persistent, Call>;

  // Returns true if this global is allowed. collections.OrderedDict is always allowed, and becomes a Dict.
  using Allowed = bool (*)(const Global& global);

  // Parses a pickle of protocol 2 to 5, whose STOP opcode must be at the end of `bytes`. REQUIRES:
  // `bytes` outlive this object. Throws FileError, naming `file` and the byte, for an unsupported
  // opcode, a global that is not allowed, a violation of the stack machine's rules or a limit.
  Pickle(std::span<const std::byte> bytes, const std::string& file, Allowed allowed);

  // Parses the pickle at the start of `bytes`; any bytes may follow it.
  static Pickle first_of(std::span<const std::byte> bytes, const std::string& file, Allowed allowed);

  std::size_t size() const { return size_; }

  // A tensor takes about 200 bytes and 20 objects. The largest checkpoints have a few thousand tensors per file.
  static constexpr std::size_t kMaxBytes = 32u << 20;
  static constexpr std::size_t kMaxObjects = 1u << 20;

  Index root() const { return root_; }
  std::span<const Object> objects() const { return objects_; }
  const Object& operator[](Index index) const { return objects_[index]; }
  // Returns the object if it is of this kind, otherwise null.
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
