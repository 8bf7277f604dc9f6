#include "src/tokenizer/tokenizer.hpp"
