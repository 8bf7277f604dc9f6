#include "datasets/dataset.hpp"
