#include "encdec/models/model/packed_weights_cache.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "encdec/engine/backend/backends.h"
#include "encdec/engine/base/error.h"
#include "encdec/models/checkpoint/checkpoint.h"
#include "encdec/models/families/model_description.h"
#include "encdec/models/model.h"
#include "encdec/models/model/fingerprint.h"
#include "encdec/models/session/precision_probe.h"
#include "tests/support/comparison.h"
#include "tests/support/random_marian.h"
#include "tests/support/temp_folder.h"

namespace encdec {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

std::vector<Precision> precisions() {
  std::vector<Precision> all = {Precision::float32, Precision::bfloat16, Precision::int8};
  if (backend::can_multiply(backend::default_backend(), Precision::int4)) all.push_back(Precision::int4);
  return all;
}

std::string content(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

std::vector<fs::path> files_of(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder)) files.push_back(entry.path());
  return files;
}

std::vector<std::string> cache_notes(const Model& model, const fs::path& folder) {
  std::vector<std::string> notes;
  for (const std::string& note : model.notes().lines) {
    if (note.starts_with(folder.string())) notes.push_back(note);
  }
  return notes;
}

// A random checkpoint, and the outputs of its network when loaded with a cache.
class PackedWeightsCacheTest : public testing::Test {
 protected:
  Tensor probe_with(const fs::path& cache, Precision precision = Precision::float32, int threads = 1) const {
    return probe(load(cache, precision, threads).network());
  }
  Model load(const fs::path& cache, Precision precision = Precision::float32, int threads = 1) const {
    return Model::load(checkpoint_.folder(),
                       {.threads = threads, .precision = precision, .packed_weights_cache = cache});
  }

  // Builds the network with its own cache.
  struct Built {
    std::shared_ptr<PackedWeightsCache> cache;
    Tensor probed;
  };
  Built build(const fs::path& folder, const PackOptions& options = {}) const {
    const Checkpoint checkpoint = open_checkpoint(checkpoint_.folder());
    const ModelDescription description = describe_model(checkpoint);
    PackOptions pack = options;
    Built built;
    pack.packed = built.cache =
        std::make_shared<PackedWeightsCache>(folder, packed_weights_key(content_of(*checkpoint.weights), pack));
    const auto network = std::make_shared<const Transformer>(
        description.config, WeightScope(checkpoint.weights, description.weight_names, pack));
    built.cache->finish();
    built.probed = probe(network);
    return built;
  }

  // Loads with a new cache, and returns the single file that the load has written.
  fs::path written(const fs::path& folder) const {
    build(folder);
    const std::vector<fs::path> files = files_of(folder);
    EXPECT_THAT(files, SizeIs(1));
    return files.at(0);
  }

  RandomMarian checkpoint_;
  TempFolder folder_;
};

TEST_F(PackedWeightsCacheTest, TheSecondLoadReadsEveryMatrixFromTheFileAndGivesTheSameBits) {
  for (const Precision precision : precisions()) {
    for (const int threads : {1, 3}) {
      const PackOptions pack{.threads = threads, .precision = precision};
      const Tensor expected = probe_with({}, precision, threads);
      const Built first = build(folder_ / "new" / fs::path("folder"), pack);
      EXPECT_GT(first.cache->packed(), 10);
      EXPECT_EQ(first.cache->found(), 0);
      EXPECT_THAT(first.cache->notes(), IsEmpty());
      EXPECT_TRUE(same_bits(first.probed, expected));
      const Built second = build(folder_ / "new" / fs::path("folder"), pack);
      EXPECT_EQ(second.cache->packed(), 0);
      EXPECT_EQ(second.cache->found(), first.cache->packed());
      EXPECT_THAT(second.cache->notes(), IsEmpty());
      EXPECT_TRUE(same_bits(second.probed, expected)) << to_string(precision) << " " << threads;
    }
  }
}

// Each child is a process of its own, like the actors of a cluster.
TEST_F(PackedWeightsCacheTest, OneOfSeveralProcessesPacksAndAllShareItsFile) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the thread sanitizer does not follow a child that starts threads";
#endif
  const fs::path cache = folder_ / "cache";
  const Tensor expected = probe_with({});
  std::vector<::pid_t> children;
  for (int child = 0; child < 6; ++child) {
    children.push_back(::fork());
    if (children.back() != 0) continue;
    ::alarm(60);
    const Built built = build(cache);
    const bool is_right = same_bits(built.probed, expected) && built.cache->notes().empty();
    ::_exit(!is_right ? 100 : built.cache->packed() > 0 ? 1 : 0);
  }
  int packers = 0;
  for (const ::pid_t child : children) {
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFEXITED(status));
    ASSERT_LE(WEXITSTATUS(status), 1);
    packers += WEXITSTATUS(status);
  }
  EXPECT_EQ(packers, 1);
  EXPECT_THAT(files_of(cache), SizeIs(1));
}

