#include "encdec/models/checkpoint/ggml.h"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>

#include "encdec/engine/base/cancellation.h"
#include "encdec/engine/base/checked_math.h"
#include "encdec/models/checkpoint/byte_reader.h"
#include "encdec/models/checkpoint/ggml_blocks.h"
#include "encdec/models/checkpoint/shards.h"
#include "encdec/models/checkpoint/tensor_layout.h"
#include "encdec/models/checkpoint/whisper_format.h"

namespace encdec {
namespace {

constexpr std::uint32_t kGgmlMagic = 0x67676d6c;
// In the order of the file. After these sizes comes the type of most tensors.
constexpr std::array<std::string_view, 10> kGgmlSizes = {
    "n_vocab",    "n_audio_ctx",  "n_audio_state", "n_audio_head", "n_audio_layer",
    "n_text_ctx", "n_text_state", "n_text_head",   "n_text_layer", "n_mels"};
constexpr std::int32_t kVersionFactor = 1000;  // the file stores quantisation version * 1000 + type
constexpr std::int32_t kQuantisationVersion = 2;
constexpr std::uint64_t kGgmlFrequencies = 201;  // number of frequencies of a frame of 400 samples
constexpr std::uint32_t kMaxGgmlTextBytes = 512;
constexpr std::uint32_t kMaxGgmlNameBytes = 256;
constexpr std::size_t kMaxGgmlTensors = 1u << 14;  // the largest published models have 1,260 tensors

class GgmlReader {
 public:
  explicit GgmlReader(const FileBytes& file) : file_(file), reader_(file.bytes, file.name) {}

  // Reads sizes, bands and vocabulary. Calls `take` with the text of each token, in order. Returns the number of texts.
  template <class Take>
  std::int64_t read_front(const Take& take) {
    if (reader_.left() >= 32) refuse_git_lfs_pointer(file_.bytes, file_.name);
    const auto magic = reader_.number<std::uint32_t>("the magic number");
    if (magic != kGgmlMagic) refuse(file_.name, "the magic number {:#x}, expected ggml's, {:#x}", magic, kGgmlMagic);
    std::map<std::string, std::int64_t, std::less<>> sizes;
    for (const std::string_view name : kGgmlSizes) sizes[std::string(name)] = integer("the sizes");
    version_ = integer("the sizes") / kVersionFactor;
    sizes_.emplace(whisper_sizes(sizes, file_.name));
    read_bands(sizes["n_mels"]);
    const auto count = reader_.number<std::uint32_t>("the number of tokens");
    if (count > sizes["n_vocab"]) refuse(file_.name, "{} tokens, expected at most {}", count, sizes["n_vocab"]);
    for (std::uint32_t id = 0; id < count; ++id) {
      poll_cancelled();
      const auto bytes = reader_.number<std::uint32_t>("a token's length");
      if (bytes > kMaxGgmlTextBytes) {
        refuse(file_.name, "token {} has {} bytes, expected at most {}", id, bytes, kMaxGgmlTextBytes);
      }
      take(as_text(reader_.take(bytes, "a token")));
    }
    return count;
  }

  std::shared_ptr<WeightStore> read_tensors() {
    auto store = std::make_shared<WeightStore>(file_.name);
    store->add("mel_filters", bands_);
    while (reader_.left() > 0) {
      check_cancelled();
      if (store->tensors().size() > kMaxGgmlTensors) refuse(file_.name, "more than {} tensors", kMaxGgmlTensors);
      read_tensor(*store);
    }
    return store;
  }

  const JsonObject& sizes() const { return *sizes_; }

 private:
  std::int32_t integer(std::string_view what) { return static_cast<std::int32_t>(reader_.number<std::uint32_t>(what)); }

  void read_bands(std::int64_t expected) {
    const auto bands = reader_.number<std::uint32_t>("the mel filters"),
               frequencies = reader_.number<std::uint32_t>("the mel filters");
    if (bands != expected || frequencies != kGgmlFrequencies) {
      refuse(file_.name, "mel filters of {} x {}, expected {} x {}", bands, frequencies, expected, kGgmlFrequencies);
    }
    const std::array<std::uint64_t, 2> dims = {bands, frequencies};
    const StoredType& floats = *stored_type(&StoredType::torch, "float32");
    bands_ = stored_tensor(reader_.take(stored_bytes(floats, dims).value(), "the mel filters"), floats, {.sizes = dims},
                           file_.owner);
  }

