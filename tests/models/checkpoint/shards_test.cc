#include "encdec/models/checkpoint/shards.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "tests/models/checkpoint/safetensors_parsing.h"
#include "tests/support/safetensors_writer.h"
#include "tests/support/temp_folder.h"

namespace encdec {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

class SafetensorsFolder : public testing::Test {
 protected:
  void write_index(std::string_view map) const {
    folder_.write("model.safetensors.index.json",
                  fmt::format(R"({{"metadata":{{"total_size":8}},"weight_map":{}}})", map));
  }
  // Returns the error of reading the folder.
  std::string refusal() const {
    return refusal_of(folder_.path().string(), [&] { read_safetensors(folder_.path()); });
  }
  std::string path(std::string_view name) const { return (folder_ / name).string(); }

  const TempFolder folder_;
};

TEST_F(SafetensorsFolder, MayHoldOneFile) {
  write_safetensors(folder_ / "model.safetensors", {{"a", counting({2})}});
  const auto store = read_safetensors(folder_.path());
  EXPECT_EQ(store->tensors().size(), 1u);
  EXPECT_EQ(store->origin(), path("model.safetensors"));
}

TEST_F(SafetensorsFolder, MayHoldShards) {
  write_safetensors(folder_ / "model-00001-of-00002.safetensors", {{"a", counting({2}, DataType::int8, 1)}});
  write_safetensors(folder_ / "model-00002-of-00002.safetensors",
                    {{"b", counting({2}, DataType::int8, 3)}, {"c", counting({1}, DataType::int8, 5)}});
  write_index(R"({"a":"model-00001-of-00002.safetensors","b":"model-00002-of-00002.safetensors",
                  "c":"model-00002-of-00002.safetensors"})");
  for (const auto& given : {folder_.path(), folder_ / "model.safetensors.index.json"}) {
    const auto store = read_safetensors(given);
    EXPECT_EQ(store->origin(), folder_.path().string());
    EXPECT_EQ(store->tensors().size(), 3u);
    EXPECT_EQ(text_of(*store->find("a")), "\1\2");
    EXPECT_EQ(text_of(*store->find("b")), "\3\4");
    EXPECT_EQ(text_of(*store->find("c")), "\5");
  }
}

TEST_F(SafetensorsFolder, MayBeACacheWithLinks) {
  std::filesystem::create_directory(folder_ / "blobs");
  write_safetensors(folder_ / "blobs/1", {{"a", counting({2})}});
  std::filesystem::rename(folder_.write("index", R"({"weight_map":{"a":"shard"}})"), folder_ / "blobs/2");
  std::filesystem::create_symlink("blobs/1", folder_ / "shard");
  std::filesystem::create_symlink("blobs/2", folder_ / "model.safetensors.index.json");
  EXPECT_EQ(read_safetensors(folder_.path())->tensors().size(), 1u);
}

TEST_F(SafetensorsFolder, TheIndexIsIgnoredIfThereIsASingleFile) {
  write_safetensors(folder_ / "model.safetensors", {{"a", counting({2})}});
  write_index(R"({"b":"none"})");
  EXPECT_NE(read_safetensors(folder_.path())->find("a"), nullptr);
}

TEST_F(SafetensorsFolder, AlsoReadsTensorsThatTheIndexDoesNotList) {
  write_safetensors(folder_ / "shard", {{"a", counting({2})}, {"extra", counting({2})}});
  write_index(R"({"a":"shard"})");
  EXPECT_NE(read_safetensors(folder_.path())->find("extra"), nullptr);
}

TEST_F(SafetensorsFolder, TensorsOutliveTheStoreAndTheFile) {
  write_safetensors(folder_ / "shard", {{"a", counting({2}, DataType::int8, 7)}});
  write_index(R"({"a":"shard"})");
  const Tensor tensor = *read_safetensors(folder_.path())->find("a");
  std::filesystem::remove(folder_ / "shard");
  EXPECT_EQ(text_of(tensor), "\7\10");
}

TEST_F(SafetensorsFolder, MustHoldOneFileOrAnIndex) {
  EXPECT_EQ(refusal(), folder_.path().string() +
                           ": neither model.safetensors nor model.safetensors.index.json, expected one of them");
  EXPECT_THROW(read_safetensors(folder_ / "none"), FileError);
  std::filesystem::create_directory(folder_ / "model.safetensors");
  EXPECT_EQ(refusal(), path("model.safetensors") + ": not a regular file");
}

