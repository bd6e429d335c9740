#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace encdec::protobuf {

// One field of a protobuf message. A field of another wire type than its number has is an unknown field.
struct Field {
  enum class WireType { varint = 0, fixed64 = 1, bytes = 2, fixed32 = 5 };

  bool is(std::uint32_t number_, WireType type_) const { return number == number_ && type == type_; }

  std::uint32_t number;
  WireType type;
  std::uint64_t value = 0;      // of a varint
  std::string_view bytes = {};  // of the others
};

// The fields of a protobuf message, in order; of a sentencepiece model, which messages call it.
class Fields {
 public:
  // Both must outlive it.
  Fields(std::string_view message, const std::string& name) : rest_(message), name_(name) {}

  // nullopt at the end. Throws TokenizerError, beginning with `name`, for what is no field.
  std::optional<Field> next();

 private:
  std::string_view take(std::uint64_t size);
  std::uint64_t varint();
  [[noreturn]] void fail(std::string_view what) const;

  std::string_view rest_;
  const std::string& name_;
};

}  // namespace encdec::protobuf
