#pragma once

#include <memory>
#include <nlohmann/json.hpp>

#include "encdec/models/checkpoint/written_json_fwd.h"

namespace encdec {

template <class T, class Enabled>
struct WrittenJsonSerializer : nlohmann::adl_serializer<T, Enabled> {};

}  // namespace encdec

// The library's own puts all that is inside a value into one list first, for texts that are nested without end; where
// memory has run out, that ends the program, for destructors must not throw. Here containers just destroy what they
// have: a value is nested as deep as the code that makes it says.
template <>
inline void encdec::WrittenJson::json_value::destroy(value_t type) {
  const auto destroy_one = []<class T>(T* content) {
    if (content == nullptr) return;
    std::destroy_at(content);
    std::allocator<T>().deallocate(content, 1);
  };
  if (type == value_t::object) destroy_one(object);
  if (type == value_t::array) destroy_one(array);
  if (type == value_t::string) destroy_one(string);
  if (type == value_t::binary) destroy_one(binary);
}
