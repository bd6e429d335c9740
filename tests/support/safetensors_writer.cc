#include "tests/support/safetensors_writer.h"

#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace encdec {
namespace {

std::string_view type_name(DataType type) {
  switch (type) {
    case DataType::float32: return "F32";
    case DataType::float16: return "F16";
    case DataType::bfloat16: return "BF16";
    case DataType::float64: return "F64";
    case DataType::int8: return "I8";
    case DataType::int16: return "I16";
    case DataType::int32: return "I32";
    case DataType::int64: return "I64";
    case DataType::uint8: return "U8";
    case DataType::boolean: return "BOOL";
  }
  throw std::runtime_error("a type without a name in the format");
}

}  // namespace

std::string raw_safetensors(std::string_view header, std::string_view data) {
  std::string bytes;
  for (int i = 0; i < 8; ++i) bytes += static_cast<char>(header.size() >> (8 * i) & 0xff);
  bytes += header;
  bytes += data;
  return bytes;
}

std::string safetensors_bytes(const std::vector<NamedTensor>& tensors) {
  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  std::string data;
  for (const auto& [name, tensor] : tensors) {
    const std::size_t begin = data.size();
    data.append(reinterpret_cast<const char*>(tensor.raw()), tensor.bytes());
    const auto dims = tensor.shape().dims();
    header[name] = {{"dtype", type_name(tensor.type())},
                    {"shape", std::vector<Dim>(dims.begin(), dims.end())},
                    {"data_offsets", {begin, data.size()}}};
  }
  std::string text = header.dump();
  text.resize((text.size() + 7) / 8 * 8, ' ');
  return raw_safetensors(text, data);
}

void write_safetensors(const std::filesystem::path& path, const std::vector<NamedTensor>& tensors) {
  std::ofstream file(path, std::ios::binary);
  file << safetensors_bytes(tensors);
  if (!file.flush()) throw std::runtime_error("cannot write " + path.string());
}

}  // namespace encdec