TEST_F(PackedWeightsCacheTest, AModelThatHasPackedAlsoMapsTheFile) {
  const Model model = load(folder_ / "cache");
  std::ifstream maps("/proc/self/maps");
  if (!maps) GTEST_SKIP() << "no /proc";
  const std::string text((std::istreambuf_iterator<char>(maps)), {});
  EXPECT_THAT(text, HasSubstr((folder_ / "cache").string()));
}

TEST_F(PackedWeightsCacheTest, ModelsLoadedWithItGenerateTheSame) {
  for (const Precision precision : {Precision::float32, Precision::int8, Precision::automatic}) {
    const std::vector<TokenIds> sources = {{5, 17, 23, 0}, {44, 3, 0}};
    const auto generated = [&](const fs::path& cache) {
      std::vector<TokenIds> ids;
      const Model model = load(cache, precision);
      EXPECT_THAT(cache_notes(model, folder_.path()), IsEmpty());
      for (const auto& result : model.generate_ids(sources)) ids.push_back(result.hypotheses.front().token_ids);
      // The matrices of a shortlist are not part of the checkpoint, and not cached.
      GenerateOptions shortlisted;
      shortlisted.shortlist = {0, 3, 5, 8, 13, 21, 34, 55, 89};
      for (const auto& result : model.generate_ids(sources, shortlisted))
        ids.push_back(result.hypotheses.front().token_ids);
      return ids;
    };
    const auto expected = generated({});
    EXPECT_EQ(generated(folder_ / "cache"), expected);
    EXPECT_EQ(generated(folder_ / "cache"), expected);
  }
}

TEST_F(PackedWeightsCacheTest, OtherPrecisionsThreadsAndContentsHaveOtherFiles) {
  const fs::path cache = folder_ / "cache";
  for (const Precision precision : precisions()) load(cache, precision);
  EXPECT_THAT(files_of(cache), SizeIs(precisions().size()));
  load(cache, Precision::int8, 2);
  EXPECT_THAT(files_of(cache), SizeIs(precisions().size() + 1));
  load(cache, Precision::int8, 2);
  EXPECT_THAT(files_of(cache), SizeIs(precisions().size() + 1));

  // Changes one bit of one weight.
  const fs::path weights = checkpoint_.folder() / "model.safetensors";
  std::string changed = content(weights);
  changed[changed.size() - 2] = static_cast<char>(changed[changed.size() - 2] ^ 1);
  std::ofstream(weights, std::ios::binary) << changed;
  const Tensor expected = probe_with({}, Precision::int8, 2);
  EXPECT_TRUE(same_bits(probe_with(cache, Precision::int8, 2), expected));
  EXPECT_THAT(files_of(cache), SizeIs(precisions().size() + 2));
}

TEST_F(PackedWeightsCacheTest, ACopyOfTheCheckpointUsesTheSameFile) {
  const fs::path cache = folder_ / "cache", copy = folder_ / "copy";
  load(cache);
  fs::copy(checkpoint_.folder(), copy);
  Model::load(copy, {.threads = 1, .packed_weights_cache = cache});
  EXPECT_THAT(files_of(cache), SizeIs(1));
}

TEST_F(PackedWeightsCacheTest, ADamagedFileChangesNoResultAndIsReplaced) {
  const fs::path cache = folder_ / "cache", file = written(cache);
  const std::string whole = content(file);
  const Tensor expected = probe_with({});
  const auto try_with = [&](const std::string& damaged, const std::string& what) {
    fs::remove(file);  // on some file systems, overwriting a file waits for the disk
    std::ofstream(file, std::ios::binary) << damaged;
    const Built built = build(cache);
    ASSERT_TRUE(same_bits(built.probed, expected)) << what;
    if (built.cache->packed() == 0) return;  // zeros between matrices
    EXPECT_THAT(built.cache->notes(), SizeIs(1)) << what;
    EXPECT_TRUE(content(file) == whole) << what;
  };
  // packed_weights_file_test tests every byte of the head.
  std::uint64_t head = 0;
  std::memcpy(&head, whole.data() + 32, sizeof(head));
  ASSERT_LT(head, 4096u);
  for (std::size_t i = 0; i < whole.size(); i += i < head ? 131 : 9001) {
    std::string damaged = whole;
    damaged[i] = static_cast<char>(damaged[i] ^ (1 << i % 8));
    try_with(damaged, "byte " + std::to_string(i));
  }
  for (std::size_t size = 0; size < whole.size(); size += size < head ? 307 : 20011) {
    try_with(whole.substr(0, size), "length " + std::to_string(size));
  }
  try_with(whole.substr(0, whole.size() - 1), "without the last byte");
  try_with(whole + "x", "a byte more");
}

