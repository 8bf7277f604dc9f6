#pragma once
// libtorch's headers for tensors. This file is precompiled once for all sources that compute with
// tensors. Few headers include this file, because it slows down compilation.
#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>
