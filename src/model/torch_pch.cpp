#include "src/model/torch.hpp"