TEST_F(SafetensorsFolder, RefusesNamesThatAreNotBare) {
  write_safetensors(folder_ / "shard", {{"a", counting({2})}});
  std::istringstream names(R"(. .. / /etc/passwd ../shard ./shard x/../shard a/../../shard shard/ shard/. //shard
      ..\\shard \\shard C:\\shard shard\u0000 shard\u0000.safetensors \u0000 x/shard \u002e\u002e
      \u002fetc\u002fpasswd ..\u002fshard)");
  for (std::string name; names; names >> name) {  // the first is empty
    SCOPED_TRACE(name);
    write_index(fmt::format(R"({{"a":"{}"}})", name));
    EXPECT_THAT(refusal(), StartsWith(path("model.safetensors.index.json") + ": file name '"));
    EXPECT_THAT(refusal(), HasSubstr("expected a bare name inside the folder"));
  }
}

TEST_F(SafetensorsFolder, UsesFileNamesLiterally) {
  write_safetensors(folder_ / "shard", {{"a", counting({2})}});
  for (const char* name : {"~", "$HOME", "*", "Shard", "shard ", " shard", "%2e%2e", "...", "file:shard"}) {
    SCOPED_TRACE(name);
    write_index(fmt::format(R"({{"a":"{}"}})", name));
    EXPECT_EQ(refusal(), path(name) + ": No such file or directory");
  }
}

// transformers reads all files that the index names, in order, and nothing else of it.
TEST_F(SafetensorsFolder, NeedNotAgreeWithItsIndex) {
  write_safetensors(folder_ / "1", {{"a", counting({2}, DataType::int8, 1)}, {"b", counting({2}, DataType::int8, 3)}});
  write_safetensors(folder_ / "2", {{"b", counting({2}, DataType::int8, 5)}, {"c", counting({2}, DataType::int8, 7)}});
  write_index(R"({"a":"1","b":"1","tied":"2"})");
  const auto store = read_safetensors(folder_.path());
  EXPECT_EQ(store->tensors().size(), 3u);
  EXPECT_EQ(text_of(*store->find("a")), "\1\2");
  EXPECT_EQ(text_of(*store->find("b")), "\5\6");
  EXPECT_EQ(text_of(*store->find("c")), "\7\10");
}

TEST_F(SafetensorsFolder, RefusesAnIndexThatDoesNotFit) {
  write_safetensors(folder_ / "one", {{"a", counting({2})}, {"b", counting({2})}});
  write_safetensors(folder_ / "two", {{"b", counting({2})}, {"c", counting({2})}});
  folder_.write("bad", "xx");
  std::filesystem::create_directory(folder_ / "folder");
  const std::string index = path("model.safetensors.index.json");
  const std::vector<std::pair<std::string, std::string>> table = {
      {R"({"a":"one","x":"three"})", path("three") + ": No such file or directory"},
      {R"({"a":"folder"})", path("folder") + ": not a regular file"},
      {R"({"a":"bad"})", path("bad") + ": 2 bytes, expected a header of at least 8"},
      {R"({"a":1})", index + ": tensor 'a': number, expected a file name"},
      {R"({"a":null})", index + ": tensor 'a': null, expected a file name"},
      {R"({"a":["one"]})", index + ": tensor 'a': array, expected a file name"},
      {R"({"a":"one","a":"two"})", index + ": the key 'a' is there twice, expected it once in an object"},
      {"[]", index + ": 'weight_map' is missing, expected an object of file names"},
      {"null", index + ": 'weight_map' is missing, expected an object of file names"},
  };
  for (const auto& [map, expected] : table) {
    SCOPED_TRACE(map);
    write_index(map);
    EXPECT_EQ(refusal(), expected);
  }
  folder_.write("model.safetensors.index.json", "[]");
  EXPECT_EQ(refusal(), index + ": array of 0, expected a JSON object");
  folder_.write("model.safetensors.index.json", "");
  EXPECT_THAT(refusal(), StartsWith(index + ": not valid JSON: parse error at line 1, column 1"));
}

}  // namespace
}  // namespace encdec
