// SPDX-License-Identifier: Apache-2.0
#include "model/core/program_files.hpp"

#include <algorithm>

#include "model/core/loaded_code.hpp"

namespace npu::model {

void ProgramFiles::note(ConstByteSpan file) {
  if (!enabled_ || find(file).size != 0) return;
  files_.emplace_back(file.data, file.data + file.size);
}

ConstByteSpan ProgramFiles::find(ConstByteSpan object) const {
  const auto code = loaded_code(object);
  const auto found = std::find_if(files_.begin(), files_.end(), [code](const auto& file) {
    return same_code(code, loaded_code({file.data(), file.size()}));
  });
  return found == files_.end() ? ConstByteSpan() : ConstByteSpan{found->data(), found->size()};
}

}  // namespace npu::model
