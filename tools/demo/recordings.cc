#include "demo/recordings.h"

#include <encdec/models/speech/speech_model.h>
#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <span>

#include "common/stopwatch.h"

namespace encdec::demo {

bool can_transcribe() {
  return true;
}

void transcribe_all(const std::string& folder, const std::vector<std::string>& files) {
  const SpeechModel model(Model::load(folder));
  const cli::Stopwatch stopwatch;
  double speech_seconds = 0;
  for (const std::string& file : files) {
    TranscribeOptions options;
    options.on_segments = [&](std::size_t, std::span<const TranscriptSegment> segments) {
      for (const TranscriptSegment& segment : segments) {
        fmt::print("{:<16}{:5.2f} s to {:5.2f} s {}\n", std::filesystem::path(file).filename().string(), segment.start,
                   segment.end, segment.text);
      }
      std::fflush(stdout);
    };
    speech_seconds += model.transcribe(Recording::of_file(file), options).duration;
  }
  const double seconds = stopwatch.seconds();
  fmt::print("\n{:.1f} s of speech in {:.3f} s: {:.0f} times as fast as it was spoken\n", speech_seconds, seconds,
             speech_seconds / seconds);
}

}  // namespace encdec::demo
