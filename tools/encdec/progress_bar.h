#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace encdec::cli {

// How far a command has come. `fraction` is of the whole work, where that is known.
struct Progress {
  std::optional<double> fraction = {};
  std::int64_t lines = 0;
  std::int64_t tokens = 0;
  std::optional<double> audio_seconds = {};  // of recordings, instead of lines
};

// One line: "  42% [========            ]  1200 lines, 340.5 lines/s, 5100 tokens/s, 0:12 left", or "1:40 of sound,
// 15.2 times as fast", at most `width` columns.
std::string progress_line(const Progress& progress, double seconds, int width);

// A line on standard error that is drawn over again, at most ten times a second, from one second after construction on.
// Draws nothing where standard error is not a terminal.
class ProgressBar {
 public:
  ProgressBar();
  ~ProgressBar() { clear(); }
  // A bar that is never drawn.
  static ProgressBar hidden();

  // True if show() would draw now: cheap enough to ask for each token.
  bool due() const { return enabled_ && Clock::now() >= next_; }
  void show(const Progress& progress);
  // Takes the line away, so that others may write. The next show() brings it back.
  void clear();

 private:
  using Clock = std::chrono::steady_clock;

  bool enabled_ = false;
  bool drawn_ = false;
  Clock::time_point start_ = Clock::now();
  Clock::time_point next_ = start_ + std::chrono::seconds(1);
};

}  // namespace encdec::cli
