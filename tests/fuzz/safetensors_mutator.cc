// A mutator whose outputs often load. It writes whole valid files, or changes only the header and appends data of the
// matching size.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

namespace {

constexpr std::size_t kLengthBytes = 8;

using Random = std::minstd_rand;

std::string good_header(Random& random) {
  struct Type {
    const char* name;
    std::size_t bits;
  };
  constexpr std::array<Type, 8> kTypes = {
      {{"F32", 32}, {"F16", 16}, {"BF16", 16}, {"I64", 64}, {"U8", 8}, {"BOOL", 8}, {"F8_E5M2", 8}, {"F4", 4}}};
  std::string header;
  std::size_t position = 0;
  for (std::size_t count = random() % 4; count > 0; --count) {
    const Type& type = kTypes[random() % kTypes.size()];
    std::size_t elements = 2;  // an even number, because two elements of 4 bits fill a byte
    std::string shape = "2";
    for (std::size_t rank = random() % 5; rank > 0; --rank) {
      const std::size_t dim = random() % 4;
      elements *= dim;
      shape += fmt::format(",{}", dim);
    }
    const std::size_t end = position + elements * type.bits / 8;
    const std::string entry = fmt::format(R"("t{}":{{"dtype":"{}","shape":[{}],"data_offsets":[{},{}]}})", count,
                                          type.name, shape, position, end);
    const bool in_front = random() % 2 == 0;
    header = header.empty() ? entry : fmt::format("{},{}", in_front ? entry : header, in_front ? header : entry);
    position = end;
  }
  return fmt::format("{{{}}}", header);
}

// Returns the size of the data that a valid header describes: the largest number in the header.
std::size_t largest_number(const std::string& header, std::size_t limit) {
  std::size_t largest = 0, number = 0;
  for (const char character : header) {
    const bool is_digit = character >= '0' && character <= '9';
    number = is_digit ? std::min(number * 10 + static_cast<std::size_t>(character - '0'), limit) : 0;
    largest = std::max(largest, number);
  }
  return largest;
}

}  // namespace

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max_size,
                                               unsigned seed) {
  Random random(seed);
  const auto choice = random() % 8;
  if (choice == 0 || size < kLengthBytes || max_size < 1024) return LLVMFuzzerMutate(data, size, max_size);

  const std::size_t room = max_size - kLengthBytes;
  std::uint64_t length;
  std::memcpy(&length, data, sizeof(length));
  length = std::min<std::uint64_t>(length, size - kLengthBytes);
  std::string header(reinterpret_cast<const char*>(data) + kLengthBytes, length);
  if (choice < 4) header = good_header(random);
  if (choice != 1) {
    const std::size_t old_size = header.size();
    header.resize(room);
    header.resize(LLVMFuzzerMutate(reinterpret_cast<std::uint8_t*>(header.data()), old_size, room));
  }
  const std::size_t data_bytes = largest_number(header, room - header.size());

  length = header.size();
  std::memcpy(data, &length, sizeof(length));
  std::uint8_t* const payload = std::copy(header.begin(), header.end(), data + kLengthBytes);
  std::fill_n(payload, data_bytes, std::uint8_t{0x3f});
  return kLengthBytes + header.size() + data_bytes;
}
