#pragma once

#include <memory>
#include <nlohmann/json.hpp>

#include "encdec/models/checkpoint/written_json_fwd.h"

namespace encdec {

template <class T, class Enabled>
struct WrittenJsonSerializer : nlohmann::adl_serializer<T, Enabled> {};

}  // namespace encdec

// Destroys a container in place. nlohmann's own function first collects all nested values in a list, to be safe for
// texts that are nested without limit; if memory has run out, that ends the program, because destructors must not
// throw. Here the depth is safe: values are nested only as deep as the code that builds them.
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