TEST_F(PackedWeightsCacheTest, AMatrixMissingFromTheFileIsPackedAndAdded) {
  const fs::path cache = folder_ / "cache", file = written(cache);
  const std::string whole = content(file);
  const Built full = build(cache);
  // The same file with fewer matrices, as a version with another description of the family would write it.
  ContentHash key;
  std::memcpy(key.data(), whole.data() + 16, key.size());
  const auto bytes = std::as_bytes(std::span(whole));
  std::vector<PackedEntry> entries = read_packed_weights(bytes, key, "x");
  const PackedEntry first = entries.front();
  entries.resize(1);
  std::string fewer = packed_weights_head(key, entries);
  fewer.resize(entries[0].offset);
  fewer += whole.substr(first.offset, first.bytes);
  std::ofstream(file, std::ios::binary) << fewer;

  const Built built = build(cache);
  EXPECT_EQ(built.cache->found(), 1);
  EXPECT_EQ(built.cache->packed(), full.cache->found() - 1);
  EXPECT_TRUE(same_bits(built.probed, full.probed));
  EXPECT_TRUE(content(file) == whole);
}

TEST_F(PackedWeightsCacheTest, AFolderThatCannotBeWrittenGivesANote) {
  const fs::path file = folder_.write("file", "");
  const Tensor expected = probe_with({});
  for (const fs::path& cache : {file, file / "below"}) {  // fails for every user, root included
    const Model model = load(cache);
    EXPECT_TRUE(same_bits(probe(model.network()), expected));
    ASSERT_FALSE(cache_notes(model, cache).empty());
    EXPECT_THAT(cache_notes(model, cache).back(), HasSubstr("weights are packed at every load"));
  }
  if (::geteuid() == 0) return;  // root can write everywhere
  const fs::path locked = folder_ / "locked";
  fs::create_directory(locked);
  fs::permissions(locked, fs::perms::owner_read | fs::perms::owner_exec);
  const Model model = load(locked);
  EXPECT_THAT(cache_notes(model, locked), SizeIs(1));
  EXPECT_THAT(files_of(locked), IsEmpty());
}

TEST_F(PackedWeightsCacheTest, AFailedWriteLeavesNoFile) {
  const fs::path cache = folder_ / "cache", file = written(cache);
  fs::remove(file);
  fs::create_directories(file / "in the way");  // a file cannot be renamed to a folder
  const Built built = build(cache);
  EXPECT_THAT(built.cache->notes(), SizeIs(2));
  EXPECT_THAT(files_of(cache), testing::ElementsAre(file));
}

TEST_F(PackedWeightsCacheTest, TheFileHasThePermissionsOfOrdinaryFiles) {
  const fs::path cache = folder_ / "cache", file = written(cache);
  const fs::path ordinary = folder_.write("ordinary", "");
  EXPECT_EQ(fs::status(file).permissions(), fs::status(ordinary).permissions());
}

TEST_F(PackedWeightsCacheTest, ConcurrentLoadsDoNotDisturbOneAnother) {
  const fs::path cache = folder_ / "cache";
  const Tensor expected = probe_with({});
  std::vector<std::thread> threads;
  std::vector<int> same(4);
  for (int& good : same) {
    threads.emplace_back([&] {
      for (int i = 0; i < 5; ++i) {
        good += same_bits(build(cache).probed, expected) ? 1 : 0;
        std::error_code ignored;
        for (const fs::path& file : files_of(cache)) {
          if (file.extension() == ".encdec-packed") fs::remove(file, ignored);
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(same, testing::Each(5));
  build(cache);
  EXPECT_THAT(files_of(cache), SizeIs(1));
}

TEST_F(PackedWeightsCacheTest, EachNameIsFoundOnce) {
  const Tensor matrix = Tensor::allocate({64}, DataType::uint8);
  PackedWeightsCache first(folder_.path(), {});
  EXPECT_TRUE(first.find("a", 64).empty());
  first.keep("a", matrix);
  first.keep("a", Tensor::allocate({64}, DataType::uint8));
  EXPECT_EQ(first.packed(), 1);
  first.finish();
  EXPECT_TRUE(first.find("a", 64).empty());

  PackedWeightsCache second(folder_.path(), {});
  EXPECT_TRUE(second.find("a", 63).empty());
  EXPECT_TRUE(second.find("b", 64).empty());
  EXPECT_FALSE(second.find("a", 64).empty());
  EXPECT_TRUE(second.find("a", 64).empty());
}

}  // namespace
}  // namespace encdec
