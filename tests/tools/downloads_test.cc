#include "serve/downloads.h"

#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <vector>

namespace encdec::serve {
namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;

// Returns the status of the HttpError that `call` throws; 0 if it throws none.
int status_thrown_by(const std::function<void()>& call) {
  try {
    call();
    return 0;
  } catch (const HttpError& error) {
    return error.status();
  }
}

TEST(Downloads, ATranslationNeedsItsKeyAndCanBeFetchedOnce) {
  Downloads downloads(4);
  Downloads::Upload upload = downloads.add("client", "key");
  const std::string id = upload.id();
  const auto fetch = [&](const std::string& key) { downloads.fetch(id, key, Downloads::Fetch::remove); };
  EXPECT_EQ(status_thrown_by([&] { downloads.state(id, ""); }), 404);
  EXPECT_EQ(status_thrown_by([&] { downloads.state("key", "key"); }), 404);
  EXPECT_EQ(downloads.state(id, "key").stage, Downloads::Stage::queued);
  EXPECT_EQ(status_thrown_by([&] { fetch("key"); }), 503);
  upload.set_progress(1, 3);
  EXPECT_EQ(downloads.state(id, "key").stage, Downloads::Stage::translating);
  upload.finish("a_de.txt", "text", 5);
  EXPECT_EQ(downloads.state(id, "key").characters, 5u);
  EXPECT_EQ(status_thrown_by([&] { fetch("kez"); }), 404);
  EXPECT_EQ(downloads.fetch(id, "key", Downloads::Fetch::keep).content, "text");
  EXPECT_EQ(downloads.fetch(id, "key", Downloads::Fetch::remove).name, "a_de.txt");
  EXPECT_EQ(status_thrown_by([&] { fetch("key"); }), 404);
}

TEST(Downloads, AnUnfinishedUploadIsDroppedAndAFailureIsKept) {
  Downloads downloads(4);
  std::optional<Downloads::Upload> dropped(downloads.add("client", "")), failed(downloads.add("client", ""));
  const std::string first = dropped->id(), second = failed->id();
  failed->fail("why");
  dropped.reset();
  failed.reset();
  EXPECT_EQ(status_thrown_by([&] { downloads.state(first, ""); }), 404);
  EXPECT_EQ(downloads.state(second, "").error, "why");
  EXPECT_EQ(status_thrown_by([&] { downloads.fetch(second, "", Downloads::Fetch::remove); }), 404);
}

TEST(Downloads, OneClientHasAShareOfTheDocuments) {
  Downloads downloads(4);
  std::vector<Downloads::Upload> uploads;
  const auto status = [&](const std::string& client) {
    return status_thrown_by([&] { uploads.push_back(downloads.add(client, "")); });
  };
  for (int i = 0; i < 3; ++i) EXPECT_EQ(status("first"), 0);
  EXPECT_EQ(status("first"), 429);
  EXPECT_EQ(status("second"), 0);
  EXPECT_EQ(status("second"), 429);
  uploads.front().finish("", "", 0);
  EXPECT_EQ(status("first"), 0);
}

TEST(Downloads, OneClientHasAShareOfTheMemory) {
  Downloads downloads(100);
  Downloads::Upload first = downloads.add("first", ""), more = downloads.add("first", "");
  Downloads::Upload second = downloads.add("second", "");
  EXPECT_EQ(status_thrown_by([&] { first.set_bytes(192 * kMiB); }), 413);
  EXPECT_EQ(status_thrown_by([&] { first.set_bytes(150 * kMiB); }), 0);
  EXPECT_EQ(status_thrown_by([&] { more.set_bytes(50 * kMiB); }), 456);
  EXPECT_EQ(status_thrown_by([&] { second.set_bytes(110 * kMiB); }), 429);
  EXPECT_EQ(status_thrown_by([&] { second.set_bytes(100 * kMiB); }), 0);
  first.finish("", "", 0);
  EXPECT_EQ(status_thrown_by([&] { more.set_bytes(50 * kMiB); }), 0);
}

}  // namespace
}  // namespace encdec::serve
