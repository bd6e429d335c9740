// Words as vectors: one-hot vectors, the table that turns them into dense vectors, and the meaning
// of distances between dense vectors.
//
// data/words.txt has one line per word, in GloVe's format. The vectors are made up; their elements
// are: royal, female, young, fruit.
#include "inputs/word_vectors.h"

#include <encdec/engine/executor.h>
#include <encdec/layers/transformer/embedding.h>
#include <encdec/layers/transformer/linear.h>

#include <cmath>
#include <numeric>

#include "inputs/one_hot.h"
#include "programs/pictures.h"

namespace {

using namespace lessons;

// Runs a graph, prints the output of each node, and returns the result.
Tensor run(Graph graph, const Tensor& ids) {
  const Executor executor(std::move(graph));
  RunState state(executor.graph());
  state.observer = [](const Graph::Node& node, const Tensor& output) { show(node.name, output, "{:g}"); };
  return executor.run(std::array{ids}, state)[0];
}

Tensor transposed(const Tensor& table) {
  Tensor turned = Tensor::allocate({table.shape()[1], table.shape()[0]});
  for (Dim r = 0; r < table.rows(); ++r) {
    for (Dim c = 0; c < table.width(); ++c) turned.row(c)[r] = table.row(r)[c];
  }
  return turned;
}

float cosine(const float* a, const float* b, Dim width) {
  const auto product = [width](const float* x, const float* y) { return std::inner_product(x, x + width, y, 0.0f); };
  return product(a, b) / std::sqrt(product(a, a) * product(b, b));
}

void run_lesson(bool svg) {
  const WordVectors words = read_word_vectors(LESSONS_DATA "/words.txt");
  const Tensor& table = words.vectors();
  const Dim count = table.rows(), width = table.width();

  // Compute the cosine similarity of each pair of words.
  Tensor near = Tensor::allocate({count, count});
  for (Dim a = 0; a < count; ++a) {
    for (Dim b = 0; b < count; ++b) near.row(a)[b] = cosine(table.row(a), table.row(b), width);
  }
  const HeatMap map{"cosines of words", near, {words.words().begin(), words.words().end()}};
  if (svg) return print_svg(std::span(&map, 1));

  // A one-hot vector selects a row of the table, by a product. A lookup does the same faster.
  const Tensor ids = token_ids({words.find("queen").value(), words.find("apple").value()});
  Graph product("product");
  const Edge tokens = product.input("ids", {kSourceRows}, DataType::int32);
  const Edge one_hot = product.add("one_hot", std::make_shared<OneHot>(count), {tokens});
  product.output(product.add<Linear>(weights_of({{"times_table.weight", transposed(table)}}) / "times_table", {one_hot},
                                     LinearOptions{.input_width = count, .output_width = width, .bias = Bias::none}));
  run(std::move(product), ids);

  Graph lookup("lookup");
  lookup.output(
      lookup.add("embedding",
                 std::make_shared<Embedding>(words.scope(), EmbeddingOptions{.vocabulary = count, .model_dim = width}),
                 {lookup.input("ids", {kSourceRows}, DataType::int32)}));
  run(std::move(lookup), ids);

  // One-hot vectors are all equally far apart. Dense vectors are not.
  print_maps(std::span(&map, 1));

  // Find the words nearest to king - man + woman.
  const auto row = [&](const char* word) { return table.row(words.find(word).value()); };
  std::vector<float> wanted(static_cast<std::size_t>(width));
  for (std::size_t i = 0; i < wanted.size(); ++i) wanted[i] = row("king")[i] - row("man")[i] + row("woman")[i];
  std::vector<std::pair<float, std::string>> nearest;
  for (Dim r = 0; r < count; ++r) {
    nearest.emplace_back(cosine(wanted.data(), table.row(r), width), words.words()[static_cast<std::size_t>(r)]);
  }
  std::ranges::sort(nearest, std::greater());
  fmt::print("king - man + woman\n");
  for (std::size_t i = 0; i < 3; ++i) fmt::print("  {:.3f} {}\n", nearest[i].first, nearest[i].second);
}

}  // namespace

int main(int argc, char** argv) {
  return run_program(argc, argv, run_lesson);
}
