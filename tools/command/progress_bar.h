#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace encdec::cli {

struct Progress {
  std::optional<double> fraction = {};  // finished part of the work; unset if unknown
  std::int64_t lines = 0;
  std::int64_t tokens = 0;
  std::optional<double> audio_seconds = {};  // audio transcribed so far; shown instead of lines and tokens
};

// Returns a line of at most `width` columns:
// "  42% [========            ]  1200 lines, 340.5 lines/s, 5100 tokens/s, 0:12 left"
// For audio: "1:40 of audio, 15.2 times real time".
std::string progress_line(const Progress& progress, double seconds, int width);

// A progress line on a terminal at standard error. Appears after one second; is redrawn every 0.1 s at most.
class ProgressBar {
 public:
  ProgressBar();
  ~ProgressBar() { clear(); }
  // Returns a bar that is never drawn.
  static ProgressBar none();

  // Returns true if show() would draw now. This function is cheap enough to call for each token.
  bool due() const { return enabled_ && Clock::now() >= next_; }
  void show(const Progress& progress);
  // Returns whether there is a terminal to draw on.
  bool is_enabled() const { return enabled_; }
  // Draws the end of a one-line text at once.
  void show_end(std::string_view text);
  // Removes the line, so that other output can be written. The next show() draws it again.
  void clear();

 private:
  using Clock = std::chrono::steady_clock;
  void draw(std::string_view line);

  bool enabled_ = false;
  bool drawn_ = false;
  Clock::time_point start_ = Clock::now();
  Clock::time_point next_ = start_ + std::chrono::seconds(1);
};

}  // namespace encdec::cli
