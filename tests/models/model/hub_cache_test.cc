#include "encdec/models/model/hub_cache.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <chrono>

#include "encdec/models/model.h"
#include "tests/support/message_of.h"
#include "tests/support/temp_folder.h"

namespace encdec {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

const fs::path kTiny = fs::path(ENCDEC_GOLDEN_DIR) / "moonshine" / "untied";

// A cache with the model me/tiny, as huggingface_hub lays it out: names in snapshots are links to blobs.
class HubCacheTest : public testing::Test {
 protected:
  HubCacheTest() {
    setenv("HF_HUB_CACHE", folder_.path().c_str(), 1);
    fs::create_directories(model_ / "blobs");
    fs::create_directories(model_ / "refs");
  }
  ~HubCacheTest() override {
    unsetenv("HF_HUB_CACHE");
    fs::current_path(current_);
  }

  // Adds a snapshot that is `age` hours old, without the file `missing`.
  fs::path add(const std::string& commit, int age, const std::string& missing = "") {
    const fs::path snapshot = model_ / "snapshots" / commit;
    fs::create_directories(snapshot);
    for (const auto& file : fs::directory_iterator(kTiny)) {
      const std::string name = file.path().filename().string();
      fs::copy_file(file, model_ / "blobs" / name, fs::copy_options::skip_existing);
      if (name != missing) fs::create_symlink(fs::path("../../blobs") / name, snapshot / name);
    }
    fs::last_write_time(snapshot, fs::file_time_type::clock::now() - std::chrono::hours(age));
    return snapshot;
  }
  static std::string refusal(const std::string& model) {
    return message_of<FileError>([&] { model_folder(model); });
  }

  TempFolder folder_;
  const fs::path model_ = folder_ / "models--me--tiny";
  const fs::path current_ = fs::current_path();
};

TEST_F(HubCacheTest, TheSnapshotOfMainIsOpenedElseTheNewest) {
  const fs::path old = add("aaaa", 3), recent = add("bbbb", 1);
  EXPECT_EQ(model_folder("me/tiny"), recent);
  folder_.write("models--me--tiny/refs/main", "aaaa");
  EXPECT_EQ(model_folder("me/tiny"), old);
  EXPECT_EQ(Model::load("me/tiny").fingerprint(), Model::load(old).fingerprint());
}

TEST_F(HubCacheTest, AnIncompleteSnapshotIsNotOpened) {
  add("bbbb", 1, "model.safetensors");
  folder_.write("models--me--tiny/refs/main", "bbbb");
  EXPECT_THAT(refusal("me/tiny"), AllOf(HasSubstr("me/tiny: the copy in the cache does not open"), HasSubstr("bbbb"),
                                        HasSubstr("hf download me/tiny")));
  const fs::path complete = add("aaaa", 3);
  EXPECT_EQ(model_folder("me/tiny"), complete);
  fs::remove_all(model_ / "snapshots" / "bbbb");
  fs::remove(model_ / "blobs" / "model.safetensors");
  EXPECT_THAT(refusal("me/tiny"), AllOf(HasSubstr("is not complete"), HasSubstr("a symlink to a missing file")));
  fs::remove(complete / "model.safetensors");
  fs::create_symlink("model.safetensors", complete / "model.safetensors");
  EXPECT_THAT(refusal("me/tiny"), AllOf(HasSubstr("does not open"), HasSubstr("model.safetensors: Too many levels")));
}

TEST_F(HubCacheTest, SentenceTransformersNeedTheirModules) {
  const fs::path snapshot = add("aaaa", 1);
  fs::create_directory_symlink(model_, folder_ / "models--sentence-transformers--tiny");
  const std::string name = "sentence-transformers/tiny";
  EXPECT_THAT(refusal(name), AllOf(HasSubstr("is not complete"), HasSubstr("modules.json: no such file")));
  folder_.write("models--me--tiny/snapshots/aaaa/modules.json", "[]");
  EXPECT_TRUE(fs::equivalent(model_folder(name), snapshot));
}

TEST_F(HubCacheTest, AReferenceThatIsNoFileIsNotRead) {
  const fs::path snapshot = add("aaaa", 1);
  ASSERT_EQ(::mkfifo((model_ / "refs" / "main").c_str(), 0600), 0);
  EXPECT_EQ(model_folder("me/tiny"), snapshot);
}

TEST_F(HubCacheTest, AFolderThatCannotBeReadIsNamed) {
  folder_.write("models--me--tiny/snapshots", "");
  EXPECT_THAT(refusal("me/tiny"), HasSubstr("models--me--tiny/snapshots: Not a directory"));
}

TEST_F(HubCacheTest, AModelWithoutATokenizerIsIncompleteWhileADownloadRuns) {
  const fs::path snapshot = add("aaaa", 1, "tokenizer.json");
  EXPECT_EQ(model_folder("me/tiny"), snapshot);
  folder_.write("models--me--tiny/blobs/cafe.incomplete", "");
  EXPECT_THAT(refusal("me/tiny"), HasSubstr("cafe.incomplete: a download that has not finished"));
}

TEST_F(HubCacheTest, OtherModelsAreRefusedWithTheCommandThatDownloadsThem) {
  EXPECT_EQ(refusal("me/other"), "me/other: no such folder, and not in the cache " + folder_.path().string() +
                                     "; to download it: hf download me/other");
  fs::current_path(folder_.path());
  fs::create_directory("me");
  EXPECT_THAT(refusal("me/other"), Not(HasSubstr("hf download")));  // more likely a wrong path
}

TEST_F(HubCacheTest, PathsStayPaths) {
  for (const char* path : {"tiny", "./tiny", "../tiny", "/me/tiny", "me/tiny/model", "a/b c", "me/", "-me/tiny", ""}) {
    EXPECT_FALSE(is_hub_name(path)) << path;
    EXPECT_EQ(model_folder(path), fs::path(path));
  }
  EXPECT_TRUE(is_hub_name("me/tiny"));
  fs::current_path(folder_.path());
  fs::create_directories("me/tiny");
  EXPECT_FALSE(is_hub_name("me/tiny"));
}

TEST_F(HubCacheTest, ModelsAreListed) {
  fs::create_directories(folder_ / "models--a-b--c.d");
  fs::create_directories(folder_ / "datasets--x--y");
  fs::create_directories(folder_ / "models--..--x");
  EXPECT_THAT(cached_models(), ElementsAre("a-b/c.d", "me/tiny"));
}

TEST_F(HubCacheTest, VariablesNameTheCache) {
  unsetenv("HF_HUB_CACHE");
  setenv("HUGGINGFACE_HUB_CACHE", "/older", 1);
  EXPECT_EQ(hub_cache(), "/older");
  unsetenv("HUGGINGFACE_HUB_CACHE");
  setenv("HF_HOME", "/home/x", 1);
  EXPECT_EQ(hub_cache(), "/home/x/hub");
  setenv("HF_HOME", "~/hf", 1);
  EXPECT_EQ(hub_cache(), fs::path(getenv("HOME")) / "hf/hub");
  unsetenv("HF_HOME");
  setenv("XDG_CACHE_HOME", "/caches", 1);
  EXPECT_EQ(hub_cache(), "/caches/huggingface/hub");
  unsetenv("XDG_CACHE_HOME");
  EXPECT_EQ(hub_cache(), fs::path(getenv("HOME")) / ".cache/huggingface/hub");
}

}  // namespace
}  // namespace encdec
