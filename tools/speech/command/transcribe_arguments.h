#pragma once

#include <encdec/speech/audio/audio_reader.h>
#include <encdec/speech/live/live_session.h>
#include <encdec/speech/transcript/transcript_format.h>
#include <encdec/speech/transcription/recording.h>
#include <encdec/speech/transcription/transcribe_options.h>

#include <CLI/App.hpp>
#include <optional>
#include <string>
#include <vector>

#include "command/options.h"

namespace encdec::cli {

// The options have the same names as in openai/whisper's command, but with hyphens.
struct TranscribeArguments {
  ModelArguments model;
  std::vector<std::string> files;  // "-" for standard input
  std::string output;
  std::string output_dir;
  std::string stats;
  std::string draft;                      // path of a file with a draft text per line; may be empty
  std::vector<TranscriptFormat> formats;  // empty if --output-format is not given
  TranscriptLineOptions lines;
  bool is_raw = false;  // whether standard input has no header
  RawAudio raw;
  double temperature = 0;
  std::optional<double> temperature_increment = 0.2;
  TranscribeOptions options;
  bool is_live = false;
  bool has_json_lines = false;  // --output-format jsonl
  LiveOptions live;
};

void add_transcribe_options(CLI::App& command, TranscribeArguments& arguments);
// Adds --raw, --sample-rate and --channels.
void add_raw_options(CLI::App& command, TranscribeArguments& arguments);

// Returns the formats of --output-format. The default is the format of --output's extension, else txt.
std::vector<TranscriptFormat> formats_of(const TranscribeArguments& arguments);

// Opens raw samples if --raw is given, else an audio file. Throws FileError and ConfigError.
AudioReader open_standard_input(const TranscribeArguments& arguments);
// `file` is a path, or "-" for standard input.
Recording recording_of(const std::string& file, const TranscribeArguments& arguments);

// Runs --live. Returns false if an utterance has failed.
bool transcribe_live(const TranscribeArguments& arguments);

// Throws UsageError if two arguments exclude each other, or if one requires another that is missing.
TranscribeOptions transcribe_options(const TranscribeArguments& arguments);

}  // namespace encdec::cli
