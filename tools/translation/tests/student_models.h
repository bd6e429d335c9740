#pragma once

#include <vector>

#include "encdec/models/model.h"
#include "encdec/translation/routes.h"
#include "tests/support/students.h"
#include "tests/support/temp_folder.h"

namespace encdec {

// Students for en to de, de to en and en to fr, which replace each word by its partner.
struct StudentModels {
  StudentModels() {
    for (const auto& [source, target] : {std::pair("en", "de"), std::pair("de", "en"), std::pair("en", "fr")}) {
      const std::filesystem::path model = write_student(folder.path(), source, target);
      all.push_back(Model::load(model, {.threads = 1}));
      routes.add(ModelLanguages::of(all.back(), model.string()));
    }
  }

  TempFolder folder;  // the models read their files again for their fingerprints
  std::vector<Model> all = {};
  TranslationRoutes routes = {};
};

inline const StudentModels& student_models() {
  static const StudentModels models;
  return models;
}

}  // namespace encdec
