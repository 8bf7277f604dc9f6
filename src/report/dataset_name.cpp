#include "src/report/dataset_name.hpp"

#include <utility>

namespace pardec {

namespace {

std::string marked(const std::string& name, bool sample, bool standin) {
  return name + (standin ? " (stand-in)" : sample ? " (own sample)" : "");
}

std::vector<Cell> cells(const std::string& name, bool sample, bool standin) {
  const auto flag = [](bool is) { return Cell(is ? "yes" : "no", Json(is)); };
  return {{marked(name, sample, standin), Json(name)}, flag(sample), flag(standin)};
}

template <typename Item>
std::vector<Item> joined(std::vector<Item> first, std::vector<Item> others) {
  first.insert(first.end(), std::make_move_iterator(others.begin()),
               std::make_move_iterator(others.end()));
  return first;
}

}  // namespace

std::string shown_name(const Dataset& dataset) {
  return marked(dataset.name, dataset.sample, dataset.standin);
}

std::string shown_name(const DatasetRow& dataset) {
  return marked(dataset.name, dataset.sample, dataset.standin);
}

std::vector<Column> dataset_columns() {
  Column name{"dataset"};
  name.group = true;
  return {name,
          {"own sample", Align::left, "dataset_is_sample", /*data_only=*/true},
          {"stand-in", Align::left, "dataset_is_standin", /*data_only=*/true}};
}

std::vector<Cell> dataset_cells(const Dataset& dataset) {
  return cells(dataset.name, dataset.sample, dataset.standin);
}

std::vector<Cell> dataset_cells(const DatasetRow& dataset) {
  return cells(dataset.name, dataset.sample, dataset.standin);
}

std::vector<Cell> dataset_cells(const std::string& name) { return {name, no_cell(), no_cell()}; }

std::vector<Column> with_dataset(std::vector<Column> others) {
  return joined(dataset_columns(), std::move(others));
}

std::vector<Cell> with_dataset(std::vector<Cell> dataset, std::vector<Cell> others) {
  return joined(std::move(dataset), std::move(others));
}

}  // namespace pardec