  void read_tensor(WeightStore& store) {
    const std::string number = fmt::format("{}: tensor {}", file_.name, store.tensors().size());
    const auto rank = reader_.number<std::uint32_t>("a tensor's rank");
    const auto name_bytes = reader_.number<std::uint32_t>("a tensor's name");
    const std::int32_t type = integer("a tensor's type");
    if (rank < 1 || rank > Shape::kMaxRank) {
      refuse(number, "{} dimensions, expected 1 to {}", rank, Shape::kMaxRank);
    }
    std::vector<std::uint64_t> dims(rank);
    for (std::uint64_t& dim : dims) dim = reader_.number<std::uint32_t>("a tensor's shape");
    std::ranges::reverse(dims);
    if (name_bytes < 1 || name_bytes > kMaxGgmlNameBytes) {
      refuse(number, "a name of {} bytes, expected 1 to {}", name_bytes, kMaxGgmlNameBytes);
    }
    const std::string name(as_text(reader_.take(name_bytes, "a tensor's name")));
    const std::string where = fmt::format("{}: tensor '{}'", file_.name, printable(name));
    if (store.find(name) != nullptr) refuse(where, "is there twice, expected it once");
    const auto elements = checked_elements(dims);
    if (!elements || *elements == 0) {
      refuse(where, "shape [{}], expected 1 to {} elements", fmt::join(dims, ", "), kMaxTensorElements);
    }
    store.add(name, tensor(where, type, dims, *elements));
  }

  Tensor tensor(const std::string& where, std::int32_t type, const std::vector<std::uint64_t>& dims,
                std::uint64_t elements) {
    if (type == 0 || type == 1) {
      const StoredType& stored = *stored_type(&StoredType::torch, type == 0 ? "float32" : "float16");
      const auto bytes = checked_multiply(elements, stored.bytes());
      if (!bytes) refuse(where, "{} elements, expected fewer", elements);
      return stored_tensor(reader_.take(*bytes, where), stored, {.sizes = dims}, file_.owner);
    }
    const GgmlBlockType* blocks = ggml_block_type(type);
    if (blocks == nullptr) {
      refuse<UnsupportedModelError>(
          where, "of ggml's type {} is not supported, expected f32, f16, q4_0, q4_1, q5_0, q5_1 or q8_0", type);
    }
    if (version_ != kQuantisationVersion) {
      refuse<UnsupportedModelError>(where, "{} of version {} of the quantisation is not supported, expected version {}",
                                    blocks->name, version_, kQuantisationVersion);
    }
    if (dims.back() % kGgmlBlock != 0) {
      refuse(where, "{} in rows of {} elements, expected whole blocks of {}", blocks->name, dims.back(), kGgmlBlock);
    }
    const auto bytes = checked_multiply(elements / kGgmlBlock, blocks->bytes);
    if (!bytes) refuse(where, "{} elements, expected fewer", elements);
    const std::vector<Dim> shape(dims.begin(), dims.end());
    return decode_ggml_blocks(*blocks, reader_.take(*bytes, where), Shape(std::span<const Dim>(shape)));
  }

  const FileBytes& file_;
  ByteReader reader_;
  std::int32_t version_ = 0;  // version of the quantisation
  std::optional<JsonObject> sizes_;
  Tensor bands_;
};

}  // namespace

bool is_ggml(const std::filesystem::path& file) {
  const auto mapped = MappedFile::open(file);
  if (mapped->bytes().size() < sizeof(kGgmlMagic)) return false;
  return ByteReader(mapped->bytes(), file.string()).number<std::uint32_t>("the magic number") == kGgmlMagic;
}

GgmlModel parse_ggml(const FileBytes& file) {
  GgmlReader reader(file);
  const std::int64_t texts = reader.read_front([](std::string_view) {});
  auto weights = reader.read_tensors();
  return {reader.sizes(), texts, std::move(weights)};
}

GgmlVocabulary parse_ggml_vocabulary(const FileBytes& file) {
  GgmlReader reader(file);
  GgmlVocabulary vocabulary;
  reader.read_front([&vocabulary](std::string_view text) { vocabulary.texts.emplace_back(text); });
  vocabulary.size = reader.sizes().required_integer("n_vocab");
  return vocabulary;
}

GgmlModel read_ggml(const std::filesystem::path& file) {
  const auto mapped = MappedFile::open(file);
  GgmlModel model = parse_ggml({mapped->bytes(), mapped, file.string()});
  model.weights->add_file(mapped);
  return model;
}

GgmlVocabulary read_ggml_vocabulary(const std::filesystem::path& file) {
  const auto mapped = MappedFile::open(file);
  return parse_ggml_vocabulary({mapped->bytes(), mapped, file.string()});
}

}  // namespace encdec
