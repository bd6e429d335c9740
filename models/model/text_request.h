#pragma once

#include <algorithm>
#include <exception>
#include <iterator>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "encdec/engine/base/mutex.h"
#include "encdec/models/classification/tagger.h"
#include "encdec/models/embedding/text_task.h"
#include "encdec/models/model/request_state.h"

namespace encdec {

// A request for vectors of texts.
class TextRequest final : public RequestState {
 public:
  TextRequest(Model model, std::unique_ptr<const VectorTask> task, VectorHandlers handlers)
      : RequestState(std::move(model), std::move(handlers.on_failure), std::move(handlers.on_start)),
        task_(std::move(task)),
        handlers_(std::move(handlers)) {}

  // Returns the job of a text or of a pair of texts. Throws as TextTask::encode() does.
  DecodeJob job(const std::string& text, std::size_t index, TextTask::FirstText& last) const {
    return job_of(text, nullptr, index, last);
  }
  DecodeJob job(const TextPair& pair, std::size_t index, TextTask::FirstText& last) const {
    return job_of(*pair.first, pair.second ? &**pair.second : nullptr, index, last);
  }

  TextTask::Reads reads() const override { return task_->reads(); }
  void on_rows(const DecodeJob& job, const Tensor& rows) override {
    complete(job, [&] {
      VectorResult result = task_->compute(job.prompt.source, rows);
      result.source_tokens = job.prompt.source_tokens;
      return [this, &job, result = std::move(result)]() mutable { handlers_.on_result(job.index, std::move(result)); };
    });
  }

 private:
  DecodeJob job_of(const std::string& text, const std::string* second, std::size_t index,
                   TextTask::FirstText& last) const {
    Encoding encoding = task_->encode(text, second, index + 1, last);
    DecodeJob job{.index = index};
    job.prompt.source_tokens = encoding.ids.size();
    job.prompt.second_segment = encoding.second_segment;
    job.prompt.source = std::move(encoding.ids);
    return job;
  }

  std::unique_ptr<const VectorTask> task_;
  VectorHandlers handlers_;
};

// A request for the entities of texts.
class TagRequest final : public RequestState {
 public:
  TagRequest(Model model, std::unique_ptr<const TaggingTask> task, TagHandlers handlers)
      : RequestState(std::move(model), std::move(handlers.on_failure), std::move(handlers.on_start)),
        task_(std::move(task)),
        handlers_(std::move(handlers)) {}

  // Returns the jobs of all texts. Throws as TextTask::encode() does.
  std::vector<DecodeJob> jobs(std::span<const std::string> texts) {
    std::vector<DecodeJob> jobs;
    for (const std::string& text : texts) {
      texts_.push_back({.text = text,
                        .bytes = TaggingTask::character_bytes(text),
                        .windows = task_->encode_windows(text, texts_.size() + 1)});
      Text& added = texts_.back();
      added.left = added.windows.size();
      added.found.resize(added.left);
      for (std::size_t window = 0; window < added.windows.size(); ++window) {
        DecodeJob& job = jobs.emplace_back(DecodeJob{.index = texts_.size() - 1, .part = window});
        job.prompt.source = added.windows[window].ids;
        job.prompt.source_tokens = job.prompt.source.size();
      }
    }
    return jobs;
  }

  TextTask::Reads reads() const override { return task_->reads(); }
  void on_rows(const DecodeJob& job, const Tensor& rows) override {
    complete(job, [&] {
      Text& text = texts_[job.index];
      auto found = task_->entities(text.text, text.bytes, text.windows[job.part], rows);
      const MutexLock lock(mutex_);
      text.found[job.part] = std::move(found);
      std::vector<Entity> entities;
      const bool is_last = --text.left == 0;
      if (is_last) {
        for (auto& window : text.found) std::ranges::move(window, std::back_inserter(entities));
        if (text.found.size() > 1) entities = TaggingTask::join_windows(std::move(entities));
      }
      return [this, &job, is_last, entities = std::move(entities)]() mutable {
        if (is_last) handlers_.on_result(job.index, std::move(entities));
      };
    });
  }
  // A text has one failure, even if several of its windows fail.
  void on_failure(const DecodeJob& job, const std::exception_ptr& failure) override {
    {
      const MutexLock lock(mutex_);
      if (std::exchange(texts_[job.index].has_failed, true)) return;
    }
    RequestState::on_failure(job, failure);
  }

 private:
  struct Text {
    std::string text;
    std::vector<std::size_t> bytes;  // TaggingTask::character_bytes()
    std::vector<Encoding> windows;
    std::vector<std::vector<Entity>> found = {};  // entities of each window
    std::size_t left = 0;                         // number of windows without a result
    bool has_failed = false;
  };

  std::unique_ptr<const TaggingTask> task_;
  TagHandlers handlers_;
  std::vector<Text> texts_;
  Mutex mutex_;  // guards `found`, `left` and `has_failed` of texts_
};

}  // namespace encdec
