#pragma once
// The one place that includes libtorch: everything that computes with tensors includes this file,
// and shares its precompiled form. Headers of the project stay free of it, so that few sources pay
// for it.
#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>
