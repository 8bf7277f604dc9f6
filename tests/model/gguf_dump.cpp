// gguf_dump FILE numbers|config|tokenizer, for tests that compare a GGUF file with gguf-py and
// transformers. numbers: the numbers of all tensors whose types are read, as raw float32, in
// alphabetical order of the tensors' names. config, tokenizer: the JSON that is made of the
// metadata.
#include <iostream>
#include <string>
#include <vector>

#include "src/model/files/gguf_config.hpp"
#include "src/model/files/gguf_weights.hpp"
#include "src/support/error.hpp"
#include "src/support/mapped_file.hpp"
#include "src/tokenizer/gguf_tokenizer.hpp"

int main(int count, char** words) {
  using namespace pardec;
  if (count != 3) return 2;
  const std::string what = words[2];
  try {
    const MappedFile file(words[1]);
    const Gguf gguf(file.bytes(), words[1]);
    if (what == "config") std::cout << dump(gguf_config(gguf));
    if (what == "tokenizer") std::cout << dump(gguf_tokenizer(gguf));
    if (what != "numbers") return 0;
    for (const auto& [name, tensor] : gguf.tensors()) {
      if (!is_read(*tensor.type)) continue;
      std::vector<float> numbers(tensor.data.size() / static_cast<size_t>(tensor.type->bytes) *
                                 static_cast<size_t>(tensor.type->block));
      dequantise(*tensor.type, tensor.data, numbers);
      std::cout.write(reinterpret_cast<const char*>(numbers.data()),
                      static_cast<std::streamsize>(numbers.size() * sizeof(float)));
    }
  } catch (const Error& error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
}
