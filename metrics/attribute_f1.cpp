#include "metrics/attribute_f1.hpp"
