#include "src/report/dataset_name.hpp"

namespace pardec {

namespace {

std::string marked(const std::string& name, bool sample, bool standin) {
  return name + (standin ? " (stand-in)" : sample ? " (own sample)" : "");
}

}  // namespace

std::string shown_name(const Dataset& dataset) {
  return marked(dataset.name, dataset.sample, dataset.standin);
}

std::string shown_name(const DatasetRow& dataset) {
  return marked(dataset.name, dataset.sample, dataset.standin());
}

}  // namespace pardec
