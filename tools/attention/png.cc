#include "attention/png.h"

#include <encdec/engine/base/error.h>
#include <fmt/format.h>
#include <librsvg/rsvg.h>

#include <memory>
#include <new>

namespace encdec::cli {
namespace {

template <auto free>
struct FreeWith {
  void operator()(auto* object) const { free(object); }
};
template <class Object, auto free>
using Owned = std::unique_ptr<Object, FreeWith<free>>;

using Picture = Owned<RsvgHandle, g_object_unref>;

// An error of librsvg, if there is one.
struct Failure {
  GError* error = nullptr;

  ~Failure() { g_clear_error(&error); }
  void check(bool succeeded) const {
    if (!succeeded) throw BackendError(fmt::format("librsvg: {}, expected an image", error->message));
  }
};

Picture parse(const std::string& svg) {
  const Owned<GInputStream, g_object_unref> stream(
      g_memory_input_stream_new_from_data(svg.data(), static_cast<gssize>(svg.size()), nullptr));
  Failure failure;
  // Without this flag, an attribute may have at most 10 MB.
  Picture picture(
      rsvg_handle_new_from_stream_sync(stream.get(), nullptr, RSVG_HANDLE_FLAG_UNLIMITED, nullptr, &failure.error));
  failure.check(picture != nullptr);
  return picture;
}

double height_of(const Picture& picture, const char* element) {
  RsvgRectangle ink = {};
  Failure failure;
  failure.check(rsvg_handle_get_geometry_for_element(picture.get(), element, &ink, nullptr, &failure.error) == TRUE);
  return ink.height;
}

// Throws FileError if there is no font. All characters are then drawn as the same box.
void check_fonts() {
  const Picture letters = parse(
      R"(<svg xmlns="http://www.w3.org/2000/svg"><text id="low" y="50">.</text><text id="high" y="50">M</text></svg>)");
  if (height_of(letters, "#low") < height_of(letters, "#high")) return;
  throw FileError("fontconfig: no font, expected at least one, such as those of Debian's fonts-dejavu-core");
}

void check(cairo_status_t status) {
  if (status == CAIRO_STATUS_SUCCESS) return;
  throw BackendError(fmt::format("cairo: {}, expected an image", cairo_status_to_string(status)));
}

// Appends data to the string `png`. Called from C, so no exception may leave it.
cairo_status_t append(void* png, const unsigned char* data, unsigned int size) {
  try {
    static_cast<std::string*>(png)->append(reinterpret_cast<const char*>(data), size);
    return CAIRO_STATUS_SUCCESS;
  } catch (const std::bad_alloc&) {
    return CAIRO_STATUS_NO_MEMORY;
  }
}

}  // namespace

std::string png_of(const std::string& svg) {
  check_fonts();
  const Picture picture = parse(svg);
  RsvgRectangle page = {};
  rsvg_handle_get_intrinsic_size_in_pixels(picture.get(), &page.width, &page.height);
  const Owned<cairo_surface_t, cairo_surface_destroy> surface(
      cairo_image_surface_create(CAIRO_FORMAT_RGB24, static_cast<int>(page.width), static_cast<int>(page.height)));
  const Owned<cairo_t, cairo_destroy> context(cairo_create(surface.get()));
  check(cairo_status(context.get()));
  Failure failure;
  failure.check(rsvg_handle_render_document(picture.get(), context.get(), &page, &failure.error) == TRUE);
  std::string png;
  check(cairo_surface_write_to_png_stream(surface.get(), append, &png));
  return png;
}

bool can_write_png() {
  return true;
}

}  // namespace encdec::cli
