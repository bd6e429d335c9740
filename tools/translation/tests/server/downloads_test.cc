#include "translation/server/downloads.h"

#include <gtest/gtest.h>

#include <functional>
#include <list>
#include <string>

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

TEST(Downloads, ATranslationCanBeFetchedOnce) {
  Downloads downloads(4);
  Downloads::Upload upload(downloads, "client");
  const auto fetch = [&] { downloads.fetch(upload.id(), Downloads::Fetch::remove); };
  EXPECT_EQ(status_thrown_by(fetch), 404);
  upload.finish({"a_de.txt", "text"});
  EXPECT_EQ(downloads.fetch(upload.id(), Downloads::Fetch::keep).content, "text");
  EXPECT_EQ(downloads.fetch(upload.id(), Downloads::Fetch::remove).name, "a_de.txt");
  EXPECT_EQ(status_thrown_by(fetch), 404);
}

TEST(Downloads, OneClientHasAShareOfTheDocuments) {
  Downloads downloads(4);
  std::list<Downloads::Upload> uploads;
  const auto status = [&](const std::string& client) {
    return status_thrown_by([&] { uploads.emplace_back(downloads, client); });
  };
  for (int i = 0; i < 3; ++i) EXPECT_EQ(status("first"), 0);
  EXPECT_EQ(status("first"), 429);
  EXPECT_EQ(status("second"), 0);
  EXPECT_EQ(status("second"), 429);
  uploads.front().finish({});
  EXPECT_EQ(status("first"), 0);
  uploads.pop_back();  // removed, because it is not finished
  EXPECT_EQ(status("second"), 0);
}

TEST(Downloads, OneClientHasAShareOfTheMemory) {
  Downloads downloads(100);
  Downloads::Upload first(downloads, "first"), more(downloads, "first"), second(downloads, "second");
  EXPECT_EQ(status_thrown_by([&] { first.set_bytes(192 * kMiB); }), 413);
  EXPECT_EQ(status_thrown_by([&] { first.set_bytes(150 * kMiB); }), 0);
  EXPECT_EQ(status_thrown_by([&] { more.set_bytes(50 * kMiB); }), 456);
  EXPECT_EQ(status_thrown_by([&] { second.set_bytes(110 * kMiB); }), 429);
  EXPECT_EQ(status_thrown_by([&] { second.set_bytes(100 * kMiB); }), 0);
  first.finish({});
  EXPECT_EQ(status_thrown_by([&] { more.set_bytes(50 * kMiB); }), 0);
}

}  // namespace
}  // namespace encdec::serve
