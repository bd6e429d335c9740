#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace encdec {

// The functions below return parts of a pickle. Each part pushes one object.

inline std::string pickle_of(const std::string& object) {
  return "\x80\2" + object + ".";
}

inline std::string pickle_text(std::string_view text) {
  std::string bytes = "X";
  for (int i = 0; i < 4; ++i) bytes += static_cast<char>(text.size() >> (8 * i) & 0xff);
  return bytes.append(text);
}

inline std::string pickle_integer(std::int64_t value) {
  std::string bytes = "\x8a\x08";
  for (int i = 0; i < 8; ++i) bytes += static_cast<char>(static_cast<std::uint64_t>(value) >> (8 * i) & 0xff);
  return bytes;
}

inline std::string pickle_tuple(const std::vector<std::string>& items) {
  std::string bytes = "(";
  for (const std::string& item : items) bytes += item;
  return bytes + "t";
}

inline std::string pickle_dict(const std::vector<std::pair<std::string, std::string>>& items) {
  std::string bytes = "}(";
  for (const auto& [key, value] : items) bytes += pickle_text(key) + value;
  return bytes + "u";
}

inline std::string pickle_global(std::string_view module, std::string_view name) {
  return std::string("c").append(module).append("\n").append(name).append("\n");
}

struct PickledTensor {
  std::string storage = "FloatStorage";
  std::string key = "0";
  std::int64_t count = 6;
  std::int64_t offset = 0;
  std::vector<std::int64_t> sizes = {2, 3};
  std::vector<std::int64_t> strides = {3, 1};
  std::string view = {};  // an object after the storage's id, as written before torch 1.6
};

inline std::string pickle_tensor(const PickledTensor& tensor) {
  const auto integers = [](const std::vector<std::int64_t>& values) {
    std::vector<std::string> items;
    for (const std::int64_t value : values) items.push_back(pickle_integer(value));
    return pickle_tuple(items);
  };
  const std::string id =
      pickle_tuple({pickle_text("storage"), pickle_global("torch", tensor.storage), pickle_text(tensor.key),
                    pickle_text("cpu"), pickle_integer(tensor.count) + tensor.view});
  return pickle_global("torch._utils", "_rebuild_tensor_v2") +
         pickle_tuple({id + "Q", pickle_integer(tensor.offset), integers(tensor.sizes), integers(tensor.strides),
                       "\x89", pickle_global("collections", "OrderedDict") + ")R"}) +
         "R";
}

}  // namespace encdec
