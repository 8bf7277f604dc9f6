#pragma once
// The only place that includes libtorch. All code that computes with tensors includes this file and
// shares its precompiled form. The project's headers do not include it, so that few sources pay for
// its compilation.
#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>
