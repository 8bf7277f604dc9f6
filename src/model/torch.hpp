#pragma once
// The only file that includes libtorch. It is precompiled once for all sources that compute with
// tensors. Few headers include it, because it slows down compilation.
#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>
