// adapter_config.json: what it says about the modules of a network, or an Error.
#include "src/model/adapter.hpp"
#include "src/model/files/adapter_config.hpp"
#include "src/model/files/families.hpp"
#include "src/support/error.hpp"
#include "tests/fuzz/input.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace pardec;
  test::put(kAdapterConfig, test::text_of(data, size));
  try {
    const AdapterConfig adapter(test::scratch());
    adapter.splits_tied(*find_family("llama"));
    for (const char* module : {"model.embed_tokens", "model.layers.0.self_attn.q_proj",
                               "model.layers.11.mlp.down_proj", "model.norm", "lm_head"}) {
      adapter.targets(module, true);
      adapter.saves(module);
      if (adapter.rank(module) < 1) __builtin_trap();
      adapter.scale(module);
    }
  } catch (const Error&) {
  }
  return 0;
}
