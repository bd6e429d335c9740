#pragma once

#include <cstddef>

namespace encdec::kernels {

// The panel of weights behind the one in use, shared out among the tiles that use this one. One tile after the other
// reads the same weights: memory would be idle during all but the first if each did not bring its share of the next
// panel nearer.
class NextPanel {
 public:
  // What one tile asks for, a few lines at each step.
  struct Share {
    const char* at = nullptr;
    const char* end = nullptr;
    int lines = 0;

    void ask() {
      for (int line = 0; line < lines && at < end; ++line, at += kLineBytes) __builtin_prefetch(at, 0, 2);
    }
  };

  // None: a tile looks ahead in its own panel.
  NextPanel() = default;
  // So many bytes from `begin` on, during `steps` steps of each of `tiles` tiles.
  NextPanel(const void* begin, std::size_t bytes, int tiles, int steps)
      : begin_(static_cast<const char*>(begin)),
        lines_((static_cast<int>(bytes / kLineBytes) + tiles - 1) / tiles),
        lines_at_a_step_((lines_ + steps - 1) / steps) {}

  bool empty() const { return begin_ == nullptr; }
  Share share(int tile) const {
    const auto share = static_cast<std::size_t>(lines_) * kLineBytes;
    const char* begin = begin_ + static_cast<std::size_t>(tile) * share;
    return {begin, begin + share, lines_at_a_step_};
  }

 private:
  static constexpr std::size_t kLineBytes = 64;

  const char* begin_ = nullptr;
  int lines_ = 0;  // of a tile
  int lines_at_a_step_ = 0;
};

}  // namespace encdec::kernels
