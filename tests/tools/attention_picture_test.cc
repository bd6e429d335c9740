#include <encdec/engine/base/error.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <librsvg/rsvg.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <memory>

#include "attention_example.h"
#include "tests/support/temp_folder.h"
#include "tools/attention/png.h"
#include "tools/attention/scale.h"
#include "tools/attention/svg.h"

namespace encdec::cli {
namespace {

// A PNG image that is decoded again.
class Image {
 public:
  explicit Image(std::string png) : png_(std::move(png)) {
    surface_ = cairo_image_surface_create_from_png_stream(read, this);
    EXPECT_EQ(cairo_surface_status(surface_), CAIRO_STATUS_SUCCESS);
  }
  Image(const Image&) = delete;
  Image& operator=(const Image&) = delete;
  ~Image() { cairo_surface_destroy(surface_); }

  int width() const { return cairo_image_surface_get_width(surface_); }
  int height() const { return cairo_image_surface_get_height(surface_); }
  Color at(int x, int y) const {
    std::uint32_t pixel = 0;
    const int stride = cairo_image_surface_get_stride(surface_);
    std::memcpy(&pixel, cairo_image_surface_get_data(surface_) + y * stride + x * 4, sizeof pixel);
    return {static_cast<std::uint8_t>(pixel >> 16), static_cast<std::uint8_t>(pixel >> 8),
            static_cast<std::uint8_t>(pixel)};
  }
  // Returns the number of pixels of this color.
  int count(const Color& color) const {
    int pixels = 0;
    for (int y = 0; y < height(); ++y) {
      for (int x = 0; x < width(); ++x) pixels += at(x, y) == color ? 1 : 0;
    }
    return pixels;
  }

 private:
  static cairo_status_t read(void* image, unsigned char* data, unsigned int size) {
    auto& self = *static_cast<Image*>(image);
    if (self.position_ + size > self.png_.size()) return CAIRO_STATUS_READ_ERROR;
    std::memcpy(data, self.png_.data() + self.position_, size);
    self.position_ += size;
    return CAIRO_STATUS_SUCCESS;
  }

  std::string png_;
  std::size_t position_ = 0;
  cairo_surface_t* surface_ = nullptr;
};

std::string png(const LabelledAttention& attention) {
  return png_of(draw_svg("a → b", {&attention, 1}));
}

// Returns attention in which every query attends to all keys equally. Its image compresses fast.
LabelledAttention uniform_attention(int layers, int heads, const std::vector<std::string>& tokens) {
  LabelledAttention attention = random_attention(layers, heads, tokens, tokens);
  const auto keys = static_cast<float>(tokens.size());
  std::fill_n(attention.map.weights.data<float>(), attention.map.weights.elements(), 1 / keys);
  return attention;
}

TEST(AttentionPicture, IsAPng) {
  EXPECT_THAT(png(random_attention(1, 1, {"q"}, {"k"})), testing::StartsWith("\x89PNG\r\n\x1a\n"));
}

TEST(AttentionPicture, CellsHaveTheColorsOfTheirWeights) {
  const LabelledAttention attention = attention_of({"a", "b"}, {"c", "d", "e"}, {0, 0.1F, 0.8F, 0.3F, 0.4F, 0.2F});
  const Image image(png(attention));
  // The darkest cell (found inside its grid lines) locates the others.
  const Color darkest = color_of(kColors - 1);
  int x = 0, y = 0;
  while (y < image.height() && !(image.at(x, y) == darkest && image.at(x + 25, y + 25) == darkest)) {
    if (++x == image.width() - 30) x = 0, ++y;
  }
  ASSERT_LT(y, image.height() - 40);
  constexpr int kCell = 32;
  for (int query = 0; query < 2; ++query) {
    for (int key = 0; key < 3; ++key) {
      const float weight = attention.map.weights.data<float>()[query * 3 + key];
      EXPECT_EQ(image.at(x + 5 + (key - 2) * kCell, y + 5 + query * kCell), color_of(color_number(weight, 0.8F)))
          << query << ", " << key;
    }
  }
}

TEST(AttentionPicture, ShowsAllLayersAndHeadsOfAllKinds) {
  const std::vector<std::string> tokens(3, "a");
  const LabelledAttention all = uniform_attention(2, 3, tokens);
  const Color darkest = color_of(kColors - 1);
  const int map = 9 * 15 * 15;  // minimum number of pixels of a map, without grid lines
  EXPECT_GE(Image(png(all)).count(darkest), 6 * map);
  const LabelledAttention kinds[] = {all, all, all};
  EXPECT_GE(Image(png_of(draw_svg("", kinds))).count(darkest), 18 * map);
  EXPECT_GT(Image(png_of(draw_svg("", kinds))).height(), 2 * Image(png(all)).height());
}

TEST(AttentionPicture, IsReproducible) {
  const LabelledAttention attention = random_attention(2, 2, hostile_tokens(), hostile_tokens());
  EXPECT_EQ(png(attention), png(attention));
}

TEST(AttentionPicture, HostileTokensAreDrawnWithoutMessages) {
  testing::internal::CaptureStderr();
  const std::string text = png(random_attention(1, 1, hostile_tokens(), hostile_tokens()));
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  EXPECT_LT(Image(text).width(), 1200);
}

TEST(AttentionPicture, ManyTokensGetSmallCells) {
  const std::vector<std::string> tokens(500, "▁token");
  const Image one(png(uniform_attention(1, 1, tokens)));
  EXPECT_LE(one.width(), 6000);
  EXPECT_GE(one.width(), 5000);
  const Image grid(png(uniform_attention(2, 8, tokens)));
  EXPECT_GE(grid.width(), 8 * 500);
  EXPECT_LE(static_cast<std::int64_t>(grid.width()) * grid.height(), std::int64_t{64} << 20);
}

// Suites whose names end with DeathTest run first. fontconfig reads its settings once per process, and must not have
// read them yet. Death tests fork here (the default style): an emulated program could not start itself anew.
TEST(AttentionPictureDeathTest, AMachineWithoutFontsIsReported) {
  const TempFolder folder;
  const std::string settings = folder.write("fonts.conf", "<fontconfig><dir>/nonexistent</dir></fontconfig>");
  EXPECT_EXIT(
      {
        ::setenv("FONTCONFIG_FILE", settings.c_str(), 1);
        try {
          png(random_attention(1, 1, {"q"}, {"k"}));
        } catch (const FileError& error) {
          std::cerr << error.what();
        }
        std::exit(0);
      },
      testing::ExitedWithCode(0), "fontconfig: no font, expected at least one, such as those of Debian's");
}

}  // namespace
}  // namespace encdec::cli
