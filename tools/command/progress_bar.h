#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace encdec::cli {

// Progress of a command.
struct Progress {
  // Finished part of the whole work, if known.
  std::optional<double> fraction = {};
  std::int64_t lines = 0;
  std::int64_t tokens = 0;
  std::optional<double> audio_seconds = {};  // audio transcribed so far; shown instead of lines and tokens
};

// Returns one line of at most `width` columns:
// "  42% [========            ]  1200 lines, 340.5 lines/s, 5100 tokens/s, 0:12 left"
// For audio: "1:40 of audio, 15.2 times real time".
std::string progress_line(const Progress& progress, double seconds, int width);

// A progress line on standard error. It appears one second after construction and is redrawn at most ten times a
// second. Draws nothing if standard error is not a terminal.
class ProgressBar {
 public:
  ProgressBar();
  ~ProgressBar() { clear(); }
  // Returns a bar that is never drawn.
  static ProgressBar hidden();

  // Returns true if show() would draw now. Cheap enough to call for each token.
  bool due() const { return enabled_ && Clock::now() >= next_; }
  void show(const Progress& progress);
  // Returns whether there is a terminal to draw on.
  bool is_enabled() const { return enabled_; }
  // Draws the end of a text of one line at once.
  void show_end(std::string_view text);
  // Removes the line, so that other output can be written. A later show() draws it again.
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
