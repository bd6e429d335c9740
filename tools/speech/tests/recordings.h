#pragma once

#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <span>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "encdec/speech/transcription/recording.h"

namespace encdec {

inline const std::filesystem::path kNumbers = ENCDEC_PRETRAINED_DIR "/english-numbers";

// The text of one utterance in a recording, and its times in seconds.
struct Utterance {
  std::string text;
  double start = 0;
  double end = 0;
};

inline std::string clip_path(const std::string& clip) {
  return (kNumbers / "clips" / clip).string();
}

// Returns the utterances of the bundled speech model's clips, by name of the clip.
inline std::map<std::string, std::vector<Utterance>> clips() {
  std::map<std::string, std::vector<Utterance>> all;
  std::ifstream list(clip_path("clips.tsv"));
  for (std::string row; std::getline(list, row);) {
    std::istringstream fields(row);
    std::string name, start, end, text;
    for (std::string* field : {&name, &start, &end, &text}) std::getline(fields, *field, '\t');
    all[name].push_back({text, std::stod(start), std::stod(end)});
  }
  return all;
}

// Returns the texts, one line for each utterance.
inline std::string text_of(const std::vector<Utterance>& utterances) {
  std::string text;
  for (const Utterance& utterance : utterances) text += utterance.text + "\n";
  return text;
}

// Returns a rising tone.
inline Recording tone(double seconds) {
  std::vector<float> samples(static_cast<std::size_t>(std::lround(seconds * 16'000)));
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const double t = static_cast<double>(i) / 16'000;
    samples[i] = static_cast<float>(0.4 * std::sin(1'500 * t * (1 + t)));
  }
  return Recording::of_samples(std::move(samples));
}

// Returns all remaining samples of an AudioReader, read in chunks.
std::vector<float> all_samples(auto&& reader, std::size_t chunk = 1 << 16) {
  std::vector<float> all;
  for (std::size_t count = chunk; count == chunk;) {
    const std::size_t had = all.size();
    all.resize(had + chunk);
    count = reader.read(std::span(all).subspan(had));
    all.resize(had + count);
  }
  return all;
}

}  // namespace encdec
