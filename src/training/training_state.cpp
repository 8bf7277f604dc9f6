#include "src/training/training_state.hpp"

#include <c10/core/GradMode.h>

#include <cstring>
#include <map>
#include <utility>

#include "src/group/group.hpp"
#include "src/model/files/safetensors.hpp"
#include "src/support/error.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

constexpr const char* kState = "state";
constexpr std::int64_t kStateSize = 5;

StoredType stored_type(const at::Tensor& tensor) {
  return tensor.scalar_type() == at::kDouble     ? StoredType::f64
         : tensor.scalar_type() == at::kBFloat16 ? StoredType::bf16
                                                 : StoredType::f32;
}

TensorToWrite to_write(const std::string& name, const at::Tensor& tensor) {
  return {name, stored_type(tensor), tensor.sizes().vec(), [tensor](std::span<std::byte> bytes) {
            std::memcpy(bytes.data(), tensor.cpu().contiguous().const_data_ptr(), bytes.size());
          }};
}

}  // namespace

void save_state(const std::filesystem::path& file, const Trainer& trainer,
                const TrainingState& state) {
  std::vector<TensorToWrite> tensors;
  for (const AdamW::Slot& slot : trainer.optimiser().slots()) {
    tensors.push_back(to_write("weight." + slot.name, slot.weight));
    tensors.push_back(to_write("first." + slot.name, slot.first));
    tensors.push_back(to_write("second." + slot.name, slot.second));
  }
  const std::vector<double> numbers{
      static_cast<double>(state.step), static_cast<double>(state.epoch),
      static_cast<double>(state.position), static_cast<double>(state.tokens), state.seconds};
  tensors.push_back(to_write(kState, at::tensor(numbers, at::kDouble)));
  write_safetensors(file, tensors);
}

TrainingState load_state(const std::filesystem::path& file, Trainer& trainer) {
  const c10::NoGradGuard no_grad;
  const at::Tensor numbers = at::empty({kStateSize}, at::kDouble);
  std::vector<std::pair<std::string, at::Tensor>> places{{kState, numbers}};
  for (const AdamW::Slot& slot : trainer.optimiser().slots()) {
    places.emplace_back("weight." + slot.name, slot.weight);
    places.emplace_back("first." + slot.name, slot.first);
    places.emplace_back("second." + slot.name, slot.second);
  }
  Group* group = trainer.group();
  if (!group || group->rank() == 0) {
    const MappedFile mapped(file);
    const auto tensors = parse_safetensors(mapped.bytes(), file.string());
    for (const auto& [name, into] : places) {
      const auto found = tensors.find(name);
      if (found == tensors.end() || found->second.shape != into.sizes().vec() ||
          found->second.type != stored_type(into))
        throw ModelError(file.string(), str("has no tensor '", name,
                                            "' of this network's shape and type; it belongs to "
                                            "another run, train without `resume`"));
      const at::Tensor read = at::empty(into.sizes(), into.scalar_type());
      std::memcpy(read.data_ptr(), found->second.data.data(), found->second.data.size());
      into.copy_(read);
    }
  }
  if (group)
    for (const auto& [name, into] : places) {
      const at::Tensor shared = into.cpu().contiguous();
      group->broadcast({static_cast<std::byte*>(shared.mutable_data_ptr()), shared.nbytes()});
      into.copy_(shared);
    }
  const double* n = numbers.const_data_ptr<double>();
  const auto whole = [&](int i) { return static_cast<std::int64_t>(n[i]); };
  const TrainingState state{whole(0), whole(1), whole(2), whole(3), n[4]};
  trainer.optimiser().set_steps(state.step);
  trainer.refresh();
  return state;
}

void export_weights(const std::filesystem::path& folder, const Trainer& trainer) {
  std::map<std::string, std::vector<TensorToWrite>> files;
  for (const auto& [name, weight] : trainer.exported())
    files[trainer.what().file(name)].push_back(to_write(name, weight.to(at::kBFloat16)));
  const std::vector<Parameter> parameters = pardec::parameters(trainer.what().config());
  for (auto& [file, tensors] : files)
    write_safetensors(folder / file, with_stacks(std::move(tensors), parameters));
}

}  // namespace pardec
