#pragma once

#include <cstddef>

namespace encdec::kernels {

// Weights, keys and values are asked for before they are used: line by line, into the second-level cache. The first one
// has room for few lines under way; measured on a Zen 4, one to six rows of a matmul take 10 to 30 % less time so.
inline constexpr std::ptrdiff_t kLineBytes = 64;
// From the weights in use to those asked for, where a tile looks ahead in its own panels and each of its steps takes so
// many bytes. Near is best where a step takes several lines; a line at a time comes up to twice as fast from afar.
constexpr std::ptrdiff_t bytes_ahead(std::ptrdiff_t step_bytes) {
  return step_bytes > kLineBytes ? 768 : 8192;
}

// Beyond the end of memory it does nothing. Always inline: gcc 12 drops calls of what has no other effect.
[[gnu::always_inline]] inline void ask_for_line(const void* address) {
  __builtin_prefetch(address, 0, 2);
}

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
      for (int line = 0; line < lines && at < end; ++line, at += kLineBytes) ask_for_line(at);
    }
  };

  // None: a tile looks ahead in its own panel.
  NextPanel() = default;
  // So many bytes from `begin` on, during `steps` steps of each of `tiles` tiles; none for one tile. Behind the last
  // panel it is what lies there: most often the matrix that is multiplied next.
  NextPanel(const void* begin, std::size_t bytes, int tiles, int steps)
      : begin_(tiles == 1 ? nullptr : static_cast<const char*>(begin)),
        lines_((static_cast<int>(bytes / kLineBytes) + tiles - 1) / tiles),
        lines_at_a_step_((lines_ + steps - 1) / steps) {}

  bool empty() const { return begin_ == nullptr; }
  Share share(int tile) const {
    const auto share = static_cast<std::size_t>(lines_) * kLineBytes;
    const char* begin = begin_ + static_cast<std::size_t>(tile) * share;
    return {begin, begin + share, lines_at_a_step_};
  }

 private:
  const char* begin_ = nullptr;
  int lines_ = 0;  // of a tile
  int lines_at_a_step_ = 0;
};

}  // namespace encdec::kernels
