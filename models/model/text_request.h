#pragma once

#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

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
  DecodeJob job(const std::string& text, std::size_t index) const { return job_of(text, nullptr, index); }
  DecodeJob job(const TextPair& pair, std::size_t index) const {
    return job_of(pair.first, pair.second ? &*pair.second : nullptr, index);
  }

  void on_result(const DecodeJob& /*job*/, std::vector<Hypothesis> /*hypotheses*/) override {}
  TextTask::Reads reads() const override { return task_->reads(); }
  void on_rows(const DecodeJob& job, const Tensor& rows) override {
    complete(job, [&] {
      VectorResult result{.values = std::vector<float>(static_cast<std::size_t>(task_->width())),
                          .source_tokens = job.prompt.source_tokens};
      task_->compute(rows, result.values.data());
      return [this, &job, result = std::move(result)]() mutable { handlers_.on_result(job.index, std::move(result)); };
    });
  }

 private:
  DecodeJob job_of(const std::string& text, const std::string* second, std::size_t index) const {
    Encoding encoding = task_->encode(text, second, index + 1);
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
      DecodeJob& job = jobs.emplace_back(DecodeJob{.index = jobs.size()});
      texts_.push_back({text, task_->encode(text, nullptr, jobs.size())});
      job.prompt.source = texts_.back().encoding.ids;
      job.prompt.source_tokens = job.prompt.source.size();
    }
    return jobs;
  }

  void on_result(const DecodeJob& /*job*/, std::vector<Hypothesis> /*hypotheses*/) override {}
  TextTask::Reads reads() const override { return task_->reads(); }
  void on_rows(const DecodeJob& job, const Tensor& rows) override {
    complete(job, [&] {
      const auto& [text, encoding] = texts_[job.index];
      auto entities = task_->entities(text, encoding, rows);
      return [this, &job, entities = std::move(entities)]() mutable {
        handlers_.on_result(job.index, std::move(entities));
      };
    });
  }

 private:
  struct Text {
    std::string text;
    Encoding encoding;
  };

  std::unique_ptr<const TaggingTask> task_;
  TagHandlers handlers_;
  std::vector<Text> texts_;
};

}  // namespace encdec
