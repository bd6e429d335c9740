#pragma once

#include <vector>

#include "encdec/models/speech/word_alignment.h"
#include "encdec/models/transcription/transcription_task.h"

namespace encdec {

// When the words of a window's text were said: has a source read its text once more, and looks at what the alignment
// heads look at (openai/whisper timing.py). `text`: ids below the end of text; without them there are no words.
std::vector<WordTiming> read_word_times(Session& session, int source, const TranscriptionTask& task,
                                        std::int32_t language, const WindowPlace& place, const TokenIds& text);

}  // namespace encdec
